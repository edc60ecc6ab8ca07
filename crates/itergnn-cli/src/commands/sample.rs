//! `itergnn sample`: labelled samples as JSON lines, streamed.

use std::io::{self, BufWriter, Write};

use itergnn::tasks::{Sampler, Samples, TaskSpec, shortest_path::Weights};

use crate::{failure::Failure, options::SampleArguments, output::AtomicFile, progress};

/// Samples unless told otherwise.
const DEFAULT_COUNT: u64 = 10;

pub(crate) fn run(arguments: &SampleArguments) -> Result<(), Failure> {
    let spec = settings(arguments).map_err(Failure::bad_input)?;
    let sampler = spec.sampler().map_err(Failure::bad_input)?;
    let available = sampler.count();
    let count = arguments.count.or(available).unwrap_or(DEFAULT_COUNT);
    if let Some(available) = available.filter(|&available| count > available) {
        return Err(Failure::bad_input(format!("--count {count}: the data set has {available} graphs")));
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.unwrap_or(0));
    let pool = threads.build().map_err(Failure::failed)?;
    pool.install(|| match &arguments.out {
        Some(path) => {
            let mut file = AtomicFile::create(path)?;
            let what = path.display().to_string();
            write_samples(arguments, &*sampler, count, &mut file, &what)?;
            file.finish()
        }
        None => {
            let mut out = BufWriter::new(io::stdout());
            write_samples(arguments, &*sampler, count, &mut out, "to stdout")
        }
    })
}

/// The task's settings: the paper's, changed by what the user gave.
fn settings(arguments: &SampleArguments) -> Result<TaskSpec, Box<dyn std::error::Error>> {
    let mut spec = TaskSpec::paper(arguments.task);
    if let Some(generator) = arguments.generator {
        spec.set_generator(generator)?;
    }
    if let Some(size) = arguments.size {
        spec.set_size(size)?;
    }
    if let Some(weights) = arguments.weights.or(arguments.weighted.then_some(Weights::PAPER)) {
        spec.set_weights(weights)?;
    }
    match (&mut spec, arguments.dots, arguments.walls) {
        (_, None, None) => {}
        (TaskSpec::Pacman(config), dots, walls) => {
            config.dots = dots.unwrap_or(config.dots);
            config.walls = walls.unwrap_or(config.walls);
        }
        _ => return Err("--dots and --walls belong to pacman".into()),
    }
    match (&mut spec, &arguments.data, &arguments.dataset) {
        (TaskSpec::GraphClassification(spec), data, dataset) => {
            if let Some(data) = data {
                spec.data.clone_from(data);
            }
            if let Some(dataset) = dataset {
                spec.dataset = dataset.parse()?;
            }
        }
        (_, None, None) => {}
        _ => return Err("--data and --dataset belong to graph-classification".into()),
    }
    Ok(spec)
}

fn write_samples(
    arguments: &SampleArguments,
    sampler: &dyn Sampler,
    count: u64,
    out: &mut impl Write,
    what: &str,
) -> Result<(), Failure> {
    let progress = progress::bar(count, "samples");
    let seed = arguments.split.seed(arguments.seed);
    for sample in Samples::new(sampler, seed, 0..count) {
        let sample = sample.map_err(Failure::bad_input)?;
        // A serialisation error can only come from the writer: every part of a sample has a JSON form.
        serde_json::to_writer(&mut *out, &sample).map_err(|error| Failure::writing(what, &error.into()))?;
        out.write_all(b"\n").map_err(|error| Failure::writing(what, &error))?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    out.flush().map_err(|error| Failure::writing(what, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use itergnn::tasks::Task;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: SampleArguments,
    }

    fn parse(line: &[&str]) -> Result<TaskSpec, String> {
        let line = Line::try_parse_from([&["sample"], line].concat()).map_err(|error| error.to_string())?;
        settings(&line.arguments).map_err(|error| error.to_string())
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
