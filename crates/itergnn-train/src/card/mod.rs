//! Learning on a card: many runs side by side in one launch per step.
//!
//! Every run is a session of its own, with its own directory, files and place in its data, exactly as on the CPU: a run
//! can begin on one and go on on the other. Only the steps and validations are gathered from all runs and made
//! together.

mod crew;
mod member;
mod network;
mod predictor;
mod samples;
mod timing;

use std::path::PathBuf;

use crate::config::{ResolvedRun, RunConfig, RunTask};
use crate::data::OwnData;
use crate::records::Observer;
use crate::session::Session;
use crate::{SeedOutcome, TrainError, TrainOptions};
use member::Member;
pub use predictor::CardPredictor;
pub use timing::time_steps_on_card;

/// A run of an ensemble.
#[derive(Debug, Clone)]
pub struct CardRun {
    /// What it depends on.
    pub config: RunConfig,
    /// Where its files go, if anywhere.
    pub directory: Option<PathBuf>,
    /// The samples of a run on own graphs.
    pub data: Option<OwnData>,
}

/// Asks whether there is a card to train on, for those who would write files before they need it.
///
/// # Errors
/// [`TrainError::Cuda`] in one line: no driver, no run-time compiler, no card, or too old a card.
pub fn find_card() -> Result<(), TrainError> {
    member::open().map(drop)
}

/// Whether the card can train such a run.
pub(crate) fn is_covered(run: &ResolvedRun) -> bool {
    let learns_from_samples = run.config.supervised().is_ok() && !matches!(run.config.task, RunTask::Own(_));
    learns_from_samples && network::graph_model(&run.model).is_ok_and(|model| network::network(model).is_ok())
}

/// Trains runs side by side on the first card, and gives the results in the order of the runs. They may differ in
/// everything: runs whose networks have the same shape share their launches, whatever their seeds, data and recipes;
/// the others work beside them on the same card.
///
/// The same runs give the same weights, bit for bit, on the same card. Samples and their order are those of the CPU;
/// the arithmetic is not, so weights drift apart over many steps.
///
/// # Errors
/// [`TrainError::Cuda`] where there is no card or the network is not covered; what is wrong with a configuration. What
/// goes wrong in one run is in its [`SeedOutcome`].
pub fn train_on_card<O: Observer>(
    runs: &[CardRun],
    options: &TrainOptions,
    observe: impl Fn(usize) -> O + Sync,
) -> Result<Vec<SeedOutcome>, TrainError> {
    let resolve = |run: &CardRun| match &run.data {
        Some(data) => run.config.resolve_for(data),
        None => run.config.resolve(),
    };
    let resolved = runs.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    let networks = resolved.iter().map(|run| Ok(network::network(network::graph_model(&run.model)?)?));
    let networks = networks.collect::<Result<Vec<_>, TrainError>>()?;
    let gpu = member::open()?;
    let name = gpu.name();
    let (crews, lines) = crew::crews(&networks);
    std::thread::scope(|scope| {
        let work = |crew: crew::Crew| scope.spawn(|| gpu.beside().map(|gpu| crew.work(&gpu)));
        let cards: Vec<_> = crews.into_iter().map(work).collect();
        let workers: Vec<_> = resolved
            .into_iter()
            .zip(lines)
            .enumerate()
            .map(|(index, (resolved, line))| {
                let (run, observe) = (&runs[index], &observe);
                scope.spawn(move || {
                    let seed = resolved.config.seed;
                    let mut observer = observe(index);
                    let begin = |resolved: &ResolvedRun| Member::new(resolved, run.data.as_ref(), line, name);
                    let result = Session::begin(resolved, begin, run.directory.as_deref(), options, &mut observer)
                        .and_then(|session| session.run(&mut observer))
                        .map(|(outcome, _)| outcome);
                    SeedOutcome { seed, result }
                })
            })
            .collect();
        let panicked = || TrainError::Worker("it panicked".to_owned());
        let outcomes = workers.into_iter().map(|worker| worker.join().map_err(|_| panicked()));
        let outcomes = outcomes.collect::<Result<Vec<_>, _>>();
        for card in cards {
            card.join().map_err(|_| panicked())??;
        }
        outcomes
    })
}
