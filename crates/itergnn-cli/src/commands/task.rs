//! A task's settings from the command line.

use std::error::Error;

use itergnn::tasks::{TaskSpec, shortest_path::Weights};

use crate::options::TaskChoice;

/// Changes settings by what the user gave; what does not apply to the task is an error.
pub(crate) fn apply(spec: &mut TaskSpec, choice: &TaskChoice) -> Result<(), Box<dyn Error>> {
    if let Some(generator) = choice.generator {
        spec.set_generator(generator)?;
    }
    if let Some(size) = choice.size {
        spec.set_size(size)?;
    }
    if let Some(weights) = choice.weights.or(choice.weighted.then_some(Weights::PAPER)) {
        spec.set_weights(weights)?;
    }
    if let Some(family) = choice.family {
        return Err(format!("--family {family} belongs to algorithms, such as bfs").into());
    }
    match (&mut *spec, choice.dots, choice.walls) {
        (_, None, None) => {}
        (TaskSpec::Pacman(config), dots, walls) => {
            config.dots = dots.unwrap_or(config.dots);
            config.walls = walls.unwrap_or(config.walls);
        }
        _ => return Err("--dots and --walls belong to pacman".into()),
    }
    match (spec, &choice.data, &choice.dataset) {
        (TaskSpec::GraphClassification(spec), data, dataset) => {
            if let Some(data) = data {
                spec.data.clone_from(data);
            }
            if let Some(dataset) = dataset {
                spec.dataset.clone_from(dataset);
            }
        }
        (_, None, None) => {}
        _ => return Err("--data and --dataset belong to graph-classification".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use itergnn::tasks::Task;

    #[derive(Parser)]
    struct Line {
        task: Task,
        #[command(flatten)]
        choice: TaskChoice,
    }

    fn parse(line: &[&str]) -> Result<TaskSpec, String> {
        let line = Line::try_parse_from([&["test"], line].concat()).map_err(|error| error.to_string())?;
        let mut spec = TaskSpec::paper(line.task);
        apply(&mut spec, &line.choice).map_err(|error| error.to_string())?;
        Ok(spec)
    }

    #[test]
    fn flags_change_the_papers_settings() {
        let spec = parse(&["shortest-path", "--generator", "er", "--size", "100", "--weighted"]).unwrap();
        let TaskSpec::ShortestPath(spec) = spec else { panic!("{spec:?}") };
        assert_eq!((spec.size.to_string().as_str(), spec.weights), ("100", Weights::PAPER));
        assert_eq!(parse(&["tsp"]).unwrap().task(), Task::Tsp);
    }

    #[test]
    fn flags_of_another_task_are_refused() {
        assert!(parse(&["shortest-path", "--dots", "3"]).unwrap_err().contains("pacman"));
        assert!(parse(&["tsp", "--data", "x"]).unwrap_err().contains("graph-classification"));
        assert!(parse(&["tsp", "--generator", "er"]).is_err());
    }
}
