//! The table of graph classification: ten-fold cross-validations of GIN and Iter-GIN on five sets.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use itergnn::{
    tasks::{TaskSpec, graph_classification::GraphClassificationSpec},
    train::{
        CrossValidationConfig, MethodConfig, ModelConfig, RunConfig, RunTask, Silent, Start, TrainOptions,
        classification::{ClassificationResult, cross_validate},
        run::write_atomically,
    },
};

use crate::{
    commands::train::failure,
    failure::Failure,
    output::note,
    report::{ReportCell, ReportSection, ReportTable},
};

/// Where results stand, below those of the other tables.
const FOLDER: &str = "graph-classification";

/// The sets and the paper's accuracies, mean and standard deviation in percent: GIN, Iter-GIN.
const SETS: [(&str, [(f64, f64); 2]); 5] = [
    ("MUTAG", [(89.4, 5.6), (89.6, 8.6)]),
    ("PTC", [(64.6, 7.0), (64.5, 3.8)]),
    ("PROTEINS", [(76.2, 2.8), (76.3, 3.4)]),
    ("IMDBBINARY", [(75.1, 5.1), (75.7, 4.2)]),
    ("IMDBMULTI", [(52.3, 2.8), (51.8, 4.0)]),
];

const MODELS: [&str; 2] = ["gin", "iter-gin"];

/// How long a fold trains, how many folds at a time, where the sets are.
pub(super) struct Plan<'a> {
    pub(super) data: &'a Path,
    pub(super) epochs: u64,
    pub(super) workers: usize,
    pub(super) stop: &'a Arc<AtomicBool>,
}

/// Makes the results that are not there yet; `false` if it was stopped.
pub(super) fn run(plan: &Plan<'_>, out: &Path) -> Result<bool, Failure> {
    for model in MODELS {
        for (set, _) in SETS {
            let config = config(plan.data, set, model, plan.epochs)?;
            if read(out, model, set).is_some_and(|result| result.config == portable(&config)) {
                continue;
            }
            note(&format!("graph-classification/{model} on {set}: {} epochs of ten folds", plan.epochs));
            let stop = Arc::clone(plan.stop);
            let options = TrainOptions { start: Start::ResumeOrNew, stop, ..TrainOptions::default() };
            let folder = out.join("runs").join(FOLDER).join(format!("{model}-{set}-{}", plan.epochs));
            let (_, result) = cross_validate(&config, &folder, &options, plan.workers, |_| Silent).map_err(failure)?;
            let Some(mut result) = result else { return Ok(false) };
            result.config = portable(&result.config);
            let text = serde_json::to_vec_pretty(&result).map_err(Failure::failed)?;
            let path = path(out, model, set);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| Failure::writing(parent.display(), &error))?;
            }
            write_atomically(&path, &text).map_err(failure)?;
        }
    }
    Ok(true)
}

fn config(data: &Path, set: &str, model: &str, epochs: u64) -> Result<RunConfig, Failure> {
    let dataset = set.parse().map_err(Failure::failed)?;
    let task = TaskSpec::GraphClassification(GraphClassificationSpec { data: data.to_owned(), dataset });
    let method = CrossValidationConfig { epochs, ..CrossValidationConfig::default() };
    let config = RunConfig::new(task, ModelConfig::preset(model));
    Ok(RunConfig { method: MethodConfig::CrossValidation(method), ..config })
}

/// The same without the place of the data on this machine.
fn portable(config: &RunConfig) -> RunConfig {
    let mut config = config.clone();
    if let RunTask::BuiltIn(TaskSpec::GraphClassification(spec)) = &mut config.task {
        spec.data = PathBuf::from("data");
    }
    config
}

fn path(out: &Path, model: &str, set: &str) -> PathBuf {
    out.join("results").join(FOLDER).join(format!("{model}-{set}.json"))
}

fn read(out: &Path, model: &str, set: &str) -> Option<ClassificationResult> {
    serde_json::from_slice(&fs::read(path(out, model, set)).ok()?).ok()
}

/// The table, with what is there.
pub(super) fn section(out: &Path) -> ReportSection {
    let header = ["set", "model", "ours, best epoch", "ours, last epoch", "epochs", "paper", "seconds"];
    let mut rows = Vec::new();
    for (set, papers) in SETS {
        for (model, paper) in MODELS.into_iter().zip(papers) {
            rows.push(row(set, model, paper, read(out, model, set).as_ref()));
        }
    }
    ReportSection {
        title: "Graph classification, ten-fold cross-validation".to_owned(),
        command: "itergnn reproduce graph-classification --data DIR".to_owned(),
        tables: vec![ReportTable::new(header.map(str::to_owned).to_vec(), rows)],
        figures: Vec::new(),
        notes: vec![
            "Accuracy in percent, mean ± standard deviation over ten stratified folds (scikit-learn's with seed 0, of all graphs). The GIN paper's protocol reports the epoch with the best mean over the folds, a choice that sees test data; the last epoch, which nothing chose, stands beside it.".to_owned(),
            "Marked where the mean lies more than one of the paper's standard deviations below the paper's mean.".to_owned(),
        ],
    }
}

fn row(set: &str, model: &str, paper: (f64, f64), result: Option<&ClassificationResult>) -> Vec<ReportCell> {
    let plain = |text: &str| ReportCell::plain(text);
    let show = |mean: f64, deviation: f64| format!("{mean:.1} ± {deviation:.1}");
    let theirs = plain(&show(paper.0, paper.1));
    let Some(result) = result else {
        let missing = || plain("-");
        return vec![plain(set), plain(model), plain("not run"), missing(), missing(), theirs, missing()];
    };
    let (best, last) = (&result.selected, &result.last);
    let epochs = result.config.cross_validation().map_or(0, |method| method.epochs);
    let blocks = result.config.model.blocks.map_or(String::new(), |blocks| format!(", {blocks} blocks"));
    vec![
        plain(set),
        plain(model),
        ReportCell {
            text: show(100.0 * best.mean, 100.0 * best.standard_deviation),
            short: 100.0 * best.mean < paper.0 - paper.1,
        },
        plain(&show(100.0 * last.mean, 100.0 * last.standard_deviation)),
        plain(&format!("{} of {epochs}{blocks}", result.selected_epoch)),
        theirs,
        plain(&format!("{:.0}", result.seconds)),
    ]
}
