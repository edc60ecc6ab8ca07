//! A run small enough for a test, and what is looked at afterwards.

// Every test binary includes this file and uses a part of it.
#![allow(dead_code)]

use itergnn_nn::{GnnModel, named_tensors};
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::{DataConfig, MethodConfig, ModelConfig, RunConfig, SupervisedConfig};

/// Two epochs of five steps with a model of hidden width 8.
pub(crate) fn tiny(task: Task) -> RunConfig {
    let mut task = TaskSpec::paper(task);
    // Tasks with given graphs keep them.
    let _ = task.set_size("4..9".parse().unwrap());
    let mut config = RunConfig::new(task, ModelConfig::preset("iter-homo-path-settle"));
    config.model.hidden_width = Some(8);
    (config.seed, config.log_every) = (11, 1);
    let data = DataConfig { train: 18, validation: 6, seed: None };
    config.method =
        MethodConfig::Supervised(SupervisedConfig { epochs: 2, batch_size: 4, data, ..SupervisedConfig::default() });
    config.selection.lifted_cap = 40;
    config.optimiser.clip_norm = Some(1.0);
    config.optimiser.schedule = itergnn_train::Schedule::Cosine { warm_up_steps: 2, final_factor: 0.1 };
    config
}

/// The settings of learning from samples, to change.
pub(crate) fn method(config: &mut RunConfig) -> &mut SupervisedConfig {
    config.supervised_mut().unwrap()
}

/// Every weight by its bits.
pub(crate) fn bits(model: &GnnModel) -> Vec<(String, Vec<u64>)> {
    let tensors = named_tensors(model).into_iter();
    tensors.map(|(name, tensor)| (name, tensor.values.iter().map(|value| value.to_bits()).collect())).collect()
}
