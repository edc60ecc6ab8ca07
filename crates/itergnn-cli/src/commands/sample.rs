//! `itergnn sample`: labelled samples as JSON lines, streamed.

use std::{io::Write, path::Path};

use itergnn::tasks::{Samples, Task, TaskSpec};

use crate::{
    commands::{algorithms, task},
    estimate::Allowance,
    failure::Failure,
    given::Given,
    options::{SampleArguments, Subject},
    output::Output,
    progress::Progress,
};

/// Samples unless told otherwise.
pub(super) const DEFAULT_COUNT: u64 = 10;

pub(crate) fn run(arguments: &SampleArguments, given: &Given) -> Result<(), Failure> {
    let task = match arguments.task {
        Subject::Task(task) => task,
        Subject::Algorithm(algorithm) => return algorithms::sample(algorithm, arguments, given),
    };
    if task == Task::GraphClassification {
        given.only("graph-classification, whose graphs are given", &["data", "dataset", "count", "out", "threads"])?;
    }
    let mut spec = TaskSpec::paper(task);
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    let sampler = spec.sampler().map_err(Failure::bad_input)?;
    let available = sampler.count();
    let count = arguments.count.or(available).unwrap_or(DEFAULT_COUNT);
    Allowance::free().check_samples(&spec, count, |_, _| 0)?;
    if let Some(available) = available.filter(|&available| count > available) {
        return Err(Failure::bad_input(format!("--count {count}: the data set has {available} graphs")));
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.unwrap_or(0));
    let pool = threads.build().map_err(Failure::failed)?;
    let mut out = Output::create(arguments.out.as_deref().unwrap_or(Path::new("-")))?;
    let seed = arguments.split.seed(arguments.seed);
    pool.install(|| {
        let progress = Progress::new("samples", count);
        for (index, sample) in Samples::new(&*sampler, seed, 0..count).enumerate() {
            let sample = sample.map_err(Failure::bad_input)?;
            // A serialisation error can only come from the writer: every part of a sample has a JSON form.
            let written = serde_json::to_writer(&mut out, &sample).map_err(std::io::Error::from);
            written.and_then(|()| out.write_all(b"\n")).map_err(|error| out.failure(&error))?;
            progress.at(index as u64 + 1);
        }
        out.finish()
    })
}
