//! Numbers that used to end in an abort, a panic or a program that never came back.

use std::time::{Duration, Instant};

use crate::support::{committed, fails, folder, itergnn, lobster_model, text};

/// All of these are refused before any work is done.
const AT_ONCE: Duration = Duration::from_secs(20);

#[test]
fn an_estimate_of_a_size_beyond_all_machines_overflowed() {
    let folder = folder(&[]);
    // The size that would fit is searched for among all sizes there are, and these graphs have edges for every pair.
    for model in ["component-count-er", "shortest-path-er-weighted"] {
        let model = committed(&format!("models/{model}.safetensors"));
        let line = ["eval", &model, "--size", "1000", "--count", "1", "--memory", "0.0001"];
        fails(folder.path(), &line, 2, &["GiB of memory", "sizes up to about"]);
    }
}

#[test]
fn large_numbers_aborted_or_hung() {
    let ring: String = (0..40).map(|node| format!("{node} {}\n", (node + 1) % 40)).collect();
    let folder = folder(&[("ring.edges", &ring)]);
    let model = lobster_model();
    let solve = ["solve", &model, "--graph", "ring.edges"];
    let started = Instant::now();
    for (line, parts) in [
        ([&solve[..], &["--pairs", "100000000000"]].concat(), &["--pairs", "needs about", "at most", "fit"][..]),
        ([&solve[..], &["--pairs", "18446744073709551615"]].concat(), &["--pairs", "fit"]),
        (vec!["sample", "shortest-path", "--size", "1000000000"], &["needs about", "sizes up to about", "fit"]),
        (vec!["sample", "shortest-path", "--generator", "er", "--size", "4000000"], &["sizes up to about", "fit"]),
        (vec!["sample", "tsp", "--threads", "3000"], &["3000", "at most"]),
        (vec!["sample", "tsp", "--threads", "99999999999999999999"], &["99999999999999999999"]),
        (vec!["eval", &model, "--threads", "3000"], &["3000", "at most"]),
        (vec!["eval", &model, "--count", "1000000000000"], &["--count", "at most", "fit"]),
        (vec!["eval", &model, "--size", "1000000000"], &["needs about", "fit"]),
        (vec!["eval", "random", "--count", "1000000000000"], &["--count", "fit"]),
        (vec!["bench", "--repetitions", "1000000000000000"], &["--repetitions", "fit"]),
        (vec!["bench", "--threads", "100000"], &["at most"]),
        (vec!["properties", "--count", "1000000000000000"], &["--count", "fit"]),
        (vec!["reproduce", "lobsters", "--seeds", "1000000000000000000"], &["--seeds", "fit"]),
        (vec!["reproduce", "lobsters", "--threads", "3000"], &["at most"]),
        (vec!["train", "shortest-path", "--size", "50000000", "--out", "r"], &["a step of 32 samples", "needs about"]),
        (vec!["train", "bfs", "--size", "90000000", "--out", "r"], &["nodes and edges", "needs about"]),
    ] {
        fails(folder.path(), &line, 2, parts);
    }
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
}

#[test]
fn numbers_that_are_no_amounts_were_taken() {
    let folder = folder(&[("ring.edges", "0 1\n1 0\n")]);
    let model = lobster_model();
    for (line, part) in [
        (&["eval", &model, "--count", "0"][..], "--count 0"),
        (&["solve", &model, "--graph", "ring.edges", "--pairs", "0"], "--pairs 0"),
        (&["bench", "--repetitions", "0"], "--repetitions 0"),
        (&["exact", "x.tsp", "--timeout", "-1"], "seconds"),
        (&["exact", "x.tsp", "--timeout", "nan"], "seconds"),
        (&["eval", &model, "--timeout", "0"], "seconds"),
        (&["eval", &model, "--memory", "nan"], "--memory"),
    ] {
        fails(folder.path(), line, 2, &[part]);
    }
}

#[test]
fn a_long_command_gives_up_when_told() {
    let folder = folder(&[]);
    let model = lobster_model();
    let started = Instant::now();
    let line = ["eval", &model, "--size", "20000", "--count", "100000", "--timeout", "1.5", "--json"];
    let output = itergnn(folder.path(), &line);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(told["error"].as_str().is_some_and(|error| error.contains("--timeout")), "{told}");
    assert!(started.elapsed() < AT_ONCE);
}

#[test]
fn a_long_command_gave_no_sign_of_life() {
    let folder = folder(&[]);
    let model = lobster_model();
    let line = ["eval", &model, "--size", "50", "--count", "1000000", "--timeout"];
    let message = text(&itergnn(folder.path(), &[&line[..], &["16"]].concat()).stderr);
    assert!(message.contains("of 1000000, about") && message.contains("left"), "{message}");
    let quiet = text(&itergnn(folder.path(), &[&line[..], &["4", "--quiet"]].concat()).stderr);
    assert_eq!(quiet.lines().count(), 1, "{quiet}");
}
