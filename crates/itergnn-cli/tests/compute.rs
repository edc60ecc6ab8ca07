//! Device, engine and threads, and what an evaluation says about caps and diameters, with the real binary.

mod support;

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use support::{itergnn, json, lobster_model};

/// Plain and fused sum in another order, in f32, over some tens of iterations.
const ROUNDING: f64 = 1e-4;

const SMALL: [&str; 14] = [
    "train",
    "shortest-path",
    "--model",
    "iter-homo-path-settle",
    "--size",
    "4..9",
    "--samples",
    "64",
    "--validation",
    "8",
    "--hidden",
    "8",
    "--epochs",
    "1",
];

#[test]
fn engines_agree_in_training_evaluation_and_prediction() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    for engine in ["plain", "fused"] {
        itergnn(path, &[&SMALL[..], &["--engine", engine, "--out", engine]].concat());
        let config = fs::read_to_string(path.join(engine).join("config.toml")).expect("the run has a configuration");
        assert!(config.contains(&format!("engine = \"{engine}\"")), "{config}");
    }
    let line = ["--size", "12", "--count", "4", "--max-iterations", "40", "--json", "--engine"];
    let loss = |run: &str, engine: &str| {
        let report = json(path, &[&["eval", run], &line[..], &[engine]].concat());
        report["relative_loss"].as_f64().expect("a number")
    };
    let expected = loss("plain", "plain");
    for (run, engine) in [("plain", "fused"), ("fused", "plain"), ("fused", "auto")] {
        let found = loss(run, engine);
        assert!((found - expected).abs() <= ROUNDING * expected, "{run} {engine}: {found} for {expected}");
    }
    itergnn(path, &["sample", "shortest-path", "--size", "9", "--count", "1", "--out", "graph.json"]);
    let predict = |engine| {
        let line =
            ["predict", "plain", "--graph", "graph.json", "--max-iterations", "40", "--json", "--engine", engine];
        json(path, &line)["prediction"][0].as_f64().expect("a number")
    };
    assert!((predict("plain") - predict("fused")).abs() <= ROUNDING * predict("plain").abs());
}

#[test]
fn what_there_is_not_is_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    let model = &lobster_model();
    let eval = ["eval", model, "--count", "1"];
    for (line, part) in [
        ([&eval[..], &["--device", "cuda"]].concat(), "not covered on a GPU"),
        ([&eval[..], &["--device", "tpu"]].concat(), "tpu"),
        ([&eval[..], &["--engine", "warp"]].concat(), "warp"),
        ([&eval[..], &["--engine", "fused"]].concat(), "max-plus"),
        ([&eval[..], &["--engine", "plain"]].concat(), "max-plus"),
        ([&eval[..], &["--threads", "0"]].concat(), "at least one"),
        ([&SMALL[..], &["--set", "epochs", "--out", "x"]].concat(), "--set epochs"),
        ([&SMALL[..], &["--set", "model.max_plus.residual=true", "--out", "x"]].concat(), "model.max_plus"),
        (vec!["demo", "--picture", "x.gif"], "x.gif"),
        (vec!["solve", model, "--device", "cuda", "--graph", "x.gr", "--pairs", "1"], "not covered on a GPU"),
        (vec!["predict", model, "--device", "cuda", "--graph", "x.json"], "not covered on a GPU"),
        (vec!["predict", model, "--device", "cuda", "--data", "x.jsonl"], "not covered on a GPU"),
        (vec!["predict", model, "--device", "cuda", "--graph", "x.json", "--trace"], "--device cuda"),
    ] {
        let output = itergnn(path, &line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line:?}: {message}");
        assert!(message.contains(part), "{line:?}: {message:?} does not say {part:?}");
        assert!(!path.join("x").exists(), "{line:?} left something behind");
    }
}

#[test]
fn a_card_that_is_not_there_is_one_line_and_nothing_is_left_behind() {
    let folder = TempDir::new().expect("a temporary folder");
    let output = itergnn(folder.path(), &[&SMALL[..], &["--device", "cuda", "--seeds", "2", "--out", "x"]].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        assert!(folder.path().join("x/seed-1/model.safetensors").exists(), "there is a card: {message}");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("device cpu") && !message.contains("panicked"), "{message}");
    assert!(!folder.path().join("x").exists(), "something was left behind");
    let output = itergnn(folder.path(), &["reproduce", "lobsters", "--device", "cuda", "--out", "x"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "{message}");
    assert!(!folder.path().join("x").exists(), "reproduce left something behind");
}

#[test]
fn threads_do_not_change_an_evaluation() {
    let folder = TempDir::new().expect("a temporary folder");
    let model = lobster_model();
    let report = |threads| {
        let line = ["eval", &model, "--size", "60", "--count", "9", "--success", "--records"];
        let mut report = json(folder.path(), &[&line[..], &["--json", "--threads", threads]].concat());
        report["seconds"] = Value::Null;
        report
    };
    assert_eq!(report("1"), report("3"));
}

#[test]
fn an_evaluation_says_the_diameter_and_what_went_past_the_safety_cap() {
    let folder = TempDir::new().expect("a temporary folder");
    let model = lobster_model();
    let line = ["eval", &model, "--generator", "line", "--json", "--records", "--count", "2", "--seed", "1"];
    let report = json(folder.path(), &[&line[..], &["--size", "100"]].concat());
    assert_eq!(report["diameter"], json!({ "mean": 99.0, "exact": true }));
    assert_eq!((&report["past_safety_cap"], &report["capped"]), (&json!(0), &json!(0)));
    // On a line of a million nodes two random nodes are mostly more than 200,000 apart, and a wave from both ends meets
    // after half of that.
    let output = itergnn(folder.path(), &[&line[..], &["--size", "1000000"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object on stdout");
    let samples = report["samples"].as_array().expect("a list");
    let past = samples.iter().filter(|sample| sample["iterations"].as_u64() > Some(100_000)).count();
    assert_eq!(report["past_safety_cap"], json!(past));
    assert!(past > 0, "{report}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("more than 100000 iterations"));
    assert_eq!(report["relative_loss"], json!(0.0));
}
