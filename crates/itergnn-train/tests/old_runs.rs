//! Run directories of older versions load, go on, and give the weights they gave.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use itergnn_nn::{GnnModel, store};
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::classification::{cross_validate, evaluate_run, is_classification_run};
use itergnn_train::{MethodConfig, RunConfig, RunDirectory, RunTask, Silent, Start, Status, TrainOptions, train};
use support::{bits, method};

fn old(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_runs").join(name)
}

/// A copy to write in.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn best(run: &Path) -> GnnModel {
    store::load(RunDirectory::best_model_in(run), &Device::flex()).unwrap().0
}

fn resume() -> TrainOptions {
    TrainOptions { start: Start::Resume, ..TrainOptions::default() }
}

#[test]
fn configurations_of_all_three_kinds_are_read_and_their_models_found() {
    for (name, task) in [("samples", Task::ShortestPath), ("game", Task::Pacman), ("folds", Task::GraphClassification)]
    {
        let config = RunDirectory::config_of(&old(name)).unwrap();
        assert_eq!(config.task.name(), task.name());
        assert_eq!(RunConfig::from_toml(&config.to_toml().unwrap()).unwrap(), config);
        if name != "folds" {
            let (_, card) = store::load(RunDirectory::best_model_in(&old(name)), &Device::flex()).unwrap();
            let of_card = RunConfig::of_card(&card).unwrap();
            assert_eq!(
                (of_card.task, of_card.method, of_card.optimiser),
                (config.task, config.method, config.optimiser)
            );
        }
    }
    assert!(is_classification_run(&old("folds")) && !is_classification_run(&old("samples")));
}

#[test]
fn the_same_settings_give_the_same_weights_as_before() {
    for name in ["samples", "game"] {
        let config = RunDirectory::config_of(&old(name)).unwrap();
        let outcome = train(&config, None, &TrainOptions::default(), &mut Silent).unwrap();
        assert_eq!(bits(&outcome.model), bits(&best(&old(name))), "{name}");
    }
}

#[test]
fn an_old_checkpoint_of_samples_goes_on_to_the_old_end() {
    let folder = tempfile::tempdir().unwrap();
    copied(&old("samples"), folder.path());
    // The state after the last step, before the epoch was closed.
    fs::remove_file(folder.path().join("checkpoints/last.ckpt")).unwrap();
    fs::remove_file(folder.path().join("checkpoints/best.safetensors")).unwrap();
    let mut config = RunDirectory::config_of(folder.path()).unwrap();
    let outcome = train(&config, Some(folder.path()), &resume(), &mut Silent).unwrap();
    assert_eq!((outcome.status, outcome.steps), (Status::Finished, 6));
    assert_eq!(bits(&outcome.model), bits(&best(&old("samples"))));
    assert_eq!(bits(&best(folder.path())), bits(&outcome.model));
    assert!(folder.path().join("model.safetensors").exists());
    // And further than it was meant to.
    method(&mut config).epochs = 3;
    let longer = train(&config, Some(folder.path()), &resume(), &mut Silent).unwrap();
    assert_eq!((longer.status, longer.steps), (Status::Finished, 9));
}

#[test]
fn an_old_checkpoint_of_games_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    copied(&old("game"), folder.path());
    let mut config = RunDirectory::config_of(folder.path()).unwrap();
    let outcome = train(&config, Some(folder.path()), &resume(), &mut Silent).unwrap();
    assert_eq!((outcome.status, outcome.steps, outcome.updates), (Status::Finished, 120, 25));
    assert_eq!(bits(&outcome.model), bits(&best(&old("game"))));
    let MethodConfig::DoubleDqn(games) = &mut config.method else { panic!("{config:?}") };
    games.steps = 160;
    let longer = train(&config, Some(folder.path()), &resume(), &mut Silent).unwrap();
    assert_eq!((longer.status, longer.steps, longer.updates), (Status::Finished, 160, 35));
}

#[test]
fn old_folds_are_kept_and_missing_ones_trained() {
    let folder = tempfile::tempdir().unwrap();
    copied(&old("folds"), folder.path());
    let mut config = RunDirectory::config_of(folder.path()).unwrap();
    let RunTask::BuiltIn(TaskSpec::GraphClassification(spec)) = &mut config.task else { panic!("{config:?}") };
    spec.data = old("sets");
    let (curves, result) = cross_validate(&config, folder.path(), &resume(), 2, |_| Silent).unwrap();
    assert!(curves.iter().all(|curve| curve.accuracy.len() == 2));
    for fold in ["fold-0", "fold-1"] {
        assert_eq!(bits(&best(&folder.path().join(fold))), bits(&best(&old("folds").join(fold))), "{fold}");
    }
    let (report, accuracy) = evaluate_run(folder.path(), Some(&old("sets")), &Device::flex()).unwrap();
    assert_eq!((report.count, accuracy.count), (40, 10));
    assert_eq!(accuracy, result.unwrap().last);
}
