//! Lengths between one node and all others in one pass are those of one prediction per pair.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod fixtures;

use std::path::Path;

use fixtures::device;
use itergnn_graph::{Attributes, Graph, generators, rng};
use itergnn_nn::aligned::max_plus::FixedEnd;
use itergnn_nn::{GnnModel, GraphTensors, RunOptions, store};
use rand::RngExt;

/// Sums along a path are taken in another order, in double precision.
const ROUNDING: f64 = 1e-9;

/// Predictions beyond this say that there is no way.
const NO_WAY: f64 = 1e20;

fn committed(name: &str) -> GnnModel {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("{name}.safetensors"));
    store::load(file, &device()).unwrap().0
}

/// The graph with a source and a target marked, before them `heights` where the model has a gate.
fn marked(graph: &Graph, heights: &[f32], ends: (usize, usize), scale: f32) -> GraphTensors {
    let width = 3 + usize::from(!heights.is_empty());
    let mut attributes = Vec::new();
    for node in 0..graph.nodes() {
        attributes.extend(heights.get(node));
        let class = if node == ends.0 { 0 } else { 1 + usize::from(node != ends.1) };
        attributes.extend((0..3).map(|place| scale * f32::from(u8::from(place == class))));
    }
    let graph = graph.clone().with_node_attributes(Attributes::new(width, attributes)).unwrap();
    GraphTensors::from_graph(&graph, &device())
}

/// Compares one pass with a prediction for every pair; `fixed` is the end that stays.
fn agrees(model: &GnnModel, graph: &Graph, heights: &[f32], fixed: usize, scale: f32) {
    let nodes = graph.nodes();
    for (end, is_source) in [(FixedEnd::Source(fixed), true), (FixedEnd::Target(fixed), false)] {
        let any = marked(graph, heights, (fixed, (fixed + 1) % nodes), scale);
        let all = model.lengths_to_all(&any, end).unwrap().expect("one pass is enough here");
        assert_eq!((all.values.len(), all.values[fixed]), (nodes, 0.0));
        for other in (0..nodes).filter(|&other| other != fixed) {
            let ends = if is_source { (fixed, other) } else { (other, fixed) };
            let expected = model.predict(&marked(graph, heights, ends, scale)).unwrap().values[0][0];
            let found = all.values[other];
            let same = (found - expected).abs() <= ROUNDING * expected.abs();
            assert!(same || (found > NO_WAY && expected > NO_WAY), "{end:?}, {other}: {found} instead of {expected}");
        }
    }
}

fn weighted(graph: Graph, seed: u64, symmetric: bool) -> Graph {
    let mut generator = rng::seeded(seed);
    let table: Vec<f32> = (0..graph.nodes() * graph.nodes()).map(|_| 0.5 + generator.random::<f32>()).collect();
    let nodes = graph.nodes();
    let weight = |&[from, to]: &[u32; 2]| {
        let (from, to) = if symmetric { (from.min(to), from.max(to)) } else { (from, to) };
        table[from as usize * nodes + to as usize]
    };
    let weights = graph.edge_list().iter().map(weight).collect();
    graph.with_edge_attributes(Attributes::new(1, weights)).unwrap()
}

fn unweighted(graph: Graph) -> Graph {
    let weights = vec![1.0; graph.edges()];
    graph.with_edge_attributes(Attributes::new(1, weights)).unwrap()
}

#[test]
fn on_trees_and_unweighted_graphs_with_a_stop_when_waves_meet() {
    let model = committed("shortest-path-lobster");
    let lobster = generators::lobster(20, 0.2, 0.2, &mut rng::seeded(1)).unwrap();
    agrees(&model, &unweighted(lobster.clone()), &[], 3, 1.0);
    agrees(&model, &weighted(lobster, 2, true), &[], 5, 1.0);
    let grid = generators::grid(5, 4).unwrap();
    agrees(&model, &unweighted(grid), &[], 7, 3.0);
}

#[test]
fn on_weighted_graphs_with_a_stop_when_waves_meet_the_shortest_of_the_paths_with_few_edges_counts() {
    let model = committed("shortest-path-lobster");
    for seed in 0..4 {
        agrees(&model, &weighted(generators::grid(5, 4).unwrap(), seed, true), &[], 7, 1.0);
        let random = generators::erdos_renyi(30, 0.12, false, &mut rng::seeded(seed)).unwrap();
        agrees(&model, &weighted(random.clone(), seed, true), &[], 4, 2.0);
        // Weights that differ much: the shortest path has many more edges than the first.
        let steep = |&[from, to]: &[u32; 2]| 0.8_f32.powi(((from * to) % 30) as i32);
        let weights = random.edge_list().iter().map(steep).collect();
        agrees(&model, &random.with_edge_attributes(Attributes::new(1, weights)).unwrap(), &[], 9, 1.0);
    }
}

#[test]
fn on_weighted_graphs_with_a_stop_when_nothing_changes() {
    let grid = weighted(generators::grid(5, 4).unwrap(), 4, true);
    agrees(&committed("shortest-path-planar-weighted"), &grid, &[], 6, 1.0);
    agrees(&committed("shortest-path-er-weighted"), &grid, &[], 6, 2.0);
    let edges = [[0, 1], [1, 2], [2, 3], [3, 1], [0, 4], [4, 3], [5, 0]];
    let directed = weighted(Graph::new(6, &edges).unwrap(), 5, false);
    agrees(&committed("shortest-path-er-weighted"), &directed, &[], 0, 1.0);
    agrees(&committed("shortest-path-er-weighted"), &directed, &[], 3, 1.0);
    // Some of its waves go the wrong way on directed graphs, and it predicts what they make of it.
    agrees(&committed("shortest-path-planar-weighted"), &directed, &[], 0, 1.0);
    let random = weighted(generators::erdos_renyi(25, 0.1, true, &mut rng::seeded(8)).unwrap(), 9, false);
    for name in ["shortest-path-planar-weighted", "shortest-path-er-weighted"] {
        agrees(&committed(name), &random, &[], 3, 1.0);
    }
    // Waves of both directions in one head are beyond one pass.
    let any = marked(&random, &[], (0, 1), 1.0);
    assert_eq!(committed("shortest-path-lobster").lengths_to_all(&any, FixedEnd::Target(3)).unwrap(), None);
}

#[test]
fn a_prepared_graph_gives_every_pair_to_the_bit() {
    let grid = weighted(generators::grid(5, 4).unwrap(), 7, true);
    for name in ["shortest-path-lobster", "shortest-path-planar-weighted", "shortest-path-er-weighted"] {
        let model = committed(name);
        let prepared = model.pair_lengths(&marked(&grid, &[], (0, 1), 2.0)).unwrap().expect("these gain from it");
        for options in [RunOptions::inference(), RunOptions::inference().with_cap(2)] {
            for (source, target) in [(0, 19), (19, 0), (3, 4), (11, 2)] {
                let found = prepared.between(source, target, &options);
                let alone = marked(&grid, &[], (source, target), 2.0);
                let expected = model.predict_with(&alone, &options).unwrap();
                assert_eq!(found.value as f32, expected.values[0][0] as f32, "{name}, {source} to {target}");
                assert_eq!((found.iterations, found.capped), (expected.loops.iterations[0], expected.loops.capped[0]));
            }
        }
    }
}

#[test]
fn among_obstacles() {
    let grid = unweighted(generators::grid(5, 5).unwrap());
    let mut generator = rng::seeded(6);
    let heights: Vec<f32> = (0..25).map(|_| generator.random()).collect();
    let open = heights.iter().position(|&height| height < 0.8).unwrap();
    agrees(&committed("navigation"), &grid, &heights, open, 1.0);
}
