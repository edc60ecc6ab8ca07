//! Where each weight of a block lies in the flat parameter slice.

use std::ops::Range;

use super::config::BlockConfig;

/// One matrix or vector inside the flat parameter slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterSlot {
    /// Which layer of a stack it belongs to (0 otherwise).
    pub layer: usize,
    /// What it is.
    pub kind: ParameterKind,
    /// Rows: the input width of a weight, 1 for a bias.
    pub rows: usize,
    /// Columns: the output width.
    pub columns: usize,
    /// First position in the slice; the slot is row-major, `[rows, columns]`.
    pub offset: usize,
}

impl ParameterSlot {
    /// The slot's positions in the flat slice.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.rows * self.columns
    }
}

/// What a slot of the parameter slice holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// First layer of the message perceptron, `[message_input_width, message_width]`; the map of a convolution, rows
    /// `[x ; h]`.
    FirstWeight,
    /// Its bias.
    FirstBias,
    /// Second layer of the message perceptron, `[message_width, hidden_width]`.
    SecondWeight,
    /// Its bias.
    SecondBias,
    /// Attention score, `[2 node_width + edge_width, 1]`, rows `[x_s ; h_s ; x_r ; h_r ; e]` for every layer kind.
    ScoreWeight,
    /// Its bias.
    ScoreBias,
    /// What GAT multiplies a sender's transformed vector with for the score, `[hidden_width, 1]`.
    SenderAttention,
    /// The same for the receiver.
    ReceiverAttention,
    /// GAT's map of edge features, `[edge_width, hidden_width]`.
    EdgeWeight,
    /// What GAT multiplies a transformed edge with for the score, `[hidden_width, 1]`.
    EdgeAttention,
    /// What GCN and GAT add to their sums, `[1, hidden_width]`.
    OutputBias,
    /// Confidence, `[hidden_width, 1]`.
    ConfidenceWeight,
    /// Its bias.
    ConfidenceBias,
}

/// The flat parameter slice of a block: the slots in order, without gaps.
///
/// A whole block has one slice, so that it is one tensor to the framework above and one vector to reduce gradients
/// into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterLayout {
    slots: Vec<ParameterSlot>,
    len: usize,
}

impl ParameterLayout {
    /// The layout for a configuration: per layer first weight and bias, second weight and bias, score weight and bias;
    /// at the end the confidence's weight and bias. Slots that the configuration does not have are left out. A
    /// convolution has per layer its map, then GAT's attention vectors for senders and receivers, map and vector for
    /// edges, and the bias of the output.
    pub fn new(config: &BlockConfig) -> Self {
        use ParameterKind as Kind;
        let mut layout = Self { slots: Vec::new(), len: 0 };
        let message = config.message_width();
        for layer in 0..config.layers() {
            if config.is_convolution() {
                layout.push_convolution(layer, config);
                continue;
            }
            layout.push(layer, Kind::FirstWeight, config.message_input_width(), message);
            if config.biased() {
                layout.push(layer, Kind::FirstBias, 1, message);
            }
            layout.push(layer, Kind::SecondWeight, message, config.hidden_width());
            if config.biased() {
                layout.push(layer, Kind::SecondBias, 1, config.hidden_width());
            }
            if config.has_score() {
                layout.push(layer, Kind::ScoreWeight, 2 * config.node_width() + config.edge_width(), 1);
                if config.biased() {
                    layout.push(layer, Kind::ScoreBias, 1, 1);
                }
            }
        }
        if config.iterative().is_some() {
            layout.push(0, Kind::ConfidenceWeight, config.hidden_width(), 1);
            if config.biased_confidence() {
                layout.push(0, Kind::ConfidenceBias, 1, 1);
            }
        }
        layout
    }

    fn push_convolution(&mut self, layer: usize, config: &BlockConfig) {
        use ParameterKind as Kind;
        let (message, hidden) = (config.message_width(), config.hidden_width());
        self.push(layer, Kind::FirstWeight, config.node_width(), message);
        if config.has_score() {
            self.push(layer, Kind::SenderAttention, hidden, 1);
            self.push(layer, Kind::ReceiverAttention, hidden, 1);
            if config.convolves_edges() {
                self.push(layer, Kind::EdgeWeight, config.edge_width(), hidden);
                self.push(layer, Kind::EdgeAttention, hidden, 1);
            }
        }
        if config.biased() {
            self.push(layer, Kind::OutputBias, 1, hidden);
        }
    }

    fn push(&mut self, layer: usize, kind: ParameterKind, rows: usize, columns: usize) {
        self.slots.push(ParameterSlot { layer, kind, rows, columns, offset: self.len });
        self.len += rows * columns;
    }

    /// The slots, in the order they lie in the slice.
    pub fn slots(&self) -> &[ParameterSlot] {
        &self.slots
    }

    /// Length of the parameter slice.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no parameters at all (a stack of no layers).
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Positions of one slot, or `None` where the configuration does not have it.
    pub fn range(&self, layer: usize, kind: ParameterKind) -> Option<Range<usize>> {
        self.slots.iter().find(|slot| slot.layer == layer && slot.kind == kind).map(ParameterSlot::range)
    }

    /// The values of one slot; empty where the configuration does not have it.
    pub(crate) fn get<'a, T>(&self, parameters: &'a [T], layer: usize, kind: ParameterKind) -> &'a [T] {
        self.range(layer, kind).map_or(&[], |range| &parameters[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ControllerConfig, LayerConfig, LayerKind};

    #[test]
    fn slots_follow_each_other_and_widths_interpolate() {
        let controller = ControllerConfig::iter();
        let config = BlockConfig { layer: LayerConfig::new(LayerKind::Path, 3, 64, 2), controller };
        assert_eq!(config.message_input_width(), 136);
        assert_eq!(config.message_width(), 100);
        let layout = ParameterLayout::new(&config);
        let mut expected = 0;
        for slot in layout.slots() {
            assert_eq!(slot.offset, expected);
            expected = slot.range().end;
        }
        assert_eq!(layout.len(), expected);
        assert_eq!(layout.len(), 136 * 100 + 100 + 100 * 64 + 64 + 136 + 1 + 64 + 1);
        assert_eq!(layout.range(1, ParameterKind::FirstWeight), None);
    }
}
