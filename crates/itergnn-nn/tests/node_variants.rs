//! Predictions for a graph that differs from a recorded one in one node are those of the changed graph.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::path::Path;

use itergnn_graph::{Attributes, Graph, generators, rng};
use itergnn_nn::{Device, Engine, GnnModel, GraphTensors, RunOptions, store};
use rand::RngExt;

/// Weighted sums of a few dozen states in single precision, some of them added in another order.
const LAST_BITS: f64 = 1e-5;

const PLENTY: u64 = 1 << 30;

fn committed(name: &str) -> GnnModel {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("{name}.safetensors"));
    store::load(file, &Device::flex()).unwrap().0
}

fn row(scale: f32, kind: usize) -> Vec<f32> {
    (0..3).map(|place| if place == kind { scale } else { 0.0 }).collect()
}

/// The graph with the ends that there are.
fn marked(graph: &Graph, source: Option<usize>, target: Option<usize>) -> GraphTensors {
    let kind = |node: usize| if Some(node) == source { 0 } else { 1 + usize::from(Some(node) != target) };
    let attributes = (0..graph.nodes()).flat_map(|node| row(1.0, kind(node))).collect();
    let graph = graph.clone().with_node_attributes(Attributes::new(3, attributes)).unwrap();
    GraphTensors::from_graph(&graph, &Device::flex())
}

fn weighted(graph: Graph, mut weight: impl FnMut() -> f32) -> Graph {
    let weights = (0..graph.edges()).map(|_| weight()).collect();
    graph.with_edge_attributes(Attributes::new(1, weights)).unwrap()
}

#[test]
fn variants_predict_what_the_changed_graph_does() {
    let (mut generator, mut other) = (rng::seeded(3), rng::seeded(5));
    let grid = || generators::grid(36, 36).unwrap();
    let graphs = [
        weighted(grid(), || 1.0),
        weighted(grid(), || if generator.random::<bool>() { 1.0 } else { 2.0_f32.sqrt() }),
        weighted(grid(), || 0.5 + other.random::<f32>()),
    ];
    for name in ["lobster-iter-homo-path", "lobster-weighted-iter-homo-path"] {
        let model = committed(name);
        for graph in &graphs {
            let target = 700;
            let options = RunOptions::inference();
            let base = marked(graph, None, None);
            let mut variants = model.variants(&base, &options, PLENTY).unwrap().expect("it covers this");
            // The second one counts.
            variants.fix(30, row(1.0, 0)).unwrap();
            variants.fix(target, row(1.0, 1)).unwrap();
            let nodes = [0, 20, 664, 699, 736, 1295];
            let found = variants.predict(&nodes.map(|node| (node, row(1.0, 0)))).unwrap();
            for (node, found) in nodes.into_iter().zip(found) {
                let found = found.expect("there is memory enough");
                let expected = model.predict(&marked(graph, Some(node), Some(target))).unwrap();
                assert_eq!((found.iterations, found.capped), (expected.loops.iterations[0], expected.loops.capped[0]));
                let value = expected.values[0][0];
                assert!((found.value - value).abs() <= LAST_BITS * value.abs(), "{} instead of {value}", found.value);
            }
        }
    }
}

#[test]
fn only_the_fused_engine_on_large_graphs_has_variants() {
    let model = committed("lobster-iter-homo-path");
    let (small, large) = (generators::grid(5, 5).unwrap(), generators::grid(40, 40).unwrap());
    let [small, large] = [small, large].map(|graph| marked(&weighted(graph, || 1.0), None, Some(3)));
    let options = RunOptions::inference();
    assert!(model.variants(&large, &options, PLENTY).unwrap().is_some());
    assert!(model.variants(&small, &options, PLENTY).unwrap().is_none());
    assert!(model.variants(&large, &options.with_engine(Engine::Plain), PLENTY).unwrap().is_none());
    assert!(committed("shortest-path-lobster").variants(&large, &options, PLENTY).unwrap().is_none());
}
