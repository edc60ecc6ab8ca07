//! The real binary, run in a folder.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// The binary with a command line, in a folder.
pub(crate) fn command(folder: &Path, line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_itergnn"));
    command.args(line).current_dir(folder);
    command
}

/// Runs the binary.
pub(crate) fn itergnn(folder: &Path, line: &[&str]) -> Output {
    command(folder, line).output().expect("the binary runs")
}

/// Runs, expects success, parses stdout as one JSON value.
pub(crate) fn json(folder: &Path, line: &[&str]) -> Value {
    let output = itergnn(folder, line);
    assert!(output.status.success(), "{line:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line:?}: {error}"))
}

/// Output of a program.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// Runs, expects this exit code and one line on stderr that contains each of `parts`; with `--json` the same on stdout,
/// otherwise nothing there.
pub(crate) fn fails(folder: &Path, line: &[&str], code: i32, parts: &[&str]) {
    let output = itergnn(folder, line);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{line:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{line:?}: {message:?} does not say {part:?}");
    }
    if line.contains(&"--json") {
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        assert_eq!(told["code"].as_i64(), Some(i64::from(code)), "{line:?}: {told}");
        assert_eq!(told["error"].as_str(), message.trim_end().strip_prefix("itergnn: "), "{line:?}: {told}");
    } else {
        assert!(output.stdout.is_empty(), "{line:?} printed {}", text(&output.stdout));
    }
}

/// A temporary folder with files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("a fixture is written");
    }
    folder
}

/// A file of the repository.
pub(crate) fn committed(path: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The path model of lobsters.
pub(crate) fn lobster_model() -> String {
    committed("models/shortest-path-lobster.safetensors")
}
