//! Node states as a picture needs them: one byte per node and step.

use itergnn::nn::controllers::{NodeStates, Trace};
use serde::Serialize;

/// The steps at which nodes were kept, and three ways to look at them.
#[derive(Debug, Serialize)]
pub(crate) struct Views {
    steps: Vec<usize>,
    norm: View,
    change: View,
    channel: View,
}

/// One number per node and step: `low + byte / 255 (high - low)`, step after step, in base 64.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    low: f32,
    high: f32,
    data: String,
}

/// The views of a trace of one graph.
pub(crate) fn views(trace: &Trace, nodes: usize) -> Views {
    let kept: Vec<(usize, &NodeStates)> = trace
        .steps
        .iter()
        .filter_map(|step| Some((step.step, step.nodes.as_ref()?)))
        .filter(|(_, states)| states.norm.len() == nodes)
        .collect();
    let view = |of: fn(&NodeStates) -> &[f32]| View::new(kept.iter().map(|(_, states)| of(states)));
    Views {
        norm: view(|states| &states.norm),
        change: view(|states| &states.change),
        channel: view(|states| &states.channel),
        steps: kept.iter().map(|(step, _)| *step).collect(),
    }
}

impl View {
    fn new<'a>(frames: impl Iterator<Item = &'a [f32]> + Clone) -> Self {
        let finite = frames.clone().flatten().copied().filter(|value| value.is_finite());
        let widen = |(low, high): (f32, f32), value: f32| (low.min(value), high.max(value));
        let (low, high) = finite.fold((f32::INFINITY, f32::NEG_INFINITY), widen);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let range = high - low;
        let byte = |value: &f32| if range > 0.0 { ((value - low) / range * 255.0).round() as u8 } else { 0 };
        Self { low, high, data: base64(&frames.flatten().map(byte).collect::<Vec<u8>>()) }
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[251, 255, 190]), "+/++");
    }

    #[test]
    fn a_view_spans_its_numbers() {
        let frames: [&[f32]; 2] = [&[-1.0, 0.0], &[1.0, f32::NAN]];
        let view = View::new(frames.into_iter());
        assert_eq!((view.low, view.high, view.data), (-1.0, 1.0, base64(&[0, 128, 255, 0])));
    }
}
