//! A model whose states grow without bound: `eval`, `predict` and `solve` end with one line that names the iteration,
//! and exit code 1.

mod support;

use std::{fs, process::Output};

use itergnn::nn::{Device, InitRng, TaskWidths, named_tensors, preset, replace_tensors, store};
use tempfile::TempDir;

use support::itergnn;

/// Multiplies the weights of the messages, all made positive, so that every step multiplies the states by a thousand or
/// so: the thirty steps of the model overflow single precision.
const GROWTH: f64 = 100.0;

/// A folder with `model.safetensors`.
fn exploding() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let config = preset("shared-homo-path", &TaskWidths::graph(3, 1, 1)).expect("a preset");
    let model = config.init(&Device::flex(), &mut InitRng::new(3)).expect("a model");
    let mut tensors = named_tensors(&model);
    for (name, tensor) in &mut tensors {
        if name.contains("message") || name.contains("embedding") {
            tensor.values.iter_mut().for_each(|value| *value = GROWTH * value.abs());
        }
    }
    let model = replace_tensors(model, &tensors);
    let card = store::ModelCard { task: "shortest-path".to_owned(), ..store::ModelCard::default() };
    store::save(&model, &card, folder.path().join("model.safetensors")).expect("written");
    folder
}

fn assert_overflow(output: &Output) {
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = message.lines().filter(|line| !line.trim().is_empty()).collect();
    let Some(line) = lines.last().filter(|line| line.starts_with("itergnn: ")) else { panic!("{message}") };
    let (_, after) = line.split_once("not finite at iteration ").unwrap_or_else(|| panic!("{line}"));
    let iteration: usize =
        after.split(|character: char| !character.is_ascii_digit()).next().unwrap_or("").parse().expect("a number");
    assert!((2..30).contains(&iteration), "{line}");
}

#[test]
fn eval_predict_and_solve_name_the_iteration_of_an_overflow() {
    let folder = exploding();
    let path = folder.path();
    let evaluated = itergnn(path, &["eval", "model.safetensors", "--size", "20", "--count", "3", "--json"]);
    assert_overflow(&evaluated);
    // What could be measured is still there.
    let report: serde_json::Value = serde_json::from_slice(&evaluated.stdout).expect("one JSON object on stdout");
    assert_eq!((&report["not_finite"], &report["overflow"]["sample"]), (&3.into(), &0.into()));

    let sample = itergnn(path, &["sample", "shortest-path", "--size", "20", "--count", "1", "--out", "graph.json"]);
    assert!(sample.status.success());
    for more in [&[][..], &["--trace"]] {
        let predicted = itergnn(path, &[&["predict", "model.safetensors", "--graph", "graph.json"][..], more].concat());
        assert!(predicted.stdout.is_empty());
        assert_eq!(predicted.status.code(), Some(1));
        if more.is_empty() {
            assert_overflow(&predicted);
        }
    }
    fs::write(path.join("line.edges"), "0 1\n1 2\n2 3\n").expect("written");
    let solved = itergnn(path, &["solve", "model.safetensors", "--graph", "line.edges", "--from", "0", "--to", "3"]);
    assert!(solved.stdout.is_empty());
    assert_overflow(&solved);
}
