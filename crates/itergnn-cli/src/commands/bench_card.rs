//! The part of `itergnn bench` about a card: steps of one model and of sixteen side by side, and one large graph.

use itergnn::{
    graph::generators::Generator,
    nn::Device,
    tasks::{
        SizeRange, Split, Task, TaskSpec,
        shortest_path::{ShortestPathSpec, Weights},
    },
    train::{LossKind, ResolvedRun, TrainError, data::SampleSource, learning::Learner, time_steps_on_card},
};

use super::bench::{BATCH, MODELS, Measurement, TimedModel, prepare, resolve, step_name, wants_inference};
use super::bench_inference;
use crate::options::BenchArguments;

/// Models that learn side by side.
const ENSEMBLES: [usize; 2] = [1, 16];

/// What is trained on.
fn tasks() -> [(&'static str, TaskSpec); 5] {
    let paths = |generator| {
        TaskSpec::ShortestPath(ShortestPathSpec { generator, size: SizeRange::TRAINING, weights: Weights::PAPER })
    };
    [
        ("lobster", paths(Generator::LOBSTER)),
        ("er", paths(Generator::ER)),
        ("planar", paths(Generator::Planar)),
        ("knn", paths(Generator::KNN)),
        ("navigation", TaskSpec::paper(Task::Navigation)),
    ]
}

/// Training steps at their worst, as on the CPU, then iterations on a graph of a million nodes if `large` graphs are
/// asked for.
pub(super) fn measurements(arguments: &BenchArguments) -> Result<Vec<Measurement>, TrainError> {
    let mut results = Vec::new();
    for (name, task) in tasks() {
        // Every model on lobsters and ER, the standard one on the others.
        let count = if ["lobster", "er"].contains(&name) { MODELS.len() } else { 1 };
        for model in MODELS[..count].iter().filter(|model| step_name(name, model).contains(&arguments.only)) {
            for models in ENSEMBLES {
                results.push(training_step(name, &task, model, models, arguments.repetitions)?);
            }
        }
    }
    if wants_inference(arguments) {
        results.extend(bench_inference::on_card(arguments.large)?);
    }
    Ok(results)
}

fn training_step(
    name: &str,
    task: &TaskSpec,
    model: &TimedModel,
    models: usize,
    repetitions: usize,
) -> Result<Measurement, TrainError> {
    let ResolvedRun { config, model: network } = resolve(task.clone(), model)?;
    let mut learner = Learner::new(&network, LossKind::Mse, &config.optimiser, 0, &Device::flex())?;
    prepare(&mut learner)?;
    let samples = SampleSource::new(task, Split::Train.seed(0), BATCH)?;
    let mut milliseconds = time_steps_on_card(&learner.model(), &config.optimiser, &samples, models, repetitions)?;
    milliseconds.sort_by(f64::total_cmp);
    Ok(Measurement {
        name: step_name(name, model),
        models: Some(models),
        step_ms: milliseconds.first().copied(),
        median_ms: milliseconds.get(milliseconds.len() / 2).copied(),
        ms: milliseconds.first().copied().unwrap_or(f64::NAN),
        ..Measurement::default()
    })
}
