//! What samples are drawn of.

use std::{fmt, str::FromStr};

use itergnn::{
    graph::nearest_name,
    tasks::{Task, algorithms::Algorithm},
};
use strum::VariantNames;

/// What samples are drawn of: a task of the paper, or an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A task.
    Task(Task),
    /// An algorithm.
    Algorithm(Algorithm),
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Ok(task) = name.parse() {
            return Ok(Self::Task(task));
        }
        name.parse().map(Self::Algorithm).map_err(|_| {
            let known = Task::NAMES.iter().chain(Algorithm::VARIANTS).copied();
            let nearest = nearest_name(name, known).unwrap_or_default();
            format!("there is no task or algorithm '{name}'; did you mean '{nearest}'?")
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(task) => task.fmt(formatter),
            Self::Algorithm(algorithm) => algorithm.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_algorithms_have_one_list_of_names() {
        for name in Task::NAMES.iter().chain(Algorithm::VARIANTS) {
            assert_eq!(name.parse::<Subject>().map(|subject| subject.to_string()), Ok((*name).to_owned()));
        }
        let refused = "dijkstr".parse::<Subject>().unwrap_err();
        assert_eq!(refused, "there is no task or algorithm 'dijkstr'; did you mean 'dijkstra'?");
    }
}
