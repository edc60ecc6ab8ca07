//! `itergnn completions` and `itergnn man`: made from the same definitions as the help.

use clap::CommandFactory;
use clap_mangen::Man;
use itergnn::graph::nearest_name;

use crate::{
    failure::Failure,
    options::{CompletionsArguments, ManArguments, Options},
    output::print,
};

/// The script of a shell.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Options::command(), "itergnn", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// A page in the format of `man`.
pub(crate) fn page(arguments: &ManArguments) -> Result<(), Failure> {
    let mut options = Options::command();
    options.build();
    let command = match &arguments.command {
        None => options,
        Some(name) => options.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = options.get_subcommands().map(clap::Command::get_name).collect();
            let near = nearest_name(name, names).unwrap_or_default();
            Failure::bad_input(format!("there is no command '{name}'; did you mean '{near}'?"))
        })?,
    };
    let mut text = Vec::new();
    Man::new(command).render(&mut text).map_err(Failure::failed)?;
    print(&String::from_utf8_lossy(&text))
}
