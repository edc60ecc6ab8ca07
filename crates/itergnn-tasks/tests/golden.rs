//! Samples, labels and metrics against networkx and a simulation of its own (`reference/tasks/`).

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use itergnn_graph::{
    Graph,
    generators::Generator,
    solvers::{bfs, components},
};
use itergnn_tasks::{
    Sample, Sampler, Score, Scores, Split, Task,
    component_count::ComponentCountSpec,
    newton_balls::NewtonBallsSpec,
    regular_graphs::{GraphPair, RegularGraphsSpec},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The simulation starts from positions that were rounded to `f32` (numbers up to 30, so 2e-6), and takes the
/// differences of two.
const ROUNDING: f64 = 1e-5;

/// The seed that `make.py` gives to `itergnn sample`.
const SEED: u64 = 20;

#[derive(Deserialize)]
struct Golden {
    er: Vec<Counted>,
    lobster: Vec<Counted>,
    balls: Vec<Pushed>,
    regular: Vec<Classed>,
    pairs: BTreeMap<String, Vec<Described>>,
    metrics: Metrics,
}

#[derive(Deserialize)]
struct Fingerprint {
    nodes: usize,
    edges: usize,
    sum: u64,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(flatten)]
    sample: Fingerprint,
    components: usize,
}

#[derive(Deserialize)]
struct Pushed {
    #[serde(flatten)]
    sample: Fingerprint,
    target: [f64; 4],
}

#[derive(Deserialize)]
struct Classed {
    #[serde(flatten)]
    sample: Fingerprint,
    class: u32,
}

#[derive(Deserialize)]
struct Described {
    components: usize,
    diameter: u32,
    edges: Vec<[u32; 2]>,
}

#[derive(Deserialize)]
struct Metrics {
    targets: Vec<f32>,
    guesses: Vec<f32>,
    right: usize,
    mse: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../reference/tasks/values.json")).expect("the committed values are JSON")
}

/// Sample number `index`, which must be the one that Python saw.
fn drawn(sampler: &dyn Sampler, index: usize, expected: &Fingerprint) -> Sample {
    let sample = sampler.sample(Split::Train.seed(SEED), index as u64).unwrap();
    let sum: u64 = sample.graph.edge_list().iter().map(|&[s, r]| 31 * u64::from(s) + u64::from(r)).sum();
    let found = (sample.graph.nodes(), sample.graph.edges(), sum);
    assert_eq!(found, (expected.nodes, expected.edges, expected.sum), "sample {index}");
    sample
}

#[test]
fn networkx_counts_the_same_components() {
    let golden = golden();
    let specs = [
        (golden.er, ComponentCountSpec::default()),
        (
            golden.lobster,
            ComponentCountSpec {
                generator: Generator::LOBSTER,
                size: "60".parse().unwrap(),
                ..ComponentCountSpec::default()
            },
        ),
    ];
    for (cases, spec) in specs {
        let sampler = spec.sampler().unwrap();
        assert!(cases.len() >= 8);
        for (index, case) in cases.iter().enumerate() {
            assert_eq!(drawn(&sampler, index, &case.sample).target, [case.components as f32]);
        }
    }
}

#[test]
fn a_second_simulation_moves_the_balls_to_the_same_places() {
    let spec = NewtonBallsSpec { size: "4..60".parse().unwrap(), ..NewtonBallsSpec::default() };
    let sampler = spec.sampler().unwrap();
    let cases = golden().balls;
    assert!(cases.iter().any(|case| case.target[1] == 0.0) && cases.iter().any(|case| case.target[1] > 0.0));
    for (index, case) in cases.iter().enumerate() {
        let sample = drawn(&sampler, index, &case.sample);
        let near = |(&found, &expected): (&f32, &f64)| (f64::from(found) - expected).abs() < ROUNDING;
        assert!(sample.target.iter().zip(&case.target).all(near), "{:?} {:?}", sample.target, case.target);
    }
}

#[test]
fn classes_are_isomorphism_classes() {
    let golden = golden();
    let sampler = RegularGraphsSpec::default().sampler().unwrap();
    for (index, case) in golden.regular.iter().enumerate() {
        assert_eq!(drawn(&sampler, index, &case.sample).fields.class, Some(case.class));
    }
    let diameter = |graph: &Graph| {
        let hops = (0..graph.nodes() as u32).flat_map(|node| bfs::hops_from(graph, node).unwrap());
        hops.filter(|&hops| hops != bfs::UNREACHED).max().unwrap()
    };
    for (name, kinds) in &golden.pairs {
        let ours = name.parse::<GraphPair>().unwrap().graphs().unwrap();
        for (graph, kind) in ours.iter().zip(kinds) {
            let theirs = Graph::undirected(graph.nodes(), &kind.edges).unwrap();
            for graph in [graph, &theirs] {
                assert_eq!((components::count(graph), diameter(graph)), (kind.components, kind.diameter), "{name}");
            }
        }
    }
}

#[test]
fn numpy_scores_the_same() {
    let metrics = golden().metrics;
    let scores: Vec<Score> = metrics
        .targets
        .iter()
        .zip(&metrics.guesses)
        .map(|(&target, &guess)| {
            let graph = Graph::new(1, &[]).unwrap();
            let sample = Sample::graph_level(Task::ComponentCount, 1, graph, vec![target]);
            Score::of(&sample, &[guess]).unwrap()
        })
        .collect();
    let scores = Scores::of(&scores);
    let share = metrics.right as f64 / metrics.targets.len() as f64;
    assert!((scores.accuracy.unwrap().mean - share).abs() < 1e-12);
    assert!((scores.mse.unwrap().mean - metrics.mse).abs() < ROUNDING);
}
