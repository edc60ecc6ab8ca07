//! The `itergnn` command line. See `itergnn --help`.

mod commands;
mod compute;
mod drawing;
mod episode_picture;
mod failure;
mod figures;
mod height_map;
mod map_picture;
mod memory;
mod options;
mod output;
mod picture;
mod progress;
mod report;
mod training_view;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    failure::Failure,
    options::{Command, Options},
};

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        // Clap prints help and usage errors itself, with exit code 0 and 2.
        Err(error) => error.exit(),
    };
    match run(&options.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Demo(arguments) => commands::demo::run(arguments),
        Command::Sample(arguments) => commands::sample::run(arguments),
        Command::Exact(arguments) => commands::exact::run(arguments),
        Command::Train(arguments) => commands::train::run(arguments),
        Command::Eval(arguments) => commands::evaluate::run(arguments),
        Command::Solve(arguments) => commands::solve::run(arguments),
        Command::Predict(arguments) => commands::predict::run(arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments),
        Command::Play(arguments) => commands::play::run(arguments),
        Command::Bench(arguments) => commands::bench::run(arguments),
        Command::Properties(arguments) => commands::properties::run(arguments),
        Command::Import(arguments) => commands::import::run(arguments),
    }
}
