//! The arguments of every command, typed. What they mean is decided by the commands.

mod data;
mod measuring;
mod models;
mod serving;
mod subject;
mod training;

use std::{error::Error, str::FromStr};

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use strum::VariantNames;

pub(crate) use data::{ExactArguments, PropertiesArguments, ReadingOptions, SampleArguments, TaskChoice};
pub(crate) use measuring::{BenchArguments, ReproduceArguments, TableName};
pub(crate) use models::{EvalArguments, ImportArguments, PlayArguments, PredictArguments, SolveArguments};
pub(crate) use serving::ServeArguments;
pub(crate) use subject::Subject;
pub(crate) use training::{DemoArguments, TrainArguments, ValidationSamples};

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
    /// No progress and no notes on stderr; warnings and errors stay.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
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
    /// Shows models, graphs and runs on a local page, with a JSON interface.
    Serve(ServeArguments),
    /// Times training steps and inference on this machine; run it when nothing else does.
    Bench(BenchArguments),
    /// Turns a checkpoint of the paper's PyTorch code into a model.
    Import(ImportArguments),
    /// Measures how far apart nodes are in the graphs of every generator and map, by size, and draws box plots.
    Properties(PropertiesArguments),
    /// Prints a script that completes commands and flags in a shell.
    #[command(after_help = "\
Examples:
  itergnn completions bash > ~/.local/share/bash-completion/completions/itergnn
  itergnn completions zsh > ~/.zfunc/_itergnn
  itergnn completions fish > ~/.config/fish/completions/itergnn.fish")]
    Completions(CompletionsArguments),
    /// Prints the manual page, of the whole program or of one command.
    #[command(after_help = "Example:\n  itergnn man solve | man -l -")]
    Man(ManArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// A command; the whole program unless given.
    pub(crate) command: Option<String>,
}

impl Command {
    /// Whether stdout is to hold one JSON object and nothing else.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Demo(arguments) => arguments.json,
            Self::Sample(_) | Self::Serve(_) | Self::Completions(_) | Self::Man(_) => false,
            Self::Exact(arguments) => arguments.json,
            Self::Train(arguments) => arguments.json,
            Self::Eval(arguments) => arguments.json,
            Self::Solve(arguments) => arguments.json,
            Self::Predict(arguments) => arguments.json,
            Self::Reproduce(arguments) => arguments.json,
            Self::Play(arguments) => arguments.json,
            Self::Bench(arguments) => arguments.json,
            Self::Properties(arguments) => arguments.json,
            Self::Import(arguments) => arguments.json,
        }
    }
}

/// A value by its name, which is one of a list.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Error + Send + Sync + 'static> + VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|name| name.parse::<T>())
}
