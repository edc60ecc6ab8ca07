//! Both walks against a plain reading of their rules in Python (`reference/walks/`).

use std::collections::BTreeMap;

use itergnn_graph::{Attributes, EdgeWeights, Graph};
use itergnn_tasks::shortest_path::{Walk, WalkRule};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    nodes: usize,
    edges: Vec<[u32; 2]>,
    weights: Vec<f32>,
    source: u32,
    target: u32,
    shortest: f64,
    walks: BTreeMap<WalkRule, Walked>,
}

#[derive(Deserialize)]
struct Walked {
    table: Vec<f32>,
    nodes: Vec<u32>,
    length: f64,
    success: bool,
}

#[test]
fn walks_enter_the_same_nodes_as_the_rules_in_python() {
    let text = include_str!("../../../reference/walks/values.json");
    let cases = serde_json::from_str::<Golden>(text).unwrap().cases;
    let successes = |rule| cases.iter().filter(|case| case.walks[&rule].success).count();
    let (released, written) = (successes(WalkRule::Released), successes(WalkRule::AsWritten));
    assert!(written < released && released < cases.len(), "{written} and {released} of {}", cases.len());
    for (index, case) in cases.iter().enumerate() {
        let graph = Graph::new(case.nodes, &case.edges)
            .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, case.weights.clone())))
            .unwrap();
        let weights = EdgeWeights::from_attribute(&graph, 0).unwrap();
        for (&rule, golden) in &case.walks {
            let walk = Walk::new(&graph, &weights, case.source, case.target, rule).unwrap();
            let walk =
                walk.follow(|from, to| golden.table[if rule == WalkRule::Released { to } else { from } as usize]);
            assert_eq!((walk.nodes(), walk.length()), (&golden.nodes[..], golden.length), "case {index}, {rule}");
            assert_eq!(walk.succeeds(case.shortest), golden.success, "case {index}, {rule}");
        }
    }
}
