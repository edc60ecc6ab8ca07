//! Flags that meant nothing for what was asked used to be ignored.
//!
//! Every flag that a command's help names is tried on every kind of input: it means something there, and stands in the
//! list, or it is refused by name.

use std::path::Path;

use crate::support::{committed, folder, itergnn, text};

/// A value for every flag that takes one, valid in itself.
const VALUES: &[(&str, &str)] = &[
    ("--task", "shortest-path"),
    ("--generator", "er"),
    ("--size", "8"),
    ("--weights", "1..2"),
    ("--dots", "3"),
    ("--walls", "2"),
    ("--data", "."),
    ("--dataset", "MUTAG"),
    ("--count", "2"),
    ("--seed", "3"),
    ("--max-iterations", "20"),
    ("--memory", "1"),
    ("--device", "cpu"),
    ("--threads", "1"),
    ("--timeout", "60"),
    ("--engine", "auto"),
    ("--exploration", "0.1"),
    ("--out", "out.json"),
    ("--graph", "ring.edges"),
    ("--image", "map.png"),
    ("--from", "0"),
    ("--to", "1"),
    ("--pairs", "2"),
    ("--picture", "path.svg"),
    ("--split", "test"),
    ("--speed", "4"),
    ("--record", "game.svg"),
    ("--repetitions", "1"),
    ("--seeds", "1"),
    ("--epochs", "1"),
    ("--models", "gcn"),
    ("--samples", "8"),
    ("--model", "gcn"),
    ("--layer", "path"),
    ("--aggregation", "max"),
    ("--controller", "iter"),
    ("--prior", "full"),
    ("--hidden", "8"),
    ("--validation", "5"),
    ("--steps", "5"),
    ("--layers", "2"),
    ("--kernel", "3"),
    ("--batch-size", "4"),
    ("--learning-rate", "0.1"),
    ("--folds", "stratified"),
    ("--fold", "1"),
    ("--set", "seed=3"),
    ("--config", "run.toml"),
    ("--level", "node"),
    ("--classes", "2"),
    ("--loss", "mse"),
    ("--readout", "sum"),
    ("--blocks", "2"),
    ("--validation-data", "own.jsonl"),
    ("--validation-from-size", "9"),
    ("--family", "ws"),
    ("--scope", "node"),
    ("--start-from", "run"),
];

/// Flags that clap wants to see together with another.
const TOGETHER: &[(&str, &[&str])] =
    &[("--from", &["--to", "1"]), ("--to", &["--from", "0"]), ("--records", &["--json"])];

const FILES: &[(&str, &str)] = &[
    ("ring.edges", "0 1\n1 2\n2 0\n"),
    ("ring.gr", "p sp 3 3\na 1 2 1\na 2 3 1\na 3 1 1\n"),
    ("ring.json", r#"{"nodes": 3, "edges": [[0, 1], [1, 2], [2, 0]], "edge_attributes": [[1], [1], [1]]}"#),
    ("room.map", "type octile\nheight 2\nwidth 2\nmap\n..\n..\n"),
    (
        "square.tsp",
        "NAME: s\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\n3 0 1\nEOF\n",
    ),
];

/// A training of one step.
const SHORT: [&str; 8] = ["--samples", "8", "--validation", "4", "--epochs", "1", "--hidden", "4"];

/// The long flags of a command, from its help.
fn flags(folder: &Path, command: &str) -> Vec<String> {
    let help = text(&itergnn(folder, &[command, "--help"]).stdout);
    let words = help.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    let is_definition = |flag: &&str| !["--help", "--version", "--json", "--quiet"].contains(flag);
    let mut flags: Vec<String> =
        words.filter(is_definition).map(|word| word.trim_end_matches(',').to_owned()).collect();
    // Examples below the flags name some of them again, and flags of other commands.
    flags.retain(|flag| help.lines().any(|line| line.trim_start().starts_with(flag.as_str())));
    flags.sort();
    flags.dedup();
    flags
}

/// Tries every flag of a command that is not said to mean something on this line.
fn refuses_the_rest(folder: &Path, line: &[&str], meant: &str) {
    let meant: Vec<String> = meant.split_whitespace().map(|flag| format!("--{flag}")).collect();
    let known = flags(folder, line[0]);
    assert!(known.len() > 2, "{known:?}");
    for flag in &meant {
        assert!(known.contains(flag), "{} has no {flag}", line[0]);
    }
    for flag in known.iter().filter(|flag| !meant.contains(flag) && !line.contains(&flag.as_str())) {
        let mut words = line.to_vec();
        words.push(flag);
        words.extend(VALUES.iter().filter(|(name, _)| name == flag).map(|(_, value)| *value));
        words.extend(TOGETHER.iter().filter(|(name, _)| name == flag).flat_map(|(_, more)| *more));
        let output = itergnn(folder, &words);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        let name = flag.trim_start_matches("--");
        assert!(
            message.contains(name) || message.contains(name.trim_end_matches("ed")),
            "{words:?} does not name {flag}: {message}"
        );
        assert!(message.trim_end().lines().count() == 1 && output.stdout.len() < 2_000, "{words:?}: {message}");
    }
}

#[test]
fn eval_ignored_flags_of_other_models() {
    let folder = folder(FILES);
    let path = folder.path();
    let model = |name: &str| committed(&format!("models/{name}.safetensors"));
    let compute = "task device threads timeout count seed";
    let judged = format!("{compute} records max-iterations memory engine");
    for (name, meant) in [
        ("shortest-path-lobster", "generator size weighted weights success"),
        ("component-count-er", "generator size"),
        ("navigation", "size success"),
        ("tsp", "size"),
        ("newton-balls", "size"),
        ("regular-graphs-cycles", ""),
    ] {
        refuses_the_rest(path, &["eval", &model(name)], &format!("{judged} {meant}"));
    }
    let pacman = model("pacman-iter");
    let played = format!("{compute} exploration recall symmetries max-iterations grid");
    refuses_the_rest(path, &["eval", &pacman], &format!("{played} size dots walls"));
    refuses_the_rest(path, &["eval", &pacman, "--grid"], &format!("{played} out"));
    let named = format!("{compute} exploration grid");
    refuses_the_rest(path, &["eval", "nearest-dot"], &format!("{named} size dots walls"));
    refuses_the_rest(path, &["eval", "random", "--grid"], &format!("{named} out"));
    // A model of an algorithm is judged on drawn graphs, or on a file.
    let made = itergnn(path, &[&["train", "mis", "--out", "learned"], &SHORT[..]].concat());
    assert!(made.status.success(), "{}", text(&made.stderr));
    let drawn = "family size count seed max-iterations memory engine device threads timeout data task";
    refuses_the_rest(path, &["eval", "learned"], drawn);
    let classifier = model("graph-classification-ptc-iter-gin");
    refuses_the_rest(path, &["eval", &classifier], "task device threads timeout data records");
}

#[test]
fn predict_and_solve_ignored_flags_of_other_graphs() {
    let folder = folder(FILES);
    let path = folder.path();
    let lobster = committed("models/shortest-path-lobster.safetensors");
    let search = "max-iterations memory device threads timeout engine check graph";
    let solve = |graph: &'static str| ["solve", &*lobster, "--graph", graph];
    let ends = ["--from", "0", "--to", "1"];
    let on_maps = [&solve("room.map")[..], &["--from", "0,0", "--to", "1,1"]].concat();
    refuses_the_rest(path, &on_maps, &format!("{search} from to largest-component picture"));
    let on_lists = [&solve("ring.edges")[..], &ends].concat();
    refuses_the_rest(path, &on_lists, &format!("{search} from to largest-component directed"));
    let on_roads = [&solve("ring.gr")[..], &["--from", "1", "--to", "2"]].concat();
    refuses_the_rest(path, &on_roads, &format!("{search} from to largest-component"));
    refuses_the_rest(path, &[&solve("ring.json")[..], &ends].concat(), &format!("{search} from to largest-component"));
    let pairs = [&solve("ring.edges")[..], &["--pairs", "2"]].concat();
    refuses_the_rest(path, &pairs, &format!("{search} pairs seed largest-component directed"));
    let how = "engine device threads timeout";
    refuses_the_rest(
        path,
        &["predict", &lobster, "--graph", "ring.json"],
        &format!("{how} graph trace max-iterations"),
    );
    refuses_the_rest(path, &["predict", &lobster, "--data", "ring.json"], &format!("{how} data max-iterations"));
    let stack = itergnn(path, &[&["train", "mis", "--model", "gcn", "--out", "stack"], &SHORT[..]].concat());
    assert!(stack.status.success(), "{}", text(&stack.stderr));
    // A stack has no loop that could be cut short.
    refuses_the_rest(path, &["predict", "stack", "--data", "ring.json"], &format!("{how} data"));
    let image = ["solve", &*lobster, "--image", "map.png", "--from", "0,0", "--to", "1,0"];
    refuses_the_rest(path, &image, &format!("{} image from to picture", search.replace(" graph", "")));
}

#[test]
fn exact_ignored_flags_of_other_files() {
    let folder = folder(FILES);
    for (file, meant) in [
        ("square.tsp", "timeout"),
        ("ring.gr", "from to"),
        ("room.map", "from to"),
        ("ring.json", "from to"),
        ("ring.edges", "from to directed"),
    ] {
        refuses_the_rest(folder.path(), &["exact", file], meant);
    }
}

#[test]
fn sample_ignored_flags_of_other_tasks() {
    let folder = folder(FILES);
    let drawn = "count seed split out threads";
    for (task, meant) in [
        ("shortest-path", "generator size weighted weights"),
        ("component-count", "generator size"),
        ("tsp", "size"),
        ("newton-balls", "size"),
        ("navigation", "size"),
        ("pacman", "size dots walls"),
        ("regular-graphs", ""),
        ("dijkstra", "family size"),
        ("bipartiteness", "family size"),
    ] {
        refuses_the_rest(folder.path(), &["sample", task], &format!("{drawn} {meant}"));
    }
    refuses_the_rest(folder.path(), &["sample", "graph-classification"], "count out threads data dataset");
}

#[test]
fn play_ignored_flags_of_other_players() {
    let folder = folder(FILES);
    let game = "dots walls size seed record";
    let small = ["--dots", "1", "--walls", "0", "--size", "4", "--json"];
    refuses_the_rest(folder.path(), &[&["play", "nearest-dot"], &small[..]].concat(), &format!("{game} human"));
    refuses_the_rest(folder.path(), &[&["play", "--human"], &small[..]].concat(), &format!("{game} human"));
    let pacman = committed("models/pacman-iter.safetensors");
    refuses_the_rest(
        folder.path(),
        &[&["play", &pacman], &small[..]].concat(),
        &format!("{game} human recall symmetries"),
    );
}

#[test]
fn reproduce_ignored_flags_of_other_tables() {
    let folder = folder(FILES);
    let always = "quick out report-only";
    for (line, meant) in [
        (&["reproduce", "--report-only", "--out", "made"][..], "samples epochs"),
        (&["reproduce", "properties", "--out", "made"], ""),
        (&["reproduce", "pacman", "--out", "made"], ""),
        (&["reproduce", "graph-classification", "--out", "made"], "data epochs threads"),
        (&["reproduce", "regular-graphs", "--out", "made"], "seeds samples epochs models threads device"),
        (&["reproduce", "clrs", "--out", "made"], "seeds samples epochs models threads"),
    ] {
        refuses_the_rest(folder.path(), line, &format!("{always} {meant}"));
    }
    assert!(!folder.path().join("made").exists(), "nothing is made before the flags are looked at");
}

#[test]
fn train_ignored_flags_of_other_methods() {
    let folder = folder(FILES);
    let path = folder.path();
    let always = "model out hidden batch-size learning-rate seed resume set device threads";
    let layers = "layer aggregation controller prior readout scope blocks";
    let sampled = format!("{always} {layers} epochs samples validation seeds engine loss start-from");
    for (task, meant) in [
        ("shortest-path", "generator size weighted weights"),
        ("component-count", "generator size"),
        ("tsp", "size"),
        ("newton-balls", "size"),
        ("navigation", "size"),
        ("regular-graphs", ""),
        ("bfs", "family size"),
    ] {
        refuses_the_rest(path, &["train", task, "--out", "made"], &format!("{sampled} {meant}"));
    }
    let played = format!("{always} {layers} steps layers kernel seeds size dots walls");
    refuses_the_rest(path, &["train", "pacman", "--out", "made"], &played);
    let own = "epochs data level classes loss engine seeds validation validation-data validation-from-size \
               start-from";
    let line = ["train", "--data", "own.jsonl", "--level", "node", "--out", "made"];
    refuses_the_rest(path, &line, &format!("{always} {layers} {own} config"));
    let folded = format!("{always} epochs folds fold data dataset");
    refuses_the_rest(path, &["train", "graph-classification", "--out", "made"], &folded);
    assert!(!path.join("made").exists(), "nothing is made before the flags are looked at");
}

#[test]
fn train_ignored_settings_that_a_model_does_not_have() {
    let folder = folder(&[]);
    for (line, part) in [
        (&["shortest-path", "--steps", "5", "--kernel", "4"][..], "--"),
        (&["pacman", "--set", "foo.bar=1", "--engine", "plain", "--layer", "path"], "--engine"),
        (&["pacman", "--set", "foo.bar=1"], "foo"),
        (&["pacman", "--kernel", "3"], "kernel"),
        (&["pacman", "--layers", "3"], "layers"),
        (&["pacman", "--model", "cnn", "--layer", "path"], "cnn"),
        (&["pacman", "--model", "cnn", "--controller", "iter"], "cnn"),
        (&["pacman", "--set", "selection.patience=3"], "selection"),
        (&["shortest-path", "--model", "max-plus", "--layer", "path"], "model.layer"),
        (&["shortest-path", "--model", "waves", "--controller", "iter"], "model.controller"),
        (&["tsp", "--model", "one-tree", "--hidden", "8"], "one-tree"),
        (&["regular-graphs", "--model", "gin", "--prior", "full"], "model.prior"),
        (&["shortest-path", "--model", "path", "--set", "model.max_plus.training_cap=3"], "max_plus"),
        (&["shortest-path", "--set", "epoch=3"], "epoch"),
        (&["shortest-path", "--layer", "paths"], "path-sim"),
        (&["shortest-path", "--model", "gcn", "--layer", "path"], "model.layer"),
        (&["pacman", "--model", "pointnet", "--layer", "path"], "model.layer"),
        (&["shortest-path", "--model", "gcn", "--aggregation", "max"], "model.aggregation"),
        (&["shortest-path", "--layer", "mpnn-max", "--aggregation", "attention"], "model.aggregation"),
        (&["shortest-path", "--model", "path", "--scope", "node"], "model.scope"),
        (&["shortest-path", "--model", "max-plus", "--engine", "plain"], "engine"),
    ] {
        crate::support::fails(folder.path(), &[&["train", "--out", "made"], line].concat(), 2, &[part]);
    }
    assert!(!folder.path().join("made").exists());
}

#[test]
fn every_flag_of_bench_and_properties_means_something() {
    let folder = folder(&[]);
    assert_eq!(
        flags(folder.path(), "bench"),
        ["--device", "--engine", "--large", "--only", "--repetitions", "--threads"]
    );
    crate::support::fails(folder.path(), &["bench", "--large", "--only", "train-step/lobster"], 2, &["--large"]);
    assert_eq!(flags(folder.path(), "properties"), ["--count", "--out", "--seed"]);
}
