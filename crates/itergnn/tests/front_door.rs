//! The front door on the shipped models.

use itergnn::graph::generators;
use itergnn::prelude::*;

fn shipped(name: &str) -> Model {
    Model::load(format!("{}/../../models/{name}.safetensors", env!("CARGO_MANIFEST_DIR"))).expect("a shipped model")
}

#[test]
fn a_shipped_model_finds_the_path_and_its_length() {
    let model = shipped("shortest-path-lobster");
    assert!(model.architecture().contains("max-plus"), "{}", model.architecture());
    let found = model.solve(&generators::line(40).unwrap(), 3, 33).unwrap();
    assert_eq!(found.path.unwrap().nodes, (3..=33).collect::<Vec<u32>>());
    assert!((found.predicted_length - 30.0).abs() < 1e-3);
}

#[test]
fn many_graphs_together_have_the_answers_of_each_alone() {
    let model = shipped("shortest-path-lobster");
    let sampler = TaskSpec::paper(Task::ShortestPath).sampler().unwrap();
    let samples: Vec<Sample> = (0..5).map(|index| sampler.sample(7, index).unwrap()).collect();
    let graphs: Vec<&Graph> = samples.iter().map(|sample| &sample.graph).collect();
    let together = model.predict_many(&graphs, &RunOptions::inference()).unwrap();
    for (graph, answer) in graphs.iter().zip(&together) {
        assert_eq!(model.predict(graph).unwrap(), *answer);
    }
    assert!(model.predict_many(&[], &RunOptions::inference()).unwrap().is_empty());
}

#[test]
fn a_saved_model_is_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.safetensors");
    let model = shipped("shortest-path-lobster");
    model.save(&file).unwrap();
    let copy = Model::load(&file).unwrap();
    assert_eq!((copy.card(), copy.config()), (model.card(), model.config()));
}

#[test]
fn what_is_no_model_for_paths_says_so() {
    let error = shipped("tsp").solve(&generators::line(4).unwrap(), 0, 3).unwrap_err().to_string();
    assert!(error.starts_with("this model gives"), "{error}");
    let missing = Model::load("models/no-such-model.safetensors").unwrap_err().to_string();
    assert!(missing.contains("there is no such model"), "{missing}");
}
