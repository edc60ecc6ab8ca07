//! One setting, changed by its name.

use serde_json::Value;

use super::{RunConfig, short_form::SHARED};
use crate::TrainError;

impl RunConfig {
    /// The configuration with one field changed, written `a.b.c=value` as in a configuration file: the value is a TOML
    /// value, or else a string; fields of the method may be named with or without `method.`.
    ///
    /// # Errors
    /// [`TrainError::Setting`] says what is wrong with it.
    ///
    /// # Example
    /// ```
    /// use itergnn_tasks::{Task, TaskSpec};
    /// use itergnn_train::{ModelConfig, RunConfig};
    /// let config = RunConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset("path"));
    /// let config = config.with_setting("epochs=7")?.with_setting("optimiser.clip_norm=1")?;
    /// assert_eq!((config.supervised()?.epochs, config.optimiser.clip_norm), (7, Some(1.0)));
    /// # Ok::<(), itergnn_train::TrainError>(())
    /// ```
    pub fn with_setting(&self, setting: &str) -> Result<Self, TrainError> {
        let bad = |why: String| TrainError::Setting { setting: setting.to_owned(), why };
        let (key, value) = setting.split_once('=').ok_or_else(|| bad("expected KEY=VALUE".to_owned()))?;
        let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
        let parsed = parsed.ok().and_then(|mut table| table.remove("value")).unwrap_or(toml::Value::from(value));
        let parsed = serde_json::to_value(parsed).map_err(|error| bad(error.to_string()))?;
        let mut whole = serde_json::to_value(self).map_err(|error| bad(error.to_string()))?;
        let mut parts: Vec<&str> = key.trim().split('.').collect();
        if !SHARED.contains(&parts[0]) {
            parts.insert(0, "method");
        }
        let mut place = &mut whole;
        for part in &parts {
            if place.is_null() {
                *place = Value::Object(Default::default());
            }
            let object = place.as_object_mut();
            place = object
                .ok_or_else(|| bad(format!("what holds {part} is no table")))?
                .entry(*part)
                .or_insert(Value::Null);
        }
        *place = parsed;
        serde_json::from_value(whole).map_err(|error| bad(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ModelConfig;
    use itergnn_tasks::{Task, TaskSpec};

    #[test]
    fn any_setting_can_be_changed_by_its_name() {
        let config = RunConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset("max-plus"));
        let set = |setting: &str| config.with_setting(setting);
        assert_eq!(set("epochs=7").unwrap().supervised().unwrap().epochs, 7);
        assert_eq!(set("method.data.train=9").unwrap().supervised().unwrap().data.train, 9);
        assert_eq!(set("model.max_plus.residual=true").unwrap().model.max_plus.residual, Some(true));
        assert_eq!(set("model.name=path").unwrap().model.name, "path");
        let schedule = set("optimiser.schedule={ kind = 'cosine', warm_up_steps = 3 }").unwrap().optimiser.schedule;
        assert_eq!(schedule.factor(0, 10), 1.0 / 3.0);
        for (setting, part) in [
            ("epochs", "KEY=VALUE"),
            ("epochs.x=1", "no table"),
            ("epoch=1", "epoch"),
            ("epochs=many", "many"),
            ("foo.bar=1", "foo"),
        ] {
            let message = set(setting).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{setting}: ")) && message.contains(part), "{message}");
        }
    }
}
