//! Every label against a solver that shares no code with the one that made it.

use itergnn_graph::{
    EdgeWeights, Graph,
    generators::Generator,
    solvers::{
        bellman_ford, bfs, dijkstra,
        tsp::{DistanceMatrix, held_karp_dp},
    },
};
use itergnn_tasks::{
    Sampler, SizeRange,
    component_count::ComponentCountSpec,
    navigation::NavigationSpec,
    shortest_path::{ShortestPathSpec, Walk, WalkRule, Weights},
    tsp::TspSpec,
};
use proptest::prelude::*;
use strum::VariantArray;

/// The label is an `f64` rounded once to `f32`.
const ROUNDING: f64 = 1e-6;

fn shortest_path_spec() -> impl Strategy<Value = ShortestPathSpec> {
    let generators = [Generator::ER, Generator::KNN, Generator::Planar, Generator::LOBSTER, Generator::Cycle];
    let weights = [Weights::Unit, Weights::PAPER, Weights::Uniform { low: 8.0, high: 24.0 }];
    let size = prop_oneof![Just(SizeRange::TRAINING), Just(SizeRange::exactly(100).expect("a size"))];
    (prop::sample::select(generators.to_vec()), prop::sample::select(weights.to_vec()), size)
        .prop_map(|(generator, weights, size)| ShortestPathSpec { generator, size, weights })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shortest_path_labels_agree_with_bellman_ford(spec in shortest_path_spec(), seed: u64, index: u64) {
        let sample = spec.sampler().unwrap().sample(seed, index).unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        let weights = sample.weights().unwrap();
        let tree = bellman_ford::distances_from(&sample.graph, weights.as_slice(), source).unwrap();
        let (label, length) = (f64::from(sample.target[0]), tree.distances[target as usize]);
        prop_assert!((label - length).abs() <= ROUNDING * length, "{label} {length}");
        prop_assert!(label > 0.0);
    }

    #[test]
    fn exact_distances_always_find_a_shortest_path(spec in shortest_path_spec(), seed: u64, index: u64) {
        let sample = spec.sampler().unwrap().sample(seed, index).unwrap();
        let weights = sample.weights().unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        let length = f64::from(sample.target[0]);
        // Rounded to f32, as a model's predictions are.
        let tree = dijkstra::distances_to(&sample.graph, &weights, target).unwrap();
        let walk = Walk::new(&sample.graph, &weights, source, target, WalkRule::AsWritten).unwrap();
        prop_assert!(walk.follow(|from, _| tree.distances[from as usize] as f32).succeeds(length));
        let tree = dijkstra::distances_from(&sample.graph, &weights, source).unwrap();
        let walk = Walk::new(&sample.graph, &weights, source, target, WalkRule::Released).unwrap();
        let walk = walk.follow(|_, to| tree.distances[to as usize] as f32);
        // The released walk takes an edge from the source whenever it stands beside it, shorter way or not; up to there
        // every step is on a shortest path.
        let beside = walk.nodes()[walk.nodes().len() - 2];
        let last = itergnn_graph::Path::measure(&sample.graph, &weights, vec![source, beside]).unwrap().length;
        let up_to_there = walk.length() - last + tree.distances[beside as usize];
        prop_assert!((up_to_there - length).abs() <= ROUNDING * length, "{up_to_there} {length}");
    }

    #[test]
    fn any_predictor_ends_and_a_path_found_is_a_path(
        spec in shortest_path_spec(),
        seed: u64,
        noise in prop::collection::vec(-2.0_f32..30.0, 7),
    ) {
        let sample = spec.sampler().unwrap().sample(seed, 0).unwrap();
        let weights = sample.weights().unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        for &rule in WalkRule::VARIANTS {
            let walk = Walk::new(&sample.graph, &weights, source, target, rule).unwrap();
            let walk = walk.follow(|from, to| noise[(from + 3 * to) as usize % noise.len()]);
            if let Some(path) = walk.path() {
                let measured = itergnn_graph::Path::measure(&sample.graph, &weights, path.nodes.clone()).unwrap();
                prop_assert!((measured.length - path.length).abs() <= ROUNDING * measured.length);
                prop_assert_eq!((path.nodes[0], *path.nodes.last().unwrap()), (source, target));
                prop_assert!(path.length >= f64::from(sample.target[0]) * (1.0 - ROUNDING));
            }
        }
    }

    #[test]
    fn component_labels_agree_with_breadth_first_search(lobster: bool, seed: u64, index: u64) {
        let generator = if lobster { Generator::LOBSTER } else { Generator::ER };
        let spec = ComponentCountSpec { generator, ..Default::default() };
        let sample = spec.sampler().unwrap().sample(seed, index).unwrap();
        let mut seen = vec![false; sample.graph.nodes()];
        let mut components = 0;
        for node in 0..sample.graph.nodes() as u32 {
            if !seen[node as usize] {
                components += 1;
                let hops = bfs::hops_from(&sample.graph, node).unwrap();
                for (other, hops) in hops.into_iter().enumerate() {
                    seen[other] |= hops != u32::MAX;
                }
            }
        }
        prop_assert_eq!(sample.target, vec![components as f32]);
        prop_assert!((1..=6).contains(&components));
        prop_assert!(sample.graph.is_symmetric());
        prop_assert!(sample.graph.node_attributes().values().iter().all(|value| (0.0..1.0).contains(value)));
    }

    #[test]
    fn navigation_labels_agree_with_the_graph_of_free_pixels(seed: u64, index: u64) {
        let sample = NavigationSpec::default().sampler().unwrap().sample(seed, index).unwrap();
        let free = |node: u32| sample.graph.node_attributes().row(node as usize)[0] <= 0.8;
        let edges: Vec<_> = sample.graph.edge_list().into_iter().filter(|&[a, b]| free(a) && free(b)).collect();
        let open = Graph::new(sample.graph.nodes(), &edges).unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        prop_assert!(free(source) && free(target) && source != target);
        prop_assert_eq!(bfs::hops_from(&open, source).unwrap()[target as usize] as f32, sample.target[0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tour_labels_agree_with_dynamic_programming(size in 2_u32..11, seed: u64) {
        let spec = TspSpec { size: SizeRange::exactly(size).unwrap(), ..Default::default() };
        let sample = spec.sampler().unwrap().sample(seed, 0).unwrap();
        let points: Vec<(f64, f64)> =
            sample.graph.node_attributes().rows().map(|row| (f64::from(row[0]), f64::from(row[1]))).collect();
        let matrix = DistanceMatrix::from_points_scaled(&points, 1e6).unwrap();
        let length = held_karp_dp(&matrix).unwrap().length as f64 / 1e6;
        prop_assert!((f64::from(sample.target[0]) - length).abs() <= ROUNDING * length);
    }
}

#[test]
fn a_lobster_of_twenty_thousand_is_labelled_and_walked() {
    let size = SizeRange::exactly(20_000).unwrap();
    let sample = ShortestPathSpec { size, weights: Weights::PAPER, ..Default::default() }
        .sampler()
        .unwrap()
        .sample(3, 0)
        .unwrap();
    let weights: EdgeWeights = sample.weights().unwrap();
    let tree = dijkstra::distances_to(&sample.graph, &weights, sample.fields.target_node.unwrap()).unwrap();
    let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
    let walk = Walk::new(&sample.graph, &weights, source, target, WalkRule::AsWritten).unwrap();
    assert!(walk.follow(|from, _| tree.distances[from as usize] as f32).succeeds(f64::from(sample.target[0])));
}
