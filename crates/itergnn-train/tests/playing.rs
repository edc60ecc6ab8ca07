//! Double DQN: runs are repeatable and resume to the bit.

use itergnn_nn::{GnnModel, named_tensors};
use itergnn_tasks::TaskSpec;
use itergnn_tasks::pacman::PacmanConfig;
use itergnn_train::rl::{AgentConfig, PlayValidation};
use itergnn_train::{
    DqnConfig, MethodConfig, ModelConfig, RunConfig, RunDirectory, Silent, Start, Status, TrainError, TrainOptions,
    train,
};

/// A run of a second: a small map, a small network, frequent everything.
fn tiny(name: &str, layers: Option<usize>) -> RunConfig {
    let game = PacmanConfig { size: 6, walls: 2, dots: 3, ..PacmanConfig::default() };
    let model = ModelConfig { hidden_width: Some(6), ..ModelConfig::preset(name) };
    let agent = AgentConfig {
        warm_up_steps: 40,
        replay: 100,
        batch_size: 8,
        target_every: 48,
        returns: 2,
        ..AgentConfig::default()
    };
    let validation = PlayValidation { every_steps: 80, games: 4, symmetries: false };
    let method = DqnConfig { steps: 240, environments: 4, layers, agent, validation, ..DqnConfig::default() };
    let config = RunConfig::new(TaskSpec::Pacman(game), model);
    RunConfig { log_every: 40, method: MethodConfig::DoubleDqn(method), ..config }
}

fn weights(model: &GnnModel) -> Vec<u64> {
    named_tensors(model).into_values().flat_map(|tensor| tensor.values).map(f64::to_bits).collect()
}

#[test]
fn the_same_configuration_gives_the_same_weights_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(&tiny("iter-path", None), None, &TrainOptions::default(), &mut Silent)).unwrap()
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(weights(&one.model), weights(&two.model));
    assert_eq!((one.best, one.updates), (two.best, 50));
    let other = RunConfig { seed: 1, ..tiny("iter-path", None) };
    let other = train(&other, None, &TrainOptions::default(), &mut Silent).unwrap();
    assert_ne!(weights(&one.model), weights(&other.model));
}

#[test]
fn a_resumed_run_ends_as_one_that_was_never_stopped() {
    // A graph network and one that sees pictures; stopped in the warm-up, between two updates, and after a validation.
    for name in ["iter-path", "cnn"] {
        let folder = tempfile::tempdir().unwrap();
        let config = tiny(name, (name == "cnn").then_some(1));
        let whole = folder.path().join("whole");
        let outcome = train(&config, Some(&whole), &TrainOptions::default(), &mut Silent).unwrap();
        assert_eq!(outcome.status, Status::Finished);
        let parts = folder.path().join("parts");
        let mut start = Start::New;
        for stop in [20, 118, 161, u64::MAX] {
            let options = TrainOptions { start, stop_at_step: Some(stop), ..TrainOptions::default() };
            let part = train(&config, Some(&parts), &options, &mut Silent).unwrap();
            assert_eq!(part.status == Status::Finished, stop == u64::MAX);
            start = Start::Resume;
        }
        for file in ["model.safetensors", "config.toml", "model.json"] {
            let read = |run: &std::path::Path| std::fs::read(run.join(file)).unwrap();
            assert!(read(&whole) == read(&parts), "{name}: {file} differs");
        }
        // The logs hold the same numbers, but for times.
        let losses = |run: &std::path::Path| -> Vec<serde_json::Value> {
            let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            lines.map(|line| serde_json::json!([line["step"], line["loss"], line["validation_success"]])).collect()
        };
        assert_eq!(losses(&whole), losses(&parts));
        assert_eq!(RunDirectory::config_of(&parts).unwrap(), config);
    }
}

#[test]
fn a_run_of_other_settings_or_of_another_kind_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let options = TrainOptions { stop_at_step: Some(20), ..TrainOptions::default() };
    train(&tiny("pointnet", None), Some(folder.path()), &options, &mut Silent).unwrap();
    let resume = TrainOptions { start: Start::Resume, ..options };
    let other = RunConfig { seed: 7, ..tiny("pointnet", None) };
    let refused = train(&other, Some(folder.path()), &resume, &mut Silent).unwrap_err();
    assert!(matches!(refused, TrainError::OtherConfig { .. }), "{refused}");
    let damaged = folder.path().join("checkpoints/last.ckpt");
    std::fs::write(&damaged, b"nothing").unwrap();
    let refused = train(&tiny("pointnet", None), Some(folder.path()), &resume, &mut Silent).unwrap_err();
    assert!(matches!(refused, TrainError::Checkpoint { .. }), "{refused}");
}
