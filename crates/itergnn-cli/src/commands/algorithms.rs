//! Algorithms as data sets: drawing their samples, and judging models that learned them.

use std::{io::Write, path::Path};

use itergnn::{
    nn::{Device, GnnModel, store::ModelCard},
    tasks::{
        Split,
        algorithms::{Algorithm, AlgorithmSpec},
    },
    train::{OwnTask, RunConfig, RunTask, data::AlgorithmData},
};
use rayon::prelude::*;

use crate::{
    commands::{own, sample::DEFAULT_COUNT},
    estimate::Allowance,
    failure::Failure,
    given::Given,
    options::{EvalArguments, SampleArguments, TaskChoice},
    output::Output,
    progress::Progress,
};

/// Flags about the samples of an algorithm.
pub(super) const FLAGS: [&str; 2] = ["family", "size"];

/// Most different sizes: more than any experiment has, and few enough to list.
const MOST_SIZES: u32 = 10_000;

/// Samples that are drawn together, and the nodes and edges they may have together.
const PART: u64 = 512;
const PART_ELEMENTS: u64 = 1 << 22;

/// Changes what is drawn by what the user gave; what does not fit into memory is refused.
pub(crate) fn apply(spec: &mut AlgorithmSpec, choice: &TaskChoice) -> Result<(), Failure> {
    spec.family = choice.family.unwrap_or(spec.family);
    if let Some(size) = choice.size {
        let (first, last) = (size.smallest(), size.largest());
        if last - first >= MOST_SIZES {
            let why = format!("--size {size}: at most {MOST_SIZES} different sizes fit");
            return Err(Failure::bad_input(why));
        }
        spec.sizes = (first..=last).collect();
    }
    Allowance::free().check_algorithm(spec, |_, _| 0)
}

/// `itergnn sample ALGORITHM`: samples as JSON lines, streamed.
pub(super) fn sample(algorithm: Algorithm, arguments: &SampleArguments, given: &Given) -> Result<(), Failure> {
    given.only(&algorithm.to_string(), &[&FLAGS[..], &["count", "seed", "split", "out", "threads"]].concat())?;
    let mut spec = AlgorithmSpec::training(algorithm);
    apply(&mut spec, &arguments.samples_of)?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.unwrap_or(0));
    let pool = threads.build().map_err(Failure::failed)?;
    let mut out = Output::create(arguments.out.as_deref().unwrap_or(Path::new("-")))?;
    let (seed, count) = (arguments.split.seed(arguments.seed), arguments.count.unwrap_or(DEFAULT_COUNT));
    let part = (PART_ELEMENTS / spec.largest().max(1)).clamp(1, PART);
    pool.install(|| {
        let progress = Progress::new("samples", count);
        let mut first = 0;
        while first < count {
            let indices = first..count.min(first.saturating_add(part));
            first = indices.end;
            let drawn: Vec<_> = indices.into_par_iter().map(|index| spec.sample(seed, index)).collect();
            for record in drawn {
                let record = record.map_err(Failure::bad_input)?;
                let written = serde_json::to_writer(&mut out, &record).map_err(std::io::Error::from);
                written.and_then(|()| out.write_all(b"\n")).map_err(|error| out.failure(&error))?;
            }
            progress.at(first);
        }
        out.finish()
    })
}

/// What a model learned, if it is an algorithm.
pub(super) fn learned_by(card: &ModelCard) -> Option<AlgorithmSpec> {
    match RunConfig::of_card(card)?.task {
        RunTask::Algorithm(spec) => Some(spec),
        _ => None,
    }
}

/// `itergnn eval` of a model of an algorithm, on drawn graphs.
pub(super) fn evaluate(
    arguments: &EvalArguments,
    given: &Given,
    model: &GnnModel,
    mut spec: AlgorithmSpec,
    device: &Device,
) -> Result<(), Failure> {
    let meant = ["count", "seed", "max-iterations", "memory", "engine", "device", "threads", "timeout"];
    given.only(&format!("a model of {}", spec.algorithm), &[&FLAGS[..], &meant].concat())?;
    apply(&mut spec, &arguments.samples_of)?;
    let settings = model.config().settings();
    Allowance::of(arguments.memory)?.check_algorithm(&spec, |nodes, edges| settings.bytes(nodes, edges))?;
    let task = OwnTask::of_algorithm(spec.algorithm);
    let data = AlgorithmData::new(spec, Split::Test.seed(arguments.seed), arguments.count);
    own::judge(arguments, model, &task, &data, device)
}
