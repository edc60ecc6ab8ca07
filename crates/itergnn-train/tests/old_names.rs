//! Run directories of the version in which `iter-homo-path` was another network for every task: they go on as what they
//! were, under the names of today.
//!
//! `old_names` was written by that version (commit 324f8f6): trainings of 20 steps with `--samples 40 --validation 4
//! --batch-size 4 --epochs 2 --set checkpoint.every_steps=7`, left at step 14; `finished.safetensors` is the model in
//! which the same training ended there.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use itergnn_nn::{GnnConfig, named_tensors, store};
use itergnn_train::{ModelConfig, RunConfig, RunDirectory, Silent, Start, Status, TrainError, TrainOptions, train};
use tempfile::TempDir;

/// Engines agree to rounding, not to the bit, and may be improved.
const ROUNDING: f64 = 1e-5;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

/// A copy of an old run that can be written to.
fn old_run(folder: &TempDir, name: &str) -> PathBuf {
    let run = folder.path().join(name);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_names").join(name), &run);
    run
}

#[test]
fn they_go_on_as_what_they_were_under_the_names_of_today() {
    let folder = TempDir::new().unwrap();
    for (run, name) in [
        ("max-plus", "max-plus"),
        ("waves", "waves"),
        ("one-tree", "one-tree"),
        ("settle", "iter-path-settle"),
        ("paper", "iter-homo-path"),
        ("controller", "iter-homo-path-settle"),
    ] {
        let run = old_run(&folder, run);
        let text = fs::read_to_string(run.join("config.toml")).unwrap();
        assert!(!text.contains("names"), "a file of today is no test");
        let config: RunConfig = RunDirectory::config_of(&run).unwrap();
        assert_eq!(config.model.name, name);
        let options = TrainOptions { start: Start::Resume, ..TrainOptions::default() };
        let outcome = train(&config, Some(&run), &options, &mut Silent).unwrap();
        assert_eq!((outcome.status, outcome.steps), (Status::Finished, 20), "{name}");

        let model: GnnConfig = serde_json::from_slice(&fs::read(run.join("model.json")).unwrap()).unwrap();
        assert_eq!(*outcome.model.config(), model, "{name}");
        let (expected, _) = store::load(run.join("finished.safetensors"), &Device::flex()).unwrap();
        assert_eq!(*expected.config(), model, "{name}");
        for ((tensor, found), expected) in named_tensors(&outcome.model).iter().zip(named_tensors(&expected).values()) {
            let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= ROUNDING * expected.abs().max(1.0);
            assert!(found.values.iter().zip(&expected.values).all(near), "{name}: {tensor}");
        }
    }
}

#[test]
fn the_old_name_asks_for_another_network_now() {
    let folder = TempDir::new().unwrap();
    let run = old_run(&folder, "waves");
    let mut config: RunConfig = RunDirectory::config_of(&run).unwrap();
    config.model = ModelConfig::preset("iter-homo-path");
    let options = TrainOptions { start: Start::Resume, ..TrainOptions::default() };
    let error = train(&config, Some(&run), &options, &mut Silent).unwrap_err();
    assert!(matches!(error, TrainError::OtherConfig { .. }), "{error}");
}
