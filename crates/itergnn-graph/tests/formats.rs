//! The formats on small files: what each says, that writing and reading again changes nothing, and the laws that hold
//! for any file.

#![allow(clippy::unwrap_used, reason = "functions that only tests call")]

use std::path::{Path, PathBuf};

use itergnn_graph::{
    Attributes, EdgeWeights, Graph,
    formats::{
        ColumnChoice, GraphFile, Neighbours, NodeFeature, ReadOptions, SampleReader, SampleRecord, parse_dimacs,
        parse_edge_list, parse_gin, parse_sample, read_gin, read_graph, read_map, read_sample, read_tsp, write_sample,
    },
    solvers::dijkstra,
};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn graph(name: &str) -> GraphFile {
    read_graph(&fixture(name), &ReadOptions::default()).unwrap()
}

fn shortest(read: &GraphFile, from: &str, to: &str) -> f64 {
    let (source, target) = (read.find_node(from).unwrap(), read.find_node(to).unwrap());
    dijkstra::shortest_path(&read.graph, &read.weights, source, target).unwrap().unwrap().length
}

#[test]
fn every_graph_fixture_reads_as_its_extension_says() {
    // file, nodes, directed edges, warnings, a pair of nodes by the file's ids and their distance
    let expected = [
        ("arcs.gr", 4, 5, 3, ("1", "4"), 13.5),
        ("zero_based.gr", 4, 4, 0, ("0", "2"), 42.0),
        ("pace.gr", 4, 6, 0, ("4", "1"), 3.0),
        ("colouring.gr", 3, 4, 0, ("1", "3"), 2.0),
        ("header.csv", 3, 6, 0, ("0", "2"), 1.75),
        ("extract.tsv", 3, 4, 0, ("42", "10000000001"), 3.5),
        ("plain.edges", 4, 8, 0, ("1", "4"), 2.0),
        ("semicolon.txt", 3, 4, 0, ("0", "2"), 4.0),
        ("graph.json", 4, 4, 0, ("0", "3"), 3.0),
        ("path.mtx", 4, 6, 0, ("1", "4"), 3.75),
        ("square.graph", 5, 10, 0, ("1", "5"), 9.0),
        ("towns.graphml", 3, 4, 0, ("Rome", "Oslo"), 2116.5),
        ("links.json", 3, 4, 0, ("a", "c"), 3.5),
        ("edge_index.json", 3, 4, 0, ("2", "0"), 3.5),
        ("twice.edges.xz", 3, 4, 1, ("0", "2"), 3.0),
        ("twice.edges.zst", 3, 4, 1, ("0", "2"), 3.0),
    ];
    for (name, nodes, edges, warnings, (from, to), distance) in expected {
        let read = graph(name);
        assert_eq!((read.graph.nodes(), read.graph.edges()), (nodes, edges), "{name}");
        assert_eq!(read.warnings.len(), warnings, "{name}: {:?}", read.warnings);
        assert_eq!(shortest(&read, from, to), distance, "{name}");
    }
    let roads = graph("roads.cedge");
    assert_eq!(roads.warnings, ["1 duplicate edge: kept the smallest weight"]);
    assert_eq!(roads.graph.edge_attributes().row(0), [57.403_187]);
}

#[test]
fn scenarios_are_solved_with_their_stated_length() {
    /// Scenario files round to five decimals.
    const ROUNDING: f64 = 1e-5;
    let read = graph("room.map");
    let scenarios = std::fs::read_to_string(fixture("room.scen")).unwrap();
    let scenarios: Vec<Vec<&str>> = scenarios.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!(scenarios.len(), 4);
    for fields in scenarios {
        let length = shortest(&read, &fields[4..6].join(","), &fields[6..8].join(","));
        assert!((length - fields[8].parse::<f64>().unwrap()).abs() < ROUNDING, "{length} for {fields:?}");
    }
    assert_eq!(read_map(&fixture("room.map")).unwrap().nodes(), 13);
}

#[test]
fn tsplib_distances() {
    // From corner 1 to corner 2 (10 apart), 3 (14.14 apart) and the middle (7.07 apart).
    let expected = [
        ("square.tsp", [10, 14, 7]),
        ("ceiling.tsp", [10, 15, 8]),
        ("pseudo.tsp", [4, 5, 3]),
        ("sphere.tsp", [1114, 1571, 787]),
    ];
    for (name, distances) in expected {
        let instance = read_tsp(&fixture(name)).unwrap();
        assert_eq!([1, 2, 4].map(|city| instance.distance(0, city)), distances, "{name}");
    }
    for (name, distance) in [("lower_diagonal.tsp", 23), ("upper_row.tsp", 23), ("full_matrix.tsp", 3)] {
        assert_eq!(read_tsp(&fixture(name)).unwrap().distance(1, 2), distance, "{name}");
    }
    assert_eq!(read_tsp(&fixture("square.tsp")).unwrap().tour_length(&[0, 4, 1, 2, 3]), 7 + 7 + 10 + 10 + 10);
}

#[test]
fn classification_sets_and_samples() {
    let set = read_gin(&fixture("classes.txt")).unwrap();
    assert_eq!((set.graphs.len(), set.classes(), set.label_values.clone()), (3, 2, vec![2, 0]));
    assert_eq!(set.tag_values, [0, 7, 3]);
    assert_eq!(set.one_hot(0, NodeFeature::Tag).unwrap().node_attributes().row(2), [0.0, 1.0, 0.0]);
    assert_eq!(set.feature_width(NodeFeature::Degree), 3); // degrees 0, 1 and 2

    let samples: Vec<_> = SampleReader::open(&fixture("samples.jsonl")).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(samples[0].fields["target_node"], 2);
    assert_eq!((samples[1].target.clone(), samples[1].graph().unwrap().nodes()), (vec![2.0], 2));
    assert_eq!(read_sample(&fixture("samples.jsonl")).unwrap(), samples[0]);
}

#[test]
fn a_file_that_is_not_there_or_not_a_graph_is_named() {
    let error = |path: &Path| read_graph(path, &ReadOptions::default()).unwrap_err().to_string();
    let missing = error(Path::new("no/such/file.gr"));
    assert!(missing.starts_with("no/such/file.gr: cannot be read: "), "{missing}");
    assert!(error(&fixture("")).contains("cannot be read"));
    assert!(error(&fixture("square.tsp")).contains("a TSPLIB instance"));
    assert!(error(&fixture("room.scen")).contains("a list of scenarios"));
}

#[test]
fn windows_line_ends_and_blank_lines_change_nothing() {
    for name in ["arcs.gr", "pace.gr", "plain.edges", "path.mtx", "graph.json", "classes.txt", "square.tsp"] {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let windows = format!("\u{feff}\r\n{}\r\n\r\n", text.replace('\n', "\r\n\r\n"));
        let extension = Path::new(name).extension().unwrap().to_str().unwrap();
        match extension {
            "txt" => assert_eq!(parse_gin(windows.as_bytes(), "").unwrap(), read_gin(&fixture(name)).unwrap()),
            "tsp" => assert_eq!(
                itergnn_graph::formats::parse_tsp(windows.as_bytes(), "").unwrap(),
                read_tsp(&fixture(name)).unwrap()
            ),
            _ => {
                let parsed = itergnn_graph::formats::parse_graph(windows.as_bytes(), name, &ReadOptions::default());
                assert_eq!(parsed.unwrap().graph, graph(name).graph, "{name}");
            }
        }
    }
}

fn weighted_graph() -> impl Strategy<Value = (Graph, EdgeWeights)> {
    (1_u32..12).prop_flat_map(|nodes| {
        let edge = (0..nodes, 0..nodes, prop_oneof![0.0_f32..10.0, 0.0_f32..f32::MAX, (0_u16..9).prop_map(f32::from)]);
        proptest::collection::vec(edge, 0..30).prop_map(move |rows| {
            let edges: Vec<_> = rows.iter().map(|&(sender, receiver, _)| [sender, receiver]).collect();
            let weights = rows.iter().map(|&(_, _, weight)| weight).collect();
            let graph = Graph::new(nodes as usize, &edges).unwrap();
            let graph = graph.with_edge_attributes(Attributes::new(usize::from(!rows.is_empty()), weights)).unwrap();
            let weights = EdgeWeights::from_attribute(&graph, 0).unwrap();
            (graph, weights)
        })
    })
}

const VERBATIM: ReadOptions = ReadOptions {
    directed: Some(true),
    neighbours: Neighbours::Eight,
    simplify: false,
    columns: ColumnChoice { source: None, target: None, weight: None },
};

/// The edges in the order in which they were given, with their weights, as rows of a file.
fn rows(graph: &Graph, name: impl Fn(u32) -> u64, start: &str) -> String {
    let weights = graph.edge_attributes_in_original_order();
    let row = |([sender, receiver], weight): ([u32; 2], &[f32])| {
        format!("{start}{} {} {}\n", name(sender), name(receiver), weight[0])
    };
    graph.edge_list().into_iter().zip(weights.rows()).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn dimacs_says_what_was_written((graph, _) in weighted_graph()) {
        prop_assume!(graph.edges() > 0);
        let text = format!("p sp {} {}\n{}", graph.nodes(), graph.edges(), rows(&graph, |node| u64::from(node) + 1, "a "));
        let back = parse_dimacs(text.as_bytes(), "", &VERBATIM).unwrap();
        let renamed = back.graph.edge_list().into_iter().map(|ends| ends.map(|node| back.names.name(node)));
        let original = graph.edge_list().into_iter().map(|ends| ends.map(|node| (node + 1).to_string()));
        prop_assert!(renamed.eq(original));
        prop_assert_eq!(back.graph.edge_attributes_in_original_order(), graph.edge_attributes_in_original_order());
    }

    #[test]
    fn edge_lists_say_what_was_written((graph, _) in weighted_graph(), stride in 1_u64..1 << 40) {
        prop_assume!(graph.edges() > 0);
        let name = |node: u32| 3 + u64::from(node) * stride;
        let back = parse_edge_list(rows(&graph, name, "").as_bytes(), "", &VERBATIM).unwrap();
        let renamed = back.graph.edge_list().into_iter().map(|ends| ends.map(|node| back.names.name(node)));
        let original = graph.edge_list().into_iter().map(|ends| ends.map(|node| name(node).to_string()));
        prop_assert!(renamed.eq(original));
        prop_assert_eq!(
            back.graph.edge_attributes_in_original_order(),
            graph.edge_attributes_in_original_order()
        );
    }

    #[test]
    fn sample_round_trip((graph, _) in weighted_graph(), target in proptest::collection::vec(-1e30_f32..1e30, 0..4)) {
        let mut record = SampleRecord::new(&graph, target);
        record.task = Some("shortest-path".into());
        record.fields.insert("source".into(), 0.into());
        let mut text = Vec::new();
        write_sample(&mut text, &record).unwrap();
        let back = parse_sample(&text[..], "").unwrap();
        prop_assert_eq!(&back, &record);
        prop_assert_eq!(back.graph().unwrap(), graph);
    }

    /// Dropping self-loops and heavier parallel edges, which reading does by default, changes no distance.
    #[test]
    fn simplifying_keeps_all_distances((graph, weights) in weighted_graph()) {
        prop_assume!(graph.edges() > 0);
        let text = rows(&graph, u64::from, "a ");
        let simple = parse_dimacs(text.as_bytes(), "", &ReadOptions::default()).unwrap();
        for (source, name) in (0..simple.graph.nodes() as u32).map(|node| (node, simple.names.name(node))) {
            let before = dijkstra::distances_from(&graph, &weights, name.parse().unwrap()).unwrap();
            // As the file has them: weights of the graph were rounded to f32 before they were written.
            let after = dijkstra::distances_from(&simple.graph, &EdgeWeights::from_attribute(&simple.graph, 0).unwrap(), source);
            let after = after.unwrap().distances;
            let kept = (0..simple.graph.nodes() as u32).map(|node| simple.names.name(node).parse::<usize>().unwrap());
            prop_assert!(kept.zip(after).all(|(node, after)| before.distances[node] == after));
        }
    }
}
