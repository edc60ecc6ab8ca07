//! Inference on large graphs: equal to the reference, and the same bits whichever way an iteration is done.

#![allow(clippy::unwrap_used)]

mod cases;

use cases::{Batch, Case, Random, controllers, relative_difference};
use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;
use itergnn_kernels::{Isa, KernelError, Real};

/// Double precision: only the order of sums differs.
const TIGHT: f64 = 1e-10;

/// Single precision against double: some dozens of roundings of 6e-8 in sums whose terms partly cancel.
const SINGLE: f64 = 2e-5;

const STRATEGIES: [Strategy; 3] = [Strategy::Automatic, Strategy::Dense, Strategy::Active];

fn run<T: Real>(case: &Case<T>, strategy: Strategy, threads: usize) -> BlockOutput<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| infer_with(Engine::new().unwrap(), &case.config, &case.inputs(), strategy).unwrap())
}

/// Everything but the shares, which differ between strategies.
fn results<T: Clone>(inference: &BlockOutput<T>) -> BlockOutput<T> {
    BlockOutput { active_shares: Vec::new(), ..inference.clone() }
}

fn assert_equal_to_reference<T: Real>(found: &BlockOutput<T>, expected: &BlockOutput<f64>, tolerance: f64) {
    assert_eq!((&found.stops.steps, &found.stops.capped), (&expected.stops.steps, &expected.stops.capped));
    let difference = relative_difference(&found.output, &expected.output);
    assert!(difference < tolerance, "output: {difference}");
    for (what, found, expected) in [
        ("remaining", &found.stops.remaining, &expected.stops.remaining),
        ("unspent", &found.stops.unspent, &expected.stops.unspent),
        ("confidences", &found.stops.confidences, &expected.stops.confidences),
    ] {
        let difference = relative_difference(found, expected);
        assert!(difference < tolerance, "{what}: {difference}");
    }
}

/// In both precisions, by every strategy, on one thread and on three.
fn check(case: &Case<f64>) {
    let expected = reference::forward(&case.config, &case.inputs()).unwrap().0;
    let tight = run(case, Strategy::Automatic, 1);
    assert_equal_to_reference(&tight, &expected, TIGHT);
    let single = case.to_f32();
    let automatic = run(&single, Strategy::Automatic, 1);
    assert_equal_to_reference(&automatic, &expected, SINGLE);
    for strategy in STRATEGIES {
        assert!(results(&automatic) == results(&run(&single, strategy, 3)), "{strategy:?} {:?}", case.config);
    }
}

fn config(kind: LayerKind, controller: ControllerConfig) -> BlockConfig {
    BlockConfig { layer: LayerConfig::new(kind, 2, 5, 1).with_aggregation(Aggregation::Max), controller }
}

const LAYERS: [LayerKind; 3] = [LayerKind::MpnnMax, LayerKind::Path, LayerKind::PathSim];

fn undirected(nodes: usize, links: &[(usize, usize)]) -> (usize, Vec<(usize, usize)>) {
    let mut edges: Vec<_> = links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    edges.sort_by_key(|edge| edge.1);
    (nodes, edges)
}

fn batch_of(graphs: &[(usize, Vec<(usize, usize)>)]) -> Batch {
    let mut batch = Batch::new(&[]);
    graphs.iter().for_each(|(nodes, edges)| batch.push_sorted(*nodes, edges));
    batch
}

/// A line whose nodes are numbered at random, with leaves.
fn lobster(nodes: usize, random: &mut Random) -> (usize, Vec<(usize, usize)>) {
    let mut names: Vec<usize> = (0..nodes).collect();
    (1..nodes).for_each(|last| names.swap(last, random.below(last + 1)));
    let line = 4 * nodes / 5;
    let links: Vec<_> =
        (1..nodes).map(|node| (names[node], names[if node < line { node - 1 } else { random.below(line) }])).collect();
    undirected(nodes, &links)
}

/// Makes all nodes alike but a few.
fn make_alike(case: &mut Case<f64>, different: &[usize]) {
    let (input, hidden) = (case.config.input_width(), case.config.hidden_width());
    for node in (1..case.batch.nodes()).filter(|node| !different.contains(node)) {
        case.node_inputs.copy_within(..input, node * input);
        case.hidden.copy_within(..hidden, node * hidden);
    }
}

#[test]
fn every_layer_and_controller_equals_the_reference() {
    let mut random = Random(31);
    for layer in LAYERS {
        for (number, controller) in controllers().into_iter().enumerate() {
            let batch = batch_of(&[(2, vec![(0, 1)]), lobster(1300, &mut random)]);
            let case = Case::random(&mut random, config(layer, controller), batch, number % 2 == 0);
            check(&case);
        }
    }
}

#[test]
fn a_common_background_equals_the_reference() {
    let mut random = Random(32);
    for controller in controllers() {
        let batch = batch_of(&[lobster(1100, &mut random)]);
        let mut case = Case::random(&mut random, config(LayerKind::PathSim, controller), batch, true);
        make_alike(&mut case, &[3, 700]);
        check(&case);
    }
}

/// Straight and diagonal steps, as on a map: a sender's messages are as many as there are kinds of edges.
#[test]
fn few_kinds_of_edges_equal_the_reference() {
    let mut random = Random(37);
    let side = 34;
    let steps = [(1, 0), (0, 1), (1, 1)];
    let links: Vec<_> = (0..side * side)
        .flat_map(|node| steps.map(|(dx, dy)| (node, node % side + dx, node / side + dy)))
        .filter(|&(_, x, y)| x < side && y < side)
        .map(|(node, x, y)| (node, y * side + x))
        .collect();
    let graph = undirected(side * side, &links);
    for layer in LAYERS {
        for controller in controllers() {
            let batch = batch_of(std::slice::from_ref(&graph));
            let mut case = Case::random(&mut random, config(layer, controller), batch, false);
            let feature = |&(from, to): &(usize, usize)| if from.abs_diff(to) == side + 1 { 0.5 } else { -0.25 };
            case.edge_features = graph.1.iter().map(feature).collect();
            let expected = reference::forward(&case.config, &case.inputs()).unwrap().0;
            assert_equal_to_reference(&run(&case, Strategy::Automatic, 1), &expected, TIGHT);
            let single = case.to_f32();
            let [automatic, dense, active] = STRATEGIES.map(|strategy| results(&run(&single, strategy, 3)));
            assert!(automatic == dense && automatic == active, "{:?}", case.config);
        }
    }
}

/// In a directed graph a node may listen to the background without ever being heard by it.
#[test]
fn a_background_that_is_heard_but_does_not_listen() {
    let mut random = Random(33);
    let nodes = 1200;
    // A ring; every fifth node also hears a node far away, and node 0 hears nobody.
    let mut edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    edges.extend((1..nodes).filter(|node| node % 5 == 0).map(|node| ((node * 7 + 1) % nodes, node)));
    edges.sort_by_key(|edge| edge.1);
    let controller = ControllerConfig::shared(12);
    let mut case = Case::random(&mut random, config(LayerKind::PathSim, controller), batch_of(&[(nodes, edges)]), true);
    make_alike(&mut case, &[600]);
    check(&case);
}

#[test]
fn components_isolated_nodes_and_hubs() {
    let mut random = Random(34);
    let nodes = 10_500;
    let hub: Vec<_> = (1..=10_000).map(|leaf| (0, leaf)).collect();
    let parts: Vec<_> = (10_100..10_400).map(|node| (node, node + 1)).filter(|link| link.0 % 10 != 0).collect();
    let graph = undirected(nodes, &[hub, parts].concat());
    for layer in LAYERS {
        for equal_edges in [false, true] {
            let iterative = IterConfig { training_cap: 6, epsilon: 1e-3, decay: 0.9999, ..IterConfig::default() };
            let mut config = config(layer, ControllerConfig::Iter(iterative));
            config.layer.hidden_width = 3;
            let mut case = Case::random(&mut random, config, batch_of(std::slice::from_ref(&graph)), equal_edges);
            check(&case);
            make_alike(&mut case, &[5, 10_250]);
            check(&case);
        }
    }
}

#[test]
fn a_graph_without_edges_keeps_its_states() {
    let mut random = Random(35);
    for layer in LAYERS {
        let iterative = IterConfig { training_cap: 3, decay: 0.9999, ..IterConfig::default() };
        let case = Case::random(
            &mut random,
            config(layer, ControllerConfig::Iter(iterative)),
            batch_of(&[(1500, Vec::new())]),
            false,
        );
        check(&case);
    }
}

/// Weights with which the state of a node is the largest value within as many steps as iterations.
fn spreading(nodes: usize, source: usize, iterations: usize) -> Case<f32> {
    let layer = LayerConfig::new(LayerKind::PathSim, 0, 1, 0).with_aggregation(Aggregation::Max).with_homogeneous(true);
    let config = BlockConfig { layer, controller: ControllerConfig::shared(iterations) };
    let line: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    let batch = batch_of(&[undirected(nodes, &line)]);
    let mut hidden = vec![0.0; nodes];
    hidden[source] = 1.0;
    Case {
        config,
        batch,
        node_inputs: Vec::new(),
        hidden,
        edge_features: Vec::new(),
        parameters: vec![1.0, 1.0],
        output_gradient: Vec::new(),
        unspent_gradient: Vec::new(),
    }
}

#[test]
fn only_the_front_of_a_wave_is_active() {
    let (nodes, iterations) = (5000, 300);
    let case = spreading(nodes, 2500, iterations);
    let inference = run(&case, Strategy::Automatic, 1);
    assert_eq!(inference.output.iter().filter(|&&value| value == 1.0).count(), 2 * iterations + 1);
    let shares = &inference.active_shares[0];
    assert_eq!(shares.len(), iterations);
    // At first the source and the background; then two nodes, one at either end of what was reached.
    assert_eq!(shares[0], 2.0 / nodes as f32);
    assert!(shares[1..].iter().all(|&share| share == 2.0 / nodes as f32), "{shares:?}");
    assert!(inference.mean_active_share(0) < 1e-3);
    let dense = run(&case, Strategy::Dense, 1);
    assert_eq!(dense.active_shares[0][0], 1.0);
    assert_eq!(dense.output, inference.output);
}

#[test]
fn overflow_is_an_error_that_names_the_iteration_by_every_strategy() {
    let mut random = Random(36);
    for layer in LAYERS {
        for equal_edges in [false, true] {
            let config = config(layer, ControllerConfig::shared(30));
            let batch = batch_of(&[(2, vec![(0, 1)]), lobster(1100, &mut random)]);
            let mut case = Case::random(&mut random, config, batch, equal_edges);
            make_alike(&mut case, &[77]);
            let mut case = case.to_f32();
            case.parameters.iter_mut().for_each(|value| *value *= 3e3);
            let expected = reference::forward(&config, &case.inputs()).unwrap_err();
            assert!(matches!(expected, KernelError::NonFinite { iteration: 2.., .. }), "{expected:?}");
            for strategy in STRATEGIES {
                for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                    let engine = Engine::with_isa(isa).unwrap();
                    let found = infer_with(engine, &config, &case.inputs(), strategy).unwrap_err();
                    assert_eq!(found, expected, "{strategy:?} {isa:?}");
                }
            }
        }
    }
}
