//! Model files: what is written is read back, and what is wrong is named.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::collections::HashMap;

use burn::tensor::Device;
use itergnn_graph::{Attributes, Graph};
use itergnn_nn::store::{self, FORMAT_VERSION, ModelCard, StoreError};
use itergnn_nn::{GnnConfig, GnnModel, GraphTensors, InitRng, PRESETS, TaskWidths, named_tensors, preset};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

fn small(name: &str) -> GnnModel {
    let config = match preset(name, &TaskWidths::graph(3, 1, 2)).unwrap() {
        GnnConfig::Graph(config) => GnnConfig::Graph(config.with_hidden_width(6)),
        GnnConfig::JumpingKnowledge(mut config) => {
            config.hidden_width = 6;
            GnnConfig::JumpingKnowledge(config)
        }
        GnnConfig::Grid(mut config) => {
            config.hidden_width = 6;
            GnnConfig::Grid(config)
        }
        GnnConfig::MaxPlus(mut config) => {
            config.channels = 6;
            GnnConfig::MaxPlus(config)
        }
        GnnConfig::Waves(config) => GnnConfig::Waves(config),
        config @ GnnConfig::OneTree(_) => config,
    };
    config.init(&Device::flex(), &mut InitRng::new(5)).unwrap()
}

fn card() -> ModelCard {
    ModelCard {
        name: "iter-homo-path".to_owned(),
        task: "shortest-path".to_owned(),
        seed: u64::MAX,
        training: serde_json::json!({"steps": 3, "loss": [0.5, 0.25]}),
    }
}

fn graph() -> GraphTensors {
    let graph = Graph::undirected(3, &[[0, 1], [1, 2]])
        .and_then(|graph| graph.with_node_attributes(Attributes::new(3, (0..9).map(|i| i as f32 / 7.0).collect())))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0, 0.5, 0.25, 2.0])))
        .unwrap();
    GraphTensors::from_graph(&graph, &Device::flex())
}

/// The bytes of a file with its tensors and metadata after `change`.
fn tampered(
    change: impl FnOnce(&mut HashMap<String, (Dtype, Vec<usize>, Vec<u8>)>, &mut HashMap<String, String>),
) -> Vec<u8> {
    let bytes = store::to_bytes(&small("iter-homo-path"), &card()).unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let mut metadata = header.metadata().clone().unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let owned =
        |(name, view): (String, TensorView<'_>)| (name, (view.dtype(), view.shape().to_vec(), view.data().to_vec()));
    let mut tensors: HashMap<_, _> = file.tensors().into_iter().map(owned).collect();
    change(&mut tensors, &mut metadata);
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, data))| (name.clone(), TensorView::new(*dtype, shape.clone(), data).unwrap()));
    safetensors::serialize(views, Some(metadata)).unwrap()
}

/// The bytes of a file whose description is changed.
fn described(change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    tampered(|_, metadata| {
        let mut description: serde_json::Value = serde_json::from_str(&metadata["itergnn"]).unwrap();
        change(&mut description);
        metadata.insert("itergnn".to_owned(), description.to_string());
    })
}

fn error_of(bytes: &[u8]) -> String {
    store::load_bytes(bytes, &Device::flex()).unwrap_err().to_string()
}

const WEIGHT: &str = "network.head.layers.0.weight";

#[test]
fn every_preset_survives_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for name in PRESETS {
        let model = small(name);
        let path = folder.path().join(format!("{name}.safetensors"));
        store::save(&model, &card(), &path).unwrap();
        let (read, read_card) = store::load(&path, &Device::flex()).unwrap();
        assert_eq!(read_card, card());
        assert_eq!(read.config(), model.config());
        assert_eq!(named_tensors(&read), named_tensors(&model), "{name}");
        if name != "cnn" {
            let options = itergnn_nn::RunOptions::inference().with_cap(50);
            assert_eq!(
                read.predict_with(&graph(), &options).unwrap(),
                model.predict_with(&graph(), &options).unwrap(),
                "{name}"
            );
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), PRESETS.len(), "no temporary file stays: {left:?}");
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing").join("model.safetensors");
    let error = store::save(&small("pointnet"), &card(), &missing).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    let path = folder.path().join("model.safetensors");
    store::save(&small("pointnet"), &card(), &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    store::save(&small("pointnet"), &card(), &path).unwrap();
    assert!(std::fs::read(&path).unwrap() == before, "writing the same model again gives the same bytes");
}

#[test]
fn tensors_must_be_exactly_those_of_the_model() {
    let missing = tampered(|tensors, _| drop(tensors.remove(WEIGHT)));
    assert_eq!(error_of(&missing), format!("tensor `{WEIGHT}` is missing"));
    let extra = tampered(|tensors, _| drop(tensors.insert("extra".to_owned(), (Dtype::F32, vec![1], vec![0; 4]))));
    assert_eq!(error_of(&extra), "tensor `extra` does not belong to this model");
    let shape = tampered(|tensors, _| tensors.get_mut(WEIGHT).unwrap().1 = vec![2, 6]);
    assert_eq!(error_of(&shape), format!("tensor `{WEIGHT}` has shape [2, 6], expected [6, 2]"));
    let integers = tampered(|tensors, _| tensors.get_mut(WEIGHT).unwrap().0 = Dtype::I32);
    assert_eq!(error_of(&integers), format!("tensor `{WEIGHT}` has type I32, expected F32 or F64"));
}

#[test]
fn weights_must_be_finite() {
    for (value, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let bytes =
            tampered(|tensors, _| tensors.get_mut(WEIGHT).unwrap().2[8..12].copy_from_slice(&value.to_le_bytes()));
        assert_eq!(error_of(&bytes), format!("tensor `{WEIGHT}` holds {text} at position 2, expected finite numbers"));
    }
}

#[test]
fn a_newer_version_is_refused() {
    // A newer file may have a config this build cannot read; the version is what to complain about.
    let bytes = described(|description| {
        description["format_version"] = 2.into();
        description["config"] = "of the future".into();
    });
    let expected = format!("model file of format version 2, but this build reads versions up to {FORMAT_VERSION}");
    assert_eq!(error_of(&bytes), expected);
}

#[test]
fn foreign_files_are_told_apart() {
    let foreign = tampered(|_, metadata| metadata.clear());
    assert_eq!(error_of(&foreign), "not an itergnn model: the metadata has no `itergnn`");
    let broken = tampered(|_, metadata| drop(metadata.insert("itergnn".to_owned(), "{".to_owned())));
    assert!(error_of(&broken).starts_with("metadata `itergnn`: "), "{}", error_of(&broken));
    let config = described(|description| description["config"]["readout"] = "maximum".into());
    assert!(error_of(&config).starts_with("metadata `config`: unknown variant `maximum`"), "{}", error_of(&config));
    let misspelt = described(|description| description["config"]["redout"] = "max".into());
    assert!(error_of(&misspelt).contains("redout"), "{}", error_of(&misspelt));
    assert!(error_of(b"PK\x03\x04 a zip file").starts_with("not a safetensors file"), "{}", error_of(b"PK\x03\x04"));
    assert!(error_of(&[]).starts_with("not a safetensors file"));
}

#[test]
fn absurd_sizes_are_refused_before_memory_is_asked_for() {
    for (field, value) in
        [("hidden_width", "4000000000"), ("node_width", "18446744073709551615"), ("head_layers", "1000000000000")]
    {
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        let bytes = described(|description| {
            let config = &mut description["config"];
            config[field] = value.clone();
            match field {
                "node_width" => config["blocks"][0]["layer"]["input_width"] = value.clone(),
                "hidden_width" => config["blocks"][0]["layer"]["hidden_width"] = value.clone(),
                _ => {}
            }
        });
        assert!(error_of(&bytes).contains("parameters, more than"), "{field}: {}", error_of(&bytes));
    }
    // A header that claims more than the file holds.
    let mut bytes = store::to_bytes(&small("pointnet"), &card()).unwrap();
    bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(error_of(&bytes).starts_with("not a safetensors file"));
}

#[test]
fn truncated_files_are_errors_at_every_length() {
    let bytes = store::to_bytes(&small("pointnet"), &card()).unwrap();
    for length in (0..bytes.len()).step_by(41) {
        assert!(store::load_bytes(&bytes[..length], &Device::flex()).is_err(), "{length} of {}", bytes.len());
    }
}

#[test]
fn a_model_with_nan_weights_is_not_written() {
    let model = small("pointnet");
    let mut tensors = named_tensors(&model);
    tensors.get_mut(WEIGHT).unwrap().values[0] = f64::NAN;
    let model = itergnn_nn::replace_tensors(model, &tensors);
    assert!(matches!(store::to_bytes(&model, &card()), Err(StoreError::NotFinite { .. })));
}
