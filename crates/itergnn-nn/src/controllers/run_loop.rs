//! The loop that every learned stopping rule shares.

use burn::tensor::{Bool, Int, Tensor, TensorData};
use itergnn_kernels::block::Stops;

use super::trace::{changes, host_values, watched};
use super::{ControllerOutput, Halting, Mode, RunOptions, Scope, StoppingCriterion, Trace, TraceStep};
use crate::fused::EngineUse;
use crate::{GraphTensors, MessagePassing};

/// Repeats `body` until `criterion` and `rule` say that every graph is done, at most `cap` times.
///
/// Graphs that are done leave the batch and cost nothing more; a graph without nodes takes no step at all. Nodes that
/// are done (scope [`Scope::Node`]) keep their output while the rest of their graph goes on, unless `decay_finished`. A
/// remaining probability that is not a number counts as done.
///
/// # Shapes
/// `input` is `[nodes, input]`, `hidden` and the output `[nodes, hidden]`.
///
/// # Complexity
/// One evaluation of the body a step, on the graphs that still run. Without gradients the memory does not depend on the
/// number of steps.
///
/// # Panics
/// If `cap` is 0.
#[allow(clippy::too_many_arguments)] // the loop is the meeting point of all parts; a struct for one call would only rename them
pub fn run_loop(
    body: &impl MessagePassing,
    criterion: &impl StoppingCriterion,
    rule: &dyn Halting,
    decay_finished: bool,
    graph: &GraphTensors,
    input: Tensor<2>,
    hidden: Tensor<2>,
    cap: usize,
    options: &RunOptions,
) -> ControllerOutput {
    assert!(cap > 0, "a loop needs at least one step");
    let mut active = Active::new(graph, input, hidden, criterion.scope());
    if rule.feeds_back() {
        active.accumulated = active.hidden.clone();
    }
    let elements = match criterion.scope() {
        Scope::Graph => graph.graphs(),
        Scope::Node => graph.nodes(),
    };
    let mut stops = Stops::before_the_first(elements);
    let mut finished = Vec::new();
    let mut charges: Option<Tensor<1>> = None;
    let mut trace = options.trace.then(Trace::default);
    let training = options.mode == Mode::Training;

    for step in 1..=cap {
        if active.graph_ids.is_empty() {
            break;
        }
        let before = options.trace.then(|| active.hidden.clone());
        let state = if rule.feeds_back() { active.accumulated.clone() } else { active.hidden };
        active.hidden = body.forward_at(step, &active.graph, active.input.clone(), state);
        let confidence = criterion.confidence(&active.graph, active.input.clone(), active.hidden.clone());
        let capped = step == cap;
        let weighed = rule.step(active.remaining.clone(), confidence.clone(), step, capped, training);
        if let Some(charge) = weighed.charge {
            let charge = active.only_running(charge);
            charges = Some(charges.map_or_else(|| charge.clone().sum(), |total| total + charge.clone().sum()));
        }
        active.accumulate(weighed.weight, weighed.remaining, rule.decay(), decay_finished);

        let confidence = host_values(confidence);
        let remaining = host_values(active.remaining.clone());
        if let Some((trace, before)) = trace.as_mut().zip(before) {
            let (change, changed) = changes(&before, &active.hidden, active.graph.node_segments().offsets());
            let traced = TraceStep {
                step,
                graphs: active.graph_ids.clone(),
                change,
                changed,
                elements: active.element_ids.clone(),
                confidence: confidence.clone(),
                remaining: remaining.clone(),
                nodes: watched(options.watch, &before, &active.hidden),
            };
            trace.push(traced, options.watch);
        }
        note(&mut stops, &mut active, step, &confidence, &remaining, rule.epsilon(), capped);
        active.release_finished(rule.normalised(), &mut finished);
    }

    let elements = elements.max(1);
    ControllerOutput {
        hidden: assemble(graph, finished, active.hidden),
        scope: criterion.scope(),
        stops,
        // Not div_scalar: the gradient of Burn 0.22.1 for it goes through an f32 reciprocal (an error of 1e-8 in f64).
        auxiliary_loss: charges.map(|total| total.mul_scalar(1.0 / elements as f64)),
        trace,
        engine: EngineUse::plain(),
    }
}

/// The graphs that still run, with their tensors.
struct Active {
    graph: GraphTensors,
    scope: Scope,
    /// Positions of these graphs, and of their elements, in the whole batch.
    graph_ids: Vec<usize>,
    element_ids: Vec<usize>,
    /// Elements that are done while their graph is not.
    done: Vec<bool>,
    input: Tensor<2>,
    hidden: Tensor<2>,
    accumulated: Tensor<2>,
    /// Weight spent and probability left, `[elements, 1]`.
    spent: Tensor<2>,
    remaining: Tensor<2>,
}

/// Output rows of graphs that left the batch.
struct Finished {
    graph_ids: Vec<usize>,
    rows: Tensor<2>,
}

impl Active {
    fn new(graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>, scope: Scope) -> Self {
        let sizes = graph.node_segments().iter().map(|nodes| nodes.len());
        let graph_ids: Vec<usize> = sizes.enumerate().filter(|&(_, size)| size > 0).map(|(id, _)| id).collect();
        let element_ids = match scope {
            Scope::Graph => graph_ids.clone(),
            Scope::Node => (0..graph.nodes()).collect(),
        };
        let elements = element_ids.len();
        let remaining = Tensor::ones([elements, 1], (&hidden.device(), hidden.dtype()));
        let all = graph_ids.len() == graph.graphs() || graph_ids.is_empty();
        Self {
            graph: if all { graph.clone() } else { graph.select_graphs(&graph_ids) },
            scope,
            graph_ids,
            element_ids,
            done: vec![false; elements],
            input,
            accumulated: hidden.zeros_like(),
            spent: remaining.zeros_like(),
            hidden,
            remaining,
        }
    }

    /// Which elements are done although their graph is not; `None` if there are none.
    fn done_mask(&self) -> Option<Tensor<2, Bool>> {
        if !self.done.contains(&true) {
            return None;
        }
        let data = TensorData::new(self.done.clone(), [self.done.len(), 1]);
        Some(Tensor::from_data(data, &self.hidden.device()))
    }

    /// `values` with zero for elements that are done.
    fn only_running(&self, values: Tensor<2>) -> Tensor<2> {
        match self.done_mask() {
            Some(done) => values.mask_fill(done, 0.0),
            None => values,
        }
    }

    /// One number per element as one number per node.
    fn per_node(&self, values: Tensor<2>) -> Tensor<2> {
        match self.scope {
            Scope::Graph => self.graph.at_nodes(values),
            Scope::Node => values,
        }
    }

    fn accumulate(&mut self, weight: Tensor<2>, remaining: Tensor<2>, decay: f64, decay_finished: bool) {
        let added = self.per_node(weight.clone()) * self.hidden.clone();
        let mut accumulated = self.accumulated.clone().mul_scalar(decay) + added;
        let mut spent = self.spent.clone().mul_scalar(decay) + weight;
        let mut remaining = remaining;
        if let Some(done) = self.done_mask()
            && !decay_finished
        {
            let rows = done.clone().expand(self.hidden.dims());
            accumulated = accumulated.mask_where(rows, self.accumulated.clone());
            spent = spent.mask_where(done.clone(), self.spent.clone());
            remaining = remaining.mask_where(done, self.remaining.clone());
        }
        (self.accumulated, self.spent, self.remaining) = (accumulated, spent, remaining);
    }

    /// The positions of the elements of graph number `position` among those that still run.
    fn elements_of(&self, position: usize) -> std::ops::Range<usize> {
        match self.scope {
            Scope::Graph => position..position + 1,
            Scope::Node => {
                let offsets = self.graph.node_segments().offsets();
                offsets[position] as usize..offsets[position + 1] as usize
            }
        }
    }

    /// Moves the output of graphs that are done to `finished` and keeps only the others.
    fn release_finished(&mut self, normalised: bool, finished: &mut Vec<Finished>) {
        let is_done = |position: &usize| self.done[self.elements_of(*position)].iter().all(|&done| done);
        let (leaving, staying): (Vec<_>, Vec<_>) = (0..self.graph_ids.len()).partition(is_done);
        if leaving.is_empty() {
            return;
        }
        let mut output = self.accumulated.clone();
        if normalised {
            // A weight of exactly zero means that nothing was added: the output is zero and stays so.
            let spent = self.spent.clone();
            let spent = spent.clone().mask_fill(spent.equal_elem(0.0), 1.0);
            output = output / self.per_node(spent);
        }
        let graph_ids = |positions: &[usize]| positions.iter().map(|&at| self.graph_ids[at]).collect::<Vec<_>>();
        if staying.is_empty() {
            finished.push(Finished { graph_ids: graph_ids(&leaving), rows: output });
            self.graph_ids.clear();
            return;
        }
        let rows = |positions: &[usize]| node_rows(self.graph.node_segments().offsets(), positions);
        let output = select_rows(output, &rows(&leaving));
        finished.push(Finished { graph_ids: graph_ids(&leaving), rows: output });

        let kept_ids = graph_ids(&staying);
        let kept_rows = rows(&staying);
        let kept_elements: Vec<usize> = staying.iter().flat_map(|&at| self.elements_of(at)).collect();
        self.input = select_rows(self.input.clone(), &kept_rows);
        self.hidden = select_rows(self.hidden.clone(), &kept_rows);
        self.accumulated = select_rows(self.accumulated.clone(), &kept_rows);
        self.spent = select_rows(self.spent.clone(), &kept_elements);
        self.remaining = select_rows(self.remaining.clone(), &kept_elements);
        self.done = kept_elements.iter().map(|&at| self.done[at]).collect();
        self.element_ids = kept_elements.iter().map(|&at| self.element_ids[at]).collect();
        self.graph = self.graph.select_graphs(&staying);
        self.graph_ids = kept_ids;
    }
}

/// Notes one step for the elements that run, and marks those that it ends.
fn note(
    stops: &mut Stops,
    active: &mut Active,
    step: usize,
    confidence: &[f64],
    remaining: &[f64],
    epsilon: f64,
    capped: bool,
) {
    for (position, &element) in active.element_ids.iter().enumerate() {
        if active.done[position] {
            continue;
        }
        stops.steps[element] = step;
        stops.confidences[element] = confidence[position];
        // What reaches the last allowed step is what was left after the one before.
        stops.unspent[element] = if capped { stops.remaining[element] } else { 0.0 };
        stops.remaining[element] = remaining[position];
        let goes_on = remaining[position] > epsilon;
        stops.capped[element] = capped && goes_on;
        active.done[position] = capped || !goes_on;
    }
}

/// The node rows of the graphs at `positions`.
fn node_rows(node_offsets: &[u32], positions: &[usize]) -> Vec<usize> {
    positions.iter().flat_map(|&at| node_offsets[at] as usize..node_offsets[at + 1] as usize).collect()
}

fn select_rows(tensor: Tensor<2>, rows: &[usize]) -> Tensor<2> {
    let indices: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [rows.len()]), &tensor.device());
    tensor.select(0, indices)
}

/// Puts the rows of finished graphs back into the order of the batch.
fn assemble(graph: &GraphTensors, mut finished: Vec<Finished>, untouched: Tensor<2>) -> Tensor<2> {
    match finished.len() {
        0 => untouched,
        1 => finished.remove(0).rows,
        _ => {
            let offsets = graph.node_segments().offsets();
            let mut place = vec![0; graph.nodes()];
            let order = finished.iter().flat_map(|piece| node_rows(offsets, &piece.graph_ids));
            for (position, row) in order.enumerate() {
                place[row] = position;
            }
            let rows = Tensor::cat(finished.into_iter().map(|piece| piece.rows).collect(), 0);
            select_rows(rows, &place)
        }
    }
}
