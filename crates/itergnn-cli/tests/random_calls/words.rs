//! The words of random calls: commands, flags, values, and lines made of them.

use std::collections::BTreeMap;

use rand::{Rng, RngExt, seq::IndexedRandom};

pub(crate) const COMMANDS: &[&str] = &[
    "demo",
    "sample",
    "exact",
    "train",
    "eval",
    "solve",
    "predict",
    "reproduce",
    "play",
    "bench",
    "import",
    "properties",
    "completions",
    "man",
    "serve",
    "help",
    "nonsense",
];

const FLAGS: &[&str] = &[
    "--task",
    "--generator",
    "--size",
    "--weighted",
    "--weights",
    "--dots",
    "--walls",
    "--data",
    "--dataset",
    "--count",
    "--seed",
    "--split",
    "--out",
    "--threads",
    "--from",
    "--to",
    "--directed",
    "--timeout",
    "--json",
    "--quiet",
    "--success",
    "--records",
    "--max-iterations",
    "--memory",
    "--device",
    "--engine",
    "--grid",
    "--exploration",
    "--recall",
    "--symmetries",
    "--graph",
    "--image",
    "--pairs",
    "--largest-component",
    "--check",
    "--picture",
    "--trace",
    "--human",
    "--speed",
    "--record",
    "--as",
    "--repetitions",
    "--large",
    "--tables",
    "--seeds",
    "--epochs",
    "--models",
    "--samples",
    "--report-only",
    "--model",
    "--config",
    "--layer",
    "--aggregation",
    "--controller",
    "--prior",
    "--hidden",
    "--validation",
    "--steps",
    "--batch-size",
    "--learning-rate",
    "--folds",
    "--fold",
    "--resume",
    "--set",
    "--family",
    "--scope",
    "--readout",
    "--blocks",
    "--level",
    "--classes",
    "--loss",
    "--validation-data",
    "--validation-from-size",
    "--weight-column",
    "--help",
    "--version",
    "--no-such-flag",
    "-x",
    "--",
];

const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "100",
    "-1",
    "1e9",
    "1000000000",
    "100000000000",
    "18446744073709551615",
    "nan",
    "inf",
    "-inf",
    "0.5",
    "1..2",
    "4..9",
    "9..4",
    "0..0",
    "1..1e30",
    "",
    " ",
    "-",
    "0,0",
    "1,1",
    "99999,1",
    "er",
    "lobster",
    "knn",
    "planar",
    "shortest-path",
    "tsp",
    "pacman",
    "navigation",
    "component-count",
    "graph-classification",
    "regular-graphs",
    "newton-balls",
    "cpu",
    "cuda",
    "fused",
    "plain",
    "iter-homo-path",
    "max-plus",
    "gcn",
    "path",
    "path-sim",
    "attention",
    "iter-decay",
    "full",
    "test",
    "epochs=1",
    "a.b=c",
    "MUTAG",
    "nearest-dot",
    "random",
    "lobsters",
    "clrs",
    "bfs",
    "mis",
    "ws",
    "node",
    "pointer",
    "cross-entropy",
    "bash",
    "é∞\u{1F980}",
    "../../etc",
    "a\tb",
    "DecIterGNN30-HomoPathSimConv-Max",
];

/// Small flags that keep a training short, so that it is tried and not only ended.
const SHORT: &[&str] = &["--samples", "8", "--validation", "4", "--epochs", "1", "--hidden", "4", "--size", "4..6"];

fn pick<'a>(list: &[&'a str], rng: &mut impl Rng) -> &'a str {
    list.choose(rng).copied().unwrap_or_default()
}

/// What usually follows a command, and values that its flags usually take.
const PLAUSIBLE: &[(&str, &[&str])] = &[
    (
        "sample",
        &[
            "shortest-path",
            "tsp",
            "pacman",
            "navigation",
            "component-count",
            "newton-balls",
            "bfs",
            "mis",
            "reachability",
        ],
    ),
    (
        "exact",
        &[
            "k.graphml",
            "l.mtx",
            "m.graph",
            "damaged-k.graphml",
            "damaged-l.mtx",
            "damaged-m.graph",
            "a.edges",
            "b.csv",
            "c.gr",
            "d.map",
            "e.tsp",
            "damaged-a.edges",
            "damaged-c.gr",
            "damaged-e.tsp",
        ],
    ),
    (
        "eval",
        &["shortest-path-lobster.safetensors", "navigation.safetensors", "pacman-iter.safetensors", "nearest-dot"],
    ),
    ("solve", &["shortest-path-lobster.safetensors", "navigation.safetensors", "damaged-navigation.safetensors"]),
    ("predict", &["shortest-path-lobster.safetensors", "component-count-er.safetensors"]),
    ("play", &["nearest-dot", "random", "pacman-iter.safetensors"]),
    ("import", &["i.pth", "damaged-i.pth"]),
    ("train", &["shortest-path", "regular-graphs", "component-count", "bfs", "eccentricity"]),
    ("--data", &["j.jsonl", "damaged-j.jsonl", "-", "."]),
    ("--family", &["er", "ws", "delaunay"]),
    ("--scope", &["graph", "node"]),
    ("--level", &["graph", "node", "edge", "pointer"]),
    ("--classes", &["2", "0", "1000000000"]),
    ("--loss", &["mse", "relative", "cross-entropy"]),
    ("--validation-data", &["j.jsonl", "damaged-j.jsonl"]),
    ("man", &["solve", "eval"]),
    ("completions", &["bash", "zsh", "fish"]),
    ("--graph", &["a.edges", "b.csv", "c.gr", "d.map", "f.json", "damaged-f.json", "damaged-d.map"]),
    ("--image", &["h.png", "damaged-h.png"]),
    ("--from", &["0", "1", "0,0", "2"]),
    ("--to", &["1", "2", "1,0", "3"]),
    ("--as", &["DeepGNN2-GATConv-Max", "DecIterGNN30-HomoPathSimConv-Max"]),
    ("--out", &["made.json", "made.safetensors", "-", "made"]),
    ("--picture", &["made.svg", "made.png"]),
    ("--record", &["made.gif", "made.svg"]),
    ("--size", &["4", "8", "4..9", "1000000000", "0"]),
    ("--count", &["1", "3", "0", "100000000000000"]),
    ("--pairs", &["1", "3", "0", "100000000000"]),
    ("--generator", &["er", "lobster", "knn", "planar", "tree"]),
    ("--weights", &["1..2", "0.5..1.5", "2..1"]),
    ("--task", &["shortest-path", "tsp"]),
    ("--engine", &["auto", "plain", "fused"]),
    ("--split", &["train", "test"]),
    ("--device", &["cpu", "cuda"]),
    ("--timeout", &["2", "0", "-1"]),
];

/// A line of flags that the command has, with values that they usually take.
pub(crate) fn plausible_line(own: &BTreeMap<&str, Vec<String>>, rng: &mut impl Rng) -> Vec<String> {
    let command =
        pick(&["sample", "exact", "eval", "solve", "predict", "play", "import", "train", "man", "completions"], rng);
    let usual = |name: &str, rng: &mut dyn Rng| -> String {
        let found = PLAUSIBLE.iter().find(|(known, _)| *known == name);
        let values = found.map_or(&["1", "2", "3", "0.5"][..], |(_, values)| values);
        values.choose(rng).copied().unwrap_or_default().to_owned()
    };
    let mut line = vec![command.to_owned(), usual(command, rng)];
    if command == "train" && rng.random_range(0..2_u32) == 0 {
        // Own graphs in place of a task.
        line.pop();
        for flag in ["--data", "--level", "--out"] {
            line.extend([flag.to_owned(), usual(flag, rng)]);
        }
        line.extend(["--epochs", "1", "--hidden", "4", "--validation", "0.5"].map(str::to_owned));
        for _ in 0..rng.random_range(0..3_u32) {
            let flag = pick(&["--classes", "--loss", "--scope", "--model", "--seeds", "--blocks", "--readout"], rng);
            line.extend([flag.to_owned(), usual(flag, rng)]);
        }
        return line;
    }
    let mut add = |definition: &str, rng: &mut dyn Rng| {
        // `--flag <VALUE>` takes a value, `--flag` none.
        let mut words = definition.split_whitespace();
        let flag = words.next().unwrap_or_default().to_owned();
        let takes_value = words.next().is_some_and(|word| word.starts_with('<'));
        line.push(flag.clone());
        line.extend(takes_value.then(|| usual(&flag, rng)));
    };
    for needed in match command {
        "solve" => &["--graph <FILE>", "--from <NODE>", "--to <NODE>"][..],
        "predict" => &["--graph <FILE>"],
        "import" => &["--as <NAME>", "--out <FILE>"],
        "train" => &["--out <DIR>"],
        _ => &[],
    } {
        add(needed, rng);
    }
    for _ in 0..rng.random_range(0..3_u32) {
        if let Some(definition) = own.get(command).and_then(|flags| flags.choose(rng)) {
            add(definition, rng);
        }
    }
    if command == "train" {
        line.extend(SHORT.iter().map(|word| (*word).to_owned()));
    }
    line
}

/// Any words at all.
pub(crate) fn random_line(files: &[String], rng: &mut impl Rng) -> Vec<String> {
    let mut line = vec![pick(COMMANDS, rng).to_owned()];
    let value = |rng: &mut dyn Rng| match rng.random_range(0..5_u32) {
        0 | 1 => files.choose(rng).cloned().unwrap_or_default(),
        2 => format!(
            "made-{}{}",
            rng.random_range(0..4_u32),
            [".svg", ".png", ".json", ".gif", ""][rng.random_range(0..5_usize)]
        ),
        _ => VALUES.choose(rng).copied().unwrap_or_default().to_owned(),
    };
    for _ in 0..rng.random_range(0..3_u32) {
        line.push(value(rng));
    }
    for _ in 0..rng.random_range(0..6_u32) {
        line.push(pick(FLAGS, rng).to_owned());
        if rng.random_range(0..4_u32) > 0 {
            line.push(value(rng));
        }
    }
    if ["train", "demo"].contains(&line[0].as_str()) && rng.random_range(0..3_u32) > 0 {
        line.extend(SHORT.iter().map(|word| (*word).to_owned()));
    }
    line
}
