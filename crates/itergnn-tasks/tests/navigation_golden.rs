//! Labels and success of image navigation against networkx (`reference/navigation/`).

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use itergnn_graph::{
    Attributes, EdgeWeights, generators,
    solvers::grid::{CellGrid, Connectivity},
};
use itergnn_tasks::{
    Fields, Sample, Score, Task, TaskSpec,
    navigation::mark_ends,
    shortest_path::{Walk, WalkRule},
};
use serde::Deserialize;

const BLOCKED_ABOVE: f32 = 0.8;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    side: usize,
    heights: Vec<f32>,
    source: u32,
    target: u32,
    label: f64,
    kind: String,
    table: Vec<Option<f32>>,
    walk: Option<Vec<u32>>,
    success: bool,
}

fn golden() -> Vec<Case> {
    let text = include_str!("../../../reference/navigation/values.json");
    serde_json::from_str::<Golden>(text).expect("the golden values are as the script writes them").cases
}

fn sample(case: &Case) -> Sample {
    let graph = generators::grid(case.side, case.side).expect("a side of at least 1");
    let ones = vec![1.0; graph.edges()];
    let graph = graph
        .with_node_attributes(Attributes::new(1, case.heights.clone()))
        .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, ones)))
        .expect("a row per node and per edge");
    let graph = mark_ends(graph, case.source, case.target).expect("ends within the map");
    let mut sample = Sample::graph_level(Task::Navigation, case.side as u32, graph, vec![case.label as f32]);
    sample.fields = Fields {
        source: Some(case.source),
        target_node: Some(case.target),
        blocked_above: Some(BLOCKED_ABOVE),
        ..Fields::default()
    };
    sample
}

#[test]
fn labels_walks_and_success_agree_with_networkx() {
    let cases = golden();
    let succeeded = cases.iter().filter(|case| case.success).count();
    assert!((6..cases.len() - 6).contains(&succeeded), "both outcomes occur");
    for (index, case) in cases.iter().enumerate() {
        let name = format!("case {index} ({})", case.kind);
        let open = case.heights.iter().map(|&height| height <= BLOCKED_ABOVE).collect();
        let cells = CellGrid::new(case.side, case.side, open).unwrap();
        let path = cells.shortest_path(case.source, case.target, Connectivity::Four).unwrap();
        assert_eq!(path.map(|path| path.length), Some(case.label), "{name}");

        let sample = sample(case);
        let weights = EdgeWeights::unit(&sample.graph);
        let walk = Walk::new(&sample.graph, &weights, case.source, case.target, WalkRule::AsWritten).unwrap();
        let walk = walk.follow(|from, _| case.table[from as usize].unwrap_or(f32::INFINITY));
        assert_eq!(walk.path().map(|path| path.nodes), case.walk, "{name}");
        let mut score = Score::default();
        score.add_walk(&sample, &walk).unwrap();
        assert_eq!(score.walkable_success_rate_as_written, Some(f64::from(u8::from(case.success))), "{name}");
    }
}

/// The sampler's own labels, from the attributes alone.
#[test]
fn the_samplers_labels_are_those_of_its_maps() {
    let sampler = TaskSpec::paper(Task::Navigation).sampler().unwrap();
    for index in 0..50 {
        let sample = sampler.sample(11, index).unwrap();
        let side = sample.size as usize;
        let open = sample.graph.node_attributes().rows().map(|row| row[0] <= BLOCKED_ABOVE).collect();
        let cells = CellGrid::new(side, side, open).unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        let path = cells.shortest_path(source, target, Connectivity::Four).unwrap().unwrap();
        assert_eq!(path.length, f64::from(sample.target[0]), "sample {index}");
    }
}
