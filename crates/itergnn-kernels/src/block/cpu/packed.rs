//! Weights in the order the kernels read them, and gradients in the order they write them.

use super::convolution;
use crate::block::config::BlockConfig;
use crate::block::parameters::{ParameterKind, ParameterLayout};
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::padded;

/// Widths of a block and of its padded rows.
///
/// Every node *prepares* a row for the messages it sends and receives: columns `0..message` are its part as a sender,
/// then with attention one column for its part of the score as a sender and one as a receiver; at `receiver_column`
/// begins its part as a receiver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shapes {
    pub(super) input: usize,
    pub(super) hidden: usize,
    pub(super) hidden_row: usize,
    pub(super) message: usize,
    pub(super) message_row: usize,
    pub(super) edge: usize,
    pub(super) prepared_row: usize,
    pub(super) receiver_column: Option<usize>,
    pub(super) has_score: bool,
    /// Whether there is a second map.
    pub(super) has_second: bool,
}

impl Shapes {
    pub(super) fn new(config: &BlockConfig) -> Self {
        let (message, has_score) = (config.message_width(), config.has_score());
        let message_row = padded(message);
        let sender_row = padded(message + if has_score { 2 } else { 0 });
        let receiver_column = config.uses_receiver().then_some(sender_row);
        Self {
            input: config.input_width(),
            hidden: config.hidden_width(),
            hidden_row: padded(config.hidden_width()),
            message,
            message_row,
            edge: config.edge_width(),
            prepared_row: sender_row + receiver_column.map_or(0, |_| message_row),
            receiver_column,
            has_score,
            has_second: !config.is_convolution(),
        }
    }

    /// Column of the sender's part of the score; the receiver's part follows it.
    pub(super) fn score_column(&self) -> usize {
        self.message
    }

    /// Columns in front of the receiver's part that are in use.
    pub(super) fn sender_columns(&self) -> usize {
        self.message + if self.has_score { 2 } else { 0 }
    }
}

/// Where each matrix of a layer lies in a packed slice. Weights use all of it, gradients the first
/// [`Sections::gradient_len`] values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sections {
    /// `[hidden, prepared_row]`: states to prepared rows.
    pub(super) prepare: usize,
    /// `[input, prepared_row]`.
    pub(super) prepare_input: usize,
    /// `[prepared_row]`.
    pub(super) prepare_bias: usize,
    /// `[edge, message_row]`.
    pub(super) edge: usize,
    /// `[edge]`.
    pub(super) score_edge: usize,
    /// `[message, hidden_row]`; as the gradient of a maximum it is transposed, `[hidden, message_row]`.
    pub(super) second: usize,
    /// `[hidden_row]`.
    pub(super) second_bias: usize,
    /// `[message_row]`: what a convolution adds to its sums.
    pub(super) sum_bias: usize,
    /// Values of a layer's gradient.
    pub(super) gradient_len: usize,
    /// `[prepared_row, hidden_row]`.
    pub(super) prepare_transposed: usize,
    /// `[hidden, message_row]`.
    pub(super) second_transposed: usize,
    /// Values of a layer's weights.
    pub(super) len: usize,
}

impl Sections {
    pub(super) fn new(shapes: &Shapes) -> Self {
        let mut end = 0;
        let mut section = |len: usize| {
            let start = end;
            end += padded(len);
            start
        };
        let Shapes { input, hidden, hidden_row, message, message_row, edge, prepared_row, .. } = *shapes;
        let prepare = section(hidden * prepared_row);
        let prepare_input = section(input * prepared_row);
        let prepare_bias = section(prepared_row);
        let edge_start = section(edge * message_row);
        let score_edge = section(edge);
        let second_len = if shapes.has_second { (message * hidden_row).max(hidden * message_row) } else { 0 };
        let second = section(second_len);
        let second_bias = section(hidden_row);
        let sum_bias = section(message_row);
        let gradient_len = section(0);
        let prepare_transposed = section(prepared_row * hidden_row);
        let second_transposed = section(if shapes.has_second { hidden * message_row } else { 0 });
        let len = section(0);
        Self {
            prepare,
            prepare_input,
            prepare_bias,
            edge: edge_start,
            score_edge,
            second,
            second_bias,
            sum_bias,
            gradient_len,
            prepare_transposed,
            second_transposed,
            len,
        }
    }
}

/// Calls `visit(flat, packed)` for every first-layer, score, edge and bias parameter of a layer.
#[inline]
fn for_each_first(
    layout: &ParameterLayout,
    shapes: &Shapes,
    sections: &Sections,
    layer: usize,
    mut visit: impl FnMut(usize, usize),
) {
    let Shapes { input, hidden, message, message_row, edge, prepared_row, .. } = *shapes;
    // Rows of a flat matrix are [x_s ; h_s ; x_r ; h_r ; e]; `column` is where its columns lie in a prepared row, for
    // sender and receiver.
    let mut matrix = |kind, columns: [Option<usize>; 2], width: usize, edge_start: usize, edge_row: usize| {
        let Some(range) = layout.range(layer, kind) else { return };
        let mut flat = range.start;
        for start in columns.into_iter().flatten() {
            for row in 0..input + hidden {
                let packed = if row < input {
                    sections.prepare_input + row * prepared_row
                } else {
                    sections.prepare + (row - input) * prepared_row
                };
                for column in 0..width {
                    visit(flat, packed + start + column);
                    flat += 1;
                }
            }
        }
        for row in 0..edge {
            for column in 0..width {
                visit(flat, edge_start + row * edge_row + column);
                flat += 1;
            }
        }
    };
    matrix(ParameterKind::FirstWeight, [Some(0), shapes.receiver_column], message, sections.edge, message_row);
    let score = shapes.score_column();
    matrix(ParameterKind::ScoreWeight, [Some(score), Some(score + 1)], 1, sections.score_edge, 1);
    if let Some(range) = layout.range(layer, ParameterKind::FirstBias) {
        range.enumerate().for_each(|(column, flat)| visit(flat, sections.prepare_bias + column));
    }
    if let Some(range) = layout.range(layer, ParameterKind::ScoreBias) {
        visit(range.start, sections.prepare_bias + score + 1);
    }
}

/// Where one layer lies, flat and packed.
pub(super) struct LayerPlace<'a> {
    pub(super) layout: &'a ParameterLayout,
    pub(super) shapes: &'a Shapes,
    pub(super) sections: &'a Sections,
    pub(super) layer: usize,
}

/// All layers' weights, packed.
#[derive(Debug)]
pub(super) struct PackedWeights<T> {
    pub(super) shapes: Shapes,
    pub(super) sections: Sections,
    values: Buffer<T>,
}

/// Whether there will be a way back, which reads weights in an order of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayBack {
    Yes,
    No,
}

impl<T: Real> PackedWeights<T> {
    pub(super) fn new(config: &BlockConfig, layout: &ParameterLayout, parameters: &[T], way_back: WayBack) -> Self {
        let shapes = Shapes::new(config);
        let sections = Sections::new(&shapes);
        let mut values = Buffer::new(sections.len * config.layers());
        values.as_mut_slice().fill(T::ZERO);
        let is_back = way_back == WayBack::Yes;
        let Shapes { hidden, hidden_row, message, message_row, prepared_row, .. } = shapes;
        for (layer, packed) in values.as_mut_slice().chunks_exact_mut(sections.len.max(1)).enumerate() {
            if config.is_convolution() {
                let place = LayerPlace { layout, shapes: &shapes, sections: &sections, layer };
                convolution::pack(&place, parameters, packed);
            } else {
                for_each_first(layout, &shapes, &sections, layer, |flat, place| packed[place] = parameters[flat]);
            }
            for row in 0..if is_back { hidden } else { 0 } {
                for column in 0..prepared_row {
                    packed[sections.prepare_transposed + column * hidden_row + row] =
                        packed[sections.prepare + row * prepared_row + column];
                }
            }
            let second = layout.get(parameters, layer, ParameterKind::SecondWeight);
            for row in 0..if shapes.has_second { message } else { 0 } {
                let (values, start) = (&second[row * hidden..][..hidden], sections.second + row * hidden_row);
                packed[start..start + hidden].copy_from_slice(values);
                for (column, &value) in values.iter().enumerate().take(if is_back { hidden } else { 0 }) {
                    packed[sections.second_transposed + column * message_row + row] = value;
                }
            }
            let bias = layout.get(parameters, layer, ParameterKind::SecondBias);
            packed[sections.second_bias..sections.second_bias + bias.len()].copy_from_slice(bias);
        }
        Self { shapes, sections, values }
    }

    /// The packed weights of one layer.
    pub(super) fn layer(&self, layer: usize) -> &[T] {
        &self.values.as_slice()[layer * self.sections.len..(layer + 1) * self.sections.len]
    }
}

/// Writes the packed gradient of a layer to its places in the flat one; `parameters` are the layer's values.
pub(super) fn unpack_gradient<T: Real>(
    config: &BlockConfig,
    layout: &ParameterLayout,
    layer: usize,
    parameters: &[T],
    packed: &[T],
    flat: &mut [T],
) {
    let shapes = Shapes::new(config);
    let sections = Sections::new(&shapes);
    if config.is_convolution() {
        let place = LayerPlace { layout, shapes: &shapes, sections: &sections, layer };
        return convolution::unpack_gradient(&place, parameters, packed, flat);
    }
    for_each_first(layout, &shapes, &sections, layer, |place, source| flat[place] = packed[source]);
    let Shapes { hidden, hidden_row, message, message_row, has_score, .. } = shapes;
    if let Some(range) = layout.range(layer, ParameterKind::SecondWeight) {
        for row in 0..message {
            for column in 0..hidden {
                let source = if has_score { row * hidden_row + column } else { column * message_row + row };
                flat[range.start + row * hidden + column] = packed[sections.second + source];
            }
        }
    }
    if let Some(range) = layout.range(layer, ParameterKind::SecondBias) {
        let len = range.len();
        flat[range].copy_from_slice(&packed[sections.second_bias..sections.second_bias + len]);
    }
}
