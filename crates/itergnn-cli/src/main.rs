//! The `itergnn` command line. See `itergnn --help`.

mod commands;
mod compute;
mod drawing;
mod estimate;
mod failure;
mod given;
mod height_map;
mod options;
mod output;
mod progress;
mod property_figures;
mod report;
mod training_view;

use std::{
    ffi::OsString,
    io,
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
    sync::{Mutex, PoisonError},
};

use clap::{CommandFactory, FromArgMatches, error::ErrorKind};

use crate::{
    failure::Failure,
    given::Given,
    options::{Command, Options},
};

/// What a broken invariant said, for the user to report.
static BROKEN: Mutex<Option<String>> = Mutex::new(None);

fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let parsed = Options::command().try_get_matches_from(&line).and_then(|matches| {
        let options = Options::from_arg_matches(&matches)?;
        Ok((options, Given::of(&matches)))
    });
    let (options, given) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            output::begin(line.iter().any(|word| word == "--json"), false);
            return ExitCode::from(not_parsed(&error));
        }
    };
    output::begin(options.command.wants_json(), options.quiet);
    panic::set_hook(Box::new(|broken| {
        *BROKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(broken.to_string());
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(|| run(&options.command, &given)));
    ExitCode::from(output::conclude(result.unwrap_or_else(|_| {
        let why = BROKEN.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        Err(Failure::failed(format!("internal error, please report it: {why}")))
    })))
}

/// Help and version on stdout, a usage error in one line.
fn not_parsed(error: &clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::conclude(match error.print() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::writing("to stdout", &error)),
            _ => Ok(()),
        }),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // Nobody is left to tell if stderr is gone.
            let _ = error.print();
            2
        }
        _ => {
            let text = error.render().to_string();
            let is_told = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
            let told: Vec<&str> = text.lines().take_while(is_told).collect();
            output::conclude(Err(Failure::bad_input(told.join(" ").trim_start_matches("error: "))))
        }
    }
}

fn run(command: &Command, given: &Given) -> Result<(), Failure> {
    match command {
        Command::Demo(arguments) => commands::demo::run(arguments),
        Command::Sample(arguments) => commands::sample::run(arguments, given),
        Command::Exact(arguments) => commands::exact::run(arguments, given),
        Command::Train(arguments) => commands::train::run(arguments, given),
        Command::Eval(arguments) => commands::evaluate::run(arguments, given),
        Command::Solve(arguments) => commands::solve::run(arguments, given),
        Command::Predict(arguments) => commands::predict::run(arguments, given),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments, given),
        Command::Play(arguments) => commands::play::run(arguments, given),
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Bench(arguments) => commands::bench::run(arguments),
        Command::Properties(arguments) => commands::properties::run(arguments),
        Command::Import(arguments) => commands::import::run(arguments),
        Command::Completions(arguments) => commands::manual::completions(arguments),
        Command::Man(arguments) => commands::manual::page(arguments),
    }
}
