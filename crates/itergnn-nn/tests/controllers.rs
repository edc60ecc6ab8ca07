//! What the controllers promise, with a body and a criterion that are known exactly.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

use std::cell::Cell;
use std::sync::LazyLock;

use burn::tensor::{Device, FloatDType, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::controllers::{
    ActConfig, ControllerOutput, Halting, IterConfig, NodeWatch, RunOptions, SAFETY_CAP, Scope, StoppingCriterion,
    run_loop,
};
use itergnn_nn::ops::segment_max;
use itergnn_nn::{GraphTensors, MessagePassing};
use proptest::prelude::*;

/// Rounding of a few hundred f64 operations on numbers near one.
const ROUNDING: f64 = 1e-12;

static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    let mut device = Device::flex();
    device.configure(FloatDType::F64).expect("no tensor was made before");
    device
});

/// A batch of graphs without edges, `sizes` nodes each, whose node attribute is the number of its graph.
fn batch(sizes: &[usize]) -> GraphTensors {
    let graph = |(index, &size): (usize, &usize)| {
        let attributes = Attributes::new(1, vec![index as f32; size]);
        Graph::new(size, &[]).unwrap().with_node_attributes(attributes).unwrap()
    };
    let graphs: Vec<Graph> = sizes.iter().enumerate().map(graph).collect();
    GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &DEVICE)
}

fn column(values: &[f64]) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len(), 1]), &*DEVICE)
}

fn numbers(tensor: Tensor<2>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().unwrap()
}

/// h <- h + 1, counting the node updates it was asked for.
#[derive(Default)]
struct Count {
    updates: Cell<usize>,
}

impl MessagePassing for Count {
    fn forward(&self, _graph: &GraphTensors, _input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        self.updates.set(self.updates.get() + hidden.dims()[0]);
        hidden + 1.0
    }
}

/// Reads the confidence of step k of graph (or node) i from a table: the input is i, the hidden state k.
struct Table {
    scope: Scope,
    confidences: Vec<Vec<f64>>,
}

impl StoppingCriterion for Table {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn confidence(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let (input, hidden) = match self.scope {
            Scope::Graph => (segment_max(input, graph.node_segments()), segment_max(hidden, graph.node_segments())),
            Scope::Node => (input, hidden),
        };
        let look_up = |(&element, &step): (&f64, &f64)| {
            let row = &self.confidences[element as usize];
            row.get(step as usize - 1).copied().unwrap_or(0.5)
        };
        let (elements, steps) = (numbers(input), numbers(hidden));
        column(&elements.iter().zip(&steps).map(look_up).collect::<Vec<_>>())
    }
}

fn run(table: &Table, rule: &impl Halting, graph: &GraphTensors, cap: usize, options: &RunOptions) -> ControllerOutput {
    let hidden = graph.node_attributes().zeros_like();
    run_loop(&Count::default(), table, rule, false, graph, graph.node_attributes(), hidden, cap, options)
}

/// A table and a batch with one row an element: graphs of one node, or one graph whose node i has attribute i.
fn elements(confidences: &[Vec<f64>], node_wise: bool) -> (Table, GraphTensors) {
    let count = confidences.len();
    let (scope, graph) = if node_wise {
        let nodes = (0..count).map(|node| node as f64).collect::<Vec<_>>();
        (Scope::Node, batch(&[count]).with_node_attributes(column(&nodes)))
    } else {
        (Scope::Graph, batch(&vec![1; count]))
    };
    (Table { scope, confidences: confidences.to_vec() }, graph)
}

fn iter_rule(decay: f64, normalised: bool, settle: Option<f64>) -> IterConfig {
    IterConfig { epsilon: 1e-7, decay, normalised, settle, ..IterConfig::default() }
}

/// K, and the weights lambda^(K-1) p_j of Algorithm 1, computed on plain numbers.
fn weights_by_definition(confidences: &[f64], decay: f64, epsilon: f64, cap: usize) -> Vec<f64> {
    let (mut left, mut weights) = (1.0, Vec::new());
    for step in 1..=cap {
        let confidence = confidences.get(step - 1).copied().unwrap_or(0.5);
        weights.push(left * confidence);
        left *= 1.0 - confidence;
        if decay.powi(step as i32) * left <= epsilon {
            break;
        }
    }
    let shrink = decay.powi(weights.len() as i32 - 1);
    weights.iter().map(|weight| shrink * weight).collect()
}

/// sum_j w_j j: with h^j = j this is what a controller must return.
fn expected_step(weights: &[f64]) -> f64 {
    weights.iter().enumerate().map(|(index, weight)| weight * (index + 1) as f64).sum()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= ROUNDING * expected.abs().max(1.0), "{found} instead of {expected}");
}

fn confidence_table() -> impl Strategy<Value = Vec<Vec<f64>>> {
    let confidence = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
    prop::collection::vec(prop::collection::vec(confidence, 0..25), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Output, steps and remaining probability are those of the formula, for graphs and for nodes, whatever else is in
    /// the batch.
    #[test]
    fn weights_are_those_of_the_formula(
        confidences in confidence_table(),
        decay in prop_oneof![Just(1.0), 0.8..1.0_f64],
        normalised in any::<bool>(),
        node_wise in any::<bool>(),
    ) {
        let cap = 60;
        let rule = iter_rule(decay, normalised, None);
        let (table, graph) = elements(&confidences, node_wise);
        let output = run(&table, &rule, &graph, cap, &RunOptions::inference());
        let found = numbers(output.hidden);
        for (element, row) in confidences.iter().enumerate() {
            let weights = weights_by_definition(row, decay, rule.epsilon, cap);
            let total: f64 = weights.iter().sum();
            let expected = expected_step(&weights) / if normalised && total > 0.0 { total } else { 1.0 };
            near(found[element], expected);
            prop_assert_eq!(output.stops.steps[element], weights.len());
            // The weights sum to lambda^(K-1) (1 - prod (1 - c)), and `remaining` is lambda^K prod (1 - c).
            let steps = weights.len() as i32;
            near(output.stops.remaining[element] / decay + total, decay.powi(steps - 1));
        }
    }

    /// ACT: the weights sum to one at every cap, so a constant state comes back unchanged.
    #[test]
    fn act_weights_sum_to_one(confidences in confidence_table(), cap in 1_usize..12, node_wise in any::<bool>()) {
        let rule = ActConfig { ponder_cost: 0.1, epsilon: 0.01, ..ActConfig::default() };
        let (table, graph) = elements(&confidences, node_wise);
        let output = run(&table, &rule, &graph, cap, &RunOptions::inference());
        let mut ponder = 0.0;
        for (element, row) in confidences.iter().enumerate() {
            let (mut total, mut expected) = (0.0, 0.0);
            for step in 1..=cap {
                let confidence = row.get(step - 1).copied().unwrap_or(0.5);
                let halts = 1.0 - total - confidence <= rule.epsilon || step == cap;
                let weight = if halts { 1.0 - total } else { confidence };
                expected += weight * step as f64;
                if halts {
                    ponder += 0.1 * (step as f64 + weight);
                    prop_assert_eq!(output.stops.steps[element], step);
                    break;
                }
                total += confidence;
            }
            near(numbers(output.hidden.clone())[element], expected);
        }
        near(output.auxiliary_loss.unwrap().into_scalar::<f64>(), ponder / confidences.len() as f64);
    }

    /// Settling spends all probability: the weights sum to one without decay, and the price is that of what reached the
    /// last step.
    #[test]
    fn settling_spends_everything(confidences in confidence_table(), cap in 1_usize..12, node_wise in any::<bool>()) {
        let (table, graph) = elements(&confidences, node_wise);
        let output = run(&table, &iter_rule(1.0, false, Some(0.3)), &graph, cap, &RunOptions::training());
        let mut price = 0.0;
        for (element, row) in confidences.iter().enumerate() {
            let mut weights = weights_by_definition(row, 1.0, 1e-7, cap);
            if weights.len() == cap {
                let before: f64 = weights[..cap - 1].iter().sum();
                weights[cap - 1] = 1.0 - before;
                price += 0.3 * (1.0 - before);
            }
            near(numbers(output.hidden.clone())[element], expected_step(&weights));
        }
        let charged = output.auxiliary_loss.map_or(0.0, |loss| loss.into_scalar::<f64>());
        prop_assert!((charged - price / confidences.len() as f64).abs() < ROUNDING);
    }
}

/// Graphs that are done leave the batch: the body sees exactly the nodes of the graphs that still run.
#[test]
fn finished_graphs_cost_nothing() {
    let confidences = vec![vec![1.0], vec![0.0, 0.0, 1.0], vec![0.0, 1.0]];
    let graph = batch(&[10, 3, 100]);
    let body = Count::default();
    let table = Table { scope: Scope::Graph, confidences };
    let options = RunOptions::inference().with_trace();
    let hidden = graph.node_attributes().zeros_like();
    let output = run_loop(
        &body,
        &table,
        &iter_rule(1.0, false, None),
        false,
        &graph,
        graph.node_attributes(),
        hidden,
        SAFETY_CAP,
        &options,
    );
    assert_eq!(output.stops.steps, [1, 3, 2]);
    assert_eq!(body.updates.get(), (10 + 3 + 100) + (3 + 100) + 3);
    let trace = output.trace.unwrap();
    let running: Vec<_> = trace.steps.iter().map(|step| step.graphs.clone()).collect();
    assert_eq!(running, [vec![0, 1, 2], vec![1, 2], vec![1]]);
    assert_eq!(trace.steps[1].confidence, [0.0, 1.0]);
    assert_eq!(trace.steps[1].remaining, [1.0, 0.0]);
    assert_eq!(trace.steps[2].change, [1.0]);
    let expected: Vec<f64> = [vec![1.0; 10], vec![3.0; 3], vec![2.0; 100]].concat();
    assert_eq!(numbers(output.hidden), expected);
}

/// Watched nodes are kept at every second step and at the last one, and nothing else is.
#[test]
fn watched_nodes_are_thinned_but_the_last_step_stays() {
    let table = Table { scope: Scope::Graph, confidences: vec![vec![0.0, 0.0, 0.0, 1.0]] };
    let graph = batch(&[3]);
    let options = RunOptions::inference().with_watch(NodeWatch { channel: 0, every: 2 });
    let hidden = graph.node_attributes().zeros_like();
    let rule = iter_rule(1.0, false, None);
    let input = graph.node_attributes();
    let output = run_loop(&Count::default(), &table, &rule, false, &graph, input, hidden, SAFETY_CAP, &options);
    let steps = output.trace.unwrap().steps;
    let kept: Vec<usize> = steps.iter().filter(|step| step.nodes.is_some()).map(|step| step.step).collect();
    assert_eq!(kept, [1, 3, 4]);
    let last = steps[3].nodes.as_ref().unwrap();
    // The body counts: every node stands at 4 and has moved by 1.
    assert_eq!((&last.channel[..], &last.norm[..], &last.change[..]), (&[4.0; 3][..], &[4.0; 3][..], &[1.0; 3][..]));
}

/// The same confidence at every step.
struct Always(f64);

impl StoppingCriterion for Always {
    fn scope(&self) -> Scope {
        Scope::Graph
    }

    fn confidence(&self, graph: &GraphTensors, _input: Tensor<2>, _hidden: Tensor<2>) -> Tensor<2> {
        column(&vec![self.0; graph.graphs()])
    }
}

/// ACT as in the authors' code, by hand: confidences of .4 leave .2 for the third step.
#[test]
fn act_that_is_fed_back_goes_on_from_the_sum() {
    let rule = ActConfig { ponder_cost: 0.1, epsilon: 1e-7, feeds_back: true, ..ActConfig::default() };
    let (graph, embedding) = (batch(&[1]), 5.0);
    let (input, options) = (graph.node_attributes(), RunOptions::training());
    let output =
        run_loop(&Count::default(), &Always(0.4), &rule, false, &graph, input, column(&[embedding]), 30, &options);
    let first = embedding + 0.4 * (embedding + 1.0);
    let second = first + 0.4 * (first + 1.0);
    let third = second + 0.2 * (second + 1.0);
    assert!((numbers(output.hidden)[0] - third).abs() < ROUNDING);
    assert_eq!(output.stops.steps, [3]);
    assert!((output.auxiliary_loss.unwrap().into_scalar::<f64>() - 0.1 * 0.2).abs() < ROUNDING);
}

#[test]
fn a_cap_is_reported() {
    let table = Table { scope: Scope::Graph, confidences: vec![vec![0.0; 100], vec![1.0]] };
    let output = run(&table, &iter_rule(1.0, false, None), &batch(&[1, 1]), 7, &RunOptions::inference());
    assert_eq!((output.stops.steps, output.stops.capped), (vec![7, 1], vec![true, false]));
    let act = ActConfig { ponder_cost: 0.0, epsilon: 0.01, ..ActConfig::default() };
    let output = run(&table, &act, &batch(&[1, 1]), 7, &RunOptions::inference());
    assert_eq!((output.stops.steps, output.stops.capped), (vec![7, 1], vec![true, false]));
    let settled = run(&table, &iter_rule(1.0, false, Some(0.3)), &batch(&[1, 1]), 7, &RunOptions::training());
    assert_eq!(settled.stops.capped, [true, false]);
}

/// A state that is no longer a number ends the loop instead of running to the safety cap.
#[test]
fn nan_ends_the_loop() {
    let table = Table { scope: Scope::Graph, confidences: vec![vec![0.5, f64::NAN], vec![1.0]] };
    let output = run(&table, &iter_rule(1.0, false, None), &batch(&[1, 1]), SAFETY_CAP, &RunOptions::inference());
    assert_eq!(output.stops.steps, [2, 1]);
    assert!(numbers(output.hidden)[0].is_nan());
}

#[test]
fn empty_batches_and_graphs_without_nodes_are_fine() {
    let table = Table { scope: Scope::Graph, confidences: vec![vec![1.0], vec![0.0, 1.0]] };
    for sizes in [&[][..], &[0, 0]] {
        let output = run(&table, &iter_rule(0.9, true, None), &batch(sizes), 5, &RunOptions::inference());
        assert_eq!(output.hidden.dims()[0], 0);
    }
}

#[test]
fn a_graph_without_nodes_takes_no_step_and_the_others_do_not_notice() {
    let table = Table { scope: Scope::Graph, confidences: vec![vec![0.5, 1.0], vec![0.0, 0.0, 1.0]] };
    let rule = iter_rule(0.9, true, None);
    let alone = run(&table, &rule, &batch(&[2, 1]), 5, &RunOptions::inference());
    let table = Table {
        confidences: [&[vec![]][..], &table.confidences[..1], &[vec![]], &table.confidences[1..]].concat(),
        ..table
    };
    let output = run(&table, &rule, &batch(&[0, 2, 0, 1]), 5, &RunOptions::inference());
    assert_eq!(output.stops.steps, [0, 2, 0, 3]);
    assert_eq!(output.stops.remaining[0], 1.0);
    assert_eq!(output.stops.capped, [false; 4]);
    assert_eq!(numbers(output.hidden), numbers(alone.hidden));
}

/// Halves towards the integer square root: `body` is one Newton step, `condition` that the next step would not change
/// it.
struct Newton;

impl MessagePassing for Newton {
    fn forward(&self, _graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        (hidden.clone() + input / hidden) * 0.5
    }
}

/// sigmoid(alpha (condition - 1/2)), the criterion in the proof of the theorem.
struct Oracle {
    alpha: f64,
}

impl StoppingCriterion for Oracle {
    fn scope(&self) -> Scope {
        Scope::Node
    }

    fn confidence(&self, _graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let states = numbers(hidden).into_iter().zip(numbers(input));
        let holds = |(state, target): (f64, f64)| f64::from(u8::from((state * state - target).abs() <= 1e-6 * target));
        let sure = states.map(holds).map(|condition| 1.0 / (1.0 + (-self.alpha * (condition - 0.5)).exp()));
        column(&sure.collect::<Vec<_>>())
    }
}

/// The theorem on the power of the iterative module: with oracles for body and condition it is within epsilon of the
/// iterative algorithm, once alpha is as large as the proof asks.
#[test]
fn oracles_reproduce_an_iterative_algorithm() {
    let targets = [2.0, 1e6, 3e-4, 9.0];
    let graph = batch(&[4]).with_node_attributes(column(&targets));
    let algorithm = |target: f64| {
        let (mut state, mut steps) = (1.0, 0);
        while (state * state - target).abs() > 1e-6 * target {
            state = (state + target / state) / 2.0;
            steps += 1;
        }
        (state, steps)
    };
    for epsilon in [1e-1, 1e-4, 1e-8] {
        // Lambda bounds the states (the first step overshoots to about half a million), k the steps.
        let (bound, steps) = (1e6_f64, 40.0);
        let first = 2.0 * ((steps + 1.0) * bound / epsilon - 1.0).ln();
        let second = -2.0 * (epsilon / ((steps + 1.0) * bound) / steps).ln();
        let oracle = Oracle { alpha: first.max(second) };
        let rule = IterConfig { epsilon: 1e-16, ..IterConfig::default() };
        let start = graph.node_attributes().ones_like();
        let output = run_loop(
            &Newton,
            &oracle,
            &rule,
            false,
            &graph,
            graph.node_attributes(),
            start,
            SAFETY_CAP,
            &RunOptions::inference(),
        );
        for ((found, target), used) in numbers(output.hidden).into_iter().zip(targets).zip(output.stops.steps) {
            let (expected, steps) = algorithm(target);
            assert!((found - expected).abs() < epsilon, "{found} instead of {expected} at {epsilon}");
            assert!(used >= steps, "at least the steps of the algorithm");
        }
    }
}
