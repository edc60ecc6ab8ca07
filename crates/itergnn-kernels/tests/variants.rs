//! Runs that differ from a recorded one in one node: the same as running the changed graph.

#![allow(clippy::unwrap_used)]

mod cases;

use cases::{Batch, Case, Random, controllers};
use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;
use itergnn_kernels::{GraphStructure, segments::Segments};

/// Sums of a few dozen terms in single precision, of which some are added in another order.
const LAST_BITS: f32 = 1e-6;

const PLENTY: usize = 1 << 30;

fn structure(batch: &Batch) -> GraphStructure {
    let incoming = Segments::from_offsets(batch.receiver_offsets.clone());
    GraphStructure::new(batch.senders.clone(), incoming, Segments::from_offsets(batch.node_offsets.clone())).unwrap()
}

fn variants(case: &Case<f32>, memory: usize) -> Variants<f32> {
    Variants::new(Engine::new().unwrap(), case.config, structure(&case.batch), &case.inputs(), memory).unwrap()
}

/// A square grid with diagonals: straight steps of one kind, diagonal ones of another.
fn grid(side: usize) -> (usize, Vec<(usize, usize)>) {
    let mut edges = Vec::new();
    for y in 0..side {
        for x in 0..side {
            for (dx, dy) in [(1, 0), (0, 1), (1, 1)] {
                if x + dx < side && y + dy < side {
                    let (here, there) = (y * side + x, (y + dy) * side + x + dx);
                    edges.extend([(here, there), (there, here)]);
                }
            }
        }
    }
    edges.sort_by_key(|edge| edge.1);
    (side * side, edges)
}

fn batch_of((nodes, edges): &(usize, Vec<(usize, usize)>)) -> Batch {
    let mut batch = Batch::new(&[]);
    batch.push_sorted(*nodes, edges);
    batch
}

fn config(kind: LayerKind, controller: ControllerConfig) -> BlockConfig {
    BlockConfig { layer: LayerConfig::new(kind, 2, 5, 1).with_aggregation(Aggregation::Max), controller }
}

fn changes(random: &mut Random, config: &BlockConfig, nodes: &[usize]) -> Vec<Change<f32>> {
    let mut row = |width: usize| random.signed_values(width, 1.0).into_iter().map(|value| value as f32).collect();
    nodes
        .iter()
        .map(|&node| Change { node, input: row(config.input_width()), hidden: row(config.hidden_width()) })
        .collect()
}

/// The changed graph as a whole.
fn whole(case: &Case<f32>, change: &Change<f32>) -> (Vec<f32>, Stops) {
    let (input, hidden) = (case.config.input_width(), case.config.hidden_width());
    let mut case = case.clone();
    case.node_inputs[change.node * input..][..input].copy_from_slice(&change.input);
    case.hidden[change.node * hidden..][..hidden].copy_from_slice(&change.hidden);
    let output = infer(Engine::new().unwrap(), &case.config, &case.inputs()).unwrap();
    let mut pooled = output.output[..hidden].to_vec();
    for row in output.output.chunks_exact(hidden) {
        pooled.iter_mut().zip(row).for_each(|(most, &value)| *most = most.max(value));
    }
    (pooled, output.stops)
}

fn assert_equal(found: &VariantOutput<f32>, (pooled, stops): &(Vec<f32>, Stops)) {
    let VariantOutput::Pooled(found, found_stops) = found else { panic!("{found:?}") };
    assert_eq!(found_stops, stops);
    for (found, expected) in found.iter().zip(pooled) {
        assert!((found - expected).abs() <= LAST_BITS * expected.abs(), "{found} instead of {expected}");
    }
}

/// Each change alone, and each with the first one made before.
fn check(case: &Case<f32>, changes: &[Change<f32>]) {
    let mut variants = variants(case, PLENTY);
    let found = variants.run(changes).unwrap();
    for (found, change) in found.iter().zip(changes) {
        assert_equal(found, &whole(case, change));
    }
    let (input, hidden) = (case.config.input_width(), case.config.hidden_width());
    // The second time in place of the first.
    for fixed in 0..2 {
        let (fixed, others) = (&changes[fixed], [&changes[..fixed], &changes[fixed + 1..]].concat());
        variants.fix(fixed).unwrap();
        let mut case = case.clone();
        case.node_inputs[fixed.node * input..][..input].copy_from_slice(&fixed.input);
        case.hidden[fixed.node * hidden..][..hidden].copy_from_slice(&fixed.hidden);
        let found = variants.run(&others).unwrap();
        for (found, change) in found.iter().zip(&others) {
            assert_equal(found, &whole(&case, change));
        }
    }
}

#[test]
fn every_layer_and_controller_is_that_of_the_changed_graph() {
    let mut random = Random(41);
    let graph = grid(33);
    let mut covered = 0;
    for layer in [LayerKind::MpnnMax, LayerKind::Path, LayerKind::PathSim] {
        for (number, controller) in controllers().into_iter().enumerate() {
            let config = config(layer, controller);
            if !Variants::<f32>::covers(&config, graph.0) {
                continue;
            }
            covered += 1;
            let case = Case::random(&mut random, config, batch_of(&graph), number % 2 == 0).to_f32();
            check(&case, &changes(&mut random, &config, &[0, 500, 1088]));
        }
    }
    assert!(covered >= 6, "{covered}");
}

/// Nodes that are all alike, as a search for paths has them, in a square; `kinds` of edges, or none that are alike.
fn alike(random: &mut Random, side: usize, kinds: usize) -> Case<f32> {
    let graph = grid(side);
    let iterative = IterConfig { training_cap: 40, decay: 0.9999, ..IterConfig::default() };
    let config = config(LayerKind::PathSim, ControllerConfig::Iter(iterative));
    let mut case = Case::random(random, config, batch_of(&graph), kinds == 1).to_f32();
    for node in 1..graph.0 {
        case.node_inputs.copy_within(..2, 2 * node);
        case.hidden.copy_within(..5, 5 * node);
    }
    if kinds == 2 {
        let is_straight = |&(from, to): &(usize, usize)| [1, side].contains(&from.abs_diff(to));
        let feature = |edge| if is_straight(edge) { 1.0 } else { 1.414 };
        case.edge_features = graph.1.iter().map(feature).collect();
    }
    case
}

/// Marks on such nodes; few weights, or one.
#[test]
fn marks_on_nodes_that_are_alike() {
    let mut random = Random(42);
    for kinds in [1, 2] {
        let case = alike(&mut random, 40, kinds);
        check(&case, &changes(&mut random, &case.config, &[3, 820, 821, 1599]));
    }
}

/// Of a graph of this size the record keeps only the channels that an iteration changed.
#[test]
fn a_large_graph_of_which_few_channels_are_recorded() {
    let mut random = Random(47);
    for kinds in [0, 1, 2] {
        let case = alike(&mut random, 130, kinds);
        check(&case, &changes(&mut random, &case.config, &[3, 8450, 8451]));
    }
}

/// One variant is shared between the threads, and several are.
#[test]
fn the_number_of_threads_does_not_change_a_bit_of_a_variant() {
    let mut random = Random(48);
    for kinds in [0, 1, 2] {
        let case = alike(&mut random, 130, kinds);
        let changes = changes(&mut random, &case.config, &[8450, 3, 8455, 16899]);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut variants = variants(&case, PLENTY);
                variants.fix(&changes[0]).unwrap();
                [variants.run(&changes[1..2]).unwrap(), variants.run(&changes[2..]).unwrap()].concat()
            })
        };
        let alone = run(1);
        assert!(alone.iter().all(|output| matches!(output, VariantOutput::Pooled(..))));
        for threads in [2, 5] {
            assert_eq!(run(threads), alone, "{threads} threads, {kinds} kinds");
        }
    }
}

/// The confidence of every iteration is small, so that the cap ends the run, long after the record rests.
fn slow(random: &mut Random, cap: usize) -> Case<f32> {
    let iterative = IterConfig { training_cap: cap, decay: 0.9999, ..IterConfig::default() };
    let config = config(LayerKind::PathSim, ControllerConfig::Iter(iterative));
    let mut case = Case::random(random, config, batch_of(&grid(32)), false).to_f32();
    let layout = ParameterLayout::new(&config);
    for slot in layout.slots() {
        match slot.kind {
            ParameterKind::ConfidenceWeight => case.parameters[slot.range()].fill(0.0),
            ParameterKind::ConfidenceBias => case.parameters[slot.range()].fill(-5.0),
            _ => case.parameters[slot.range()].iter_mut().for_each(|value| *value *= 0.5),
        }
    }
    case
}

#[test]
fn a_record_grows_where_a_run_is_longer() {
    let mut random = Random(43);
    for cap in [1, 9, 30] {
        let case = slow(&mut random, cap);
        let changes = changes(&mut random, &case.config, &[7, 700]);
        check(&case, &changes);
        let VariantOutput::Pooled(_, stops) = &variants(&case, PLENTY).run(&changes).unwrap()[0] else { panic!() };
        assert_eq!((stops.steps[0], stops.capped[0]), (cap, true));
    }
}

#[test]
fn a_record_without_memory_does_not_answer() {
    let mut random = Random(44);
    let case = slow(&mut random, 80);
    let changes = changes(&mut random, &case.config, &[7]);
    assert_eq!(variants(&case, 0).run(&changes).unwrap(), [VariantOutput::Unknown]);
}

/// Where most nodes differ for long, variants are no less work than the graph.
#[test]
fn a_change_that_reaches_everything_for_long_is_left_to_the_graph() {
    let mut random = Random(46);
    let mut case = slow(&mut random, 120);
    // States grow at every iteration, so that the graph never rests.
    case.parameters.iter_mut().filter(|value| ![0.0, -5.0].contains(*value)).for_each(|value| *value = 0.19);
    let mut change = changes(&mut random, &case.config, &[500]).remove(0);
    change.hidden.fill(2.0);
    assert_eq!(variants(&case, PLENTY).run(&[change]).unwrap(), [VariantOutput::Unknown]);
}

#[test]
fn an_overflow_names_its_iteration() {
    let mut random = Random(45);
    let mut case = slow(&mut random, 60);
    let mut change = changes(&mut random, &case.config, &[900]).remove(0);
    change.hidden.fill(3e38);
    case.parameters.iter_mut().for_each(|value| *value *= 4.0);
    let found = variants(&case, PLENTY).run(std::slice::from_ref(&change)).unwrap();
    case.hidden[900 * 5..901 * 5].copy_from_slice(&change.hidden);
    case.node_inputs[900 * 2..901 * 2].copy_from_slice(&change.input);
    let expected = infer(Engine::new().unwrap(), &case.config, &case.inputs()).unwrap_err();
    let itergnn_kernels::KernelError::NonFinite { iteration, .. } = expected else { panic!("{expected:?}") };
    assert_eq!(found, [VariantOutput::Overflow(iteration)]);
}

#[test]
fn small_graphs_and_other_confidences_are_not_covered() {
    let iterative = |pooling| ControllerConfig::Iter(IterConfig { pooling, ..IterConfig::default() });
    let sums = config(LayerKind::PathSim, iterative(ReadoutKind::Sum));
    let largest = config(LayerKind::PathSim, iterative(ReadoutKind::Max));
    assert!(!Variants::<f32>::covers(&sums, 5000) && Variants::<f32>::covers(&largest, 5000));
    assert!(!Variants::<f32>::covers(&largest, 100));
    assert!(!Variants::<f32>::covers(&config(LayerKind::PathSim, ControllerConfig::shared(3)), 5000));
}
