//! The real binary, in a temporary folder.

mod support;

use std::{
    fs,
    io::{Read, Write},
    process::Stdio,
};

use serde_json::Value;

use support::{command, fails, folder, itergnn, json, text};

const ROADS: &str = "c three roads\np sp 4 4\na 1 2 5\na 2 3 7\na 1 3 20\na 2 3 9\n";
const SQUARE: &str = "NAME: square\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n\
                      1 0 0\n2 10 10\n3 0 10\n4 10 0\nEOF\n";
const ROOM: &str = "type octile\nheight 3\nwidth 4\nmap\n....\n.@@.\n....\n";

#[test]
fn exact_finds_paths_by_the_files_own_names() {
    let folder = folder(&[("roads.gr", ROADS)]);
    let answer = json(folder.path(), &["exact", "roads.gr", "--from", "1", "--to", "3", "--json"]);
    assert_eq!(answer["length"], 12.0);
    assert_eq!(answer["path"], serde_json::json!([1, 2, 3]));
    let people = itergnn(folder.path(), &["exact", "roads.gr", "--from", "1", "--to", "3"]);
    assert!(text(&people.stdout).contains("1 2 3"));
    assert!(text(&people.stderr).contains("smallest weight"), "{}", text(&people.stderr));
}

#[test]
fn exact_finds_ways_on_maps() {
    let folder = folder(&[("room.map", ROOM)]);
    let answer = json(folder.path(), &["exact", "room.map", "--from", "0,0", "--to", "3,2", "--json"]);
    assert_eq!(answer["length"], 5.0);
    assert_eq!(answer["path"][0], "0,0");
}

#[test]
fn exact_proves_tours() {
    let folder = folder(&[("square.tsp", SQUARE)]);
    let answer = json(folder.path(), &["exact", "square.tsp", "--json"]);
    assert_eq!((answer["length"].as_i64(), answer["proven"].as_bool()), (Some(40), Some(true)));
    let mut tour: Vec<_> = answer["tour"].as_array().unwrap().iter().map(|city| city.as_u64().unwrap()).collect();
    tour.sort_unstable();
    assert_eq!(tour, [1, 2, 3, 4]);
}

#[test]
fn exact_summarises_graphs() {
    let folder = folder(&[("two.csv", "from,to\n0,1\n1,2\n3,4\n")]);
    let answer = json(folder.path(), &["exact", "two.csv", "--json"]);
    assert_eq!(answer["nodes"], 5);
    assert_eq!(answer["edges"], 6);
    assert_eq!(answer["components"], 2);
    assert_eq!((&answer["diameter"], &answer["diameter_exact"]), (&2.into(), &true.into()));
}

#[test]
fn exact_refuses_what_it_cannot_use() {
    let folder = folder(&[
        ("roads.gr", ROADS),
        ("negative.gr", "p sp 2 1\na 1 2 -4\n"),
        ("nan.csv", "0,1,nan\n"),
        ("short.gr", "p sp 3 5\na 1 2 1\n"),
        ("huge.gr", "p sp 4000000000 4000000000\na 1 2 1\n"),
        ("empty.edges", ""),
        ("square.tsp", SQUARE),
        ("cut.tsp", &SQUARE[..SQUARE.len() - 12]),
    ]);
    let path = folder.path();
    fails(path, &["exact", "nowhere.gr"], 2, &["nowhere.gr"]);
    fails(path, &["exact", "negative.gr"], 2, &["negative.gr", "2", "-4"]);
    fails(path, &["exact", "nan.csv"], 2, &["nan.csv"]);
    fails(path, &["exact", "short.gr"], 2, &["short.gr", "5"]);
    fails(path, &["exact", "huge.gr"], 2, &["huge.gr"]);
    fails(path, &["exact", "empty.edges"], 2, &["empty.edges"]);
    fails(path, &["exact", "cut.tsp"], 2, &["cut.tsp"]);
    fails(path, &["exact", "square.tsp", "--from", "1", "--to", "2"], 2, &["tour"]);
    assert_eq!(itergnn(path, &["exact", "roads.gr", "--from", "1"]).status.code(), Some(2));
    let warned = itergnn(path, &["exact", "roads.gr", "--from", "9", "--to", "1"]);
    assert_eq!(warned.status.code(), Some(2));
    assert!(text(&warned.stderr).contains("1 to 3"), "{}", text(&warned.stderr));
    let unreachable = itergnn(path, &["exact", "roads.gr", "--from", "3", "--to", "1"]);
    assert_eq!(unreachable.status.code(), Some(1));
    assert!(text(&unreachable.stderr).contains("no path from 3 to 1"));
}

#[test]
fn samples_have_the_documented_fields() {
    let folder = folder(&[]);
    for (task, extra) in [
        ("shortest-path", &["--generator", "er", "--weighted"][..]),
        ("component-count", &["--generator", "lobster"]),
        ("tsp", &["--size", "8"]),
        ("newton-balls", &[]),
        ("pacman", &["--dots", "3", "--walls", "2"]),
        ("navigation", &["--size", "6"]),
        ("regular-graphs", &[]),
    ] {
        let line = [&["sample", task, "--count", "3", "--seed", "5"], extra].concat();
        let output = itergnn(folder.path(), &line);
        assert!(output.status.success(), "{task}: {}", text(&output.stderr));
        let lines: Vec<Value> =
            text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
        assert_eq!(lines.len(), 3, "{task}");
        for sample in lines {
            for field in ["node_attributes", "edges", "edge_attributes", "target"] {
                assert!(sample[field].is_array(), "{task} has no {field}: {sample}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_file_on_any_number_of_threads() {
    let folder = folder(&[]);
    let path = folder.path();
    let line = |out, threads| {
        let sizes = ["--size", "4..34", "--count", "2000", "--seed", "7"];
        let line = [&["sample", "shortest-path"], &sizes[..], &["--out", out, "--threads", threads]].concat();
        let output = itergnn(path, &line);
        assert!(output.status.success() && output.stdout.is_empty(), "{}", text(&output.stderr));
        fs::read(path.join(out)).expect("the file is there")
    };
    let one = line("one.jsonl", "1");
    assert_eq!(one, line("three.jsonl", "3"));
    assert_eq!(one.iter().filter(|&&byte| byte == b'\n').count(), 2000);
    assert_eq!(fs::read_dir(path).unwrap().count(), 2, "temporary files are gone");
}

#[test]
fn sample_refuses_nonsense() {
    let folder = folder(&[]);
    let path = folder.path();
    for (line, part) in [
        (&["sample", "shortest-paths"][..], "shortest-path"),
        (&["sample", "shortest-path", "--generator", "lobsters"], "lobster"),
        (&["sample", "shortest-path", "--size", "9..3"], "9..3"),
        (&["sample", "shortest-path", "--weights", "-1..2"], "weights"),
        (&["sample", "pacman", "--dots", "1000"], "dots"),
        (&["sample", "tsp", "--dots", "1"], "pacman"),
        (&["sample", "tsp", "--out", "no/such/folder/x.jsonl"], "x.jsonl"),
        (&["sample", "graph-classification", "--data", "missing"], "missing"),
    ] {
        let output = itergnn(path, line);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(part), "{line:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = folder(&[]);
    let mut child = command(folder.path(), &["sample", "shortest-path", "--count", "100000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut first = [0_u8; 64];
    child.stdout.as_mut().expect("piped").read_exact(&mut first).expect("some output");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn a_line_without_end_does_not_fill_memory() {
    // A gigabyte would only take longer: the reader gives up after its limit, long before the end of these 64 MiB.
    let folder = folder(&[]);
    let path = folder.path().join("long.edges");
    let mut file = fs::File::create(&path).expect("a file");
    let block = vec![b'1'; 1 << 20];
    for _ in 0..64 {
        file.write_all(&block).expect("written");
    }
    drop(file);
    fails(folder.path(), &["exact", "long.edges"], 2, &["long.edges", "1"]);
}

#[test]
fn help_teaches() {
    let folder = folder(&[]);
    let help = text(&itergnn(folder.path(), &["--help"]).stdout);
    for command in ["demo", "sample", "exact"] {
        assert!(help.contains(command));
        let detail = itergnn(folder.path(), &[command, "--help"]);
        assert!(detail.status.success());
    }
    assert_eq!(itergnn(folder.path(), &["no-such-command"]).status.code(), Some(2));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let folder = folder(&[]);
    let output = |line: &[&str]| {
        let output = itergnn(folder.path(), line);
        assert!(output.status.success(), "{line:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    for shell in ["bash", "zsh", "fish"] {
        let script = output(&["completions", shell]);
        for word in ["solve", "reproduce", "largest-component", "quiet"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    assert!(output(&["man"]).contains("itergnn") && output(&["man"]).starts_with(".ie"));
    assert!(output(&["man", "solve"]).contains("largest"));
    fails(folder.path(), &["man", "slove"], 2, &["did you mean 'solve'"]);
    fails(folder.path(), &["completions", "tcsh"], 2, &["tcsh", "bash"]);
}
