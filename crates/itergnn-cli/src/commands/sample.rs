//! `itergnn sample`: labelled samples as JSON lines, streamed.

use std::io::{self, BufWriter, Write};

use itergnn::tasks::{Sampler, Samples, TaskSpec};

use crate::{commands::task, failure::Failure, options::SampleArguments, output::AtomicFile, progress};

/// Samples unless told otherwise.
const DEFAULT_COUNT: u64 = 10;

pub(crate) fn run(arguments: &SampleArguments) -> Result<(), Failure> {
    let mut spec = TaskSpec::paper(arguments.task);
    task::apply(&mut spec, &arguments.samples_of).map_err(Failure::bad_input)?;
    let sampler = spec.sampler().map_err(Failure::bad_input)?;
    let available = sampler.count();
    let count = arguments.count.or(available).unwrap_or(DEFAULT_COUNT);
    if let Some(available) = available.filter(|&available| count > available) {
        return Err(Failure::bad_input(format!("--count {count}: the data set has {available} graphs")));
    }
    if arguments.threads == Some(0) {
        return Err(Failure::bad_input("--threads 0: at least one is needed"));
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
