//! `solve` with the real binary and a committed model: what it finds, what it refuses, what it draws.

mod support;

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use support::{fails, itergnn, json as answer, lobster_model};

/// `solve` with the lobster model, as JSON.
fn solved(folder: &Path, line: &[&str]) -> Value {
    answer(folder, &[&["solve", &lobster_model(), "--json", "--graph"], line].concat())
}

const ROOM: &str = "type octile\nheight 5\nwidth 6\nmap\n......\n.@@@@.\n.@..@.\n.@@@@.\n......\n";

/// A ring of 40 nodes, a pair beside it, and a map.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let ring: String = (0..40).map(|node| format!("{node} {}\n", (node + 1) % 40)).collect();
    fs::write(folder.path().join("ring.edges"), ring + "50 51\n").expect("written");
    fs::write(folder.path().join("room.map"), ROOM).expect("written");
    folder
}

#[test]
fn the_largest_component_is_searched_when_asked() {
    let folder = folder();
    let line = ["ring.edges", "--from", "3", "--to", "30", "--check", "--largest-component"];
    let part = solved(folder.path(), &line);
    assert_eq!((&part["length"], &part["optimal"], &part["nodes"]), (&json!(13.0), &json!(true), &json!(40)));
    assert_eq!((&part["path"][0], &part["path"][13]), (&json!(3), &json!(30)));
    let whole = solved(folder.path(), &line[..6]);
    assert_eq!((&whole["path"], &whole["nodes"]), (&part["path"], &json!(42)));
    let model = lobster_model();
    let ask = ["solve", &model, "--graph", "ring.edges", "--from", "50", "--to", "51"];
    fails(
        folder.path(),
        &[&ask[..], &["--largest-component"]].concat(),
        2,
        &["--from 50", "largest component (40 of 42 nodes)"],
    );
}

#[test]
fn random_pairs_are_compared_with_the_exact_solver() {
    let folder = folder();
    let line = ["ring.edges", "--largest-component", "--pairs", "7", "--seed", "3"];
    let report = solved(folder.path(), &line);
    assert_eq!((&report["pairs"], &report["optimal"], &report["arrived"]), (&json!(7), &json!(7), &json!(7)));
    assert_eq!((&report["relative_error"]["max"], &report["capped"]), (&json!(0.0), &json!(0)));
    assert_eq!(report["records"].as_array().expect("a list").len(), 7);
    let again = solved(folder.path(), &line);
    assert_eq!(again["records"], report["records"], "the same seed gives the same pairs");
}

#[test]
fn what_cannot_be_solved_is_said_in_one_line() {
    let folder = folder();
    let path = folder.path();
    let model = &lobster_model();
    fs::write(path.join("forged.gr"), "p sp 4294967295 1\na 1 2 5\n").expect("written");
    fs::write(path.join("negative.csv"), "0,1,-2\n").expect("written");
    fs::copy(model, path.join("lobster.safetensors")).expect("copied");
    let solve = |graph: &'static str, more: &[&'static str], code: i32, parts: &[&str]| {
        fails(path, &[&["solve", model, "--graph", graph], more].concat(), code, parts);
    };
    solve("ring.edges", &["--from", "0", "--to", "50"], 1, &["no path from 0 to 50"]);
    solve("ring.edges", &["--from", "0", "--to", "77"], 2, &["77"]);
    solve("ring.edges", &[], 2, &["--from", "--pairs"]);
    solve("negative.csv", &["--from", "0", "--to", "1"], 2, &["negative.csv:1", "-2"]);
    solve("forged.gr", &["--from", "1", "--to", "2"], 2, &["forged.gr:1", "4294967295"]);
    solve("nowhere.gr", &["--from", "1", "--to", "2"], 2, &["nowhere.gr"]);
    let little = ["--from", "0", "--to", "9", "--memory", "0.00001"];
    solve("ring.edges", &little, 2, &["42 nodes and 82 edges", "needs about", "GiB"]);
    solve("ring.edges", &["--from", "0", "--to", "9", "--memory", "-1"], 2, &["--memory -1"]);
    solve("ring.edges", &["--from", "0", "--to", "9", "--picture", "x.png"], 2, &["draws maps"]);
    solve("room.map", &["--from", "0,0", "--to", "5,4", "--picture", "x.gif"], 2, &["x.gif", ".svg", ".png"]);
    fails(
        path,
        &["solve", "lobstre.safetensors", "--graph", "room.map", "--pairs", "1"],
        2,
        &["mean", "lobster.safetensors"],
    );
    fails(path, &["eval", model, "--size", "3000000000", "--count", "1"], 2, &["needs about", "GiB", "fit"]);
}

#[test]
fn a_model_of_another_task_is_refused() {
    let folder = folder();
    let train = ["train", "component-count", "--size", "6..9", "--samples", "4", "--validation", "2", "--hidden", "4"];
    let output = itergnn(folder.path(), &[&train[..], &["--epochs", "1", "--out", "counting"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ask = ["solve", "counting", "--graph", "ring.edges", "--from", "0", "--to", "9"];
    fails(folder.path(), &ask, 2, &["counting", "trained on component-count"]);
}

#[test]
fn a_path_on_a_map_is_drawn() {
    let folder = folder();
    for picture in ["way.svg", "way.png"] {
        let line = ["room.map", "--from", "0,0", "--to", "5,4", "--check", "--picture", picture];
        let answer = solved(folder.path(), &line);
        assert_eq!((&answer["length"], &answer["optimal"]), (&json!(9.0), &json!(true)));
        let bytes = fs::read(folder.path().join(picture)).expect("the picture is there");
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.starts_with(b"<svg"), "{picture}");
    }
    let svg = fs::read_to_string(folder.path().join("way.svg")).expect("the picture is there");
    // Runs of walls are one rectangle each, the white ground included; two ends; one way.
    assert_eq!((svg.matches("<rect").count(), svg.matches("<circle").count()), (5, 2));
    assert_eq!(svg.matches("<polyline").count(), 1);
}
