//! One large graph from its initial states to its output.

use rayon::prelude::*;

use super::super::forward::Job;
use super::background::{Background, InitialRows};
use super::chunks::Chunks;
use super::dense::{DenseStep, StepOutcome};
use super::graph::LargeGraph;
use super::history::History;
use super::kinds::Sharing;
use super::order::better_order;
use super::rows::{RowMaker, TileScratch};
use super::sparse::ActiveNodes;
use super::storage::Storage;
use super::units::{Units, units};
use super::{DENSE_SHARE, LARGE_NODES, Strategy};
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::kernels::UNTOUCHED;
use crate::memory::Buffer;
use crate::real::{Real, sigmoid};
use crate::settings::ReadoutKind;

/// Rows that one thread sums or writes at a time; the order of sums depends on it.
const BLOCK_ROWS: usize = 1024;

impl<T: Real> Job<'_, T> {
    /// Whether [`infer_large`](Self::infer_large) covers a graph and is worth while.
    pub(in super::super) fn is_large(&self, graph: usize) -> bool {
        self.config.aggregates_by_max() && self.inputs.batch.node_range(graph).len() >= LARGE_NODES
    }

    /// Runs one graph; `output` are its rows of the batch's result. Returns when its units stopped, and the active
    /// share of every iteration.
    pub(in super::super) fn infer_large(
        &self,
        graph: usize,
        strategy: Strategy,
        output: &mut [T],
    ) -> Result<(Stops, Vec<f32>), KernelError> {
        let mut run = LargeRun::new(self, graph, strategy, true)?;
        while run.is_running(self) {
            if !run.step(self).finite {
                return Err(KernelError::NonFinite { graph, iteration: run.steps });
            }
        }
        run.write(self, output);
        let stops = match run.units {
            Some(units) => units.results(run.graph.order.as_deref()),
            None => Stops::after(1, run.steps),
        };
        Ok((stops, run.active_shares))
    }
}

/// A graph on its way.
#[derive(Debug)]
pub(super) struct LargeRun<T> {
    strategy: Strategy,
    graph: LargeGraph,
    /// `[nodes, input]`, in the order of the graph.
    inputs: Vec<T>,
    storage: Storage<T>,
    active: ActiveNodes<T>,
    /// Every node is active: the first iteration, or one with other weights than the one before.
    everything: bool,
    background: Option<Background<T>>,
    /// What dense iterations need; made for the first.
    chunks: Option<Chunks>,
    exported: Buffer<T>,
    sharing: Sharing,
    scratch: TileScratch<T>,
    /// Whether a better order of the nodes was looked for.
    ordered: bool,
    units: Option<Units<T>>,
    /// `[hidden_row]`: the maximum over the states, where the confidence asks for it.
    pooled: Vec<T>,
    steps: usize,
    active_shares: Vec<f32>,
}

impl<T: Real> LargeRun<T> {
    /// Graph number `number` with its initial states; `has_output` says whether [`write`](Self::write) will be asked.
    pub(super) fn new(
        job: &Job<'_, T>,
        number: usize,
        strategy: Strategy,
        has_output: bool,
    ) -> Result<Self, KernelError> {
        let shapes = &job.weights.shapes;
        let nodes = job.inputs.batch.node_range(number);
        let hidden = &job.inputs.hidden[nodes.start * shapes.hidden..nodes.end * shapes.hidden];
        let inputs = &job.inputs.node_inputs[nodes.start * shapes.input..nodes.end * shapes.input];
        let graph = LargeGraph::new(job.inputs, number);
        let units = units(job.config, nodes.len());
        let mut run = Self {
            strategy,
            inputs: inputs.to_vec(),
            storage: Storage::new(nodes.len(), shapes.hidden_row, has_output && units.is_some()),
            active: ActiveNodes::new(nodes.len()),
            everything: true,
            background: None,
            chunks: None,
            exported: Buffer::default(),
            sharing: Sharing::of(job, &graph),
            scratch: TileScratch::default(),
            ordered: false,
            units,
            pooled: Vec::new(),
            steps: 0,
            active_shares: Vec::new(),
            graph,
        };
        let rows = InitialRows { hidden, hidden_width: shapes.hidden, inputs, input_width: shapes.input };
        if run.may_have_background(job) {
            run.background = Background::find(&run.graph, &rows, shapes.hidden_row);
        }
        let first = match &run.background {
            Some(background) => {
                for &node in background.first_outside() {
                    let row = &mut run.storage.state_mut(node as usize)[..shapes.hidden];
                    row.copy_from_slice(rows.hidden_row(node as usize));
                    run.storage.state_mut(node as usize)[shapes.hidden..].fill(T::ZERO);
                }
                run.active.nodes = background.first_outside().to_vec();
                run.everything = false;
                // What is true of the common row is true of all its nodes.
                let common = summary(&background.state.as_slice()[..shapes.hidden], shapes.hidden);
                let outside = background.first_outside().iter();
                outside.map(|&node| summary(rows.hidden_row(node as usize), shapes.hidden)).fold(common, Summary::and)
            }
            None => {
                if strategy != Strategy::Active {
                    run.reorder(job);
                }
                run.storage.load(&run.graph, shapes.hidden, hidden);
                summary(hidden, shapes.hidden)
            }
        };
        if !first.finite {
            return Err(KernelError::NonFinite { graph: number, iteration: 0 });
        }
        if pools_maximum(job) {
            run.pooled = first.largest;
            run.pooled.resize(shapes.hidden_row, T::ZERO);
        }
        Ok(run)
    }

    /// Whether nodes that start alike may be followed as one: one message per sender, one confidence for all, and the
    /// same weights at every step.
    fn may_have_background(&self, job: &Job<'_, T>) -> bool {
        let is_one = !job.config.is_stack() && !job.config.node_wise() && !sums(job);
        self.strategy != Strategy::Dense && is_one && matches!(self.sharing, Sharing::Senders)
    }

    fn is_running(&self, job: &Job<'_, T>) -> bool {
        match &self.units {
            Some(units) => units.is_running(),
            None => self.steps < job.config.max_iterations(),
        }
    }

    /// One iteration with all that follows from it.
    pub(super) fn step(&mut self, job: &Job<'_, T>) -> StepOutcome {
        let nodes = self.graph.nodes;
        self.everything |= job.config.is_stack();
        let common = usize::from(self.background.as_ref().is_some_and(|background| background.changed == 1));
        let active = if self.everything { nodes } else { self.active.nodes.len() + common };
        let outside = nodes - self.background.as_ref().map_or(0, |background| background.count);
        let dense = match self.strategy {
            Strategy::Automatic => active as f64 > DENSE_SHARE * nodes as f64,
            Strategy::Dense => true,
            Strategy::Active => false,
        };
        self.active_shares.push(active as f32 / nodes as f32);
        // Where few share the common state any more, it is not worth looking after.
        if dense || (outside as f64 > DENSE_SHARE * nodes as f64 && self.background.is_some()) {
            self.dissolve();
        }
        let mut outcome = match (dense, active) {
            (true, _) => self.dense_step(job),
            // Nothing changed: nothing will.
            (false, 0) => StepOutcome::NOTHING,
            (false, _) => self.active_step(job),
        };
        self.steps += 1;
        outcome.finite &= self.push_confidences(job);
        outcome
    }

    fn dissolve(&mut self) {
        let Some(background) = self.background.take() else { return };
        let changed = background.changed == 1;
        if changed {
            let members = (0..self.graph.nodes as u32).filter(|&node| background.has(node as usize));
            self.active.nodes.extend(members);
        }
        background.dissolve(&mut self.storage);
    }

    /// Puts the nodes into an order that suits dense iterations.
    fn reorder(&mut self, job: &Job<'_, T>) -> Option<Vec<u32>> {
        self.ordered = true;
        if sums(job) {
            return None;
        }
        let order = better_order(&self.graph.offsets, &self.graph.senders)?;
        self.graph = self.graph.reordered(order.clone());
        let width = job.weights.shapes.input;
        let inputs = order.iter().flat_map(|&node| &self.inputs[node as usize * width..(node as usize + 1) * width]);
        self.inputs = inputs.copied().collect();
        Some(order)
    }

    /// What the first dense iteration needs.
    fn prepare_dense(&mut self, job: &Job<'_, T>) {
        if self.chunks.is_some() {
            return;
        }
        // After iterations with a background, whose units are never single nodes.
        if !self.ordered
            && let Some(order) = self.reorder(job)
        {
            self.storage.reorder(&order);
            self.active = ActiveNodes::new(self.graph.nodes);
        }
        self.graph.index_edges();
        self.chunks = Some(Chunks::new(&self.graph));
    }

    fn maker<'a>(&self, job: &'a Job<'a, T>) -> RowMaker<'a, T> {
        RowMaker::new(job, &self.graph, job.layer_of(self.steps), self.sharing.clone())
    }

    fn dense_step(&mut self, job: &Job<'_, T>) -> StepOutcome {
        self.prepare_dense(job);
        let maker = self.maker(job);
        let width = job.weights.shapes.hidden_row;
        let Some(chunks) = &self.chunks else { return StepOutcome::NOTHING };
        self.exported.ensure(chunks.exported.len() * maker.width());
        let mut pools = Buffer::<T>::new(if self.pooled.is_empty() { 0 } else { chunks.len() * width });
        let step = DenseStep {
            maker: &maker,
            graph: &self.graph,
            chunks,
            inputs: self.inputs.as_ptr(),
            places: self.storage.places(self.units.as_ref().map_or(&[], Units::totals)),
            exported: self.exported.as_mut_ptr(),
            pools: if self.pooled.is_empty() { std::ptr::null_mut() } else { pools.as_mut_ptr() },
        };
        // SAFETY: all buffers are those of the graph, and borrowed here.
        let outcome = unsafe { step.run(&mut self.scratch) };
        for pool in pools.as_slice().chunks_exact(width) {
            raise(&mut self.pooled, pool);
        }
        self.everything = outcome.changed == self.graph.nodes;
        self.active.nodes.clear();
        if outcome.changed as f64 <= DENSE_SHARE * self.graph.nodes as f64 {
            let changed = &self.storage.changed;
            self.active.nodes.extend((0..self.graph.nodes as u32).filter(|&node| changed[node as usize] == 1));
        } else {
            // The list would not be used; its length is what is measured.
            self.active.nodes.resize(outcome.changed, 0);
        }
        outcome
    }

    fn active_step(&mut self, job: &Job<'_, T>) -> StepOutcome {
        let maker = self.maker(job);
        self.graph.index_outgoing();
        if std::mem::take(&mut self.everything) {
            self.active.nodes = (0..self.graph.nodes as u32).collect();
        }
        let totals = self.units.as_ref().map_or(&[][..], Units::totals);
        let (graph, inputs) = (&self.graph, &self.inputs);
        let outcome = self.active.step(&maker, graph, inputs, &mut self.storage, totals, self.background.as_mut());
        if !self.pooled.is_empty() {
            for &node in &self.active.nodes {
                raise(&mut self.pooled, self.storage.state(node as usize));
            }
            if let Some(background) = self.background.as_ref().filter(|background| background.count > 0) {
                raise(&mut self.pooled, background.state.as_slice());
            }
        }
        outcome
    }

    /// Predicts the confidences of the units that are still running; returns whether all are finite.
    fn push_confidences(&mut self, job: &Job<'_, T>) -> bool {
        let (Some(units), Some(options)) = (&mut self.units, job.config.iterative()) else { return true };
        let hidden = job.weights.shapes.hidden;
        let confidence = job.confidence(options);
        if options.node_wise() {
            let (storage, first) = (&self.storage, self.steps == 1);
            return units.push(|node| {
                let changed = first || storage.changed[node] == 1;
                changed.then(|| sigmoid(confidence.logit(&storage.state(node)[..hidden])))
            });
        }
        let value = match options.pooling {
            ReadoutKind::Max => sigmoid(confidence.logit(&self.pooled[..hidden])),
            readout => {
                let mut sum = column_sums(self.storage.states.as_slice(), self.graph.nodes, self.storage.width);
                if readout == ReadoutKind::Mean {
                    let share = T::ONE / T::from_f64(self.graph.nodes as f64);
                    sum.iter_mut().for_each(|value| *value *= share);
                }
                sigmoid(confidence.logit(&sum[..hidden]))
            }
        };
        units.push(|_| Some(value))
    }

    /// Notes the states in the caller's order.
    pub(super) fn record(&self, history: &mut History<T>) {
        let mut places: Vec<u32> = (0..self.graph.nodes as u32).collect();
        if let Some(order) = &self.graph.order {
            order.iter().enumerate().for_each(|(place, &node)| places[node as usize] = place as u32);
        }
        let state = |node: usize| {
            let place = places[node] as usize;
            match self.background.as_ref().filter(|background| background.has(place)) {
                Some(background) => &background.state.as_slice()[..self.storage.width],
                None => self.storage.state(place),
            }
        };
        // What a background was until it dissolved is not among the marks.
        let is_marked = self.steps > 0 && !matches!(self.sharing, Sharing::Senders);
        history.record(state, |node| is_marked && self.storage.changed[places[node] as usize] == 0);
    }

    /// Writes the results in the caller's order.
    fn write(&self, job: &Job<'_, T>, output: &mut [T]) {
        let (hidden, width) = (job.weights.shapes.hidden, self.storage.width);
        let rows = Rows { output: output.as_mut_ptr() };
        let weights = |unit| self.units.as_ref().map(|units| (units.totals()[unit], T::from_f64(units.factor(unit))));
        let one = self.units.as_ref().filter(|units| units.is_one()).and_then(|_| weights(0));
        let blocks = (0..self.graph.nodes.div_ceil(BLOCK_ROWS)).into_par_iter();
        blocks.for_each(|block| {
            let rows = &rows;
            for node in block * BLOCK_ROWS..self.graph.nodes.min((block + 1) * BLOCK_ROWS) {
                let place = self.graph.original(node) * hidden;
                let common = self.background.as_ref().filter(|background| background.has(node));
                let state = common.map_or_else(|| self.storage.state(node), |background| background.state.as_slice());
                // SAFETY: every node has a row of its own in the results.
                let target = unsafe { std::slice::from_raw_parts_mut(rows.output.add(place), hidden) };
                let Some((total, factor)) = one.or_else(|| weights(node)) else {
                    target.copy_from_slice(&state[..hidden]);
                    continue;
                };
                let (row, settled) = match common {
                    Some(background) => background.output_row(),
                    None => (&self.storage.outputs.as_slice()[node * width..][..width], self.storage.settled[node]),
                };
                if settled == UNTOUCHED {
                    let weight = T::from_f64(total);
                    target.iter_mut().zip(state).for_each(|(value, &state)| *value = weight * state * factor);
                } else {
                    let weight = T::from_f64(total - settled);
                    for ((value, &state), &sum) in target.iter_mut().zip(state).zip(row) {
                        *value = (sum + weight * state) * factor;
                    }
                }
            }
        });
    }
}

fn pools_maximum<T: Real>(job: &Job<'_, T>) -> bool {
    let options = job.config.iterative();
    options.is_some_and(|options| !options.node_wise() && options.pooling == ReadoutKind::Max)
}

/// Whether the confidence sums over nodes, which must then keep their order.
fn sums<T: Real>(job: &Job<'_, T>) -> bool {
    let options = job.config.iterative();
    options.is_some_and(|options| !options.node_wise() && options.pooling != ReadoutKind::Max)
}

/// Where results go.
struct Rows<T> {
    output: *mut T,
}

// SAFETY: threads write different rows.
unsafe impl<T: Real> Sync for Rows<T> {}

/// `target = max(target, row)`.
pub(super) fn raise<T: Real>(target: &mut [T], row: &[T]) {
    target.iter_mut().zip(row).for_each(|(most, &value)| *most = if value > *most { value } else { *most });
}

/// What must be known of initial states.
struct Summary<T> {
    finite: bool,
    /// Elementwise maximum.
    largest: Vec<T>,
}

impl<T: Real> Summary<T> {
    fn and(mut self, other: Self) -> Self {
        raise(&mut self.largest, &other.largest);
        Self { finite: self.finite && other.finite, ..self }
    }
}

/// Looks at rows, of which there is at least one.
fn summary<T: Real>(rows: &[T], width: usize) -> Summary<T> {
    let block = |rows: &[T]| {
        let (mut largest, mut poison) = (rows[..width].to_vec(), vec![T::ZERO; width]);
        for row in rows.chunks_exact(width) {
            raise(&mut largest, row);
            // Zero times an infinite or undefined value is undefined, and stays so in the sum.
            poison.iter_mut().zip(row).for_each(|(sum, &value)| *sum += T::ZERO * value);
        }
        let finite = poison.iter().all(|&sum| sum == T::ZERO);
        Summary { finite, largest }
    };
    if rows.len() <= BLOCK_ROWS * width {
        return block(rows);
    }
    let blocks = rows.par_chunks(BLOCK_ROWS * width).map(block);
    blocks.reduce_with(Summary::and).unwrap_or(Summary { finite: true, largest: vec![T::ZERO; width] })
}

/// Elementwise sum over rows: in blocks, then over the blocks in order, on any number of threads.
fn column_sums<T: Real>(rows: &[T], count: usize, width: usize) -> Vec<T> {
    let blocks: Vec<Vec<T>> = rows[..count * width]
        .par_chunks(BLOCK_ROWS * width)
        .map(|rows| {
            let mut sums = vec![T::ZERO; width];
            for row in rows.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
            }
            sums
        })
        .collect();
    let mut total = vec![T::ZERO; width];
    for block in blocks {
        total.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
    }
    total
}
