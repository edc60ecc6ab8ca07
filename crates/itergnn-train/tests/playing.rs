//! Double DQN: runs are repeatable and resume to the bit.

use itergnn_nn::{GnnModel, named_tensors};
use itergnn_train::rl::{DqnConfig, train_dqn};
use itergnn_train::{ModelConfig, RunDirectory, Silent, Start, Status, TrainError, TrainOptions};

/// A run of a second: a small map, a small network, frequent everything.
fn tiny(name: &str) -> DqnConfig {
    let mut config = DqnConfig::new(ModelConfig::preset(name));
    (config.game.size, config.game.walls, config.game.dots) = (6, 2, 3);
    (config.steps, config.environments, config.log_every) = (240, 4, 40);
    config.model.hidden_width = Some(6);
    (config.agent.warm_up_steps, config.agent.replay, config.agent.batch_size) = (40, 100, 8);
    (config.agent.target_every, config.agent.returns) = (48, 2);
    (config.validation.every_steps, config.validation.games) = (80, 4);
    config
}

fn weights(model: &GnnModel) -> Vec<u64> {
    named_tensors(model).into_values().flat_map(|tensor| tensor.values).map(f64::to_bits).collect()
}

#[test]
fn the_same_configuration_gives_the_same_weights_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train_dqn(&tiny("iter-path"), None, &TrainOptions::default(), &mut Silent)).unwrap()
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(weights(&one.model), weights(&two.model));
    assert_eq!((one.best, one.best_step, one.updates), (two.best, two.best_step, 50));
    let other = DqnConfig { seed: 1, ..tiny("iter-path") };
    let other = train_dqn(&other, None, &TrainOptions::default(), &mut Silent).unwrap();
    assert_ne!(weights(&one.model), weights(&other.model));
}

#[test]
fn a_resumed_run_ends_as_one_that_was_never_stopped() {
    // A graph network and one that sees pictures; stopped in the warm-up, between two updates, and after a validation.
    for name in ["iter-path", "cnn"] {
        let folder = tempfile::tempdir().unwrap();
        let config = DqnConfig { layers: (name == "cnn").then_some(1), ..tiny(name) };
        let whole = folder.path().join("whole");
        let outcome = train_dqn(&config, Some(&whole), &TrainOptions::default(), &mut Silent).unwrap();
        assert_eq!(outcome.status, Status::Finished);
        let parts = folder.path().join("parts");
        let mut start = Start::New;
        for stop in [20, 118, 161, u64::MAX] {
            let options = TrainOptions { start, stop_at_step: Some(stop), ..TrainOptions::default() };
            let part = train_dqn(&config, Some(&parts), &options, &mut Silent).unwrap();
            assert_eq!(part.status == Status::Finished, stop == u64::MAX);
            start = Start::Resume;
        }
        for file in ["checkpoints/best.safetensors", "config.toml", "model.json"] {
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
        let config_read: DqnConfig = RunDirectory::config_of(&parts).unwrap();
        assert_eq!(config_read, config);
    }
}

#[test]
fn a_run_of_other_settings_or_of_another_kind_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let options = TrainOptions { stop_at_step: Some(20), ..TrainOptions::default() };
    train_dqn(&tiny("pointnet"), Some(folder.path()), &options, &mut Silent).unwrap();
    let resume = TrainOptions { start: Start::Resume, ..options };
    let other = DqnConfig { steps: 400, ..tiny("pointnet") };
    let refused = train_dqn(&other, Some(folder.path()), &resume, &mut Silent).unwrap_err();
    assert!(matches!(refused, TrainError::OtherConfig { .. }), "{refused}");
    let damaged = folder.path().join("checkpoints/last.ckpt");
    std::fs::write(&damaged, b"nothing").unwrap();
    let refused = train_dqn(&tiny("pointnet"), Some(folder.path()), &resume, &mut Silent).unwrap_err();
    assert!(matches!(refused, TrainError::Checkpoint { .. }), "{refused}");
}
