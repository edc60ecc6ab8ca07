//! Max-plus models in training: they find the exact rule, go on where they were stopped, and end finished.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

mod support;

use burn::tensor::Device;
use itergnn_nn::named_tensors;
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::evaluation::{EvalOptions, ModelPredictor, evaluate};
use itergnn_train::{
    ModelConfig, OptimiserConfig, RunConfig, RunTask, Silent, Start, Status, TrainError, TrainOptions, train,
};
use support::bits;

/// Ten steps of a small model: hardening begins with the fourth.
fn ten_steps() -> RunConfig {
    let mut task = TaskSpec::paper(Task::ShortestPath);
    task.set_size("4..9".parse().unwrap()).unwrap();
    let mut config = RunConfig::new(task, ModelConfig::preset("max-plus"));
    config.model.hidden_width = Some(8);
    config.seed = 3;
    let method = config.supervised_mut().unwrap();
    (method.epochs, method.batch_size, method.data.train, method.data.validation) = (2, 4, 18, 6);
    config
}

#[test]
fn a_short_training_finds_a_rule_for_larger_graphs() {
    /// The rule is exact or wrong by tenths; in between lies only rounding.
    const EXACT: f64 = 1e-3;
    let mut config = ten_steps();
    let mut task = config.task.built_in().unwrap().clone();
    task.set_size("4..13".parse().unwrap()).unwrap();
    config.task = RunTask::BuiltIn(task);
    config.model.hidden_width = Some(16);
    let method = config.supervised_mut().unwrap();
    (method.epochs, method.batch_size, method.data.train, method.data.validation) = (1, 16, 6_400, 50);
    let outcome = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
    let mut large = config.task.built_in().unwrap().clone();
    large.set_size("48".parse().unwrap()).unwrap();
    let predictor = ModelPredictor::new(&outcome.model, &Device::flex());
    let options = EvalOptions { success: true, ..EvalOptions::default() };
    let report = evaluate(&predictor, &large, 20, 7, &options, &mut |_| {}).unwrap();
    assert!(report.relative_loss.unwrap() < EXACT && report.capped == 0, "{report:?}");
    assert_eq!(report.success_rate, Some(1.0));
}

#[test]
fn a_run_stopped_before_in_or_after_hardening_ends_with_the_same_bits() {
    let config = ten_steps();
    let expected = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for stop in [1, 3, 4, 7, 9] {
        let part = folder.path().join(format!("stopped-{stop}"));
        let options = |start, stop_at_step| TrainOptions { start, stop_at_step, ..TrainOptions::default() };
        train(&config, Some(&part), &options(Start::New, Some(stop)), &mut Silent).unwrap();
        let resumed = train(&config, Some(&part), &options(Start::Resume, None), &mut Silent).unwrap();
        assert_eq!((resumed.status, resumed.steps), (Status::Finished, 10));
        assert_eq!(bits(&resumed.model), bits(&expected.model), "stopped after {stop} steps");
    }
}

#[test]
fn the_finished_model_is_the_result() {
    let outcome = train(&ten_steps(), None, &TrainOptions::default(), &mut Silent).unwrap();
    assert_eq!(outcome.best.unwrap().epoch, 2);
    // Hard, absent at minus infinity, sharp, output weights free.
    assert_eq!(named_tensors(&outcome.model)["network.stage"].values, [1.0, f64::from(-1e30_f32), 100.0, 0.0]);
}

#[test]
fn graphs_that_are_not_trees_are_waited_for() {
    let settings = |generator: &str| {
        let text = format!("[task]\ntask = 'shortest-path'\ngenerator = '{generator}'\n[model]\nname = 'max-plus'");
        match RunConfig::from_toml(&text).unwrap().resolve().unwrap().model {
            itergnn_nn::GnnConfig::MaxPlus(config) => (config.residual, config.both_ways, config.ponder),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(settings("lobster"), (false, false, 0.01));
    for generator in ["planar", "knn", "er"] {
        assert_eq!(settings(generator), (true, true, 0.0), "{generator}");
    }
}

#[test]
fn settings_of_other_models_are_refused() {
    let mut config = ten_steps();
    assert_eq!(config.resolve().unwrap().config.optimiser, OptimiserConfig::max_plus());
    config.optimiser.learning_rate = 0.5;
    assert_eq!(config.resolve().unwrap().config.optimiser.learning_rate, 0.5);
    config.model.blocks = Some(2);
    let error = config.resolve().unwrap_err().to_string();
    assert_eq!(error, "config: model.blocks: `max-plus` does not take it");
    let balls = RunConfig::new(TaskSpec::paper(Task::NewtonBalls), ModelConfig::preset("max-plus"));
    assert!(matches!(balls.resolve().unwrap_err(), TrainError::ModelMismatch { .. }));
}
