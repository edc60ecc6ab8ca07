//! The weights of a convolution in the order the kernels read them, and back.

use crate::block::cpu::packed::LayerPlace;
use crate::block::parameters::ParameterKind;
use crate::real::Real;

impl LayerPlace<'_> {
    /// Calls `visit(row, packed)` for every row of the map: where the row is packed, in the order `[x ; h]`.
    fn for_each_row(&self, mut visit: impl FnMut(usize, usize)) {
        let (input, width) = (self.shapes.input, self.shapes.prepared_row);
        for row in 0..input + self.shapes.hidden {
            let packed = if row < input {
                self.sections.prepare_input + row * width
            } else {
                self.sections.prepare + (row - input) * width
            };
            visit(row, packed);
        }
    }

    fn get<'a, T>(&self, parameters: &'a [T], kind: ParameterKind) -> &'a [T] {
        self.layout.get(parameters, self.layer, kind)
    }

    /// A slot of the flat gradient; empty where the layer does not have it.
    fn get_mut<'a, T>(&self, flat: &'a mut [T], kind: ParameterKind) -> &'a mut [T] {
        self.layout.range(self.layer, kind).map_or(&mut [], |range| &mut flat[range])
    }
}

fn dot<T: Real>(left: &[T], right: &[T]) -> T {
    left.iter().zip(right).fold(T::ZERO, |sum, (&left, &right)| sum + left * right)
}

/// Packs what is not packed for every layer: the map with GAT's score columns `W a_s` and `W a_r`, `W_e a_e` and the
/// bias of the sums.
pub(in crate::block::cpu) fn pack<T: Real>(place: &LayerPlace<'_>, parameters: &[T], packed: &mut [T]) {
    let (width, score) = (place.shapes.message, place.shapes.score_column());
    let weight = place.get(parameters, ParameterKind::FirstWeight);
    let sender = place.get(parameters, ParameterKind::SenderAttention);
    let receiver = place.get(parameters, ParameterKind::ReceiverAttention);
    place.for_each_row(|row, start| {
        let values = &weight[row * width..(row + 1) * width];
        packed[start..start + width].copy_from_slice(values);
        if place.shapes.has_score {
            packed[start + score] = dot(values, sender);
            packed[start + score + 1] = dot(values, receiver);
        }
    });
    let edge = place.get(parameters, ParameterKind::EdgeAttention);
    let rows = place.get(parameters, ParameterKind::EdgeWeight).chunks_exact(width);
    rows.enumerate().for_each(|(row, values)| packed[place.sections.score_edge + row] = dot(values, edge));
    let bias = place.get(parameters, ParameterKind::OutputBias);
    packed[place.sections.sum_bias..][..bias.len()].copy_from_slice(bias);
}

/// Writes a packed gradient to its places in the flat one.
pub(in crate::block::cpu) fn unpack_gradient<T: Real>(
    place: &LayerPlace<'_>,
    parameters: &[T],
    packed: &[T],
    flat: &mut [T],
) {
    let (width, score) = (place.shapes.message, place.shapes.score_column());
    let sections = place.sections;
    let weight = place.get(parameters, ParameterKind::FirstWeight);
    let target = place.get_mut(flat, ParameterKind::FirstWeight);
    place.for_each_row(|row, start| {
        target[row * width..(row + 1) * width].copy_from_slice(&packed[start..start + width])
    });
    let attention = [(ParameterKind::SenderAttention, 0), (ParameterKind::ReceiverAttention, 1)];
    for (kind, column) in attention.into_iter().filter(|_| place.shapes.has_score) {
        let vector = place.get(parameters, kind);
        let mut gradient = vec![T::ZERO; width];
        let target = place.get_mut(flat, ParameterKind::FirstWeight);
        place.for_each_row(|row, start| {
            let product = packed[start + score + column];
            for channel in 0..width {
                target[row * width + channel] += product * vector[channel];
                gradient[channel] += product * weight[row * width + channel];
            }
        });
        place.get_mut(flat, kind).copy_from_slice(&gradient);
    }
    let (edge, rows) =
        (place.get(parameters, ParameterKind::EdgeAttention), place.get(parameters, ParameterKind::EdgeWeight));
    for (row, values) in rows.chunks_exact(width).enumerate() {
        let product = packed[sections.score_edge + row];
        let target = &mut place.get_mut(flat, ParameterKind::EdgeWeight)[row * width..(row + 1) * width];
        target.iter_mut().zip(edge).for_each(|(target, &value)| *target = product * value);
        let target = place.get_mut(flat, ParameterKind::EdgeAttention);
        target.iter_mut().zip(values).for_each(|(target, &value)| *target += product * value);
    }
    let target = place.get_mut(flat, ParameterKind::OutputBias);
    target.copy_from_slice(&packed[sections.sum_bias..sections.sum_bias + target.len()]);
}
