//! The arguments of every command, typed. What they mean is decided by the commands.

mod data;
mod measuring;
mod models;
mod training;

use clap::{Parser, Subcommand};

pub(crate) use data::{ExactArguments, PropertiesArguments, SampleArguments, TaskChoice};
pub(crate) use measuring::{BenchArguments, ReproduceArguments};
pub(crate) use models::{EvalArguments, ImportArguments, PlayArguments, PredictArguments, SolveArguments};
pub(crate) use training::{DemoArguments, FoldSource, TrainArguments};

/// Graph neural networks that learn on small graphs and work on graphs of any size.
#[derive(Debug, Parser)]
#[command(
    name = "itergnn",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 bad usage or bad input.\n\
                        First steps: `itergnn demo`, then `itergnn sample shortest-path --count 1`.")]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Trains on small graphs in about a minute and solves large ones.
    Demo(DemoArguments),
    /// Draws labelled samples of a task as JSON lines.
    Sample(SampleArguments),
    /// Solves a graph or a TSPLIB instance exactly.
    Exact(ExactArguments),
    /// Trains a model on samples of a task.
    Train(Box<TrainArguments>),
    /// Judges a model on fresh samples of any size.
    Eval(EvalArguments),
    /// Finds a path through a graph of yours with a shortest-path model.
    Solve(SolveArguments),
    /// Says what a model predicts for a graph.
    Predict(PredictArguments),
    /// Runs the experiments of the paper's tables and reports ours beside theirs.
    Reproduce(ReproduceArguments),
    /// Shows a game of Pacman in the terminal, or lets you play.
    Play(PlayArguments),
    /// Times training steps and inference on this machine; run it when nothing else does.
    Bench(BenchArguments),
    /// Turns a checkpoint of the paper's PyTorch code into a model.
    Import(ImportArguments),
    /// Measures how far apart nodes are in the graphs of every generator and map, by size, and draws box plots.
    Properties(PropertiesArguments),
}
