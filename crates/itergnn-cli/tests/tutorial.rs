//! Every command of docs/own-graphs.md, in order, in an empty folder.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

use std::{env, fs, path::Path, process::Command};

/// The relative error that the page promises, with some room for other processors' rounding.
const PROMISED_ERROR: f64 = 0.25;

/// The commands of the page: the lines of its shell blocks.
fn commands() -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-graphs.md")).unwrap();
    let mut commands = Vec::new();
    for block in page.split("```sh\n").skip(1) {
        commands.extend(block.split("```").next().unwrap().lines().map(str::to_owned));
    }
    commands
}

#[test]
fn every_command_of_the_page_runs() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial/widest.py");
    fs::copy(script, folder.path().join("widest.py")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_itergnn"));
    let path = format!("{}:{}", program.parent().unwrap().display(), env::var("PATH").unwrap());
    let run = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(folder.path()).env("PATH", &path).env("LC_ALL", "C");
        let output = shell.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {told}");
        (String::from_utf8(output.stdout).unwrap(), told)
    };
    let commands = commands();
    assert_eq!(commands.len(), 9, "{commands:#?}");
    for line in &commands {
        let (out, told) = run(line);
        if line.starts_with("itergnn train") {
            assert!(told.contains("--readout node, --scope graph, --blocks 1, --prior full"), "{told}");
        }
        if line.contains(" way ") {
            let lines: Vec<&str> = out.lines().collect();
            assert!(lines[0].starts_with("predicted width ") && lines[2].starts_with("width "), "{out}");
            assert!(lines[1].starts_with("corner-0-0 ") && lines[1].ends_with(" corner-35-35"), "{out}");
        }
        if line.starts_with("itergnn exact") {
            assert!(out.contains("corner-35-35"), "{out}");
        }
    }
    let (judged, _) = run("itergnn eval runs/widest --data large.jsonl --json");
    let judged: serde_json::Value = serde_json::from_str(&judged).unwrap();
    let error = judged["relative_loss"].as_f64().unwrap();
    assert!(error < PROMISED_ERROR && judged["count"] == 10 && judged["rows"] == 12_960, "{judged}");
}
