//! Arguments of reproductions and benches.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::compute::{ComputeChoice, DeviceName, EngineChoice, parse_threads};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn reproduce --quick                     every table, small; the time left is shown
  itergnn reproduce lobsters ablation --seeds 3 two tables in full
  itergnn reproduce --report-only               the report again from the results that are there

A result that is there is not made again, so the same command goes on after Ctrl-C; results, report.md and report.html stand in the folder given by --out.")]
pub(crate) struct ReproduceArguments {
    /// Tables to make; all unless given.
    #[arg(value_name = "TABLE", value_enum)]
    pub(crate) tables: Vec<TableName>,
    /// Fewer samples, epochs and test graphs: shows that everything runs and roughly where it ends.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Train every model this many times, with seeds 0, 1, ..; 3 unless told, 1 with --quick.
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<u64>,
    /// Epochs of the paper's models; task-aligned families have a recipe of their own and train no longer than that.
    #[arg(long)]
    pub(crate) epochs: Option<u64>,
    /// Run only these models of the tables, or these runs (PROBLEM/MODEL), by the names in the list of runs, or with
    /// the table clrs alone only these algorithms; the report still shows all results that are there.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Training samples of the paper's models, and the most that task-aligned families take.
    #[arg(long)]
    pub(crate) samples: Option<u64>,
    /// Folder of the graph classification sets; without it that table is left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder of results and report.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub(crate) out: PathBuf,
    /// cuda: train the networks that the card covers on the first NVIDIA card, all seeds of a network side by side.
    #[arg(long, default_value_t = DeviceName::Cpu, value_enum)]
    pub(crate) device: DeviceName,
    /// Experiments at a time; all cores unless told.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// Run nothing; write the report from the results that are there.
    #[arg(long)]
    pub(crate) report_only: bool,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableName {
    /// The paper's table 1.
    Summary,
    /// The paper's table 2.
    Lobsters,
    /// The paper's table 3.
    Ablation,
    /// What the paper leaves open about networks of a fixed depth.
    Options,
    /// Iterations against distance.
    Iterations,
    /// Regular graphs told apart by random attributes.
    RegularGraphs,
    /// The same network trained on other graphs.
    Beyond,
    /// Task-aligned families on the paper's columns.
    Aligned,
    /// How much of them is fitted.
    Families,
    /// GIN and Iter-GIN; needs --data.
    GraphClassification,
    /// Algorithms learned without hints.
    Clrs,
    /// What `eval --grid` has measured.
    Pacman,
    /// Pictures of the generators.
    Properties,
}

impl TableName {
    /// The name on the command line and in the catalogue of trainings.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Whether a queue of trainings from the catalogue makes it.
    pub(crate) fn is_queued(self) -> bool {
        !matches!(self, Self::GraphClassification | Self::Clrs | Self::Pacman | Self::Properties)
    }
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Timed repetitions of every training step.
    #[arg(long, default_value_t = 20)]
    pub(crate) repetitions: usize,
    /// Only benches whose names contain this, such as train-step/lobster/path-sim-max, or inference for predictions.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) only: String,
    /// Also predictions for graphs of a million nodes: half a minute on a CPU, and 3 GiB of memory.
    #[arg(long)]
    pub(crate) large: bool,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}
