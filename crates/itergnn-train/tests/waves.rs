//! Wave models in training: they find the exact rule, go on where they were stopped, and every experiment's
//! configuration runs.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

mod support;

use burn::tensor::Device;
use itergnn_nn::GnnConfig;
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::evaluation::{EvalOptions, EvalReport, ModelPredictor, evaluate};
use itergnn_train::{ModelConfig, OptimiserConfig, RunConfig, Silent, Start, Status, TrainOptions, train};
use support::bits;

/// Every file of the three experiments.
const EXPERIMENTS: [&str; 7] = [
    include_str!("../../../experiments/component-count/er.toml"),
    include_str!("../../../experiments/component-count/lobster.toml"),
    include_str!("../../../experiments/newton-balls/config.toml"),
    include_str!("../../../experiments/regular-graphs/cycles.toml"),
    include_str!("../../../experiments/regular-graphs/cubic.toml"),
    include_str!("../../../experiments/regular-graphs/cycles-plain.toml"),
    include_str!("../../../experiments/regular-graphs/cubic-plain.toml"),
];

fn judged(config: &RunConfig, size: Option<&str>, count: u64) -> EvalReport {
    let outcome = train(config, None, &TrainOptions::default(), &mut Silent).unwrap();
    let mut task = config.task.built_in().unwrap().clone();
    if let Some(size) = size {
        task.set_size(size.parse().unwrap()).unwrap();
    }
    let predictor = ModelPredictor::new(&outcome.model, &Device::flex());
    evaluate(&predictor, &task, count, 7, &EvalOptions::default(), &mut |_| {}).unwrap()
}

/// The experiments in small: fewer samples and one epoch.
#[test]
fn every_experiment_runs_and_is_right_beyond_its_sizes() {
    /// Positions at size 150 are numbers up to 30 with f32 rounding of 2e-6 each.
    const EXACT: f64 = 1e-8;
    for text in EXPERIMENTS {
        let mut config = RunConfig::from_toml(text).unwrap();
        assert!(matches!(config.resolve().unwrap().model, GnnConfig::Waves(_)));
        let method = config.supervised_mut().unwrap();
        (method.epochs, method.data.train, method.data.validation) = (1, 640, 20);
        match config.task.built_in().unwrap().clone() {
            TaskSpec::ComponentCount(_) => {
                let report = judged(&config, Some("150"), 20);
                assert_eq!((report.accuracy, report.capped), (Some(1.0), 0), "{text}");
            }
            TaskSpec::NewtonBalls(_) => {
                config.supervised_mut().unwrap().data.train = 3_200;
                let report = judged(&config, Some("150"), 50);
                assert!(report.mse.unwrap() < EXACT && report.capped == 0, "{report:?}");
            }
            TaskSpec::RegularGraphs(spec) => {
                let accuracy = judged(&config, None, 400).accuracy.unwrap();
                if spec.random {
                    assert_eq!(accuracy, 1.0, "{text}");
                } else {
                    // Five standard deviations of 400 fair throws.
                    assert!((accuracy - 0.5).abs() < 0.125, "{text}: {accuracy}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_run_that_was_stopped_ends_with_the_same_bits() {
    let mut task = TaskSpec::paper(Task::NewtonBalls);
    task.set_size("4..9".parse().unwrap()).unwrap();
    let mut config = RunConfig::new(task, ModelConfig::preset("waves"));
    config.seed = 3;
    let method = config.supervised_mut().unwrap();
    (method.epochs, method.batch_size, method.data.train, method.data.validation) = (2, 4, 18, 6);
    assert_eq!(config.resolve().unwrap().config.optimiser, OptimiserConfig::max_plus());
    let expected = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for stop in [1, 4, 9] {
        let part = folder.path().join(format!("stopped-{stop}"));
        let options = |start, stop_at_step| TrainOptions { start, stop_at_step, ..TrainOptions::default() };
        train(&config, Some(&part), &options(Start::New, Some(stop)), &mut Silent).unwrap();
        let resumed = train(&config, Some(&part), &options(Start::Resume, None), &mut Silent).unwrap();
        assert_eq!((resumed.status, resumed.steps), (Status::Finished, 10));
        assert_eq!(bits(&resumed.model), bits(&expected.model), "stopped after {stop} steps");
    }
}

#[test]
fn settings_of_other_models_are_refused() {
    for task in [Task::ComponentCount, Task::NewtonBalls, Task::RegularGraphs] {
        let mut config = RunConfig::new(TaskSpec::paper(task), ModelConfig::preset("waves"));
        assert!(matches!(config.resolve().unwrap().model, GnnConfig::Waves(_)));
        config.model.blocks = Some(2);
        let error = config.resolve().unwrap_err().to_string();
        assert_eq!(error, "config: model.blocks: `waves` does not take it");
    }
}
