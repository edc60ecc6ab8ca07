//! `import` and `predict` with the real binary: what the authors' code predicted (`reference/nn/checkpoints`) comes out
//! again.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use support::{itergnn, json};

/// Their numbers and ours come from different orders of f32 additions.
const TOLERANCE: f64 = 1e-4;
const NAME: &str = "DecIterGNN30-HomoPathSimConv-Max";

fn checkpoints() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/nn/checkpoints")
}

/// A folder with the first graph of the reference as `graph.json` and an imported model as `model.safetensors`; also
/// what the authors predict.
fn imported(name: &str) -> (TempDir, Value) {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read_to_string(checkpoints().join("expected.json")).expect("the reference is committed");
    let expected: Value = serde_json::from_str(&text).expect("the reference is JSON");
    fs::write(folder.path().join("graph.json"), expected["graphs"][0].to_string()).expect("written");
    let file = checkpoints().join(format!("{name}.pth"));
    let file = file.to_str().expect("a path in UTF-8");
    json(folder.path(), &["import", file, "--as", name, "--out", "model.safetensors", "--json"]);
    let models = expected["models"].as_array().expect("a list");
    let model = models.iter().find(|model| model["name"] == name).expect("the model is in the reference").clone();
    (folder, model)
}

#[test]
fn an_imported_checkpoint_predicts_what_the_authors_code_did() {
    for name in [NAME, "IterGNN40-PathConv-Sum", "DecIterNodeGNN40-SHomoPathSimConv-Sum-2", "DeepGNN2-GATConv-Max"] {
        let (folder, expected) = imported(name);
        let answer = json(folder.path(), &["predict", "model.safetensors", "--graph", "graph.json", "--json"]);
        assert_eq!(answer["iterations"], expected["iterations"][0], "{name}");
        let wanted = expected["predictions"][0].as_array().expect("a row");
        let found = answer["prediction"].as_array().expect("a row");
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            let (found, wanted) = (found.as_f64().expect("a number"), wanted.as_f64().expect("a number"));
            assert!((found - wanted).abs() <= TOLERANCE * wanted.abs().max(1.0), "{name}: {found} for {wanted}");
        }
    }
}

#[test]
fn a_trace_shows_every_step() {
    let (folder, expected) = imported(NAME);
    let line = ["predict", "model.safetensors", "--graph", "graph.json", "--trace", "--json"];
    let trace = json(folder.path(), &line)["trace"].as_array().expect("a list").clone();
    assert_eq!(trace.len() as u64, expected["iterations"][0].as_u64().expect("a count"));
    let remaining: Vec<f64> = trace.iter().map(|step| step["remaining"].as_f64().expect("a number")).collect();
    assert!(remaining.windows(2).all(|pair| pair[1] <= pair[0]), "{remaining:?}");
    let capped = json(folder.path(), &[&line[..], &["--max-iterations", "2"]].concat());
    assert_eq!((&capped["iterations"], &capped["capped"]), (&2.into(), &true.into()));
}

#[test]
fn bad_models_and_graphs_are_refused() {
    let (folder, _) = imported(NAME);
    let path = folder.path();
    let model = fs::read(path.join("model.safetensors")).expect("the model is there");
    fs::write(path.join("cut.safetensors"), &model[..model.len() / 2]).expect("written");
    fs::write(path.join("empty.safetensors"), b"").expect("written");
    fs::write(path.join("narrow.json"), r#"{"node_attributes": [[1], [2]], "edges": [[0, 1]]}"#).expect("written");
    fs::write(path.join("broken.json"), r#"{"node_attributes": [[1], [2]], "edges": [[0, 7]]}"#).expect("written");
    fs::create_dir(path.join("run")).expect("made");
    for (line, part) in [
        (&["predict", "nowhere.safetensors", "--graph", "graph.json"][..], "nowhere.safetensors"),
        (&["predict", "cut.safetensors", "--graph", "graph.json"], "cut.safetensors"),
        (&["predict", "empty.safetensors", "--graph", "graph.json"], "empty.safetensors"),
        (&["predict", "run", "--graph", "graph.json"], "run"),
        (&["predict", "model.safetensors", "--graph", "nowhere.json"], "nowhere.json"),
        (&["predict", "model.safetensors", "--graph", "narrow.json"], "width 1"),
        (&["predict", "model.safetensors", "--graph", "broken.json"], "7"),
        (&["import", "graph.json", "--as", NAME, "--out", "x.safetensors"], "graph.json"),
        (&["import", "graph.json", "--as", "NoSuchGNN", "--out", "x.safetensors"], "NoSuchGNN"),
    ] {
        let output = itergnn(path, line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line:?}: {message}");
        assert!(output.stdout.is_empty() && message.trim_end().lines().count() == 1, "{line:?}: {message}");
        assert!(message.contains(part), "{line:?}: {message:?} does not say {part:?}");
    }
    assert!(!path.join("x.safetensors").exists());
}
