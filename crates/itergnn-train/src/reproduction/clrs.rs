//! Algorithms learned from small graphs without hints, judged on large ones, beside what others published.

use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use itergnn_nn::LayerKind;
use itergnn_nn::controllers::Scope;
use itergnn_nn::layers::Aggregation;
use itergnn_tasks::Split;
use itergnn_tasks::algorithms::{Algorithm, AlgorithmSpec, GraphFamily};
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::Budget;
use crate::config::{ModelConfig, OwnTask, RunConfig, Schedule};
use crate::data::AlgorithmData;
use crate::evaluation::{EvalOptions, ModelPredictor, OwnReport, evaluate_own};
use crate::records::Observer;
use crate::run::write_atomically;
use crate::train::{side_by_side, train};
use crate::{Status, TrainError, TrainOptions};

/// What others report for Erdos-Renyi graphs of 1,600 nodes, in percent: right nodes and wholly right graphs (for
/// eccentricity exact answers only).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// The method.
    pub method: &'static str,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Share of nodes, or of graphs for eccentricity.
    pub nodes: f64,
    /// Share of graphs all of whose nodes are right, where that is told.
    pub graphs: Option<f64>,
}

/// Published numbers: GIN(E) and PGN trained with hints (Minder et al., SALSA-CLRS, 2023, arXiv 2309.12253), and DNAR
/// with hand-made states, supervised steps and a given number of them (Rodionov and Prokhorenkova, Discrete Neural
/// Algorithmic Reasoning, 2024, arXiv 2402.11628).
pub const PUBLISHED: [Published; 16] = {
    const fn told(method: &'static str, algorithm: Algorithm, nodes: f64, graphs: Option<f64>) -> Published {
        Published { method, algorithm, nodes, graphs }
    }
    [
        told("GIN(E)", Algorithm::Bfs, 86.5, Some(0.0)),
        told("GIN(E)", Algorithm::Dijkstra, 36.9, Some(0.0)),
        told("GIN(E)", Algorithm::Prim, 43.2, Some(0.0)),
        told("GIN(E)", Algorithm::Mis, 79.2, Some(0.0)),
        told("GIN(E)", Algorithm::Eccentricity, 16.0, None),
        told("PGN", Algorithm::Bfs, 98.5, Some(0.0)),
        told("PGN", Algorithm::Dfs, 23.1, Some(0.0)),
        told("PGN", Algorithm::Dijkstra, 84.5, Some(0.0)),
        told("PGN", Algorithm::Prim, 66.8, Some(0.0)),
        told("PGN", Algorithm::Mis, 98.9, Some(5.2)),
        told("PGN", Algorithm::Eccentricity, 83.0, None),
        told("DNAR", Algorithm::Bfs, 100.0, Some(100.0)),
        told("DNAR", Algorithm::Dfs, 100.0, Some(100.0)),
        told("DNAR", Algorithm::Dijkstra, 100.0, Some(100.0)),
        told("DNAR", Algorithm::Prim, 100.0, Some(100.0)),
        told("DNAR", Algorithm::Mis, 100.0, Some(100.0)),
    ]
};

/// Test graphs per family: their size and number.
const TESTS: [(u32, u64); 5] = [(16, 1_000), (80, 1_000), (160, 100), (800, 100), (1_600, 100)];

/// Training graphs of the benchmark, and how often each is seen: 62,600 steps.
const SAMPLES: u64 = 10_000;
const EPOCHS: u64 = 200;

/// Most iterations of a prediction. Hops between nodes of these graphs stay below 100, so a network that goes on is not
/// waited for; how many graphs were cut is part of the result.
const ITERATION_CAP: usize = 1_000;

/// One training of an algorithm.
#[derive(Debug, Clone, PartialEq)]
pub struct ClrsJob {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Everything about the training.
    pub config: RunConfig,
    /// Whether only a tenth of the test graphs is judged.
    pub quick: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClrsResult {
    /// The training.
    pub config: RunConfig,
    /// Steps of the training.
    pub steps: u64,
    /// Its time in seconds.
    pub seconds: f64,
    /// How it was judged.
    pub cells: Vec<ClrsCell>,
}

/// How a model fares on the graphs of a family and size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClrsCell {
    /// The family.
    pub family: GraphFamily,
    /// Number of nodes.
    pub size: u32,
    /// The measures.
    pub report: OwnReport,
}

impl ClrsResult {
    /// The measures for a family and size, if they are there.
    pub fn of(&self, family: GraphFamily, size: u32) -> Option<&OwnReport> {
        self.cells.iter().find(|cell| (cell.family, cell.size) == (family, size)).map(|cell| &cell.report)
    }
}

impl ClrsJob {
    /// The trainings of all algorithms, or of those that are named, for the seeds of a budget, with so many samples and
    /// epochs: the benchmark's, or those of the short version, unless told.
    ///
    /// # Errors
    /// [`TrainError::Config`] for a name that is no algorithm.
    pub fn plan(
        budget: &Budget,
        samples: Option<u64>,
        epochs: Option<u64>,
        names: &[String],
    ) -> Result<Vec<Self>, TrainError> {
        let samples = samples.unwrap_or(if budget.quick { budget.samples } else { SAMPLES });
        let epochs = epochs.unwrap_or(if budget.quick { budget.epochs } else { EPOCHS });
        let chosen: Vec<Algorithm> = if names.is_empty() {
            Algorithm::VARIANTS.to_vec()
        } else {
            let parse = |name: &String| {
                name.parse().map_err(|_| TrainError::config("models", format!("there is no algorithm `{name}`")))
            };
            names.iter().map(parse).collect::<Result<_, _>>()?
        };
        let job = |algorithm, seed| -> Result<Self, TrainError> {
            let mut config = RunConfig::new(AlgorithmSpec::training(algorithm), model_for(algorithm));
            config.seed = seed;
            config.optimiser.schedule = Schedule::Cosine { warm_up_steps: 0, final_factor: 0.0 };
            config.optimiser.clip_norm = Some(1.0);
            let method = config.supervised_mut()?;
            (method.epochs, method.data.train, method.data.validation) = (epochs, samples, budget.validation);
            Ok(Self { algorithm, config: config.resolve()?.config, quick: budget.quick })
        };
        chosen.iter().flat_map(|&algorithm| budget.seeds.iter().map(move |&seed| job(algorithm, seed))).collect()
    }

    /// Where the result stands below the folder of all results.
    pub fn path(&self, results: &Path) -> PathBuf {
        results.join("clrs").join(format!("{}--seed-{}.json", self.algorithm, self.config.seed))
    }

    /// The result of exactly this training, if it is there.
    pub fn find(&self, results: &Path) -> Option<ClrsResult> {
        let result: ClrsResult = serde_json::from_slice(&fs::read(self.path(results)).ok()?).ok()?;
        let is_whole = self
            .tests()
            .iter()
            .all(|&(family, size, count)| result.of(family, size).is_some_and(|report| report.count >= count));
        (is_whole && result.config == self.config).then_some(result)
    }

    /// Families, sizes and numbers of test graphs.
    fn tests(&self) -> Vec<(GraphFamily, u32, u64)> {
        let count = |full: u64| if self.quick { (full / 50).max(2) } else { full };
        let sizes = |&family: &GraphFamily| TESTS.map(|(size, full)| (family, size, count(full)));
        GraphFamily::VARIANTS.iter().flat_map(sizes).collect()
    }

    fn judge(&self, model: &itergnn_nn::GnnModel) -> Result<Vec<ClrsCell>, TrainError> {
        let predictor = ModelPredictor::new(model, &Device::flex());
        let task = OwnTask::of_algorithm(self.algorithm);
        let options = EvalOptions { cap: Some(ITERATION_CAP), ..EvalOptions::default() };
        let cell = |(family, size, count)| {
            let spec = AlgorithmSpec::test(self.algorithm, family, size);
            let data = AlgorithmData::new(spec, Split::Test.seed(0), count);
            let report = evaluate_own(&predictor, &task, &data, &options, &mut |_| {})?;
            Ok(ClrsCell { family, size, report })
        };
        self.tests().into_iter().map(cell).collect()
    }
}

/// The network that learns an algorithm (docs/research/algorithms.md says how they were chosen): one general network,
/// with the prior where the answer goes with the scale of distances or weights, with messages that see their receiver
/// where a node has to compare itself with its neighbours, and a confidence per node where a graph has several parts.
fn model_for(algorithm: Algorithm) -> ModelConfig {
    let small = |name: &str| ModelConfig { hidden_width: Some(32), ..ModelConfig::preset(name) };
    match algorithm {
        Algorithm::Bfs | Algorithm::Dijkstra => ModelConfig::preset("iter-path-settle"),
        Algorithm::Eccentricity => ModelConfig::preset("iter-homo-path"),
        Algorithm::Prim | Algorithm::WidestPath => ModelConfig {
            layer: Some(LayerKind::Path),
            aggregation: Some(Aggregation::Max),
            ..small("iter-homo-path-settle")
        },
        Algorithm::Dfs | Algorithm::Mis | Algorithm::Bipartiteness => {
            ModelConfig { layer: Some(LayerKind::MpnnMax), ..small("iter-path-settle") }
        }
        Algorithm::Reachability => ModelConfig { scope: Some(Scope::Node), ..small("iter-path-settle") },
    }
}

/// Trains and judges what has no result yet, `workers` at a time, each on one thread; a run that was stopped goes on.
///
/// # Errors
/// What goes wrong in a training; what cannot be written.
pub fn run_clrs<O: Observer>(
    jobs: &[ClrsJob],
    results: &Path,
    runs: &Path,
    options: &TrainOptions,
    workers: usize,
    observe: impl Fn(&ClrsJob) -> O + Sync,
) -> Result<(), TrainError> {
    let open: Vec<&ClrsJob> = jobs.iter().filter(|job| job.find(results).is_none()).collect();
    fs::create_dir_all(results.join("clrs")).map_err(TrainError::io("create", results))?;
    side_by_side(&open, workers, |job| {
        let steps = job.config.supervised()?.steps();
        let folder = runs.join("clrs").join(format!("{}-{steps}-seed-{}", job.algorithm, job.config.seed));
        let outcome = train(&job.config, Some(&folder), options, &mut observe(job))?;
        if outcome.status == Status::Stopped {
            return Ok(());
        }
        let cells = job.judge(&outcome.model)?;
        let (config, steps, seconds) = (job.config.clone(), outcome.steps, outcome.seconds);
        let result = ClrsResult { config, steps, seconds, cells };
        let mut text = serde_json::to_vec_pretty(&result).map_err(|error| TrainError::Worker(error.to_string()))?;
        text.push(b'\n');
        write_atomically(&job.path(results), &text)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_training_and_the_tests_of_the_benchmark() {
        let jobs = ClrsJob::plan(&Budget::full(), None, None, &[]).unwrap();
        assert_eq!(jobs.len(), 3 * Algorithm::VARIANTS.len());
        for job in &jobs {
            let settings = job.config.supervised().unwrap();
            assert_eq!((settings.data.train, settings.steps()), (10_000, 62_600));
            let sizes: Vec<u32> = job.tests().iter().take(5).map(|&(_, size, _)| size).collect();
            assert_eq!(sizes, AlgorithmSpec::TEST_SIZES);
            assert!(job.tests().iter().all(|&(_, size, count)| count == if size <= 80 { 1_000 } else { 100 }));
        }
        assert!(ClrsJob::plan(&Budget::quick(), None, Some(1), &["bsf".to_owned()]).is_err());
    }

    #[test]
    fn a_training_leaves_a_result_that_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let (results, runs) = (folder.path().join("results"), folder.path().join("runs"));
        let budget = Budget { validation: 4, ..Budget::quick() };
        let mut jobs = ClrsJob::plan(&budget, Some(16), Some(1), &["reachability".to_owned()]).unwrap();
        jobs[0].config.model.hidden_width = Some(4);
        let run = || run_clrs(&jobs, &results, &runs, &TrainOptions::default(), 1, |_| crate::Silent);
        run().unwrap();
        let result = jobs[0].find(&results).unwrap();
        assert_eq!((result.steps, result.cells.len()), (1, 15));
        assert!(result.of(GraphFamily::Delaunay, 1_600).unwrap().accuracy.is_some());
        run().unwrap();
        assert_eq!(jobs[0].find(&results), Some(result));
    }
}
