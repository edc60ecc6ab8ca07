//! Names that older files gave another meaning.

use itergnn_nn::{GnnConfig, OLD_NAME, PRESETS};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::ModelConfig;

/// Marks a configuration whose names mean one thing: written as the number 2, and absent in files of older versions.
///
/// In those `iter-homo-path` was `max-plus`, `waves`, `one-tree` or `iter-homo-path-settle`, depending on the task, and
/// the other iterated presets had the controller that `-settle` now stands for. Their run directories keep the whole
/// model in `model.json`, which tells what was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NamesVersion;

/// The number that is written.
const VERSION: u32 = 2;

impl Serialize for NamesVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}

impl<'de> Deserialize<'de> for NamesVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            VERSION => Ok(Self),
            other => Err(D::Error::custom(format!("names of version {other}, but this build knows version {VERSION}"))),
        }
    }
}

impl ModelConfig {
    /// What to tell a user who gave a name that only older files have.
    pub fn note(&self) -> Option<String> {
        (self.name == OLD_NAME).then(|| {
            format!("`{OLD_NAME}` is an old name for `iter-homo-path` with `layer = \"path\"` and `aggregation = \"attention\"`")
        })
    }

    /// What a configuration of an older version means, by the model that was made of it.
    fn renamed_by(mut self, made: &GnnConfig) -> Self {
        match made {
            GnnConfig::MaxPlus(_) => self.name = "max-plus".to_owned(),
            GnnConfig::Waves(_) => self.name = "waves".to_owned(),
            GnnConfig::OneTree(_) => self.name = "one-tree".to_owned(),
            GnnConfig::Graph(model) if self.name.contains("path") => {
                if let Some(block) = model.blocks.first() {
                    self.layer = Some(block.layer.kind);
                    self.aggregation = Some(block.layer.aggregation);
                }
                self.name = if self.name == OLD_NAME { "iter-homo-path".to_owned() } else { settled(self.name) };
            }
            GnnConfig::Graph(_) => self.name = settled(self.name),
            GnnConfig::JumpingKnowledge(_) | GnnConfig::Grid(_) => {}
        }
        self
    }
}

/// The name with `-settle`, where there is such a preset.
fn settled(name: String) -> String {
    let settled = format!("{name}-settle");
    if PRESETS.contains(&settled.as_str()) { settled } else { name }
}

/// The text of a run's configuration in today's names; `made` reads the model of the run.
pub(crate) fn in_todays_names(text: String, made: impl FnOnce() -> Option<GnnConfig>) -> String {
    let renamed = || {
        let mut table: toml::Table = toml::from_str(&text).ok()?;
        let model = table.get("model")?.as_table()?;
        if model.contains_key("names") {
            return None;
        }
        let model: ModelConfig = model.clone().try_into().ok()?;
        let model = toml::Table::try_from(model.renamed_by(&made()?)).ok()?;
        table.insert("model".to_owned(), model.into());
        toml::to_string(&table).ok()
    };
    // What cannot be understood here is reported by who reads the text.
    renamed().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskShape;
    use itergnn_nn::{LayerKind, TaskWidths, preset};
    use itergnn_tasks::{Task, TaskSpec};

    fn renamed(text: &str, made: &str) -> ModelConfig {
        let made = preset(made, &TaskWidths::graph(3, 1, 1)).unwrap();
        let text = in_todays_names(format!("[model]\n{text}\n"), || Some(made));
        toml::from_str::<toml::Table>(&text).unwrap()["model"].clone().try_into().unwrap()
    }

    #[test]
    fn older_names_are_those_of_the_model_that_was_made() {
        for family in ["max-plus", "waves", "one-tree"] {
            assert_eq!(renamed("name = 'iter-homo-path'", family), ModelConfig::preset(family));
        }
        for name in ["iter-homo-gat", "iter-homo-gcn"] {
            assert_eq!(renamed(&format!("name = '{name}'"), name).name, format!("{name}-settle"));
        }
        assert_eq!(renamed("name = 'gat'", "gat"), ModelConfig::preset("gat"));
        let paper = renamed("name = 'iter-homo-path-paper'", OLD_NAME);
        assert_eq!((paper.name.as_str(), paper.layer), ("iter-homo-path", Some(LayerKind::Path)));
        let shape = TaskShape::of(&TaskSpec::paper(Task::ShortestPath)).unwrap();
        assert_eq!(paper.for_task(&shape).unwrap(), ModelConfig::preset(OLD_NAME).for_task(&shape).unwrap());
    }

    #[test]
    fn what_is_marked_or_not_understood_stays() {
        let marked = "[model]\nname = 'iter-homo-path'\nnames = 2\n".to_owned();
        assert_eq!(in_todays_names(marked.clone(), || unreachable!()), marked);
        let broken = "[model\n".to_owned();
        assert_eq!(in_todays_names(broken.clone(), || unreachable!()), broken);
        let error = toml::from_str::<ModelConfig>("name = 'path'\nnames = 3").unwrap_err().to_string();
        assert!(error.contains("names of version 3"), "{error}");
    }
}
