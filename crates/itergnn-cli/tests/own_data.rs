//! Own labelled graphs with the real binary: every level is trained, judged and predicted, from every kind of file.

mod support;

use std::{fs, io::Write, path::Path, process::Stdio};

use serde_json::{Value, json};
use support::{command, committed, fails, folder, itergnn, json, text};

/// Lines of 2 to 7 nodes whose first is marked, both ways, with a target that the level wants.
fn lines(level: &str) -> String {
    let mut text = String::new();
    for index in 0..40_usize {
        let nodes = 2 + index % 6;
        let along = (1..nodes).map(|node| [node - 1, node]);
        let edges: Vec<[usize; 2]> = along.clone().chain(along.map(|[from, to]| [to, from])).collect();
        let marks: Vec<[u8; 1]> = (0..nodes).map(|node| [u8::from(node == 0)]).collect();
        let target: Value = match level {
            "graph" => json!([nodes]),
            "node" => json!((0..nodes).map(|node| u8::from(node == 0)).collect::<Vec<_>>()),
            "edge" => json!(edges.iter().map(|[from, to]| u8::from(from < to)).collect::<Vec<_>>()),
            _ => json!((0..nodes as i64).map(|node| node - 1).collect::<Vec<_>>()),
        };
        let line = json!({ "node_attributes": marks, "edges": edges, "edge_attributes": vec![[1]; edges.len()],
            "target": target });
        text += &format!("{line}\n");
    }
    text
}

const SHORT: [&str; 6] = ["--hidden", "8", "--epochs", "2", "--batch-size", "8"];

fn train(path: &Path, data: &str, level: &str, more: &[&str], out: &str) -> String {
    let line = [&["train", "--data", data, "--level", level, "--out", out], more, &SHORT[..]].concat();
    let output = itergnn(path, &line);
    assert!(output.status.success(), "{line:?}: {}", text(&output.stderr));
    text(&output.stderr)
}

fn predicted(path: &Path, model: &str, data: &str) -> Vec<Value> {
    let output = itergnn(path, &["predict", model, "--data", data]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn every_level_is_trained_judged_and_predicted() {
    for (level, classes) in [("graph", None), ("node", Some("2")), ("edge", Some("2")), ("pointer", None)] {
        let folder = folder(&[("own.jsonl", &lines(level))]);
        let path = folder.path();
        let more: Vec<&str> = classes.map_or(Vec::new(), |classes| vec!["--classes", classes]);
        let told = train(path, "own.jsonl", level, &more, "run");
        let is_class = classes.is_some() || level == "pointer";
        let prior = if is_class { "none" } else { "full" };
        let readout = if level == "graph" { "max" } else { level };
        let chosen = format!("--readout {readout}, --scope graph, --blocks 1, --prior {prior}");
        assert!(told.contains(&chosen) && told.contains("36 samples to learn from, 4 to choose by"), "{told}");
        let judged = json(path, &["eval", "run", "--data", "own.jsonl", "--json"]);
        assert_eq!((&judged["level"], &judged["count"]), (&json!(level), &json!(40)));
        assert_eq!(judged["accuracy"].is_number(), is_class || level == "graph", "{judged}");
        assert_eq!(judged["mse"].is_number(), !is_class, "{judged}");
        assert_eq!(judged["f1"].is_number(), classes.is_some(), "{judged}");
        if classes.is_some() {
            let counts =
                judged["confusion"].as_array().expect("a table").iter().flat_map(|row| row.as_array().unwrap());
            assert_eq!(counts.map(|count| count.as_u64().unwrap()).sum::<u64>(), judged["rows"].as_u64().unwrap());
        }
        let shown = text(&itergnn(path, &["eval", "run", "--data", "own.jsonl"]).stdout);
        assert_eq!(shown.contains("as 1"), classes.is_some(), "{shown}");
        let answers = predicted(path, "run", "own.jsonl");
        assert_eq!(answers.len(), 40);
        let rows = |index: usize| answers[index]["prediction"].as_array().expect("rows").len();
        // The first line has two nodes and two edges, the last one has five nodes.
        assert_eq!(
            (rows(0), rows(39)),
            if level == "graph" {
                (1, 1)
            } else if level == "edge" {
                (2, 8)
            } else {
                (2, 5)
            }
        );
        assert_eq!(answers[0]["probabilities"].is_array(), is_class, "{}", answers[0]);
        if level == "pointer" {
            let choices = answers[0]["prediction"].as_array().unwrap();
            // Node 0 hears node 1 by edge 1, node 1 hears node 0 by edge 0.
            assert!([json!(-1), json!(1)].contains(&choices[0]) && [json!(-1), json!(0)].contains(&choices[1]));
        }
    }
}

#[test]
fn files_may_be_packed_or_come_by_a_pipe() {
    let folder = folder(&[("own.jsonl", &lines("node"))]);
    let path = folder.path();
    train(path, "own.jsonl", "node", &["--classes", "2"], "run");
    let expected = json(path, &["eval", "run", "--data", "own.jsonl", "--json"]);
    for (tool, packed) in [("gzip", "own.gz"), ("xz", "own.xz"), ("zstd", "own.zst")] {
        let made = fs::File::create(path.join(packed)).expect("created");
        let input = fs::File::open(path.join("own.jsonl")).expect("there");
        let status =
            std::process::Command::new(tool).arg("-c").stdin(input).stdout(made).stderr(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            println!("{tool} is not there");
            continue;
        }
        // The name does not matter.
        fs::rename(path.join(packed), path.join("packed")).expect("renamed");
        assert_eq!(json(path, &["eval", "run", "--data", "packed", "--json"]), expected, "{tool}");
        assert_eq!(predicted(path, "run", "packed").len(), 40);
        train(path, "packed", "node", &["--classes", "2"], tool);
        assert_eq!(
            fs::read(path.join("run/model.safetensors")).expect("there").len(),
            fs::read(path.join(tool).join("model.safetensors")).expect("there").len()
        );
    }
    for line in [
        &["eval", "run", "--data", "-", "--json"][..],
        &["predict", "run", "--data", "-"],
        &[
            "train",
            "--data",
            "-",
            "--level",
            "node",
            "--classes",
            "2",
            "--epochs",
            "1",
            "--hidden",
            "4",
            "--out",
            "piped",
        ],
    ] {
        let mut child = command(path, line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        child.stdin.take().expect("a pipe").write_all(lines("node").as_bytes()).expect("written");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{line:?}: {}", text(&output.stderr));
        if line[0] == "eval" {
            assert_eq!(serde_json::from_slice::<Value>(&output.stdout).expect("JSON"), expected);
        }
    }
}

#[test]
fn seeds_scopes_and_choices_by_size_are_taken() {
    let folder = folder(&[("own.jsonl", &lines("node"))]);
    let path = folder.path();
    let told = train(path, "own.jsonl", "node", &["--classes", "2", "--seeds", "2", "--scope", "node"], "runs");
    assert!(told.contains("--scope node"), "{told}");
    assert!(path.join("runs/seed-1/model.safetensors").is_file());
    let told = train(path, "own.jsonl", "node", &["--validation-from-size", "6", "--blocks", "2"], "large");
    // Every third line has 6 or 7 nodes.
    assert!(told.contains("28 samples to learn from, 12 to choose by") && told.contains("--blocks 2"), "{told}");
    let told = train(path, "own.jsonl", "node", &["--validation-data", "own.jsonl"], "whole");
    assert!(told.contains("40 samples to learn from, 40 to choose by"), "{told}");
}

#[test]
fn what_does_not_fit_is_refused_in_one_line() {
    let broken = format!("{}{{\"edges\": [[0, 9]], \"nodes\": 2, \"target\": [1, 2]}}\n", lines("node"));
    let folder = folder(&[
        ("own.jsonl", &lines("node")),
        ("edges.jsonl", &lines("edge")),
        ("broken.jsonl", &broken),
        ("short.jsonl", "{\"a\": 1}\n"),
    ]);
    let path = folder.path();
    let train = ["train", "--out", "run", "--quiet", "--data"];
    let case = |more: &[&'static str], parts: &[&str]| fails(path, &[&train[..], more].concat(), 2, parts);
    case(&["own.jsonl"], &["--level"]);
    case(&["none.jsonl", "--level", "node"], &["none.jsonl"]);
    case(&["short.jsonl", "--level", "node"], &["short.jsonl", "edges"]);
    case(&["broken.jsonl", "--level", "node"], &["broken.jsonl", "41"]);
    case(&["own.jsonl", "--level", "pointer"], &["cannot point at"]);
    case(&["own.jsonl", "--level", "node", "--model", "gin"], &["gin", "whole graphs"]);
    case(&["edges.jsonl", "--level", "edge", "--model", "waves"], &["waves", "graphs and nodes"]);
    case(&["own.jsonl", "--level", "node", "--classes", "2", "--loss", "mse"], &["loss"]);
    case(&["own.jsonl", "--level", "node", "--set", "task.levl=graph"], &["levl"]);
    assert!(!path.join("run").exists());
    let lobster = committed("models/shortest-path-lobster.safetensors");
    fails(path, &["predict", &lobster, "--data", "own.jsonl"], 2, &["own.jsonl, line 1", "width"]);
    fails(path, &["eval", &lobster, "--data", "own.jsonl"], 2, &["--data"]);
}

#[test]
fn a_folder_of_the_tu_collection_is_read_as_it_is() {
    let folder = folder(&[]);
    let path = folder.path();
    fs::create_dir(path.join("SET")).expect("made");
    // Triangles and lines of three, in turn.
    let (mut edges, mut indicator, mut labels, mut nodes) =
        (String::new(), String::new(), String::new(), String::new());
    for graph in 0..20 {
        let first = 3 * graph + 1;
        for (from, to) in [(0, 1), (1, 2), (2, 0)].into_iter().take(if graph % 2 == 0 { 3 } else { 2 }) {
            edges += &format!("{}, {}\n{}, {}\n", first + from, first + to, first + to, first + from);
        }
        indicator += &format!("{}\n", graph + 1).repeat(3);
        labels += if graph % 2 == 0 { "1\n" } else { "-1\n" };
        nodes += "0\n1\n0\n";
    }
    for (name, content) in
        [("A", edges), ("graph_indicator", indicator), ("graph_labels", labels), ("node_labels", nodes)]
    {
        fs::write(path.join(format!("SET/SET_{name}.txt")), content).expect("written");
    }
    let told = train(path, "SET", "graph", &["--classes", "2", "--validation", "0.2"], "run");
    assert!(told.contains("16 samples to learn from, 4 to choose by"), "{told}");
    let judged = json(path, &["eval", "run", "--data", "SET", "--json"]);
    assert_eq!((&judged["count"], judged["confusion"].as_array().map(Vec::len)), (&json!(20), Some(2)));
}

#[test]
fn algorithms_are_data_sets_of_the_same_form() {
    let folder = folder(&[]);
    let path = folder.path();
    let short = ["--samples", "32", "--validation", "8", "--epochs", "1", "--hidden", "8"];
    for algorithm in
        ["bfs", "dfs", "dijkstra", "prim", "eccentricity", "mis", "reachability", "widest-path", "bipartiteness"]
    {
        let made = itergnn(path, &["sample", algorithm, "--count", "20", "--out", "drawn.jsonl", "--split", "test"]);
        assert!(made.status.success(), "{}", text(&made.stderr));
        let trained = itergnn(path, &[&["train", algorithm, "--out", algorithm], &short[..]].concat());
        assert!(trained.status.success(), "{algorithm}: {}", text(&trained.stderr));
        let drawn = json(path, &["eval", algorithm, "--count", "20", "--json"]);
        assert_eq!(json(path, &["eval", algorithm, "--data", "drawn.jsonl", "--json"]), drawn, "{algorithm}");
        let large = json(path, &["eval", algorithm, "--family", "ws", "--size", "80", "--count", "2", "--json"]);
        assert_eq!(large["count"], 2);
        assert_eq!(predicted(path, algorithm, "drawn.jsonl").len(), 20);
    }
    fails(path, &["sample", "bfs", "--size", "4000000000"], 2, &["memory", "sizes up to"]);
    fails(path, &["sample", "bfs", "--size", "1..4000000000"], 2, &["--size", "different sizes"]);
    fails(path, &["sample", "dijkstr"], 2, &["dijkstra"]);
    fails(path, &["sample", "shortest-path", "--family", "ws"], 2, &["--family"]);
}
