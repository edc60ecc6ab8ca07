//! Corner cases of structure and of numbers, and the laws the engine promises.

#![allow(clippy::unwrap_used)]

mod cases;

use cases::{Batch, Case, Random, configs, relative_difference, sized};
use itergnn_kernels::block::*;
use itergnn_kernels::settings::*;
use itergnn_kernels::{Isa, KernelError, Real};
use proptest::prelude::*;

/// Double precision: only the order of sums differs, here of up to 10,000 terms.
const TIGHT: f64 = 1e-10;

/// Scale-invariant attention divides by ranges down to 1e-4 of the scores, which enlarges rounding as much, and more so
/// in gradients.
const TIGHT_OVER_RANGE: f64 = 1e-7;

fn config(layer: LayerConfig, hidden_width: usize) -> BlockConfig {
    let iterative = IterConfig { training_cap: 4, ..IterConfig::default() };
    BlockConfig { layer: sized(layer, 2, hidden_width, 1), controller: ControllerConfig::Iter(iterative) }
}

fn engine() -> Engine {
    Engine::new().unwrap()
}

fn assert_equal_to_reference(case: &Case<f64>, wanted: Wanted) {
    let expected = case.reference();
    let tolerance = if case.config.has_score() && case.config.scale_invariant() { TIGHT_OVER_RANGE } else { TIGHT };
    let (output, gradients) = case.fused(engine(), wanted);
    let inferred = infer(engine(), &case.config, &case.inputs()).unwrap();
    for found in [&output.stops, &inferred.stops] {
        assert_eq!((&found.steps, &found.capped), (&expected.0.stops.steps, &expected.0.stops.capped));
    }
    for (found, expected) in [
        (&output.output, &expected.0.output),
        (&output.stops.remaining, &expected.0.stops.remaining),
        (&output.stops.unspent, &expected.0.stops.unspent),
        (&output.stops.confidences, &expected.0.stops.confidences),
        (&inferred.output, &expected.0.output),
        (&inferred.stops.remaining, &expected.0.stops.remaining),
        (&inferred.stops.unspent, &expected.0.stops.unspent),
        (&inferred.stops.confidences, &expected.0.stops.confidences),
        (&gradients.parameters, &expected.1.parameters),
        (&gradients.hidden, &expected.1.hidden),
    ] {
        let difference = relative_difference(found, expected);
        assert!(difference < tolerance, "{:?}: {difference}", case.config);
    }
}

#[test]
fn hubs_of_ten_thousand_edges() {
    let mut random = Random(11);
    let spokes: Vec<_> = (0..10_000).map(|edge| (1 + edge % 40, 0)).chain([(0, 1), (0, 2)]).collect();
    for layer in cases::layers() {
        let batch = Batch::new(&[(41, spokes.clone()), (3, vec![(0, 1), (1, 2)])]);
        let case = Case::random(&mut random, config(layer, 6), batch, false);
        assert_equal_to_reference(&case, Wanted::default());
    }
}

#[test]
fn graphs_of_many_tiles_and_slabs() {
    let mut random = Random(12);
    for layer in cases::layers() {
        let edges = (0..700).flat_map(|node| [(node, (node + 1) % 300), ((node * 7) % 300, node % 300)]);
        let edges = edges.map(|(sender, receiver)| (sender % 300, receiver)).collect();
        let config = BlockConfig { controller: ControllerConfig::shared(19), ..config(layer, 7) };
        let case = Case::random(&mut random, config, Batch::new(&[(300, edges)]), false);
        assert_equal_to_reference(&case, Wanted::default());
    }
}

/// Graphs that are cut into blocks, which several threads share, beside a small one.
#[test]
fn large_graphs_equal_the_reference_on_any_number_of_threads() {
    let mut random = Random(21);
    let nodes = 4200;
    let ring: Vec<_> = (0..nodes).flat_map(|node| [(node, (node + 1) % nodes), ((node + 77) % nodes, node)]).collect();
    let mut ring_by_receiver = ring;
    ring_by_receiver.sort_by_key(|edge| edge.1);
    for layer in cases::layers() {
        for equal_edges in [false, true] {
            let mut batch = Batch::new(&[(3, vec![(0, 1), (1, 2)])]);
            batch.push_sorted(nodes, &ring_by_receiver);
            let config = BlockConfig { layer: sized(layer, 1, 3, 1), ..config(layer, 3) };
            let case = Case::random(&mut random, config, batch, equal_edges);
            assert_equal_to_reference(&case, Wanted::default());
            let case = case.to_f32();
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let inferred = || infer(engine(), &config, &case.inputs()).unwrap();
                pool.install(|| (case.fused(engine(), Wanted::default()), inferred()))
            };
            assert_eq!(run(1), run(3), "{config:?}");
        }
    }
}

#[test]
fn empty_batches_graphs_without_nodes_and_nodes_without_edges() {
    let mut random = Random(13);
    for layer in cases::layers() {
        for graphs in [
            vec![],
            vec![(0, vec![])],
            vec![(1, vec![])],
            vec![(1, vec![(0, 0)])],
            vec![(0, vec![]), (5, vec![(1, 1), (0, 1)]), (0, vec![]), (2, vec![])],
        ] {
            for controller in cases::controllers() {
                let config = BlockConfig { controller, ..config(layer, 5) };
                let case = Case::random(&mut random, config, Batch::new(&graphs), false);
                assert_equal_to_reference(&case, Wanted { node_inputs: true, edge_features: true });
            }
        }
    }
}

#[test]
fn a_node_without_incoming_edges_keeps_its_state() {
    let mut random = Random(14);
    for layer in cases::layers() {
        let batch = Batch::new(&[(3, vec![(0, 1), (2, 1)])]);
        let config = BlockConfig { controller: ControllerConfig::shared(4), ..config(layer, 5) };
        let case = Case::random(&mut random, config, batch, false).to_f32();
        let (output, _) = case.fused(engine(), Wanted::default());
        assert_eq!(output.output[..5], case.hidden[..5]);
        assert_eq!(output.output[10..], case.hidden[10..]);
    }
}

/// On a tie the old state wins, and among edges the first.
#[test]
fn ties_go_to_the_state_and_then_to_the_first_edge() {
    let layer = LayerConfig::new(LayerKind::PathSim, 0, 1, 0).with_aggregation(Aggregation::Max).with_homogeneous(true);
    let config = BlockConfig { layer, controller: ControllerConfig::shared(1) };
    // One channel and weights of one: a message is the sender's state.
    assert_eq!(ParameterLayout::new(&config).len(), 2);
    let batch = Batch::new(&[(3, vec![(0, 2), (1, 2)])]);
    let winner_gets = |hidden: Vec<f32>| {
        let case = Case {
            config,
            batch: batch.clone(),
            node_inputs: vec![],
            hidden,
            edge_features: vec![],
            parameters: vec![1.0_f32, 1.0],
            output_gradient: vec![0.0, 0.0, 1.0],
            unspent_gradient: vec![0.0],
        };
        case.fused(engine(), Wanted::default()).1.hidden
    };
    assert_eq!(winner_gets(vec![2.0, 2.0, 2.0]), [0.0, 0.0, 1.0]);
    assert_eq!(winner_gets(vec![2.0, 2.0, 1.0]), [1.0, 0.0, 0.0]);
    assert_eq!(winner_gets(vec![2.0, 3.0, 1.0]), [0.0, 1.0, 0.0]);
}

/// Same bits on one, two and three threads, for outputs and for gradients.
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let mut random = Random(15);
    let sizes: Vec<usize> = (0..40).map(|_| random.below(14)).collect();
    for layer in cases::layers() {
        for controller in [ControllerConfig::stack(3), ControllerConfig::iter_decay()] {
            let config = BlockConfig { controller, ..config(layer, 24) };
            let batch = Batch::random(&mut random, &sizes, 3);
            let case = Case::random(&mut random, config, batch, false).to_f32();
            let results: Vec<_> = [1, 2, 3]
                .into_iter()
                .map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| case.fused(engine(), Wanted { node_inputs: true, edge_features: true }))
                })
                .collect();
            assert_eq!(results[0], results[1], "{config:?}");
            assert_eq!(results[0], results[2], "{config:?}");
        }
    }
}

/// Every graph alone gives the bits it gives in the batch.
#[test]
fn a_graph_does_not_notice_its_batch() {
    let mut random = Random(16);
    for config in configs(2, 9, 1).into_iter().step_by(3) {
        let batch = Batch::random(&mut random, &[6, 9, 3], 2);
        let whole = Case::random(&mut random, config, batch, false).to_f32();
        let (together, _) = whole.fused(engine(), Wanted::default());
        for graph in 0..3 {
            let (nodes, edges) = (whole.batch.view().node_range(graph), whole.batch.view().edge_range(graph));
            let rows = |values: &[f32], range: &std::ops::Range<usize>, width: usize| {
                values[range.start * width..range.end * width].to_vec()
            };
            let first_edge = edges.start as u32;
            let offsets = whole.batch.receiver_offsets[nodes.start..=nodes.end].iter();
            let batch = Batch {
                node_offsets: vec![0, nodes.len() as u32],
                edge_offsets: vec![0, edges.len() as u32],
                senders: whole.batch.senders[edges.clone()].iter().map(|&node| node - nodes.start as u32).collect(),
                receiver_offsets: offsets.map(|&offset| offset - first_edge).collect(),
            };
            let alone = Case {
                batch,
                node_inputs: rows(&whole.node_inputs, &nodes, 2),
                hidden: rows(&whole.hidden, &nodes, 9),
                edge_features: rows(&whole.edge_features, &edges, 1),
                ..whole.clone()
            };
            let (output, _) = forward(engine(), &config, &alone.inputs(), Wanted::default()).unwrap();
            assert_eq!(output.output, rows(&together.output, &nodes, 9), "{config:?}");
            if !config.node_wise() {
                assert_eq!(output.stops.confidences[0], together.stops.confidences[graph]);
            }
        }
    }
}

#[test]
fn overflow_is_an_error_that_names_graph_and_iteration() {
    let mut random = Random(17);
    for layer in cases::layers() {
        let config = BlockConfig { controller: ControllerConfig::shared(12), ..config(layer, 6) };
        let batch = Batch::new(&[(2, vec![]), (3, vec![(0, 1), (1, 2), (2, 0), (1, 0)])]);
        let mut case = Case::random(&mut random, config, batch, false).to_f32();
        case.parameters.iter_mut().for_each(|value| *value *= 3e4);
        let expected = reference::forward(&config, &case.inputs()).unwrap_err();
        assert!(matches!(expected, KernelError::NonFinite { graph: 1, iteration: 2.. }), "{expected:?}");
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let engine = Engine::with_isa(isa).unwrap();
            let found = forward(engine, &config, &case.inputs(), Wanted::default()).unwrap_err();
            assert_eq!(found, expected, "{isa:?}");
        }
        case.hidden[0] = f32::NAN;
        let found = forward(engine(), &config, &case.inputs(), Wanted::default()).unwrap_err();
        assert_eq!(found, KernelError::NonFinite { graph: 0, iteration: 0 });
    }
}

#[test]
fn overflowing_gradients_are_an_error() {
    let mut random = Random(18);
    for layer in cases::layers() {
        let config = BlockConfig { controller: ControllerConfig::shared(3), ..config(layer, 6) };
        let batch = Batch::new(&[(3, vec![(0, 1), (1, 2), (2, 0)])]);
        let mut case = Case::random(&mut random, config, batch, false).to_f32();
        case.output_gradient[4] = f32::INFINITY;
        let (output, tape) = forward(engine(), &config, &case.inputs(), Wanted::default()).unwrap();
        let error = backward(engine(), &case.inputs(), &output, &tape, &case.gradients()).unwrap_err();
        assert_eq!(error, KernelError::NonFiniteGradient { graph: 0, iteration: 3 });
    }
}

/// Scores that differ by rounding noise only must not blow up the gradient, and scaling them must not change a weight.
#[test]
fn noise_in_scores_gives_finite_gradients() {
    let mut random = Random(19);
    let config = config(LayerConfig::new(LayerKind::Path, 0, 1, 0).with_homogeneous(true), 6);
    let batch = Batch::new(&[(4, vec![(0, 3), (1, 3), (2, 3)])]);
    let mut case = Case::random(&mut random, config, batch, true).to_f32();
    for node in 1..3 {
        for channel in 0..6 {
            // Senders that agree to about the last bit.
            case.hidden[node * 6 + channel] = case.hidden[channel] * (1.0 + 6e-8 * node as f32);
        }
        case.node_inputs.copy_within(0..2, node * 2);
    }
    let (_, gradients) = case.fused(engine(), Wanted::default());
    assert!(gradients.parameters.iter().all(|value| value.is_finite() && value.abs() < 1e3));
    // No gradient of a score is left: the weights are equal, whatever the noise says.
    let range = ParameterLayout::new(&config).range(0, ParameterKind::ScoreWeight).unwrap();
    assert!(gradients.parameters[range].iter().all(|&value| value == 0.0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut random = Random(20);
    let layer = LayerConfig::new(LayerKind::PathSim, 0, 1, 0).with_aggregation(Aggregation::Max);
    let config = config(layer, 5);
    let good = Case::random(&mut random, config, Batch::new(&[(3, vec![(0, 1), (1, 2)]), (1, vec![])]), false);
    let refused = |change: &dyn Fn(&mut Case<f64>)| {
        let mut case = good.clone();
        change(&mut case);
        forward(engine(), &case.config, &case.inputs(), Wanted::default()).unwrap_err()
    };
    let length = |error| matches!(error, KernelError::Length { .. });
    let batch = |error| matches!(error, KernelError::Batch { .. });
    assert!(length(refused(&|case| case.hidden.truncate(1))));
    assert!(length(refused(&|case| case.parameters.push(0.0))));
    assert!(length(refused(&|case| case.receiver_offsets_mut().push(2))));
    assert!(batch(refused(&|case| case.batch.senders[0] = 3)));
    assert!(batch(refused(&|case| case.batch.senders[1] = 99)));
    assert!(batch(refused(&|case| case.batch.receiver_offsets.swap(1, 3))));
    assert!(batch(refused(&|case| case.batch.node_offsets[0] = 1)));
    assert!(batch(refused(&|case| case.batch.edge_offsets[1] = 1)));
    let error = refused(&|case| case.config.layer.aggregation = Aggregation::Sparsemax);
    assert!(matches!(error, KernelError::Config(_)));
}

impl<T: Real> Case<T> {
    fn receiver_offsets_mut(&mut self) -> &mut Vec<u32> {
        &mut self.batch.receiver_offsets
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn random_structures_equal_the_reference(
        seed in any::<u64>(),
        sizes in prop::collection::vec(0_usize..12, 0..5),
        degree in 0_usize..5,
        widths in (0_usize..4, 1_usize..20, 0_usize..3),
        choice in any::<prop::sample::Index>(),
        equal_edges: bool,
        wanted: bool,
    ) {
        let mut random = Random(seed);
        let all = configs(widths.0, widths.1, widths.2);
        let config = all[choice.index(all.len())];
        let batch = Batch::random(&mut random, &sizes, degree);
        let case = Case::random(&mut random, config, batch, equal_edges);
        assert_equal_to_reference(&case, Wanted { node_inputs: wanted, edge_features: wanted });
    }

    /// f(a x) = a f(x) for a bias-free layer: states, inputs and edge features scaled by a power of two give states
    /// scaled by it, bit by bit.
    #[test]
    fn bias_free_layers_are_homogeneous(seed in any::<u64>(), exponent in -6_i32..7, layer in 0_usize..10) {
        let layer = cases::layers()[layer].with_homogeneous(true);
        let mut random = Random(seed);
        let config = BlockConfig { layer: sized(layer, 2, 12, 1), controller: ControllerConfig::shared(4) };
        let batch = Batch::random(&mut random, &[8], 3);
        let case = Case::random(&mut random, config, batch, false).to_f32();
        let factor = 2.0_f32.powi(exponent);
        let scale = |values: &[f32]| values.iter().map(|value| factor * value).collect::<Vec<_>>();
        let scaled = Case {
            node_inputs: scale(&case.node_inputs),
            hidden: scale(&case.hidden),
            edge_features: scale(&case.edge_features),
            ..case.clone()
        };
        let run = |case: &Case<f32>| forward(engine(), &config, &case.inputs(), Wanted::default()).unwrap().0.output;
        prop_assert_eq!(run(&scaled), scale(&run(&case)));
    }
}
