//! Changes to a max-plus model.

use itergnn_nn::aligned::max_plus::MaxPlusConfig;
use serde::{Deserialize, Serialize};

use super::TaskShape;

/// What is different about a max-plus model; what is not given is chosen by the graphs of the task.
///
/// On undirected trees the first path that is found is the only one: no `residual`, no `both_ways`. On other graphs a
/// later path may be shorter and edges may lead one way only, so both are on, and `ponder` is 0, so that waiting is
/// free.
///
/// # Example
/// ```
/// use itergnn_train::ModelConfig;
/// let model: ModelConfig = toml::from_str("name = 'max-plus'\nmax_plus = { residual = true, ponder = 1e-4 }")?;
/// assert_eq!(model.max_plus.residual, Some(true));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaxPlusChanges {
    /// Whether the confidence sees if anything changed in a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<bool>,
    /// Whether half of the channels travel against the edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub both_ways: Option<bool>,
    /// Steps in training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_cap: Option<usize>,
    /// Price of an expected step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ponder: Option<f64>,
    /// Price of the probability that is left at the cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<f64>,
    /// Price of the size of output weights, in the first three quarters of training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparsity: Option<f64>,
    /// Combinations of channels that the output is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heads: Option<usize>,
    /// Combinations of channels that the confidence is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_heads: Option<usize>,
    /// Chance of a channel to travel without change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_free: Option<f64>,
}

impl MaxPlusChanges {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The preset's settings for graphs of a shape, changed.
    pub(super) fn apply(&self, config: &mut MaxPlusConfig, shape: &TaskShape) {
        if !shape.trees {
            (config.residual, config.both_ways, config.ponder) = (true, true, 0.0);
        }
        fn change<T: Copy>(setting: &mut T, given: Option<T>) {
            *setting = given.unwrap_or(*setting);
        }
        change(&mut config.residual, self.residual);
        change(&mut config.both_ways, self.both_ways);
        change(&mut config.training_cap, self.training_cap);
        change(&mut config.ponder, self.ponder);
        change(&mut config.settle, self.settle);
        change(&mut config.sparsity, self.sparsity);
        change(&mut config.heads, self.heads);
        change(&mut config.confidence_heads, self.confidence_heads);
        change(&mut config.drift_free, self.drift_free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelConfig;
    use itergnn_nn::GnnConfig;
    use itergnn_tasks::{Task, TaskSpec};

    fn resolved(text: &str, generator: &str) -> MaxPlusConfig {
        let mut spec = TaskSpec::paper(Task::ShortestPath);
        spec.set_generator(generator.parse().unwrap()).unwrap();
        let model: ModelConfig = toml::from_str(text).unwrap();
        match model.for_task(&TaskShape::of(&spec).unwrap()).unwrap() {
            GnnConfig::MaxPlus(config) => config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn graphs_choose_and_the_user_overrules() {
        let of = |config: MaxPlusConfig| (config.residual, config.both_ways, config.ponder, config.training_cap);
        let plain = "name = 'max-plus'";
        assert_eq!(of(resolved(plain, "lobster")), (false, false, 0.01, 30));
        assert_eq!(of(resolved(plain, "er")), (true, true, 0.0, 30));
        let changed = format!("{plain}\n[max_plus]\nboth_ways = false\nponder = 0.1\ntraining_cap = 8\n");
        assert_eq!(of(resolved(&changed, "er")), (true, false, 0.1, 8));
        assert_eq!(of(resolved(&changed, "lobster")), (false, false, 0.1, 8));
    }

    #[test]
    fn nonsense_and_other_models_are_refused_by_name() {
        let shape = TaskShape::of(&TaskSpec::paper(Task::ShortestPath)).unwrap();
        let refused = |text: &str| {
            let model: ModelConfig = toml::from_str(text).unwrap();
            model.for_task(&shape).unwrap_err().to_string()
        };
        let message = refused("name = 'path'\nmax_plus = { residual = true }");
        assert_eq!(message, "config: model.max_plus: `path` does not take it");
        assert!(refused("name = 'max-plus'\nmax_plus = { ponder = -1.0 }").contains("ponder is -1"));
        assert!(toml::from_str::<ModelConfig>("name = 'max-plus'\nmax_plus = { pondr = 1.0 }").is_err());
    }
}
