//! Runs that are interrupted, killed, or run out of disk: nothing is lost but the work since the last checkpoint.

#![cfg(unix)]

mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use support::{command, itergnn};

/// A run of 125 steps that saves its state at every one.
const RUN: [&str; 22] = [
    "train",
    "shortest-path",
    "--model",
    "max-plus",
    "--size",
    "4..9",
    "--samples",
    "2000",
    "--validation",
    "20",
    "--epochs",
    "2",
    "--set",
    "checkpoint.every_steps=1",
    "--set",
    "log_every=1",
    "--threads",
    "1",
    "--json",
    "--seed",
    "5",
    "--out",
];

fn model(folder: &Path, run: &str) -> Vec<u8> {
    fs::read(folder.join(run).join("model.safetensors")).expect("the run has a model")
}

/// The records of a run without what a clock says.
fn records(folder: &Path, run: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(run).join("metrics.jsonl")).expect("the run has records");
    let timeless = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("every line is whole");
        let object = record.as_object_mut().expect("an object");
        object.retain(|key, _| !key.contains("second"));
        record
    };
    text.lines().map(timeless).collect()
}

/// Resumes a run to its end and expects what an uninterrupted one gives.
fn resumes_to_the_same(folder: &Path, run: &str) {
    let output = itergnn(folder, &[&RUN[..], &[run, "--resume"]].concat());
    assert!(output.status.success(), "{run}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(model(folder, run), model(folder, "whole"), "{run}");
    assert_eq!(records(folder, run), records(folder, "whole"), "{run}: no record is missing or there twice");
}

/// Starts a run, waits for its first checkpoint and then for a while, and sends it a signal.
fn interrupted(folder: &Path, run: &str, after: Duration, signal: &str) -> Option<i32> {
    let mut child = command(folder, &[&RUN[..], &[run]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline && !folder.join(run).join("checkpoints/last.ckpt").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(after);
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success(), "the run ended before it could be interrupted");
    child.wait().expect("it ends").code()
}

#[test]
fn killed_interrupted_or_damaged_runs_resume_to_the_same_bits() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    let started = Instant::now();
    assert!(itergnn(path, &[&RUN[..], &["whole"]].concat()).status.success());
    let whole = started.elapsed();
    // Anywhere in the first half of the run; the odd millisecond decides in which write or step it is hit.
    let moment = || whole.mul_f64(0.5 * f64::from(clock_noise()) / f64::from(u32::MAX));
    for turn in 0..3 {
        let run = format!("killed-{turn}");
        assert_eq!(interrupted(path, &run, moment(), "-KILL"), None, "a killed process has no exit code");
        resumes_to_the_same(path, &run);
    }
    assert_eq!(interrupted(path, "interrupted", moment(), "-INT"), Some(1));
    resumes_to_the_same(path, "interrupted");

    // A checkpoint that was cut short is passed over for the one before it, and said.
    let copied = Command::new("cp").args(["-r", "whole", "damaged"]).current_dir(path).status().expect("cp runs");
    assert!(copied.success());
    let last = path.join("damaged/checkpoints/last.ckpt");
    let bytes = fs::read(&last).expect("there is a checkpoint");
    fs::write(&last, &bytes[..bytes.len() / 2]).expect("written");
    let output = itergnn(path, &[&RUN[..], &["damaged", "--resume"]].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("last.ckpt"), "{message}");
    assert_eq!(model(path, "damaged"), model(path, "whole"));
}

/// A number that differs from call to call.
fn clock_noise() -> u32 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    now.subsec_nanos().wrapping_mul(2_654_435_761)
}

#[test]
fn a_disk_that_fills_up_leaves_the_last_checkpoint_usable() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    assert!(itergnn(path, &[&RUN[..], &["whole"]].concat()).status.success());
    // No file may grow beyond this many KiB: the growing log hits the limit in the middle of the run, as it would a
    // full disk.
    let log = fs::metadata(path.join("whole/metrics.jsonl")).expect("the log").len();
    let checkpoint = fs::metadata(path.join("whole/checkpoints/last.ckpt")).expect("the checkpoint").len();
    let limit = log / 2 / 1024;
    assert!(checkpoint / 1024 < limit, "the checkpoint ({checkpoint} bytes) must fit where half the log ({log}) does");
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
    let output = Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_itergnn")])
        .args([&RUN[..], &["full"]].concat())
        .current_dir(path)
        .output()
        .expect("bash runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{message}");
    let last = message.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("itergnn: ") && last.contains("metrics.jsonl"), "{message}");
    resumes_to_the_same(path, "full");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("file"), "").expect("written");
    let output = itergnn(folder.path(), &[&RUN[..], &["file/run"]].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("file/run") || message.contains("file"), "{message}");
}
