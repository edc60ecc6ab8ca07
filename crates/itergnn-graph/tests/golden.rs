//! Solvers and spatial generators against networkx and scipy (`reference/graph/`).

use itergnn_graph::{
    Attributes, EdgeWeights, Graph, generators,
    solvers::{bellman_ford, components, diameter, dijkstra},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
    delaunay: Triangulation,
    nearest: Vec<Nearest>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    nodes: usize,
    edges: Vec<[u32; 2]>,
    weights: Vec<f32>,
    distances: Vec<Vec<Option<f64>>>,
    components: usize,
    directed_hop_diameter: u32,
    undirected_hop_diameter: u32,
}

#[derive(Deserialize)]
struct Triangulation {
    points: Vec<[f64; 2]>,
    edges: Vec<[u32; 2]>,
}

#[derive(Deserialize)]
struct Nearest {
    points: Vec<Vec<f64>>,
    neighbours: Vec<Vec<u32>>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../reference/graph/values.json")).expect("the committed values are JSON")
}

#[test]
fn shortest_paths_components_and_diameters() {
    for case in golden().cases {
        let name = &case.name;
        let graph = Graph::new(case.nodes, &case.edges)
            .unwrap()
            .with_edge_attributes(Attributes::new(1, case.weights))
            .unwrap();
        let weights = EdgeWeights::from_attribute(&graph, 0).unwrap();
        for (source, row) in (0..).zip(&case.distances) {
            // The weights are multiples of a quarter, so that every sum is exact.
            let expected: Vec<f64> = row.iter().map(|distance| distance.unwrap_or(f64::INFINITY)).collect();
            assert_eq!(dijkstra::distances_from(&graph, &weights, source).unwrap().distances, expected, "{name}");
            assert_eq!(
                bellman_ford::distances_from(&graph, weights.as_slice(), source).unwrap().distances,
                expected,
                "{name}"
            );
            for (target, &distance) in (0..).zip(&expected) {
                let path = dijkstra::shortest_path(&graph, &weights, source, target).unwrap();
                assert_eq!(path.map_or(f64::INFINITY, |path| path.length), distance, "{name}: {source} to {target}");
            }
        }
        assert_eq!(components::count(&graph), case.components, "{name}");
        assert_eq!(diameter::hop_diameter(&graph, u64::MAX).lower, case.directed_hop_diameter, "{name}");
        let both = Graph::undirected(case.nodes, &case.edges).unwrap();
        assert_eq!(diameter::hop_diameter(&both, u64::MAX).lower, case.undirected_hop_diameter, "{name}");
    }
}

#[test]
fn triangulation() {
    let golden = golden().delaunay;
    let graph = generators::delaunay(&golden.points).unwrap();
    let mut found: Vec<_> = graph.edge_list().into_iter().filter(|[a, b]| a < b).collect();
    found.sort_unstable();
    assert_eq!(found, golden.edges);
}

#[test]
fn nearest_neighbours() {
    for golden in golden().nearest {
        let points: Vec<[f64; 3]> = golden
            .points
            .iter()
            .map(|point| std::array::from_fn(|axis| point.get(axis).copied().unwrap_or(0.0)))
            .collect();
        let graph = generators::nearest_neighbours(&points, 8).unwrap();
        let mut found = vec![Vec::new(); points.len()];
        for [centre, neighbour] in graph.edge_list() {
            found[centre as usize].push(neighbour);
        }
        found.iter_mut().for_each(|list| list.sort_unstable());
        assert_eq!(found, golden.neighbours);
    }
}
