//! Where each parameter is in the flat slice.

use std::ops::Range;

use crate::settings::JumpingKnowledgeConfig;

/// An affine map: weight `[inputs, outputs]`, bias `[outputs]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffineRanges {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Where the weight is.
    pub weight: Range<usize>,
    /// Where the bias is.
    pub bias: Range<usize>,
}

/// An affine map and the normalisation after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRanges {
    /// The map.
    pub affine: AffineRanges,
    /// Where the scale of the normalisation is.
    pub scale: Range<usize>,
    /// Where its shift is.
    pub shift: Range<usize>,
    /// Where its running mean and variance are, in the slice of statistics: for every step of the iterative module,
    /// once without it.
    pub running: Vec<RunningRanges>,
}

/// Where the running statistics of a normalisation are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningRanges {
    /// The mean.
    pub mean: Range<usize>,
    /// The variance.
    pub variance: Range<usize>,
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRanges {
    /// Both maps.
    pub maps: [MapRanges; 2],
    /// The confidence of the iterative module, to one number.
    pub confidence: Option<AffineRanges>,
}

/// Where each parameter of a classifier is in the flat slice of parameters, and each running statistic in that of
/// statistics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GinLayout {
    /// The blocks.
    pub blocks: Vec<BlockRanges>,
    /// What the attributes and the states after each block vote by.
    pub votes: Vec<AffineRanges>,
    /// Number of parameters.
    pub parameters: usize,
    /// Number of running statistics.
    pub statistics: usize,
}

impl GinLayout {
    /// The layout of a classifier: block after block, each its maps with their normalisations and then its confidence;
    /// then the votes.
    pub fn new(config: &JumpingKnowledgeConfig) -> Self {
        let (mut parameters, mut statistics) = (0, 0);
        fn take(end: &mut usize, count: usize) -> Range<usize> {
            *end += count;
            *end - count..*end
        }
        let affine = |parameters: &mut usize, inputs: usize, outputs: usize| AffineRanges {
            inputs,
            outputs,
            weight: take(parameters, inputs * outputs),
            bias: take(parameters, outputs),
        };
        let (hidden, iteration) = (config.hidden_width, config.iteration());
        let steps = iteration.map_or(1, |iteration| iteration.training_cap);
        let mut block = |inputs: usize| {
            let mut map = |inputs: usize| MapRanges {
                affine: affine(&mut parameters, inputs, hidden),
                scale: take(&mut parameters, hidden),
                shift: take(&mut parameters, hidden),
                running: (0..steps)
                    .map(|_| RunningRanges {
                        mean: take(&mut statistics, hidden),
                        variance: take(&mut statistics, hidden),
                    })
                    .collect(),
            };
            let maps = [map(inputs), map(hidden)];
            BlockRanges { maps, confidence: iteration.map(|_| affine(&mut parameters, hidden, 1)) }
        };
        // An iterated block keeps its width, so the attributes are brought to it before.
        let first = if iteration.is_some() { hidden } else { config.node_width };
        let width = |index: usize, first| if index == 0 { first } else { hidden };
        let blocks = (0..config.blocks).map(|index| block(width(index, first))).collect();
        let vote = |index| affine(&mut parameters, width(index, config.node_width), config.output_width);
        let votes = (0..=config.blocks).map(vote).collect();
        Self { blocks, votes, parameters, statistics }
    }
}
