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

/// The parameters of a block.
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
pub struct ClassifierLayout {
    /// The embedding, where blocks are iterated.
    pub embedding: Option<AffineRanges>,
    /// The blocks.
    pub blocks: Vec<BlockRanges>,
    /// The vote of the input, then of every block.
    pub votes: Vec<AffineRanges>,
    /// Number of parameters.
    pub parameters: usize,
    /// Number of running statistics.
    pub statistics: usize,
}

impl ClassifierLayout {
    /// The layout of a classifier.
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
        let hidden = config.hidden_width;
        let iteration = config.iteration();
        let steps = iteration.map_or(1, |iteration| iteration.training_cap);
        let embedding = iteration.map(|_| affine(&mut parameters, config.node_width, hidden));
        let mut map = |parameters: &mut usize, inputs: usize| MapRanges {
            affine: affine(parameters, inputs, hidden),
            scale: take(parameters, hidden),
            shift: take(parameters, hidden),
            running: (0..steps)
                .map(|_| RunningRanges { mean: take(&mut statistics, hidden), variance: take(&mut statistics, hidden) })
                .collect(),
        };
        let mut blocks = Vec::new();
        for block in 0..config.blocks {
            let maps = [
                map(&mut parameters, if block == 0 && iteration.is_none() { config.node_width } else { hidden }),
                map(&mut parameters, hidden),
            ];
            let confidence = iteration.map(|_| affine(&mut parameters, hidden, 1));
            blocks.push(BlockRanges { maps, confidence });
        }
        let vote = |layer| if layer == 0 { config.node_width } else { hidden };
        let votes =
            (0..=config.blocks).map(|layer| affine(&mut parameters, vote(layer), config.output_width)).collect();
        Self { embedding, blocks, votes, parameters, statistics }
    }
}
