//! The classifier against PyTorch (`reference/classifier`).

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use itergnn_kernels::classifier::{Classifier, ClassifierBatch};
use itergnn_kernels::segments::Segments;
use itergnn_kernels::settings::{ControllerConfig, IterConfig, JumpingKnowledgeConfig, ReadoutKind};
use itergnn_kernels::{GraphStructure, Isa};
use serde_json::Value;

/// Both compute in f64 through at most twenty normalised layers.
const TOLERANCE: f64 = 1e-9;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn words(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|number| number as u32).collect()
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < TOLERANCE * expected.abs().max(1.0), "{what}: {found} {expected}");
    }
}

#[test]
fn steps_and_scores_are_pytorchs() {
    let golden: Value = serde_json::from_str(include_str!("../../../reference/classifier/values.json")).unwrap();
    let width = |name: &str| golden[name].as_u64().unwrap() as usize;
    let (node_offsets, edge_offsets) = (words(&golden["node_offsets"]), words(&golden["edge_offsets"]));
    let (senders, classes) = (words(&golden["senders"]), words(&golden["labels"]));
    let structure =
        GraphStructure::new(senders, Segments::from_offsets(edge_offsets), Segments::from_offsets(node_offsets))
            .unwrap();
    for (number, case) in golden["cases"].as_array().unwrap().iter().enumerate() {
        let controller = case["iteration"].as_object().map(|module| {
            let most_steps = module["most_steps"].as_u64().unwrap() as usize;
            ControllerConfig::Iter(IterConfig {
                epsilon: module["epsilon"].as_f64().unwrap(),
                decay: module["decay"].as_f64().unwrap(),
                training_cap: most_steps,
                inference_cap: Some(most_steps),
                ..IterConfig::default()
            })
        });
        let config = JumpingKnowledgeConfig {
            hidden_width: width("hidden_width"),
            blocks: width("blocks"),
            pooling: if case["pooling"] == "sum" { ReadoutKind::Sum } else { ReadoutKind::Mean },
            controller,
            ..JumpingKnowledgeConfig::new(width("node_width"), width("classes"))
        };
        let classifier = Classifier::<f64>::new(config, Isa::Portable).unwrap();
        let (parameters, mut statistics) = (numbers(&case["parameters"]), numbers(&case["statistics"]));
        let (features, dropout) = (numbers(&case["features"]), numbers(&case["dropout"]));
        let batch =
            ClassifierBatch { structure: &structure, features: &features, classes: &classes, dropout: &dropout };
        let outcome = classifier.step(&parameters, &mut statistics, &batch).unwrap();
        assert_close(&format!("case {number} loss"), &[outcome.loss], &[case["loss"].as_f64().unwrap()]);
        let steps: Vec<u32> = outcome.steps.iter().map(|&steps| steps as u32).collect();
        assert_eq!(steps, words(&case["steps"]), "case {number}");
        assert_close(&format!("case {number} gradient"), &outcome.gradient, &numbers(&case["gradient"]));
        assert_close(&format!("case {number} statistics"), &statistics, &numbers(&case["statistics_after"]));
        let scores = classifier.scores(&parameters, &statistics, &ClassifierBatch { dropout: &[], ..batch }).unwrap();
        assert_close(&format!("case {number} scores"), &scores, &numbers(&case["scores_after"]));
    }
}
