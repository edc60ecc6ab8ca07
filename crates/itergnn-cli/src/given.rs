//! Which flags the user gave, and which of them mean something.
//!
//! Clap knows which flags a command has. What they mean depends on what is asked: a model that plays has no weights, a
//! tour has no direction. A command that knows what is asked says which flags mean something for it ([`Given::only`]);
//! any other flag that the user gave is refused, never ignored.

use clap::{ArgMatches, CommandFactory, parser::ValueSource};

use crate::{failure::Failure, options::Options};

/// Flags that mean something whatever is asked.
const ALWAYS: [&str; 2] = ["json", "quiet"];

/// The flags on the command line, by their long names without dashes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    flags: Vec<String>,
}

impl Given {
    /// The flags of a parsed command line.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let options = Options::command();
        let Some((name, matches)) = matches.subcommand() else { return Self::default() };
        let Some(command) = options.find_subcommand(name) else { return Self::default() };
        let given = |id: &str| {
            matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let flags = command.get_arguments().filter(|flag| given(flag.get_id().as_str()));
        Self { flags: flags.filter_map(|flag| flag.get_long().map(str::to_owned)).collect() }
    }

    /// Refuses a flag that is not among those that mean something for `what` is asked.
    pub(crate) fn only(&self, what: &str, meant: &[&str]) -> Result<(), Failure> {
        let is_meant = |flag: &String| ALWAYS.iter().chain(meant).any(|known| known == flag);
        match self.flags.iter().find(|flag| !is_meant(flag)) {
            Some(flag) => Err(Failure::bad_input(format!("--{flag} means nothing for {what}; leave it out"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_mean_nothing_are_refused_and_defaults_are_no_flags() {
        let line = ["itergnn", "eval", "model", "--grid", "--count", "3", "--json"];
        let given = Given::of(&Options::command().try_get_matches_from(line).unwrap());
        assert_eq!(given.flags, ["count", "grid", "json"]);
        assert!(given.only("a game", &["grid", "count", "seed"]).is_ok());
        let Err(Failure::BadInput(message)) = given.only("a path model", &["count"]) else { panic!() };
        assert_eq!(message, "--grid means nothing for a path model; leave it out");
    }
}
