//! Arguments of trainings.

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use itergnn::{
    nn::{
        Engine, LayerKind, Level, Prior, ReadoutKind,
        controllers::{ControllerConfig, Scope},
        layers::Aggregation,
    },
    train::{LossKind, classification::FoldChoice},
};

use super::{Subject, TaskChoice, one_of};
use crate::compute::ComputeChoice;

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Where randomness starts: the same seed gives the same numbers.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Train for this long instead of the recipe's own time.
    #[arg(long)]
    pub(crate) epochs: Option<u64>,
    /// A few steps and small graphs, in seconds: shows that everything runs, not what it can do.
    #[arg(long, conflicts_with = "epochs")]
    pub(crate) quick: bool,
    /// Also write the trained model here; a file that is there is replaced.
    #[arg(long, value_name = "MODEL.safetensors")]
    pub(crate) out: Option<PathBuf>,
    /// Where to draw iterations against distance: a .svg or a .png file; one that is there is replaced.
    #[arg(long, value_name = "FILE.svg|png", default_value = "itergnn-demo.svg")]
    pub(crate) picture: PathBuf,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    /// One JSON object on stdout instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn train shortest-path --model iter-homo-path --out runs/lobster
  itergnn train shortest-path --model iter-homo-path --generator er --weighted --out runs/er --seeds 3
  itergnn train --config experiments/shortest-path/config.toml --out runs/a
  itergnn train --out runs/a --resume
  itergnn train shortest-path --generator er --weighted --set model.max_plus.training_cap=8 --set optimiser.clip_norm=1 --out runs/b
  itergnn train --data train.jsonl --level node --classes 3 --model iter-homo-path --out runs/mine
  itergnn train --data MUTAG --level graph --classes 2 --model iter-path --out runs/tu
  itergnn train bfs --model iter-path --out runs/bfs
  itergnn train graph-classification --data DIR --dataset MUTAG --model gin --out runs/mutag

With --seeds, --threads is the number of runs at a time. Ctrl-C saves the run; --resume continues it to the bit. The run directory holds config.toml, metrics.jsonl, TensorBoard events and
the model of the best epoch.")]
pub(crate) struct TrainArguments {
    /// shortest-path, component-count, tsp, newton-balls, pacman, navigation, regular-graphs or graph-classification
    /// (ten folds); or an algorithm: bfs, dfs, dijkstra, prim, eccentricity, mis, reachability, widest-path or
    /// bipartiteness
    #[arg(value_name = "TASK")]
    pub(crate) task: Option<Subject>,
    /// A preset: gcn, gat, gin, path, homo-path, iter-path, iter-homo-path, .., or a task-aligned family:
    /// max-plus, waves, one-tree
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Begin with the weights of this model, a run directory or a file, in place of drawn ones. Without --model the
    /// network is that model's too.
    #[arg(long, value_name = "MODEL")]
    pub(crate) start_from: Option<PathBuf>,
    /// The run directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A configuration file instead of TASK and --model; other flags change what it says.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) samples_of: TaskChoice,
    /// path, path-sim or mpnn-max.
    #[arg(long, value_parser = one_of::<LayerKind>())]
    pub(crate) layer: Option<LayerKind>,
    /// attention, max or sparsemax.
    #[arg(long, value_parser = one_of::<Aggregation>())]
    pub(crate) aggregation: Option<Aggregation>,
    /// How layers are composed.
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Option<ControllerName>,
    /// Where the homogeneous prior holds.
    #[arg(long, value_name = "NAME", value_parser = one_of::<Prior>())]
    pub(crate) prior: Option<Prior>,
    /// Width of the hidden state.
    #[arg(long)]
    pub(crate) hidden: Option<usize>,
    /// How often every sample is seen.
    #[arg(long)]
    pub(crate) epochs: Option<u64>,
    /// Training samples.
    #[arg(long)]
    pub(crate) samples: Option<u64>,
    /// Validation samples; with --data the share of the samples that the best epoch is chosen on, such as 0.1.
    #[arg(long, value_name = "N|SHARE")]
    pub(crate) validation: Option<ValidationSamples>,
    /// Own graphs: choose the best epoch on the samples of this file, which may be all that --data may be.
    #[arg(long, value_name = "FILE")]
    pub(crate) validation_data: Option<PathBuf>,
    /// Own graphs: choose the best epoch on the graphs with at least this many nodes, and learn from the smaller ones.
    #[arg(long, value_name = "NODES")]
    pub(crate) validation_from_size: Option<usize>,
    /// Own graphs: what the targets belong to.
    #[arg(long, value_name = "LEVEL", value_parser = one_of::<Level>())]
    pub(crate) level: Option<Level>,
    /// Own graphs: targets are this many classes, counted from 0.
    #[arg(long, value_name = "N")]
    pub(crate) classes: Option<usize>,
    /// What is minimised: mse, relative or cross-entropy; the task's own unless given.
    #[arg(long, value_name = "LOSS")]
    pub(crate) loss: Option<LossKind>,
    /// How node states become a graph's: max, min, mean, sum, attention, head-tail or first.
    #[arg(long, value_parser = one_of::<ReadoutKind>())]
    pub(crate) readout: Option<ReadoutKind>,
    /// What has a confidence of its own, and so stops by itself: each graph, or each node.
    #[arg(long, value_parser = one_of::<Scope>())]
    pub(crate) scope: Option<Scope>,
    /// Number of controller blocks.
    #[arg(long, value_name = "N")]
    pub(crate) blocks: Option<usize>,
    /// Moves to make, for pacman, which is learned by playing.
    #[arg(long)]
    pub(crate) steps: Option<u64>,
    /// Layers of a stack, for pacman's gcn and cnn.
    #[arg(long)]
    pub(crate) layers: Option<usize>,
    /// Side of the kernels of pacman's cnn, odd.
    #[arg(long)]
    pub(crate) kernel: Option<usize>,
    /// Graphs in a step.
    #[arg(long)]
    pub(crate) batch_size: Option<usize>,
    /// Learning rate of Adam.
    #[arg(long)]
    pub(crate) learning_rate: Option<f64>,
    /// Seed of weights, order and samples.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Train this many seeds, counting up from --seed, side by side; each gets a folder of its own in DIR.
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<u64>,
    /// Folds of graph-classification: dealt as scikit-learn deals them, or the files published with the set.
    #[arg(long, value_name = "SOURCE", value_parser = one_of::<FoldChoice>())]
    pub(crate) folds: Option<FoldChoice>,
    /// Train only this fold of graph-classification, 0 to 9; the rest follows with --resume.
    #[arg(long, value_name = "K")]
    pub(crate) fold: Option<usize>,
    /// Go on with the run in DIR, if there is one.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Any other setting, by its name in the configuration file; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// auto (fused where it can), fused (an error where it cannot) or plain (tensor operations). They agree to
    /// rounding.
    #[arg(long, value_name = "auto|fused|plain")]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How many samples the best epoch is chosen on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ValidationSamples {
    /// So many.
    Count(u64),
    /// A share of those that are given.
    Share(f64),
}

impl FromStr for ValidationSamples {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(count) = text.parse() {
            return Ok(Self::Count(count));
        }
        let share = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
        share.map(Self::Share).ok_or_else(|| "neither a number of samples nor a share between 0 and 1".to_owned())
    }
}

/// A controller by its name, with its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ControllerName {
    /// Layers with weights of their own.
    Stack,
    /// One layer, repeated.
    Shared,
    /// The iterative module without decay.
    Iter,
    /// The iterative module with decay.
    IterDecay,
    /// Adaptive computation time.
    Act,
}

impl From<ControllerName> for ControllerConfig {
    fn from(name: ControllerName) -> Self {
        match name {
            ControllerName::Stack => Self::Stack(Default::default()),
            ControllerName::Shared => Self::Shared(Default::default()),
            ControllerName::Iter => Self::iter(),
            ControllerName::IterDecay => Self::iter_decay(),
            ControllerName::Act => Self::Act(Default::default()),
        }
    }
}
