//! Trainings that ended with the wrong exit code, lost their work, or went on from something else than they said.

use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
};

use crate::support::{command, fails, folder, itergnn, json, text};

/// A training of a few steps.
const SMALL: [&str; 14] = [
    "train",
    "shortest-path",
    "--model",
    "path",
    "--hidden",
    "4",
    "--size",
    "4..7",
    "--samples",
    "16",
    "--validation",
    "4",
    "--batch-size",
    "8",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], &["--set", "model.controller={ kind = 'stack', layers = 2 }"], more].concat()
}

fn is_there(folder: &Path, run: &str) -> bool {
    let run = folder.join(run);
    run.join("model.safetensors").is_file() && run.join("checkpoints/last.ckpt").is_file()
}

#[test]
fn a_training_kept_its_best_weights_among_its_checkpoints() {
    let folder = folder(&[]);
    json(folder.path(), &small(&["--epochs", "1", "--out", "run", "--json"]));
    let run = folder.path().join("run");
    assert!(is_there(folder.path(), "run") && !run.join("checkpoints/best.safetensors").exists());
    // Where older versions left them they are still found.
    fs::rename(run.join("model.safetensors"), run.join("checkpoints/best.safetensors")).expect("renamed");
    let report = json(folder.path(), &["eval", "run", "--count", "2", "--size", "5", "--json"]);
    assert_eq!(report["count"], 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_stderr_killed_the_training() {
    let folder = folder(&[]);
    for (run, stderr) in [("full", "/dev/full"), ("gone", "")] {
        let line = small(&["--epochs", "2", "--out", run]);
        let mut command = command(folder.path(), &line);
        if stderr.is_empty() {
            // A pipe whose reader is gone.
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            command.stderr(writer);
        } else {
            command.stderr(File::options().write(true).open(stderr).expect("it exists"));
        }
        let status = command.stdout(Stdio::null()).status().expect("it runs");
        assert_eq!(status.code(), Some(0), "{run}");
        assert!(is_there(folder.path(), run), "{run}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_is_a_failure_that_keeps_the_run() {
    let folder = folder(&[]);
    let line = small(&["--epochs", "1", "--out", "run"]);
    let full = File::options().write(true).open("/dev/full").expect("it exists");
    let status = command(folder.path(), &line).stdout(full).stderr(Stdio::null()).status().expect("it runs");
    assert_eq!(status.code(), Some(1));
    assert!(is_there(folder.path(), "run"));
}

#[test]
fn a_checkpoint_that_could_not_be_written_was_bad_input() {
    let folder = folder(&[]);
    // A folder where the checkpoint belongs.
    fs::create_dir_all(folder.path().join("run/checkpoints/last.ckpt")).expect("a folder");
    let output = itergnn(folder.path(), &small(&["--epochs", "1", "--out", "run"]));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("last.ckpt"), "{}", text(&output.stderr));
}

#[test]
fn a_training_that_diverged_was_bad_input() {
    let folder = folder(&[]);
    let output =
        itergnn(folder.path(), &small(&["--learning-rate", "1e30", "--epochs", "4", "--out", "run", "--json"]));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(told["error"].as_str().is_some_and(|error| error.contains("at step")), "{told}");
}

#[test]
fn numbers_of_trainings_aborted_or_hung() {
    let folder = folder(&[]);
    for (more, parts) in [
        (&["--samples", "4294967296"][..], &["4294967296", "at most 4294967295 fit"][..]),
        (&["--seeds", "1000000000000000000"], &["--seeds", "at most", "fit"]),
        (&["--seeds", "0"], &["--seeds 0"]),
        (&["--seeds", "2", "--seed", "18446744073709551615"], &["--seeds 2"]),
        (&["--threads", "3000"], &["3000", "at most"]),
        (&["--set", "model.controller={ kind = 'iter', training_cap = 1000000000000 }"], &["at most 100000 fit"]),
        (&["--epochs", "0"], &["epochs", "at least 1"]),
    ] {
        let line = [&["train", "shortest-path", "--model", "path", "--out", "run"], more].concat();
        fails(folder.path(), &line, 2, parts);
    }
    assert!(!folder.path().join("run").exists());
}

/// Changes a line of a run's configuration by hand.
fn edit(folder: &Path, run: &str, from: &str, to: &str) {
    let file = folder.join(run).join("config.toml");
    let held = fs::read_to_string(&file).expect("a configuration");
    assert!(held.contains(from), "{held}");
    fs::write(&file, held.replacen(from, to, 1)).expect("written");
}

#[test]
fn an_edited_configuration_was_resumed_with_the_old_weights() {
    let folder = folder(&[]);
    let path = folder.path();
    json(path, &small(&["--epochs", "1", "--seed", "5", "--out", "run", "--json"]));
    for (from, to) in [("seed = 5", "seed = 6"), ("generator = \"lobster\"", "generator = \"er\"")] {
        edit(path, "run", from, to);
        let held = fs::read(path.join("run/model.safetensors")).expect("a model");
        fails(path, &["train", "--out", "run", "--resume"], 2, &["another configuration", &to[..4]]);
        assert_eq!(fs::read(path.join("run/model.safetensors")).expect("a model"), held);
        edit(path, "run", to, from);
    }
    // What does not decide the result may be edited.
    edit(path, "run", "every_seconds = 60.0", "every_seconds = 5.0");
    assert_eq!(json(path, &["train", "--out", "run", "--resume", "--json"])["runs"][0]["status"], "finished");
}

#[test]
fn a_finished_training_could_not_be_made_longer() {
    let folder = folder(&[]);
    let path = folder.path();
    let steps = |more: &[&str]| json(path, &[more, &["--json"]].concat())["runs"][0]["steps"].as_u64();
    assert_eq!(steps(&small(&["--epochs", "1", "--out", "run"])), Some(2));
    assert_eq!(steps(&["train", "--out", "run", "--resume", "--epochs", "3"]), Some(6));
    assert_eq!(steps(&["train", "--out", "run", "--resume"]), Some(6));
    // The rate is constant, so a training of three epochs at once is the same one.
    assert_eq!(steps(&small(&["--epochs", "3", "--out", "whole"])), Some(6));
    let last = |run: &str| {
        let text = fs::read_to_string(path.join(run).join("metrics.jsonl")).expect("a log");
        let epochs = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        epochs.filter(|line| line["kind"] == "epoch").map(|line| line["train_loss"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(last("run"), last("whole"));
    fails(path, &["train", "--out", "run", "--resume", "--epochs", "2"], 2, &["3 epochs", "2 asked for"]);
}
