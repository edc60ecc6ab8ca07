//! One graph through all its iterations and back.

use super::layer::{Context, Step};
use crate::block::batch::BlockInputs;
use crate::block::confidence::Confidence;
use crate::block::config::BlockConfig;
use crate::block::output::{BlockGradients, OutputGradients};
use crate::block::parameters::{ParameterKind, ParameterLayout};
use crate::block::schedule::Schedule;
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::real::{Real, sigmoid};
use crate::settings::{IterConfig, ReadoutKind};

/// All steps of a graph and the schedules of its units (one, or one per node).
#[derive(Debug, Clone)]
pub(super) struct GraphRun<T> {
    initial: Vec<T>,
    steps: Vec<Step<T>>,
    schedules: Vec<Schedule<T>>,
    hidden_width: usize,
}

fn context<'a, T>(
    config: &'a BlockConfig,
    layout: &'a ParameterLayout,
    inputs: &'a BlockInputs<'a, T>,
    graph: usize,
    step: usize,
) -> Context<'a, T> {
    let layer = if config.is_stack() { step } else { 0 };
    Context { config, layout, inputs, graph, layer }
}

fn confidence<'a, T: Real>(
    layout: &ParameterLayout,
    inputs: &BlockInputs<'a, T>,
    options: &IterConfig,
) -> Confidence<'a, T> {
    Confidence {
        weight: layout.get(inputs.parameters, 0, ParameterKind::ConfidenceWeight),
        bias: layout.get(inputs.parameters, 0, ParameterKind::ConfidenceBias),
        scale_free: options.scale_free,
    }
}

impl<T: Real> GraphRun<T> {
    pub(super) fn forward(
        config: &BlockConfig,
        layout: &ParameterLayout,
        inputs: &BlockInputs<'_, T>,
        graph: usize,
    ) -> Result<Self, KernelError> {
        let hidden_width = config.hidden_width();
        let nodes = inputs.batch.node_range(graph);
        let initial = inputs.hidden[nodes.start * hidden_width..nodes.end * hidden_width].to_vec();
        if !initial.iter().all(|value| value.is_finite()) {
            return Err(KernelError::NonFinite { graph, iteration: 0 });
        }
        let units = match config.iterative() {
            Some(options) if options.node_wise() => nodes.len(),
            Some(_) if !nodes.is_empty() => 1,
            _ => 0,
        };
        let mut run = Self { initial, steps: Vec::new(), schedules: vec![Schedule::new(true); units], hidden_width };
        while run.is_running(config) {
            let before = run.steps.last().map_or(&run.initial, |step| &step.after).clone();
            let step = context(config, layout, inputs, graph, run.steps.len()).forward(before);
            run.steps.push(step);
            let iteration = run.steps.len();
            let step = &run.steps[iteration - 1];
            let mut finite = step.finite;
            if let Some(options) = config.iterative() {
                let confidence = confidence(layout, inputs, options);
                for (unit, schedule) in run.schedules.iter_mut().enumerate() {
                    if schedule.is_running(options) {
                        let vector = pooled(&step.after, hidden_width, unit, options).0;
                        let value = sigmoid(confidence.logit(&vector));
                        finite &= value.is_finite();
                        schedule.push(value, options);
                    }
                }
            }
            if !finite {
                return Err(KernelError::NonFinite { graph, iteration });
            }
        }
        if let Some(options) = config.iterative() {
            run.schedules.iter_mut().for_each(|schedule| schedule.finish(options));
        }
        Ok(run)
    }

    fn is_running(&self, config: &BlockConfig) -> bool {
        match config.iterative() {
            Some(options) => self.schedules.iter().any(|schedule| schedule.is_running(options)),
            None => self.steps.len() < config.max_iterations(),
        }
    }

    fn last_hidden(&self) -> &[T] {
        self.steps.last().map_or(&self.initial, |step| &step.after)
    }

    /// The graph's output and what is known of its units.
    pub(super) fn results(&self, config: &BlockConfig) -> (Vec<T>, Stops) {
        let Some(options) = config.iterative() else {
            return (self.last_hidden().to_vec(), Stops::after(1, self.steps.len()));
        };
        let mut output = vec![T::ZERO; self.initial.len()];
        for (index, value) in output.iter_mut().enumerate() {
            let schedule = &self.schedules[self.unit_of(index / self.hidden_width, options)];
            for (number, step) in self.steps.iter().enumerate() {
                *value += schedule.weight(number) * step.after[index];
            }
        }
        (output, Stops::of(&self.schedules, options.node_wise()))
    }

    fn unit_of(&self, node: usize, options: &IterConfig) -> usize {
        if options.node_wise() { node } else { 0 }
    }

    pub(super) fn backward(
        &self,
        config: &BlockConfig,
        layout: &ParameterLayout,
        inputs: &BlockInputs<'_, T>,
        graph: usize,
        gradients: &OutputGradients<'_, T>,
        result: &mut BlockGradients<T>,
    ) {
        let width = self.hidden_width;
        let nodes = inputs.batch.node_range(graph);
        let output_gradient = &gradients.output[nodes.start * width..nodes.end * width];
        let output = self.results(config).0;
        let mut hidden =
            if config.iterative().is_some() { vec![T::ZERO; self.initial.len()] } else { output_gradient.to_vec() };
        let unit_rows = |unit: usize, options: &IterConfig| {
            if options.node_wise() { unit * width..(unit + 1) * width } else { 0..self.initial.len() }
        };
        let product =
            |left: &[T], right: &[T]| left.iter().zip(right).fold(T::ZERO, |sum, (&left, &right)| sum + left * right);
        let mut carried = Vec::new();
        if let Some(options) = config.iterative() {
            for (unit, schedule) in self.schedules.iter().enumerate() {
                let rows = unit_rows(unit, options);
                let position = if options.node_wise() { nodes.start + unit } else { graph };
                let unspent = gradients.unspent.map_or(T::ZERO, |unspent| unspent[position]);
                let output_product = product(&output[rows.clone()], &output_gradient[rows]);
                carried.push(schedule.backward(unspent, output_product, options));
            }
        }
        for (number, step) in self.steps.iter().enumerate().rev() {
            if let Some(options) = config.iterative() {
                let confidence = confidence(layout, inputs, options);
                for (unit, schedule) in self.schedules.iter().enumerate() {
                    if number >= schedule.iterations() {
                        continue;
                    }
                    let rows = unit_rows(unit, options);
                    let weight = product(&step.after[rows.clone()], &output_gradient[rows.clone()]);
                    let logit = schedule.step_backward(&mut carried[unit], number, weight, options);
                    for index in rows {
                        hidden[index] += schedule.weight(number) * output_gradient[index];
                    }
                    let (vector, sources) = pooled(&step.after, width, unit, options);
                    let mut vector_gradient = vec![T::ZERO; width];
                    if let Some(range) = layout.range(0, ParameterKind::ConfidenceWeight) {
                        confidence.backward(logit, &vector, &mut vector_gradient, &mut result.parameters[range]);
                    }
                    if let Some(range) = layout.range(0, ParameterKind::ConfidenceBias) {
                        result.parameters[range.start] += logit;
                    }
                    for (channel, places) in sources.iter().enumerate() {
                        for &(index, share) in places {
                            hidden[index] += share * vector_gradient[channel];
                        }
                    }
                }
            }
            hidden = context(config, layout, inputs, graph, number).backward(step, &hidden, result);
        }
        result.hidden[nodes.start * width..nodes.end * width].copy_from_slice(&hidden);
    }
}

/// The vector a confidence is predicted from, and for each channel the states it was taken from with their shares.
#[allow(clippy::type_complexity)]
fn pooled<T: Real>(states: &[T], width: usize, unit: usize, options: &IterConfig) -> (Vec<T>, Vec<Vec<(usize, T)>>) {
    let nodes = states.len() / width;
    let mut vector = Vec::new();
    let mut sources = Vec::new();
    for channel in 0..width {
        let places: Vec<(usize, T)> = if options.node_wise() {
            vec![(unit * width + channel, T::ONE)]
        } else {
            let all = (0..nodes).map(|node| node * width + channel);
            match options.pooling {
                ReadoutKind::Max => {
                    let best = all.fold(channel, |best, index| if states[index] > states[best] { index } else { best });
                    vec![(best, T::ONE)]
                }
                readout => {
                    let mean = readout == ReadoutKind::Mean;
                    let share = if mean { T::ONE / T::from_f64(nodes as f64) } else { T::ONE };
                    all.map(|index| (index, share)).collect()
                }
            }
        };
        vector.push(places.iter().fold(T::ZERO, |sum, &(index, share)| sum + share * states[index]));
        sources.push(places);
    }
    (vector, sources)
}
