//! Laws that hold for every graph: solver against solver, batching, conversion.

use itergnn_graph::{
    Attributes, EdgeWeights, Graph, GraphBatch, Path, generators,
    generators::Generator,
    rng,
    solvers::{bellman_ford, bfs, components, diameter, dijkstra, grid},
};
use proptest::prelude::*;
use rand::RngExt;

/// Sums of the same weights in another order differ by rounding only; paths here have at most a few hundred edges of
/// weight up to 10.
const SUM_TOLERANCE: f64 = 1e-9;

/// Any graph of up to 24 nodes: self-loops, parallel edges, isolated nodes and several components included.
fn any_graph() -> impl Strategy<Value = Graph> {
    (1_usize..24).prop_flat_map(|nodes| {
        let edge = [0..nodes as u32, 0..nodes as u32];
        let edges = prop::collection::vec(edge, 0..80);
        let values = |count| prop::collection::vec(-5.0_f32..5.0, count);
        (edges, values(2 * nodes), values(3)).prop_flat_map(move |(edges, node_values, globals)| {
            prop::collection::vec(0.0_f32..10.0, edges.len()).prop_map(move |weights| {
                Graph::new(nodes, &edges)
                    .and_then(|graph| graph.with_node_attributes(Attributes::new(2, node_values.clone())))
                    .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, weights)))
                    .and_then(|graph| graph.with_global_attributes(globals.clone()))
                    .expect("the strategy makes valid graphs")
            })
        })
    })
}

/// A graph of one of the generators, with random weights.
fn generated() -> impl Strategy<Value = Graph> {
    (prop::sample::select(&Generator::ALL[..]), 4_usize..40, any::<u64>()).prop_map(|(generator, size, seed)| {
        let rng = &mut rng::seeded(seed);
        let size = if generator.name() == "regular" { size + size % 2 } else { size };
        let size = if generator.name() == "grid" { size / 5 + 1 } else { size };
        let graph = generator.generate(size, rng).expect("a valid size");
        let weights = (0..graph.edges()).map(|_| rng.random_range(0.0_f32..10.0)).collect();
        graph.with_edge_attributes(Attributes::new(1, weights)).expect("one weight per edge")
    })
}

fn weights(graph: &Graph) -> EdgeWeights {
    EdgeWeights::from_attribute(graph, 0).expect("weights are not negative")
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= SUM_TOLERANCE
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shortest_path_solvers_agree(graph in prop_oneof![any_graph(), generated()], pick in any::<(u32, u32)>()) {
        let weights = weights(&graph);
        let (source, target) = (pick.0 % graph.nodes() as u32, pick.1 % graph.nodes() as u32);
        let from = dijkstra::distances_from(&graph, &weights, source).unwrap();
        let to = dijkstra::distances_to(&graph, &weights, target).unwrap();
        let ford = bellman_ford::distances_from(&graph, weights.as_slice(), source).unwrap();
        for node in 0..graph.nodes() {
            prop_assert!(close(from.distances[node], ford.distances[node]));
        }
        let expected = from.distances[target as usize];
        prop_assert!(close(to.distances[source as usize], expected));
        let path = dijkstra::shortest_path(&graph, &weights, source, target).unwrap();
        prop_assert_eq!(path.is_some(), expected.is_finite());
        if let Some(path) = path {
            prop_assert!(close(path.length, expected));
            prop_assert_eq!((path.nodes.first(), path.nodes.last()), (Some(&source), Some(&target)));
            let measured = Path::measure(&graph, &weights, path.nodes).unwrap();
            prop_assert!(close(measured.length, expected));
        }
    }

    #[test]
    fn distances_obey_the_triangle_inequality(graph in generated(), pick in any::<[u32; 3]>()) {
        let weights = weights(&graph);
        let [a, b, c] = pick.map(|node| node % graph.nodes() as u32);
        let from_a = dijkstra::distances_from(&graph, &weights, a).unwrap().distances;
        let from_b = dijkstra::distances_from(&graph, &weights, b).unwrap().distances;
        prop_assert!(from_a[c as usize] <= from_a[b as usize] + from_b[c as usize] + SUM_TOLERANCE);
    }

    #[test]
    fn hops_are_unit_distances(graph in any_graph(), pick in any::<u32>()) {
        let source = pick % graph.nodes() as u32;
        let hops = bfs::hops_from(&graph, source).unwrap();
        let distances = dijkstra::distances_from(&graph, &EdgeWeights::unit(&graph), source).unwrap().distances;
        for (hops, distance) in hops.into_iter().zip(distances) {
            prop_assert_eq!(distance, if hops == bfs::UNREACHED { f64::INFINITY } else { f64::from(hops) });
        }
    }

    #[test]
    fn the_diameter_is_the_largest_eccentricity(graph in prop_oneof![any_graph(), generated()], both in any::<bool>(), budget in 0_u64..5000) {
        let graph = if both { Graph::undirected(graph.nodes(), &graph.edge_list()).unwrap() } else { graph };
        let expected = (0..graph.nodes() as u32).map(|node| diameter::eccentricity(&graph, node).unwrap()).max().unwrap();
        let exact = diameter::hop_diameter(&graph, u64::MAX);
        prop_assert_eq!((exact.lower, exact.upper), (expected, expected));
        let bounds = diameter::hop_diameter(&graph, budget);
        prop_assert!(bounds.lower <= expected && expected <= bounds.upper);
    }

    #[test]
    fn components_agree_with_petgraph_and_reachability(graph in any_graph()) {
        let labels = components::labels(&graph);
        prop_assert_eq!(components::count(&graph), petgraph::algo::connected_components(&graph.to_petgraph()));
        let both = Graph::undirected(graph.nodes(), &graph.edge_list()).unwrap();
        let hops = bfs::hops_from(&both, 0).unwrap();
        for node in 0..graph.nodes() {
            prop_assert_eq!(labels[node] == labels[0], hops[node] != bfs::UNREACHED);
        }
        let largest = components::largest(&graph);
        let sizes = (0..graph.nodes()).map(|node| labels.iter().filter(|&&label| label == labels[node]).count());
        prop_assert_eq!(largest.len(), sizes.max().unwrap());
    }

    #[test]
    fn batching_and_back_is_the_identity(graphs in prop::collection::vec(any_graph(), 0..6)) {
        let batch = GraphBatch::new(&graphs).unwrap();
        prop_assert_eq!(batch.len(), graphs.len());
        let alone: usize = graphs.iter().map(components::count).sum();
        prop_assert_eq!(components::count(batch.union()), alone);
        let text = serde_json::to_string(&batch).unwrap();
        prop_assert_eq!(&serde_json::from_str::<GraphBatch>(&text).unwrap(), &batch);
        prop_assert_eq!(batch.unbatch(), graphs);
    }

    #[test]
    fn json_and_petgraph_round_trips(graph in any_graph()) {
        let text = serde_json::to_string(&graph).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Graph>(&text).unwrap(), &graph);
        // A petgraph without edges cannot tell how wide their attributes would be.
        if graph.edges() > 0 {
            let back = Graph::from_petgraph(&graph.to_petgraph()).unwrap();
            prop_assert_eq!(back.with_global_attributes(graph.global_attributes().to_vec()).unwrap(), graph);
        }
    }

    #[test]
    fn csr_is_sorted_and_stable(graph in any_graph()) {
        let edges = graph.edge_list();
        for node in 0..graph.nodes() as u32 {
            let given: Vec<_> = edges.iter().filter(|edge| edge[1] == node).map(|edge| edge[0]).collect();
            prop_assert_eq!(graph.senders_of(node), given);
        }
    }

    #[test]
    fn grid_paths_are_graph_paths(rows in 1_usize..9, columns in 1_usize..9, seed in any::<u64>(), eight in any::<bool>()) {
        let rng = &mut rng::seeded(seed);
        let free: Vec<bool> = (0..rows * columns).map(|_| rng.random::<f64>() < 0.7).collect();
        let cells = grid::CellGrid::new(rows, columns, free).unwrap();
        let connectivity = if eight { grid::Connectivity::Eight } else { grid::Connectivity::Four };
        let mut edges = Vec::new();
        let mut lengths = Vec::new();
        for cell in (0..(rows * columns) as u32).filter(|&cell| cells.is_free(cell)) {
            for (to, length) in cells.neighbours(cell, connectivity) {
                edges.push([cell, to]);
                lengths.push(length as f32);
            }
        }
        let graph = Graph::new(rows * columns, &edges).unwrap().with_edge_attributes(Attributes::new(1, lengths)).unwrap();
        prop_assert!(graph.is_symmetric());
        let (source, target) = (rng.random_range(0..(rows * columns) as u32), rng.random_range(0..(rows * columns) as u32));
        let on_grid = cells.shortest_path(source, target, connectivity).unwrap();
        let on_graph = dijkstra::shortest_path(&graph, &weights(&graph), source, target).unwrap();
        if cells.is_free(source) && cells.is_free(target) {
            prop_assert_eq!(on_grid.is_some(), on_graph.is_some());
            if let (Some(a), Some(b)) = (on_grid, on_graph) {
                // The graph holds the square root of two as f32.
                prop_assert!((a.length - b.length).abs() < 1e-4);
            }
        } else {
            prop_assert!(on_grid.is_none());
        }
    }

    #[test]
    fn generators_make_what_they_say(size in 4_usize..60, seed in any::<u64>()) {
        for generator in [Generator::LOBSTER, Generator::Planar, Generator::Tree, Generator::Line, Generator::Cycle] {
            let graph = generator.generate(size, &mut rng::seeded(seed)).unwrap();
            prop_assert!(graph.is_symmetric());
            prop_assert_eq!(components::count(&graph), 1);
        }
        let knn = Generator::KNN.generate(size, &mut rng::seeded(seed)).unwrap();
        prop_assert_eq!(knn.edges(), size * 8.min(size - 1));
    }
}

#[test]
fn disjoint_union_is_the_batch_union() {
    let parts = [generators::cycle(3).unwrap(), generators::cycle(3).unwrap()];
    let union = generators::disjoint_union(&parts).unwrap();
    assert_eq!(&union, GraphBatch::new(&parts).unwrap().union());
}
