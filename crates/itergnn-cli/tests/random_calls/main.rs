//! The real binary with random flags and random files: whatever it is told, it ends with exit code 0, 1 or 2, without a
//! panic, and touches nothing outside its folder.
//!
//! `ITERGNN_RANDOM_SECONDS` says for how long (20 unless set), `ITERGNN_RANDOM_SEED` which calls (1 unless set).

#[path = "../support/mod.rs"]
mod support;
mod words;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use itergnn::graph::rng;
use rand::{Rng, RngExt};
use serde_json::Value;

use support::{command, committed, text};
use words::{COMMANDS, plausible_line, random_line};

/// A call that takes longer is ended from outside; that is no failure, many flags ask for long work.
const PATIENCE: Duration = Duration::from_secs(4);

/// Files that are what they say, with some bytes changed now and then.
fn write_files(folder: &Path, rng: &mut impl Rng) -> Vec<String> {
    let fixtures: &[(&str, &[u8])] = &[
        ("a.edges", b"0 1\n1 2\n2 0\n5 6\n"),
        ("b.csv", b"from,to,weight\n0,1,2.5\n1,2,0\n2,0,1e-9\n"),
        ("c.gr", b"c roads\np sp 4 4\na 1 2 5\na 2 3 7\na 1 3 20\na 3 4 9\n"),
        ("d.map", b"type octile\nheight 3\nwidth 4\nmap\n....\n.@@.\n....\n"),
        ("e.tsp", b"NAME: s\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 1 1\n3 0 1\nEOF\n"),
        ("f.json", br#"{"node_attributes": [[1,0,0],[0,1,0],[0,0,1]], "edges": [[0,1],[1,2]], "edge_attributes": [[1],[1]]}"#),
        ("j.jsonl", b"{\"node_attributes\": [[1],[0]], \"edges\": [[0,1],[1,0]], \"edge_attributes\": [[1],[2]], \"target\": [0,1]}\n{\"node_attributes\": [[1],[0]], \"edges\": [[1,0]], \"edge_attributes\": [[3]], \"target\": [1,0]}\n"),
        ("k.graphml", b"<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph></graphml>"),
        ("l.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n"),
        ("m.graph", b"3 2\n2 3\n1\n1\n"),
        ("g.toml", b"epochs = 1\ntask = { task = \"shortest-path\", size = \"4..6\" }\nmodel = { name = \"path\" }\n"),
    ];
    let mut names = Vec::new();
    let mut write = |name: &str, mut bytes: Vec<u8>, damaged: bool, rng: &mut dyn Rng| {
        if damaged {
            for _ in 0..rng.random_range(1..8_usize) {
                let at = rng.random_range(0..bytes.len().max(1));
                match bytes.get_mut(at) {
                    Some(byte) => *byte = rng.random_range(0..=255_u32) as u8,
                    None => bytes.push(0),
                }
            }
            bytes.truncate(rng.random_range(0..=bytes.len()));
        }
        fs::write(folder.join(name), bytes).expect("written");
        names.push(name.to_owned());
    };
    for (name, bytes) in fixtures {
        write(name, bytes.to_vec(), false, rng);
        write(&format!("damaged-{name}"), bytes.to_vec(), true, rng);
    }
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 4, 3);
    encoder.set_color(png::ColorType::Grayscale);
    let pixels = encoder.write_header().and_then(|mut writer| writer.write_image_data(&[10; 12]));
    pixels.expect("a picture");
    write("h.png", png.clone(), false, rng);
    write("damaged-h.png", png, true, rng);
    for model in ["shortest-path-lobster", "navigation", "pacman-iter", "component-count-er"] {
        let bytes = fs::read(committed(&format!("models/{model}.safetensors"))).expect("committed");
        write(&format!("{model}.safetensors"), bytes.clone(), false, rng);
        write(&format!("damaged-{model}.safetensors"), bytes, true, rng);
    }
    let checkpoint = fs::read(committed("reference/nn/checkpoints/DeepGNN2-GATConv-Max.pth")).expect("committed");
    write("i.pth", checkpoint.clone(), false, rng);
    write("damaged-i.pth", checkpoint, true, rng);
    names
}

/// The flags of every command as its help defines them.
fn flags_of_commands(folder: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let definitions = |command: &&'static str| {
        let help = text(&support::itergnn(folder, &[command, "--help"]).stdout);
        let flags = help.lines().map(str::trim_start).filter(|line| line.starts_with("--"));
        (*command, flags.map(str::to_owned).collect())
    };
    COMMANDS.iter().map(definitions).collect()
}

/// Every file below a folder and what it holds.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path.clone());
                found.insert(path, Vec::new());
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_calls_end_with_an_exit_code_and_touch_nothing_else() {
    let root = support::folder(&[]);
    let (inside, outside) = (root.path().join("outside/inside"), root.path().join("outside"));
    for folder in ["outside/inside", "outside/home", "outside/tmp"] {
        fs::create_dir_all(root.path().join(folder)).expect("made");
    }
    fs::write(outside.join("precious"), "precious").expect("written");
    let mut random = rng::seeded(setting("ITERGNN_RANDOM_SEED", 1));
    let end = Instant::now() + Duration::from_secs(setting("ITERGNN_RANDOM_SECONDS", 20));
    let own = flags_of_commands(&inside);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    while Instant::now() < end {
        fs::remove_dir_all(&inside).expect("removed");
        fs::create_dir(&inside).expect("made");
        let files = write_files(&inside, &mut random);
        let before = snapshot(&outside).into_iter().filter(|(path, _)| !path.starts_with(&inside)).collect::<Vec<_>>();
        for _ in 0..25 {
            let line = match random.random_range(0..3_u32) {
                0 => random_line(&files, &mut random),
                _ => plausible_line(&own, &mut random),
            };
            let words: Vec<&str> = line.iter().map(String::as_str).collect();
            *counts.entry(called(&inside, &words, &outside)).or_default() += 1;
            if Instant::now() >= end {
                break;
            }
        }
        let after = snapshot(&outside).into_iter().filter(|(path, _)| !path.starts_with(&inside)).collect::<Vec<_>>();
        assert!(before == after, "something outside the folder was touched");
    }
    let total: u64 = counts.values().sum();
    println!("{total} calls: {counts:?}");
    assert!(counts.contains_key("0") && counts.contains_key("2"), "{total} calls: {counts:?}");
}

/// Makes a call and says how it ended: its exit code, or that it was ended from outside.
fn called(folder: &Path, line: &[&str], home: &Path) -> String {
    let (out, err) = (folder.join(".stdout"), folder.join(".stderr"));
    let file = |path: &Path| Stdio::from(fs::File::create(path).expect("created"));
    let mut child = command(folder, line)
        .env("HOME", home.join("home"))
        .env("TMPDIR", home.join("tmp"))
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .expect("the binary runs");
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break status,
            None if started.elapsed() > PATIENCE => {
                child.kill().expect("it can be killed");
                child.wait().expect("it ends");
                return "ended from outside".to_owned();
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let (stdout, stderr) =
        (fs::read(&out).expect("read"), String::from_utf8_lossy(&fs::read(&err).expect("read")).into_owned());
    let code = status.code();
    assert!(matches!(code, Some(0..=2)), "{line:?} ended with {status}: {stderr}");
    for sign in ["panicked", "internal error", "RUST_BACKTRACE", "stack overflow", "memory allocation"] {
        assert!(!stderr.contains(sign), "{line:?}: {stderr}");
    }
    // Words after `--` are no flags.
    let asks_json = line.iter().take_while(|word| **word != "--").any(|word| *word == "--json");
    if code != Some(0) && asks_json {
        let told: Value =
            serde_json::from_slice(&stdout).unwrap_or_else(|error| panic!("{line:?}: {error}: {}", text(&stdout)));
        assert!(told["error"].is_string() && told["code"].as_i64() == code.map(i64::from), "{line:?}: {told}");
    }
    code.map_or(String::new(), |code| code.to_string())
}
