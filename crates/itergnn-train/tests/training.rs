//! Runs of every kind of task: they learn, they are the same on any number of threads, they stop when they should.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

mod support;

use itergnn_tasks::Task;
use itergnn_train::{
    Cap, EpochRecord, LossKind, ModelConfig, Observer, RunConfig, RunDirectory, Silent, Start, Status, StepRecord,
    TrainError, TrainOptions, seed_directory, train, train_seeds,
};
use support::{bits, method, tiny};

#[derive(Default)]
struct Records {
    steps: Vec<StepRecord>,
    epochs: Vec<EpochRecord>,
}

impl Observer for Records {
    fn step(&mut self, record: &StepRecord) {
        self.steps.push(*record);
    }

    fn epoch(&mut self, record: &EpochRecord) {
        self.epochs.push(record.clone());
    }
}

fn watched(config: &RunConfig) -> Records {
    let mut records = Records::default();
    train(config, None, &TrainOptions::default(), &mut records).unwrap();
    records
}

#[test]
fn every_kind_of_target_trains() {
    for task in [Task::ComponentCount, Task::NewtonBalls, Task::RegularGraphs, Task::Navigation] {
        let records = watched(&tiny(task));
        assert_eq!((records.steps.len(), records.epochs.len()), (10, 2), "{task}");
        let last = &records.epochs[1];
        assert!(last.train_loss.is_finite() && last.selected_by.is_some(), "{task}: {last:?}");
        assert!(last.validation.iterations >= 1.0);
    }
}

#[test]
fn the_loss_goes_down_on_shortest_paths() {
    let mut config = tiny(Task::ShortestPath);
    (method(&mut config).epochs, method(&mut config).data.train) = (12, 64);
    config.optimiser.learning_rate = 5e-3;
    config.optimiser.schedule = Default::default();
    let records = watched(&config);
    let (first, last) = (records.epochs[0].train_loss, records.epochs[11].train_loss);
    assert!(last < 0.5 * first, "from {first} to {last}");
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let config = tiny(Task::ShortestPath);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = pool.install(|| train(&config, None, &TrainOptions::default(), &mut Silent)).unwrap();
        (bits(&outcome.model), outcome.best)
    };
    let one = on(1);
    assert_eq!(on(2), one);
    assert_eq!(on(3), one);
}

#[test]
fn seeds_side_by_side_give_what_they_give_alone() {
    let config = tiny(Task::ShortestPath);
    let seeds = [5, 1, 9];
    let folder = tempfile::tempdir().unwrap();
    let together = train_seeds(&config, &seeds, Some(folder.path()), &TrainOptions::default(), 2, |_| Silent).unwrap();
    for (seed, outcome) in seeds.into_iter().zip(together) {
        assert_eq!(outcome.seed, seed);
        let alone = train(&RunConfig { seed, ..config.clone() }, None, &TrainOptions::default(), &mut Silent).unwrap();
        assert_eq!(bits(&outcome.result.unwrap().model), bits(&alone.model));
        assert!(seed_directory(folder.path(), seed).join("result.json").exists());
    }
    // The directories are taken now: every seed says so, none is dropped.
    let refused = train_seeds(&config, &seeds, Some(folder.path()), &TrainOptions::default(), 2, |_| Silent).unwrap();
    assert!(refused.len() == 3 && refused.iter().all(|outcome| outcome.result.is_err()));
}

#[test]
fn different_seeds_give_different_models() {
    let config = tiny(Task::ShortestPath);
    let weights = |seed| {
        let config = RunConfig { seed, ..config.clone() };
        bits(&train(&config, None, &TrainOptions::default(), &mut Silent).unwrap().model)
    };
    assert_ne!(weights(1), weights(2));
}

#[test]
fn training_that_diverges_stops_with_its_step() {
    let mut config = tiny(Task::ShortestPath);
    config.optimiser.learning_rate = 1e30;
    config.optimiser.schedule = Default::default();
    let folder = tempfile::tempdir().unwrap();
    config.checkpoint.every_steps = Some(1);
    let error = train(&config, Some(folder.path()), &TrainOptions::default(), &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::NotFinite { step: 2.., epoch: 1, .. }), "{error}");
    assert!(error.to_string().contains(" at step "), "{error}");
    assert!(folder.path().join("checkpoints/last.ckpt").exists());
}

#[test]
fn patience_ends_a_run_early() {
    let mut config = tiny(Task::ShortestPath);
    method(&mut config).epochs = 50;
    config.selection.patience = Some(2);
    // Nothing changes at this rate, so no epoch is better than the first.
    config.optimiser.learning_rate = 1e-30;
    let mut records = Records::default();
    let outcome = train(&config, None, &TrainOptions::default(), &mut records).unwrap();
    assert_eq!((outcome.status, records.epochs.len()), (Status::EarlyStopped, 3));
    assert_eq!(outcome.best.unwrap().epoch, 1);
}

#[test]
fn lifting_the_cap_shows_models_that_never_stop() {
    let mut config = tiny(Task::ShortestPath);
    method(&mut config).epochs = 1;
    // Two iterations are too few for the initial confidences to add up.
    config.model = ModelConfig { controller: Some(capped_at(2)), ..config.model };
    config.selection.cap = Cap::Lifted;
    let record = &watched(&config).epochs[0];
    assert_eq!((record.validation.iterations, record.validation.capped), (2.0, 1.0));
    assert!(record.validation_lifted.iterations > 2.0);
    assert_eq!(record.selected_by, record.validation_lifted.relative_loss);
    assert_ne!(record.validation.relative_loss, record.validation_lifted.relative_loss);
    config.selection.cap = Cap::Training;
    let record = &watched(&config).epochs[0];
    assert_eq!(record.selected_by, record.validation.relative_loss);
}

fn capped_at(steps: usize) -> itergnn_nn::controllers::ControllerConfig {
    itergnn_nn::controllers::ControllerConfig::iter_decay().with_iter(|iter| iter.training_cap = steps)
}

#[test]
fn stacks_and_other_losses_train_too() {
    let mut config = tiny(Task::ShortestPath);
    config.model = ModelConfig {
        controller: Some(itergnn_nn::controllers::ControllerConfig::stack(3)),
        hidden_width: Some(8),
        ..ModelConfig::preset("gcn")
    };
    method(&mut config).loss = Some(LossKind::Relative);
    let records = watched(&config);
    assert_eq!(records.epochs[1].validation, records.epochs[1].validation_lifted);
    assert_eq!(records.epochs[1].validation.iterations, 3.0);
}

#[test]
fn held_out_sizes_are_validated_on() {
    let mut config = tiny(Task::ShortestPath);
    config.selection.held_out_from = Some(8);
    assert_eq!(watched(&config).epochs.len(), 2);
}

#[test]
fn a_run_begins_with_the_weights_of_a_model_file() {
    let folder = tempfile::tempdir().unwrap();
    let first =
        train(&tiny(Task::ShortestPath), Some(&folder.path().join("first")), &TrainOptions::default(), &mut Silent);
    let file = RunDirectory::best_model_in(&folder.path().join("first"));
    let mut config = tiny(Task::ShortestPath);
    (config.seed, config.model.start_from) = (12, Some(file));
    // Caps have no weights, so they may be others.
    config.model.controller =
        toml::from_str::<ModelConfig>("name = ''\ncontroller = { kind = 'iter-decay', training_cap = 9 }")
            .unwrap()
            .controller;
    let untrained = TrainOptions { stop_at_step: Some(0), ..TrainOptions::default() };
    let second = train(&config, None, &untrained, &mut Silent).unwrap();
    assert_eq!(bits(&second.model), bits(&first.unwrap().model));

    let (whole, part) = (folder.path().join("whole"), folder.path().join("part"));
    let expected = train(&config, Some(&whole), &TrainOptions::default(), &mut Silent).unwrap();
    let stopped = TrainOptions { stop_at_step: Some(3), ..TrainOptions::default() };
    train(&config, Some(&part), &stopped, &mut Silent).unwrap();
    let resumed = TrainOptions { start: Start::Resume, ..TrainOptions::default() };
    let resumed = train(&config, Some(&part), &resumed, &mut Silent).unwrap();
    assert_eq!(bits(&resumed.model), bits(&expected.model));

    config.model.hidden_width = Some(9);
    let refused = train(&config, None, &untrained, &mut Silent).unwrap_err();
    assert!(matches!(&refused, TrainError::Config { field: "model.start_from", .. }), "{refused}");
    config.model.start_from = Some(folder.path().join("missing.safetensors"));
    let refused = train(&config, None, &untrained, &mut Silent).unwrap_err();
    assert!(refused.to_string().contains("missing.safetensors"), "{refused}");
}
