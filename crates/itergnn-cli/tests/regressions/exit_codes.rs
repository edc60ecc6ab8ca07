//! Exit codes, what stdout and stderr hold when something goes wrong, and what happens when they are closed or full.

use std::{
    fs::File,
    process::{Output, Stdio},
};

use serde_json::Value;

use crate::support::{command, fails, folder, itergnn, lobster_model, text};

const ROADS: &str = "p sp 4 4\na 1 2 5\na 2 3 7\na 1 3 20\na 2 3 9\n";

/// Runs with stdout and stderr where they are told to be.
fn with(line: &[&str], stdout: Stdio, stderr: Stdio) -> Output {
    let folder = folder(&[("roads.gr", ROADS)]);
    command(folder.path(), line).stdout(stdout).stderr(stderr).output().expect("the binary runs")
}

#[cfg(target_os = "linux")]
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("Linux has it").into()
}

/// The end of a pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

const PATH: [&str; 6] = ["exact", "roads.gr", "--from", "1", "--to", "3"];

#[cfg(target_os = "linux")]
#[test]
fn help_into_a_full_disk_was_a_success() {
    for line in [&["--help"][..], &["eval", "--help"], &["--version"], &PATH, &[&PATH[..], &["--json"]].concat()] {
        assert_eq!(with(line, full(), Stdio::piped()).status.code(), Some(1), "{line:?}");
    }
    let sample = ["sample", "tsp", "--size", "5", "--count", "3"];
    assert_eq!(with(&sample, full(), Stdio::piped()).status.code(), Some(1));
}

#[test]
fn a_reader_that_leaves_is_not_told_about_it() {
    for line in [&["--help"][..], &PATH, &[&PATH[..], &["--json"]].concat(), &["completions", "bash"], &["man"]] {
        let output = with(line, closed(), Stdio::piped());
        assert_eq!(output.status.code(), Some(0), "{line:?}: {}", text(&output.stderr));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_or_full_stderr_was_a_panic() {
    // A warning about parallel edges, an error, a usage error.
    for (line, code) in [(&PATH[..], 0), (&["exact", "nowhere.gr"], 2), (&["exact"], 2), (&["no-such-command"], 2)] {
        for stderr in [closed(), full()] {
            assert_eq!(with(line, Stdio::piped(), stderr).status.code(), Some(code), "{line:?}");
        }
    }
}

#[test]
fn a_failure_with_json_left_stdout_empty() {
    let folder = folder(&[("roads.gr", ROADS), ("one.gr", "p sp 3 2\na 1 2 5\na 2 3 1\n")]);
    let path = folder.path();
    let model = lobster_model();
    fails(path, &["exact", "nowhere.gr", "--json"], 2, &["nowhere.gr"]);
    fails(path, &["exact", "one.gr", "--from", "3", "--to", "1", "--json"], 1, &["no path"]);
    fails(path, &["eval", "nowhere.safetensors", "--json"], 2, &["nowhere.safetensors"]);
    fails(path, &["eval", &model, "--no-such-flag", "--json"], 2, &["--no-such-flag"]);
    fails(path, &["exact", "--json"], 2, &["FILE"]);
    fails(path, &["predict", &model, "--graph", "roads.gr", "--json"], 2, &["roads.gr"]);
}

#[test]
fn warnings_were_missing_in_the_json() {
    let folder = folder(&[("roads.gr", ROADS)]);
    let output = itergnn(folder.path(), &[&PATH[..], &["--json"]].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let warnings = answer["warnings"].as_array().expect("a list");
    assert!(
        warnings.iter().any(|warning| warning.as_str().is_some_and(|text| text.contains("smallest weight"))),
        "{answer}"
    );
    assert!(text(&output.stderr).contains("smallest weight"));
}

#[test]
fn usage_errors_took_several_lines() {
    let folder = folder(&[]);
    for line in [
        &["sample", "shortest-path", "--weighted", "--weights", "1..2"][..],
        &["evaluate"],
        &["exact", "x.gr", "--from", "1"],
        &["train"],
        &["sample", "tsp", "--count", "many"],
    ] {
        fails(folder.path(), line, 2, &[]);
    }
}

#[test]
fn quiet_says_nothing_but_warnings_and_errors() {
    let folder = folder(&[("roads.gr", ROADS)]);
    let play = ["play", "nearest-dot", "--dots", "1", "--walls", "0", "--size", "4", "--record", "game.svg"];
    assert!(text(&itergnn(folder.path(), &play).stderr).contains("recorded"));
    for line in [[&play[..], &["--quiet"]].concat(), [&["--quiet"], &play[..]].concat()] {
        let output = itergnn(folder.path(), &line);
        assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    }
    assert!(text(&itergnn(folder.path(), &[&PATH[..], &["--quiet"]].concat()).stderr).contains("smallest weight"));
    fails(folder.path(), &["exact", "nowhere.gr", "--quiet"], 2, &["nowhere.gr"]);
}
