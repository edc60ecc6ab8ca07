//! Checkpoints in the authors' form give the authors' predictions; `reference/nn/make_checkpoints.py` made both.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too
#![cfg(feature = "import")]

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use itergnn_graph::Graph;
use itergnn_nn::GraphTensors;
use itergnn_nn::import::{ImportError, import_pth};
use itergnn_nn::store::{self, ModelCard};
use serde::Deserialize;

/// Rounding of a few dozen f32 steps in another order than PyTorch's, relative to the largest number of the prediction.
const TOLERANCE: f64 = 2e-5;

#[derive(Deserialize)]
struct Expected {
    graphs: Vec<Graph>,
    models: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    name: String,
    predictions: Vec<Vec<f64>>,
    iterations: Vec<usize>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/nn/checkpoints")
}

fn expected() -> Expected {
    serde_json::from_str(&std::fs::read_to_string(folder().join("expected.json")).unwrap()).unwrap()
}

fn checkpoint(name: &str) -> PathBuf {
    folder().join(format!("{name}.pth"))
}

#[test]
fn predictions_and_iterations_are_the_authors() {
    let expected = expected();
    assert_eq!(expected.models.len(), 11);
    for model in &expected.models {
        let imported = import_pth(checkpoint(&model.name), &model.name, &Device::flex()).unwrap();
        for (index, graph) in expected.graphs.iter().enumerate() {
            let prediction = imported.predict(&GraphTensors::from_graph(graph, &Device::flex())).unwrap();
            let (found, wanted) = (&prediction.values[0], &model.predictions[index]);
            let scale = wanted.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
            for (found, wanted) in found.iter().zip(wanted) {
                let error = (found - wanted).abs();
                assert!(error <= TOLERANCE * scale, "{} on graph {index}: {found} instead of {wanted}", model.name);
            }
            assert_eq!(prediction.loops.iterations, [model.iterations[index]], "{} on graph {index}", model.name);
        }
    }
}

#[test]
fn an_imported_model_can_be_saved() {
    let name = "DecIterNodeGNN40-SHomoPathSimConv-Sum-2";
    let imported = import_pth(checkpoint(name), name, &Device::flex()).unwrap();
    let bytes = store::to_bytes(&imported, &ModelCard::default()).unwrap();
    let (read, _) = store::load_bytes(&bytes, &Device::flex()).unwrap();
    let graph = GraphTensors::from_graph(&expected().graphs[1], &Device::flex());
    assert_eq!(read.predict(&graph).unwrap(), imported.predict(&graph).unwrap());
}

fn error(file: &str, name: &str) -> ImportError {
    import_pth(checkpoint(file), name, &Device::flex()).unwrap_err()
}

#[test]
fn a_string_that_does_not_fit_names_the_tensor() {
    let file = "DecIterGNN30-HomoPathSimConv-Max";
    let biased = error(file, "DecIterGNN30-PathSimConv-Max");
    assert!(biased.to_string().starts_with("tensor `"), "{biased}");
    assert!(matches!(biased, ImportError::MissingTensor { .. }), "{biased}");
    let both_ends = error(file, "DecIterGNN30-HomoPathConv-Max");
    assert!(matches!(both_ends, ImportError::Shape { .. }), "{both_ends}");
    let attention = error(file, "DecIterGNN30-HomoPathSimConv-Attention");
    assert!(attention.to_string().contains("score_module"), "{attention}");
    let too_many = error(file, "DecIterGNN30-HomoPathSimConv-Max-2");
    assert!(matches!(too_many, ImportError::MissingTensor { .. }), "{too_many}");
    let too_few = error("DecIterNodeGNN40-SHomoPathSimConv-Sum-2", "DecIterNodeGNN40-SHomoPathSimConv-Sum");
    assert!(matches!(too_few, ImportError::UnexpectedTensor { .. }), "{too_few}");
}

#[test]
fn files_that_are_no_checkpoints_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pth");
    for bytes in [&b""[..], b"not a checkpoint", b"PK\x03\x04broken", b"\x80\x02}q\x00."] {
        std::fs::write(&path, bytes).unwrap();
        let error = import_pth(&path, "IterGNN30-PathConv-Max", &Device::flex()).unwrap_err();
        assert!(matches!(error, ImportError::File { .. }), "{error}");
    }
    let missing = import_pth(folder.path().join("none.pth"), "IterGNN30-PathConv-Max", &Device::flex()).unwrap_err();
    assert!(matches!(missing, ImportError::File { .. }), "{missing}");
}

#[test]
fn truncated_checkpoints_are_errors() {
    let name = "IterGNN40-PathConv-Sum";
    let bytes = std::fs::read(checkpoint(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pth");
    for length in (0..bytes.len() - 1).step_by(97) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(import_pth(&path, name, &Device::flex()).is_err(), "{length} of {}", bytes.len());
    }
}

/// A pickle that would run a command if it were executed: `os.system("touch <file>")` under the key of the weights.
#[test]
fn a_pickle_is_never_executed() {
    let folder = tempfile::tempdir().unwrap();
    let witness = folder.path().join("executed");
    let path = folder.path().join("model.pth");
    let mut pickle = b"\x80\x02}U\x10model_state_dict".to_vec();
    pickle.extend_from_slice(b"cos\nsystem\n(S'touch ");
    pickle.extend_from_slice(witness.display().to_string().as_bytes());
    pickle.extend_from_slice(b"'\ntRs.");
    std::fs::write(&path, pickle).unwrap();
    assert!(import_pth(&path, "IterGNN30-PathConv-Max", &Device::flex()).is_err());
    assert!(!witness.exists());
}
