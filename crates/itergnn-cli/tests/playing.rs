//! `train pacman`, `eval` and `play` with the real binary.

mod support;

use std::{fs, path::Path};

use tempfile::TempDir;

use support::{itergnn, json};

const TINY: &str = "steps = 400\nenvironments = 4\n[game]\nsize = 6\nwalls = 1\ndots = 2\n[model]\nname = 'iter-path'\n\
                    hidden_width = 8\n[agent]\nwarm_up_steps = 100\nreplay = 200\nbatch_size = 8\n\
                    [validation]\nevery_steps = 200\ngames = 4\n";

#[test]
fn a_player_is_trained_resumed_judged_and_recorded() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    fs::write(path.join("tiny.toml"), TINY).expect("written");
    let run = json(path, &["train", "--config", "tiny.toml", "--out", "run", "--json"]);
    assert_eq!((&run["runs"][0]["status"], &run["runs"][0]["steps"]), (&"finished".into(), &400.into()));
    // A finished run stays as it is.
    let again = json(path, &["train", "--out", "run", "--resume", "--json"]);
    assert_eq!(again["runs"][0]["validation"], run["runs"][0]["validation"]);

    let line = ["eval", "run", "--dots", "3", "--walls", "2", "--count", "5", "--seed", "3", "--json"];
    let report = json(path, &line);
    assert_eq!((&report["task"], &report["dots"], &report["walls"]), (&"pacman".into(), &3.into(), &2.into()));
    let success = report["success_rate"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&success) && report["relative_loss"].is_null());
    assert!(report["iterations"]["mean"].as_f64().expect("a number") >= 1.0);

    // Corrected by what its moves led to, even a player that has hardly learned eats more than one that walks in
    // circles.
    let recalled = json(path, &[&line[..], &["--recall"]].concat());
    assert_eq!((&recalled["recall"], &recalled["stuck"]), (&true.into(), &0.into()));
    assert!(recalled["success_rate"].as_f64().expect("a number") >= success);

    for name in ["episode.gif", "episode.svg"] {
        let game = json(path, &["play", "run", "--seed", "4", "--record", name, "--json"]);
        assert!(game["reachable"].as_u64() >= game["eaten"].as_u64());
        assert!(fs::metadata(path.join(name)).expect("recorded").len() > 500);
    }
    assert!(fs::read(path.join("episode.gif")).expect("a file").starts_with(b"GIF89a"));
}

#[test]
fn our_recipe_is_trained_and_judged_in_small() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/pacman/iter.toml");
    let recipe = fs::read_to_string(recipe).expect("the recipe is committed");
    let short = recipe.replace("steps = 400000", "steps = 1200").replace("every_steps = 20000", "every_steps = 1200");
    let short = short.replace("games = 100", "games = 2").replace("[game]", "[game]\nsize = 6\nwalls = 1\ndots = 2");
    fs::write(path.join("short.toml"), short).expect("written");
    let run = json(path, &["train", "--config", "short.toml", "--out", "run", "--json"]);
    assert_eq!(run["runs"][0]["steps"].as_u64(), Some(1_216), "64 games a turn");
    // A map of 6 x 6 with two dots: whatever was learned in so few moves, correcting it finds both in time.
    let report = json(path, &["eval", "run", "--count", "5", "--symmetries", "--recall", "--json"]);
    assert_eq!((report["recall"].as_bool(), report["success_rate"].as_f64()), (Some(true), Some(1.0)), "{report}");
}

/// The committed model still plays as its card says.
#[test]
fn the_committed_player_finds_everything() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/pacman-iter.safetensors");
    let model = model.to_str().expect("a path in UTF-8");
    let folder = TempDir::new().expect("a temporary folder");
    let line = ["eval", model, "--count", "10", "--seed", "1", "--json"];
    let greedy = json(folder.path(), &[&line[..], &["--symmetries"]].concat());
    assert!(greedy["success_rate"].as_f64() > Some(0.8), "{greedy}");
    let recalled = json(folder.path(), &[&line[..], &["--recall", "--walls", "15", "--dots", "20"]].concat());
    assert_eq!(recalled["success_rate"].as_f64(), Some(1.0), "{recalled}");
    assert!(recalled["moves"].as_f64() < recalled["oracle_moves"].as_f64().map(|moves| 2.0 * moves), "{recalled}");
}

#[test]
fn yardsticks_play_without_a_model() {
    let folder = TempDir::new().expect("a temporary folder");
    let oracle = json(folder.path(), &["eval", "nearest-dot", "--count", "20", "--json"]);
    assert_eq!((oracle["success_rate"].as_f64(), oracle["dots"].as_u64()), (Some(1.0), Some(10)));
    let random = json(folder.path(), &["eval", "random", "--dots", "1", "--count", "20", "--json"]);
    assert!(random["success_rate"].as_f64() < Some(1.0));
    let shown = itergnn(folder.path(), &["play", "nearest-dot", "--dots", "1", "--walls", "0", "--size", "4"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.success() && text.contains("+----+") && text.contains("eaten 1 of 1"), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_one_line() {
    let folder = TempDir::new().expect("a temporary folder");
    for (line, part) in [
        (&["eval", "nearest-dot", "--dots", "300"][..], "300 dots"),
        (&["eval", "nearest-dot", "--size", "2"], "wall length 3"),
        (&["train", "pacman", "--dots", "256", "--out", "run"], "256 dots"),
        (&["train", "pacman", "--model", "gcn", "--layers", "0", "--out", "run"], "layers"),
        (&["train", "pacman", "--epochs", "3", "--out", "run"], "--epochs"),
        (&["play", "nearest-dot", "--record", "game.mp4"], ".gif or .svg"),
        (&["play", "nearest-dot", "--dots", "5", "--size", "2", "--walls", "0"], "5 dots"),
        (&["play"], "terminal"),
        (&["play", "nothing.safetensors"], "nothing.safetensors"),
    ] {
        let output = itergnn(folder.path(), line);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line:?}: {error}");
        assert!(error.contains(part) && error.trim_end().lines().count() == 1, "{line:?}: {error}");
    }
    assert!(!folder.path().join("run").exists(), "nothing is written before the settings are checked");
}
