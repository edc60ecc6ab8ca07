//! `itergnn reproduce` with the real binary: a small table, its report, and that a second run makes nothing again.

mod support;

use std::fs;

use tempfile::TempDir;

use support::itergnn;

const SMALL: [&str; 9] =
    ["reproduce", "regular-graphs", "--quick", "--samples", "64", "--epochs", "1", "--out", "made"];

#[test]
fn a_table_is_made_once_and_reported() {
    let folder = TempDir::new().expect("a temporary folder");
    let first = itergnn(folder.path(), &[&SMALL[..], &["--json"]].concat());
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let told: serde_json::Value = serde_json::from_slice(&first.stdout).expect("one JSON object");
    let cells = told["tables"][0]["cells"].as_array().expect("cells");
    assert_eq!((told["tables"][0]["table"].as_str(), cells.len()), (Some("regular-graphs"), 12));
    assert!(cells.iter().all(|cell| cell["values"].as_array().is_some_and(|values| values.len() == 1)), "{told}");
    let cell = |model: &str| {
        let found = cells.iter().find(|cell| cell["model"] == model && cell["column"] == "C6 or two C3");
        found.expect("a row of that name")
    };
    assert_eq!(cell("Iter-Homo-Path")["paper"], 1.0);
    assert_eq!(cell("Iter-Homo-Path-settle")["paper"], 1.0);
    let is_family = |cell: &serde_json::Value| cell["model"].as_str().is_some_and(|name| name.contains("waves"));
    assert!(!cells.iter().any(is_family), "a family is no row of the paper's tables");

    let report = fs::read_to_string(folder.path().join("made/report.md")).expect("a report");
    assert!(report.contains("## Regular graphs") && report.contains("itergnn reproduce regular-graphs --quick"));
    // Tables without results are there too, and say so.
    assert!(report.contains("not run") && report.contains("## Symbolic Pacman"));
    let page = fs::read_to_string(folder.path().join("made/report.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("src="));

    let one = itergnn(folder.path(), &[&SMALL[..], &["--models", "iter-homo-path-settle"]].concat());
    let notes = String::from_utf8_lossy(&one.stderr).into_owned();
    assert!(one.status.success() && notes.matches("was there").count() == 4, "{notes}");

    let second = itergnn(folder.path(), &SMALL);
    let notes = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.success() && notes.matches("was there").count() == 12, "{notes}");
}

#[test]
fn what_cannot_be_made_is_said_in_one_line() {
    let folder = TempDir::new().expect("a temporary folder");
    for (line, part) in [
        (&["reproduce", "table-9"][..], "invalid value 'table-9'"),
        (&["reproduce", "--seeds", "0"], "at least 1"),
        (&["reproduce", "regular-graphs", "--models", "gnc"], "no model `gnc` in these tables; there are"),
        (&["reproduce", "graph-classification", "--out", "x"], "--data DIR"),
    ] {
        let output = itergnn(folder.path(), line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line:?}: {message}");
        assert!(message.contains(part) && message.trim_end().lines().count() == 1, "{line:?}: {message}");
    }
}
