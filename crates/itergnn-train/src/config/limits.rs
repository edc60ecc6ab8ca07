//! Numbers that no machine can work off.

use itergnn_nn::GnnConfig;
use itergnn_nn::controllers::SAFETY_CAP;
use serde_json::Value;

use crate::TrainError;

/// Refuses a model that would keep more steps of a training graph than the safety cap of inference allows: each keeps
/// the states of all nodes, so it would run out of memory long before.
pub(super) fn check_training_steps(model: &GnnConfig) -> Result<(), TrainError> {
    let most = serde_json::to_value(model).map_or(0, |model| largest_cap(&model));
    if most > SAFETY_CAP as u64 {
        let why = format!("{most} steps of training are too many; at most {SAFETY_CAP} fit");
        return Err(TrainError::config("model.training_cap", why));
    }
    Ok(())
}

/// The largest number of steps in training that any part of a configuration names.
fn largest_cap(value: &Value) -> u64 {
    let is_cap = |key: &str| matches!(key, "training_cap" | "steps");
    match value {
        Value::Object(fields) => {
            let own = fields.iter().filter(|(key, _)| is_cap(key)).filter_map(|(_, value)| value.as_u64());
            own.chain(fields.values().map(largest_cap)).max().unwrap_or(0)
        }
        Value::Array(parts) => parts.iter().map(largest_cap).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{ModelConfig, RunConfig};
    use itergnn_tasks::{Task, TaskSpec};

    #[test]
    fn a_training_cap_of_a_million_million_was_tried() {
        for (name, setting) in [
            ("max-plus", "model.max_plus.training_cap=1000000000000"),
            ("path", "model.controller={ kind = 'iter', training_cap = 1000000000000 }"),
            ("path", "model.controller={ kind = 'shared', steps = 1000000000000 }"),
        ] {
            let config = RunConfig::new(TaskSpec::paper(Task::ShortestPath), ModelConfig::preset(name));
            let message = config.with_setting(setting).unwrap().resolve().unwrap_err().to_string();
            assert!(message.ends_with("at most 100000 fit"), "{setting}: {message}");
        }
    }
}
