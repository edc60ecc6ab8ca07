//! A run small enough for a test, and what is looked at afterwards.

// Every test binary includes this file and uses a part of it.
#![allow(dead_code)]

use itergnn_nn::{GnnModel, named_tensors};
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::{ModelConfig, TrainConfig};

/// Two epochs of five steps with a model of hidden width 8.
pub(crate) fn tiny(task: Task) -> TrainConfig {
    let mut task = TaskSpec::paper(task);
    // Tasks with given graphs keep them.
    let _ = task.set_size("4..9".parse().unwrap());
    let mut config = TrainConfig::new(task, ModelConfig::preset("iter-homo-path-settle"));
    config.model.hidden_width = Some(8);
    (config.seed, config.epochs, config.batch_size, config.log_every) = (11, 2, 4, 1);
    (config.data.train, config.data.validation) = (18, 6);
    config.selection.lifted_cap = 40;
    config.optimiser.clip_norm = Some(1.0);
    config.optimiser.schedule = itergnn_train::Schedule::Cosine { warm_up_steps: 2, final_factor: 0.1 };
    config
}

/// Every weight by its bits.
pub(crate) fn bits(model: &GnnModel) -> Vec<(String, Vec<u64>)> {
    let tensors = named_tensors(model).into_iter();
    tensors.map(|(name, tensor)| (name, tensor.values.iter().map(|value| value.to_bits()).collect())).collect()
}
