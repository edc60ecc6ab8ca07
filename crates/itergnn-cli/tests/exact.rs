//! `exact` with the real binary on files that once gave wrong answers without a word.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

fn exact(folder: &Path, file: &str, text: &str, flags: &[&str]) -> Output {
    fs::write(folder.join(file), text).expect("written");
    let line = [&["exact", file, "--json"], flags].concat();
    Command::new(env!("CARGO_BIN_EXE_itergnn")).args(line).current_dir(folder).output().expect("the binary runs")
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object on stdout")
}

#[test]
fn a_weight_column_of_an_unknown_name_is_asked_for() {
    let folder = TempDir::new().expect("a temporary folder");
    for name in ["travel_time", "minutes", "km"] {
        let text = format!("source,target,{name}\n0,1,7\n");
        let refused = exact(folder.path(), "roads.csv", &text, &["--from", "0", "--to", "1"]);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{message}");
        assert!(message.contains("--weight-column") && message.contains(name), "{message}");
        let chosen = exact(folder.path(), "roads.csv", &text, &["--from", "0", "--to", "1", "--weight-column", name]);
        assert_eq!(answer(&chosen)["length"], 7.0);
    }
}

#[test]
fn json_weights_are_not_ignored() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = r#"{"nodes":2,"edges":[[0,1]],"weights":[7]}"#;
    assert_eq!(answer(&exact(folder.path(), "a.json", text, &["--from", "0", "--to", "1"]))["length"], 7.0);
}

#[test]
fn four_columns_without_a_header_are_not_guessed() {
    let folder = TempDir::new().expect("a temporary folder");
    let refused = exact(folder.path(), "a.edges", "0 5 6 2.5\n1 6 7 2.5\n", &[]);
    assert_eq!(refused.status.code(), Some(2));
    let flags = ["--source-column", "2", "--target-column", "3", "--weight-column", "4", "--from", "5", "--to", "7"];
    let chosen = answer(&exact(folder.path(), "a.edges", "0 5 6 2.5\n1 6 7 2.5\n", &flags));
    assert_eq!((&chosen["length"], &chosen["hops"]), (&5.0.into(), &2.into()));
}

#[test]
fn ids_that_no_edge_uses_are_no_nodes() {
    let folder = TempDir::new().expect("a temporary folder");
    let summary = answer(&exact(folder.path(), "a.gr", "p sp 9 2\na 2 4 1\na 4 8 1\n", &[]));
    assert_eq!((&summary["nodes"], &summary["components"]), (&3.into(), &1.into()));
}

#[test]
fn digits_beyond_single_precision_decide() {
    let folder = TempDir::new().expect("a temporary folder");
    let detour = "0 1 50000\n1 2 50000.0055\n0 2 100000.005\n";
    let direct = answer(&exact(folder.path(), "a.edges", detour, &["--from", "0", "--to", "2"]));
    assert_eq!((&direct["length"], &direct["hops"]), (&100000.005.into(), &1.into()));
    let tiny = "0 1 1e-50\n1 2 1e-50\n0 2 1.5e-50\n";
    let direct = answer(&exact(folder.path(), "a.edges", tiny, &["--from", "0", "--to", "2"]));
    assert_eq!((&direct["length"], &direct["hops"]), (&1.5e-50.into(), &1.into()));
    let whole = "0 1 9007199254740990\n1 2 1\n0 2 9007199254740992\n";
    let detour = exact(folder.path(), "a.edges", whole, &["--from", "0", "--to", "2"]);
    // As text: the JSON reader of this test may miss the last bit of so large a number.
    let text = String::from_utf8_lossy(&detour.stdout);
    assert!(text.contains("9007199254740991.0") && answer(&detour)["hops"] == 2, "{text}");
}

#[test]
fn words_are_names() {
    let folder = TempDir::new().expect("a temporary folder");
    let towns =
        answer(&exact(folder.path(), "a.csv", "Rome,Bonn,3\nBonn,Oslo,4\n", &["--from", "Rome", "--to", "Oslo"]));
    assert_eq!((&towns["length"], &towns["path"][2]), (&7.0.into(), &"Oslo".into()));
}
