//! A run that is stopped, killed or damaged goes on to the result it would have had.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use burn::tensor::Device;
use itergnn_nn::store;
use itergnn_tasks::Task;
use itergnn_train::{
    EpochRecord, Observer, RunConfig, RunDirectory, Silent, Start, Status, StepRecord, TrainError, TrainOptions, train,
};
use support::{bits, tiny};

fn options(start: Start, stop_at_step: Option<u64>) -> TrainOptions {
    TrainOptions { start, stop_at_step, ..TrainOptions::default() }
}

fn last_weights(directory: &Path) -> Vec<u8> {
    fs::read(directory.join("checkpoints/last.ckpt")).unwrap()
}

/// The numbers of the metrics file without what depends on the clock.
fn metrics(directory: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(directory.join("metrics.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        for clock in ["seconds", "seconds_left", "samples_per_second"] {
            value.as_object_mut().unwrap().remove(clock);
        }
        value
    });
    lines.collect()
}

/// The weights and the optimiser's memory at the end of a run, to the bit.
fn final_state(directory: &Path) -> itergnn_train::run::Checkpoint {
    let mut checkpoint = itergnn_train::run::Checkpoint::from_bytes(&last_weights(directory)).unwrap();
    checkpoint.progress.seconds = 0.0;
    checkpoint.logs = Default::default();
    checkpoint
}

#[test]
fn a_run_stopped_anywhere_ends_with_the_same_bits() {
    let config = tiny(Task::ShortestPath);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let expected = train(&config, Some(&whole), &TrainOptions::default(), &mut Silent).unwrap();
    assert_eq!((expected.status, expected.steps), (Status::Finished, 10));
    // Within the first epoch, at its end, within the second, one step before the end, and with nothing done.
    for stop in [0, 1, 3, 5, 7, 9] {
        let part = folder.path().join(format!("stopped-{stop}"));
        let stopped = train(&config, Some(&part), &options(Start::New, Some(stop)), &mut Silent).unwrap();
        assert_eq!((stopped.status, stopped.steps), (Status::Stopped, stop));
        let resumed = train(&config, Some(&part), &options(Start::Resume, None), &mut Silent).unwrap();
        assert_eq!((resumed.status, resumed.steps), (Status::Finished, 10));
        assert_eq!(bits(&resumed.model), bits(&expected.model), "stopped after {stop} steps");
        assert_eq!(final_state(&part), final_state(&whole), "stopped after {stop} steps");
        assert_eq!(metrics(&part), metrics(&whole), "stopped after {stop} steps");
        let best = |directory: &Path| {
            let (model, card) = store::load(RunDirectory::best_model_in(directory), &Device::flex()).unwrap();
            (bits(&model), card)
        };
        assert_eq!(best(&part), best(&whole));
    }
}

#[test]
fn many_stops_are_as_good_as_none() {
    let config = tiny(Task::RegularGraphs);
    let expected = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for stop in 1..=10 {
        train(&config, Some(folder.path()), &options(Start::ResumeOrNew, Some(stop)), &mut Silent).unwrap();
    }
    let resumed = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut Silent).unwrap();
    assert_eq!(bits(&resumed.model), bits(&expected.model));
}

/// Panics at a step, as close to a kill as a test in the same process comes: nothing is saved on the way out.
struct Bomb(u64);

impl Observer for Bomb {
    fn step(&mut self, record: &StepRecord) {
        assert!(record.step < self.0, "the bomb goes off");
    }
}

#[test]
fn a_run_that_dies_loses_only_what_came_after_its_checkpoint() {
    let mut config = tiny(Task::ShortestPath);
    config.checkpoint.every_steps = Some(3);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let expected = train(&config, Some(&whole), &TrainOptions::default(), &mut Silent).unwrap();
    for death in [2, 5, 8] {
        let part = folder.path().join(format!("died-{death}"));
        let died = std::panic::catch_unwind(|| train(&config, Some(&part), &TrainOptions::default(), &mut Bomb(death)));
        assert!(died.is_err());
        let resumed = train(&config, Some(&part), &options(Start::Resume, None), &mut Silent).unwrap();
        assert_eq!(bits(&resumed.model), bits(&expected.model), "died at {death}");
        assert_eq!(metrics(&part), metrics(&whole), "no record is there twice");
    }
}

#[test]
fn a_damaged_checkpoint_is_passed_over_for_the_one_before_it() {
    let mut config = tiny(Task::ShortestPath);
    config.checkpoint.every_steps = Some(2);
    let folder = tempfile::tempdir().unwrap();
    let expected = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
    train(&config, Some(folder.path()), &options(Start::New, Some(7)), &mut Silent).unwrap();
    let last = folder.path().join("checkpoints/last.ckpt");
    let mut bytes = fs::read(&last).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&last, &bytes).unwrap();

    #[derive(Default)]
    struct Notes(Vec<String>, u64);
    impl Observer for Notes {
        fn note(&mut self, message: &str) {
            self.0.push(message.to_owned());
        }
        fn started(&mut self, plan: &itergnn_train::Plan) {
            self.1 = plan.steps_done;
        }
    }
    let mut notes = Notes::default();
    let resumed = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut notes).unwrap();
    assert_eq!(notes.1, 6, "the checkpoint of step 6 is the last good one");
    assert!(notes.0.len() == 1 && notes.0[0].contains("last.ckpt") && notes.0[0].contains("checksum"), "{:?}", notes.0);
    assert_eq!(bits(&resumed.model), bits(&expected.model));

    for name in ["last.ckpt", "previous.ckpt"] {
        fs::write(folder.path().join("checkpoints").join(name), b"ITERGNN").unwrap();
    }
    let error = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::Checkpoint { .. }), "{error}");
}

#[test]
fn a_write_that_fails_is_an_error_and_leaves_the_last_checkpoint() {
    let config = tiny(Task::ShortestPath);
    let expected = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
    let folder = tempfile::tempdir().unwrap();
    train(&config, Some(folder.path()), &options(Start::New, Some(4)), &mut Silent).unwrap();
    let good = last_weights(folder.path());
    // Where the new file would be written before it is renamed, a folder stands in the way.
    let in_the_way = folder.path().join(format!("checkpoints/.last.ckpt.{}.tmp", std::process::id()));
    fs::create_dir(&in_the_way).unwrap();
    let error = train(&config, Some(folder.path()), &options(Start::Resume, Some(6)), &mut Silent).unwrap_err();
    assert!(error.to_string().starts_with("cannot write ") && error.to_string().contains("last.ckpt"), "{error}");
    assert_eq!(last_weights(folder.path()), good);
    fs::remove_dir(&in_the_way).unwrap();
    let resumed = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut Silent).unwrap();
    assert_eq!(bits(&resumed.model), bits(&expected.model));
}

#[test]
fn a_directory_that_cannot_be_made_is_named_before_anything_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = train(&tiny(Task::ShortestPath), Some(&file.join("run")), &TrainOptions::default(), &mut Silent);
    let message = error.unwrap_err().to_string();
    assert!(message.starts_with("cannot create ") && message.contains("file/run"), "{message}");
}

#[test]
fn runs_are_not_overwritten_mixed_up_or_shared() {
    let config = tiny(Task::ShortestPath);
    let folder = tempfile::tempdir().unwrap();
    let missing = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut Silent).unwrap_err();
    assert!(matches!(missing, TrainError::NoRun { .. }), "{missing}");
    train(&config, Some(folder.path()), &options(Start::New, Some(1)), &mut Silent).unwrap();
    let again = train(&config, Some(folder.path()), &options(Start::New, None), &mut Silent).unwrap_err();
    assert!(matches!(again, TrainError::RunExists { .. }), "{again}");
    let mut other = config.clone();
    other.optimiser.learning_rate = 0.5;
    let other = train(&other, Some(folder.path()), &options(Start::Resume, None), &mut Silent).unwrap_err();
    assert!(other.to_string().contains("learning_rate"), "{other}");
    let resolved = config.resolve().unwrap().config;
    let (held, _) = RunDirectory::open(folder.path(), &resolved, Start::Resume).unwrap();
    let shared = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut Silent).unwrap_err();
    assert!(matches!(shared, TrainError::RunInUse { .. }), "{shared}");
    drop(held);
    // How often to save may change.
    let mut habits = config.clone();
    habits.checkpoint.every_steps = Some(1);
    train(&habits, Some(folder.path()), &options(Start::Resume, Some(2)), &mut Silent).unwrap();
    let held = RunDirectory::config_of(folder.path()).unwrap();
    assert_eq!(held, RunConfig { checkpoint: habits.checkpoint, ..resolved });
}

/// Raises the stop flag at a step, as Ctrl-C would.
struct Interrupt(Arc<AtomicBool>, u64);

impl Observer for Interrupt {
    fn step(&mut self, record: &StepRecord) {
        if record.step == self.1 {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn the_stop_flag_ends_a_run_after_the_step_it_is_in() {
    let config: RunConfig = tiny(Task::ShortestPath);
    let folder = tempfile::tempdir().unwrap();
    let options = TrainOptions::default();
    let mut interrupt = Interrupt(options.stop.clone(), 3);
    let outcome = train(&config, Some(folder.path()), &options, &mut interrupt).unwrap();
    assert_eq!((outcome.status, outcome.steps), (Status::Stopped, 3));
    let result = fs::read_to_string(folder.path().join("result.json")).unwrap();
    assert!(result.contains("\"stopped\""), "{result}");
}

#[test]
fn a_finished_run_is_not_run_again() {
    let config = tiny(Task::ShortestPath);
    let folder = tempfile::tempdir().unwrap();
    let first = train(&config, Some(folder.path()), &TrainOptions::default(), &mut Silent).unwrap();
    struct Never;
    impl Observer for Never {
        fn step(&mut self, _: &StepRecord) {
            panic!("a finished run takes no step");
        }
        fn epoch(&mut self, _: &EpochRecord) {
            panic!("a finished run has no epoch");
        }
    }
    let again = train(&config, Some(folder.path()), &options(Start::Resume, None), &mut Never).unwrap();
    assert_eq!((again.status, bits(&again.model)), (Status::Finished, bits(&first.model)));
    assert_eq!(again.best, first.best);
}

#[test]
fn a_finished_run_without_checkpoints_is_not_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = tiny(Task::ShortestPath);
    train(&config, Some(folder.path()), &TrainOptions::default(), &mut Silent).unwrap();
    let model = fs::read(RunDirectory::best_model_in(folder.path())).unwrap();
    fs::remove_dir_all(folder.path().join("checkpoints")).unwrap();
    for start in [Start::Resume, Start::ResumeOrNew] {
        let refused = train(&config, Some(folder.path()), &options(start, None), &mut Silent).unwrap_err();
        assert!(matches!(&refused, TrainError::NoCheckpoint { .. }), "{refused}");
    }
    assert_eq!(fs::read(RunDirectory::best_model_in(folder.path())).unwrap(), model);
}
