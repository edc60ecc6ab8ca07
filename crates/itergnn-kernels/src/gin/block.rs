//! A block: a layer once, or in the iterative module.

use super::affine::add;
use super::batch::{Running, zeros};
use super::layer::{Layer, LayerGradient, LayerTape, Statistics};
use super::layout::{AffineRanges, BlockRanges};
use crate::block::Stops;
use crate::kernels::{Kernels, PoolMax, WeightedAdd};
use crate::memory::Buffer;
use crate::real::{Real, sigmoid};
use crate::settings::IterConfig;
use crate::simd::padded;

/// A block with its parameters.
pub(super) struct Block<T: Real> {
    kernels: &'static Kernels<T>,
    layer: Layer<T>,
    iteration: Option<(IterConfig, Vec<T>, T)>,
    hidden: usize,
}

/// What a block leaves for its backward pass.
pub(super) struct BlockTape<T: Real> {
    steps: Vec<Step<T>>,
    output: Option<Buffer<T>>,
}

struct Step<T: Real> {
    structure: Running,
    layer: LayerTape<T>,
    halting: Vec<Halting<T>>,
}

/// What the iterative module saw of one graph in one step.
struct Halting<T: Real> {
    confidence: T,
    /// Remaining probability before the step.
    remaining: T,
    /// `[hidden]`: the largest state, and the node of the graph that has it.
    pooled: Buffer<T>,
    winners: Buffer<u32>,
}

impl<T: Real> BlockTape<T> {
    /// The states after the block.
    pub(super) fn output(&self) -> &Buffer<T> {
        self.output.as_ref().unwrap_or_else(|| &self.steps[0].layer.output)
    }
}

impl<T: Real> Block<T> {
    pub(super) fn new(
        kernels: &'static Kernels<T>,
        parameters: &[T],
        ranges: &BlockRanges,
        iteration: Option<&IterConfig>,
    ) -> Self {
        let iteration = iteration.zip(ranges.confidence.as_ref()).map(|(iteration, confidence)| {
            let weight = parameters[confidence.weight.clone()].to_vec();
            (*iteration, weight, parameters[confidence.bias.start])
        });
        let layer = Layer::new(kernels, parameters, &ranges.maps);
        Self { kernels, layer, iteration, hidden: ranges.maps[1].affine.outputs }
    }

    pub(super) fn forward(
        &self,
        whole: &Running,
        states: &Buffer<T>,
        statistics: &mut Statistics<'_, T>,
        ranges: &BlockRanges,
    ) -> (BlockTape<T>, Stops) {
        let graphs = whole.graphs.len();
        let Some((iteration, ..)) = &self.iteration else {
            let layer = self.layer.forward(whole, states, statistics, &ranges.maps, 0);
            let step = Step { structure: whole.clone(), layer, halting: Vec::new() };
            return (BlockTape { steps: vec![step], output: None }, Stops::after(graphs, 1));
        };
        let (width, decay) = (padded(self.hidden), T::from_f64(iteration.decay));
        let mut output: Buffer<T> = zeros(whole.nodes() * width);
        let mut remaining = vec![T::ONE; graphs];
        let mut stops = Stops::before_the_first(graphs);
        let mut steps: Vec<Step<T>> = Vec::new();
        let mut structure = whole.clone();
        let mut selected: Option<Buffer<T>> = None;
        for number in 1..=iteration.training_cap {
            let input = match (&selected, steps.last()) {
                (Some(selected), _) => selected,
                (None, Some(last)) => &last.layer.output,
                (None, None) => states,
            };
            let layer = self.layer.forward(&structure, input, statistics, &ranges.maps, number - 1);
            let mut halting = Vec::with_capacity(structure.graphs.len());
            let mut running = Vec::with_capacity(structure.graphs.len());
            for (position, &graph) in structure.graphs.iter().enumerate() {
                let seen = self.halt(&layer.output, structure.range(position), remaining[graph]);
                let weight = seen.remaining * seen.confidence;
                let own = structure.range(position);
                // SAFETY: both ranges lie within their buffers and have one length.
                unsafe {
                    let source = layer.output.as_ptr().add(own.start * width);
                    let target = output.as_mut_ptr().add(whole.range(graph).start * width);
                    self.weighted(own.len(), source, target, weight, &decay, None);
                }
                remaining[graph] = decay * (T::ONE - seen.confidence) * seen.remaining;
                stops.steps[graph] = number;
                stops.confidences[graph] = seen.confidence.to_f64();
                stops.remaining[graph] = remaining[graph].to_f64();
                if remaining[graph] > T::from_f64(iteration.epsilon) {
                    stops.capped[graph] = number == iteration.training_cap;
                    running.push(position);
                }
                halting.push(seen);
            }
            let next = (running.len() < structure.graphs.len()).then(|| structure.select(&running));
            selected = next.is_some().then(|| select_rows(&layer.output, &structure, &running, width));
            let step_structure = match next {
                Some(next) => std::mem::replace(&mut structure, next),
                None => structure.clone(),
            };
            steps.push(Step { structure: step_structure, layer, halting });
            if structure.graphs.is_empty() {
                break;
            }
        }
        (BlockTape { steps, output: Some(output) }, stops)
    }

    /// Pools the states of a graph and asks whether to stop.
    fn halt(&self, states: &Buffer<T>, nodes: std::ops::Range<usize>, remaining: T) -> Halting<T> {
        let width = padded(self.hidden);
        let (mut pooled, mut winners) = (Buffer::<T>::new(width), Buffer::<u32>::new(width));
        let pool = PoolMax {
            rows: nodes.len(),
            width,
            // SAFETY: the nodes of a graph lie within the states.
            source: unsafe { states.as_ptr().add(nodes.start * width) },
            target: pooled.as_mut_ptr(),
            positions: winners.as_mut_ptr(),
            changed: std::ptr::null(),
        };
        // SAFETY: the table fits the processor; a graph of a checked batch has a node.
        unsafe { (self.kernels.pool_max)(&pool) };
        let (_, weight, bias) = self.iteration.as_ref().expect("only iterated blocks ask");
        let products = pooled.as_slice().iter().zip(weight).map(|(&value, &weight)| value * weight);
        let logit = products.fold(*bias, |sum, product| sum + product);
        Halting { confidence: sigmoid(logit), remaining, pooled, winners }
    }

    /// `target = keep target + weight source` for rows of a graph; with a factor, the sum of `source . factor` over the
    /// rows.
    ///
    /// # Safety
    /// All pointers are valid for `rows` rows.
    unsafe fn weighted(
        &self,
        rows: usize,
        source: *const T,
        target: *mut T,
        weight: T,
        keep: &T,
        factor: Option<*const T>,
    ) -> T {
        let mut products = vec![T::ZERO; if factor.is_some() { rows } else { 0 }];
        let args = WeightedAdd {
            rows,
            width: padded(self.hidden),
            source,
            target,
            weights: &weight,
            weight_step: 0,
            keeps: keep,
            factor: factor.unwrap_or(std::ptr::null()),
            products: products.as_mut_ptr(),
        };
        // SAFETY: the contract of this function; the table fits the processor.
        unsafe { (self.kernels.weighted_add)(&args) };
        products.into_iter().fold(T::ZERO, |sum, product| sum + product)
    }

    /// Gradient of the input states for that of the output (if wanted); adds those of the parameters to the flat
    /// gradient.
    pub(super) fn backward(
        &self,
        whole: &Running,
        tape: &BlockTape<T>,
        gradient: &Buffer<T>,
        flat: &mut [T],
        ranges: &BlockRanges,
        wanted: bool,
    ) -> Option<Buffer<T>> {
        let mut sums = LayerGradient::new(&ranges.maps);
        let result = match &self.iteration {
            None => self.layer.backward(whole, &tape.steps[0].layer, gradient, &mut sums, wanted),
            Some(_) => {
                let confidence = ranges.confidence.as_ref().expect("an iterated block has a confidence");
                Some(self.backward_iterated(whole, tape, gradient, flat, confidence, &mut sums))
            }
        };
        sums.add_to(flat, &ranges.maps);
        result
    }

    fn backward_iterated(
        &self,
        whole: &Running,
        tape: &BlockTape<T>,
        gradient: &Buffer<T>,
        flat: &mut [T],
        confidence: &AffineRanges,
        sums: &mut LayerGradient<T>,
    ) -> Buffer<T> {
        let (iteration, weight, _) = self.iteration.as_ref().expect("called for iterated blocks");
        let (width, decay) = (padded(self.hidden), T::from_f64(iteration.decay));
        // Gradient of the remaining probability after the step at hand.
        let mut of_remaining = vec![T::ZERO; whole.graphs.len()];
        // What the step at hand contributed has been multiplied by the decay once for every later step of its graph.
        let mut kept = vec![T::ONE; whole.graphs.len()];
        let mut later: Option<(&Running, Buffer<T>)> = None;
        for step in tape.steps.iter().rev() {
            let mut states = match later.take() {
                Some((structure, rows)) => put_back(&rows, structure, &step.structure, width),
                None => zeros(step.structure.nodes() * width),
            };
            for (position, (&graph, seen)) in step.structure.graphs.iter().zip(&step.halting).enumerate() {
                let own = step.structure.range(position);
                let (c, r, keep) = (seen.confidence, seen.remaining, kept[graph]);
                // SAFETY: both ranges lie within their buffers and have one length.
                let product = unsafe {
                    let source = gradient.as_ptr().add(whole.range(graph).start * width);
                    let target = states.as_mut_ptr().add(own.start * width);
                    let factor = step.layer.output.as_ptr().add(own.start * width);
                    self.weighted(own.len(), source, target, keep * r * c, &T::ONE, Some(factor))
                };
                let of_weight = keep * product;
                let of_confidence = r * of_weight - decay * r * of_remaining[graph];
                of_remaining[graph] = c * of_weight + decay * (T::ONE - c) * of_remaining[graph];
                kept[graph] = keep * decay;
                let of_logit = of_confidence * c * (T::ONE - c);
                flat[confidence.bias.start] += of_logit;
                let scaled: Vec<T> = seen.pooled.as_slice().iter().map(|&value| of_logit * value).collect();
                add(&mut flat[confidence.weight.clone()], &scaled);
                for (channel, &weight) in weight.iter().enumerate() {
                    let row = own.start + seen.winners.as_slice()[channel] as usize;
                    states.as_mut_slice()[row * width + channel] += of_logit * weight;
                }
            }
            let back = self.layer.backward(&step.structure, &step.layer, &states, sums, true);
            later = back.map(|rows| (&step.structure, rows));
        }
        later.map_or_else(|| zeros(0), |(_, rows)| rows)
    }
}

/// The rows of the graphs at these positions.
fn select_rows<T: Real>(rows: &Buffer<T>, structure: &Running, positions: &[usize], width: usize) -> Buffer<T> {
    let count: usize = positions.iter().map(|&position| structure.range(position).len()).sum();
    let mut selected = Buffer::new(count * width);
    let mut place = 0;
    for &position in positions {
        let own = structure.range(position);
        let (source, len) = (&rows.as_slice()[own.start * width..own.end * width], own.len() * width);
        selected.as_mut_slice()[place..place + len].copy_from_slice(source);
        place += len;
    }
    selected
}

/// The rows of a selection of graphs among those of all, zeros for the others.
fn put_back<T: Real>(rows: &Buffer<T>, part: &Running, all: &Running, width: usize) -> Buffer<T> {
    if part.graphs == all.graphs {
        let mut same = Buffer::new(part.nodes() * width);
        same.as_mut_slice().copy_from_slice(&rows.as_slice()[..part.nodes() * width]);
        return same;
    }
    let mut target = zeros(all.nodes() * width);
    let mut position = 0;
    for (at, graph) in all.graphs.iter().enumerate() {
        // Both lists are in the order of the batch.
        if part.graphs.get(position) == Some(graph) {
            let (own, source) = (all.range(at), part.range(position));
            let source = &rows.as_slice()[source.start * width..source.end * width];
            target.as_mut_slice()[own.start * width..own.end * width].copy_from_slice(source);
            position += 1;
        }
    }
    target
}
