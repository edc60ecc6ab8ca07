//! Own labelled graphs: every level trains, is judged and refuses what does not fit.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

use std::sync::Arc;

use burn::tensor::Device;
use itergnn_graph::{Attributes, Graph};
use itergnn_nn::Level;
use itergnn_train::data::{Example, OwnData};
use itergnn_train::evaluation::{EvalOptions, ModelPredictor, OwnReport, evaluate_own};
use itergnn_train::{Holdout, ModelConfig, OwnTask, RunConfig, Silent, TrainOptions, train_on};

/// A directed line of so many nodes whose first is marked; `target` is made of its number of nodes.
fn line(nodes: u32, target: impl Fn(u32) -> Vec<f32>) -> Example {
    let edges: Vec<[u32; 2]> = (0..nodes - 1).rev().map(|node| [node, node + 1]).collect();
    let marks = (0..nodes).map(|node| if node == 0 { 1.0 } else { 0.0 }).collect();
    let graph = Graph::new(nodes as usize, &edges).unwrap();
    let graph = graph.with_node_attributes(Attributes::new(1, marks)).unwrap();
    let graph = graph.with_edge_attributes(Attributes::new(1, vec![1.0; edges.len()])).unwrap();
    Example::new(graph, target(nodes))
}

fn trained(task: OwnTask, epochs: u64, target: impl Fn(u32) -> Vec<f32>) -> OwnReport {
    let graphs: Vec<Example> = (0..64).map(|index| line(2 + index % 6, &target)).collect();
    let graphs = Arc::new(graphs);
    let mut config = RunConfig::new(task.clone(), ModelConfig::preset("iter-path"));
    config.model.hidden_width = Some(8);
    config.optimiser.learning_rate = 1e-2;
    let method = config.supervised_mut().unwrap();
    (method.epochs, method.batch_size) = (epochs, 16);
    let data = OwnData { train: graphs.clone(), validation: graphs.clone() };
    let outcome = train_on(&config, &data, None, &TrainOptions::default(), &mut Silent).unwrap();
    let predictor = ModelPredictor::new(&outcome.model, &Device::flex());
    let options = EvalOptions { cap: Some(50), ..EvalOptions::default() };
    evaluate_own(&predictor, &task, &*graphs, &options, &mut |_| {}).unwrap()
}

#[test]
fn every_level_is_learned_and_judged() {
    // Whether a node is marked is in its attributes, so a few steps learn it.
    let nodes = OwnTask { classes: Some(2), ..OwnTask::new(Level::Node) };
    let mark = |nodes: u32| (0..nodes).map(|node| if node == 0 { 1.0 } else { 0.0 }).collect();
    let report = trained(nodes, 30, mark);
    assert!(report.accuracy.unwrap() > 0.9 && report.f1.is_some(), "{report:?}");
    assert_eq!((report.count, report.confusion.len(), report.mse), (64, 2, None));
    // Every node points at the only edge that reaches it; the edges are given from the far end.
    let pointers =
        |nodes: u32| (0..nodes).map(|node| if node == 0 { -1.0 } else { (nodes - 1 - node) as f32 }).collect();
    let report = trained(OwnTask::new(Level::Pointer), 30, pointers);
    assert!(report.accuracy.unwrap() > 0.9, "{report:?}");
    assert!(report.graph_accuracy.unwrap() <= report.accuracy.unwrap());
    // An edge that leaves the marked node.
    let edges = |nodes: u32| (0..nodes - 1).rev().map(|node| if node == 0 { 2.0 } else { 1.0 }).collect();
    let report = trained(OwnTask::new(Level::Edge), 30, edges);
    assert!(report.mse.unwrap() < 0.1 && report.relative_loss.is_some() && report.accuracy == Some(1.0), "{report:?}");
    let report = trained(OwnTask::new(Level::Graph), 1, |nodes| vec![nodes as f32]);
    assert!(report.mse.is_some() && report.rows == 64, "{report:?}");
}

#[test]
fn samples_that_do_not_fit_are_named() {
    let refused = |task: OwnTask, examples: Vec<Example>| {
        let config = RunConfig::new(task, ModelConfig::preset("iter-path"));
        let data: Arc<Vec<Example>> = Arc::new(examples);
        config.resolve_for(&OwnData { train: data.clone(), validation: data }).unwrap_err().to_string()
    };
    let classes = OwnTask { classes: Some(2), ..OwnTask::new(Level::Graph) };
    assert!(refused(classes.clone(), Vec::new()).contains("no samples"));
    let wrong = refused(classes, vec![line(3, |_| vec![1.0]), line(3, |_| vec![2.0])]);
    assert_eq!(wrong, "config: data: sample 1: 2 is no class of 2, counted from 0");
    let nodes = refused(OwnTask::new(Level::Node), vec![line(3, |_| vec![1.0; 3]), line(4, |_| vec![1.0; 3])]);
    assert!(nodes.starts_with("config: data: sample 1: "), "{nodes}");
}

#[test]
fn samples_are_divided_by_share_or_by_size() {
    let graphs = || (2..12).map(|nodes| line(nodes, |nodes| vec![nodes as f32])).collect::<Vec<_>>();
    let divide = |validation| OwnTask { validation, ..OwnTask::new(Level::Graph) }.divide(graphs(), 3);
    let (train, validation) = divide(Holdout::Share(0.2)).unwrap();
    assert_eq!((train.len(), validation.len()), (8, 2));
    let (train, validation) = divide(Holdout::FromSize(9)).unwrap();
    assert!(train.iter().all(|example| example.graph.nodes() < 9) && validation.len() == 3);
    assert!(divide(Holdout::Share(1.5)).is_err() && divide(Holdout::FromSize(100)).is_err());
}
