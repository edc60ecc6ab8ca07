//! Runs on a card against the same runs on the CPU; skipped where there is no card.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a panic is a failure, and a skipped test says so"
)]

use std::path::Path;

use itergnn_nn::{Device, InitRng};
use itergnn_train::evaluation::{EvalOptions, ModelPredictor, Predictor, evaluate};
use itergnn_train::{
    CardPredictor, CardRun, Observer, Outcome, RunConfig, RunDirectory, Silent, Start, Status, StepRecord, TrainError,
    TrainOptions, train, train_on_card,
};

fn config(model: &str, seed: u64) -> RunConfig {
    config_of("shortest-path", model, seed)
}

fn config_of(task: &str, model: &str, seed: u64) -> RunConfig {
    let text = format!(
        "seed = {seed}\nepochs = 3\nlog_every = 1\ntask = {{ task = '{task}', size = '4..12' }}\n\
         model = {{ name = '{model}', hidden_width = 16 }}\ndata = {{ train = 40, validation = 12 }}\nbatch_size = 8\n\
         [optimiser]\nclip_norm = 1.0\nschedule = {{ kind = 'cosine', warm_up_steps = 2 }}"
    );
    RunConfig::from_toml(&text).expect("a configuration")
}

/// The records of all steps.
#[derive(Default)]
struct Steps<'a>(Option<&'a std::sync::Mutex<Vec<StepRecord>>>);

impl Observer for Steps<'_> {
    fn step(&mut self, record: &StepRecord) {
        if let Some(all) = self.0 {
            all.lock().expect("no panic").push(*record);
        }
    }
}

/// The outcomes, or `None` after a line that says why there is no card.
fn on_card(runs: &[CardRun], options: &TrainOptions) -> Option<Vec<Outcome>> {
    match train_on_card(runs, options, |_| Silent) {
        Ok(outcomes) => Some(outcomes.into_iter().map(|outcome| outcome.result.expect("a run")).collect()),
        Err(TrainError::Cuda(error)) => {
            assert!(error.to_string().contains("device cpu"), "{error}");
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn run(config: &RunConfig, directory: Option<&Path>) -> CardRun {
    CardRun { config: config.clone(), directory: directory.map(Path::to_owned) }
}

/// Trains on the card and on the CPU; says whether there is a card.
fn compare(configs: &[RunConfig]) -> bool {
    let all: Vec<_> = configs.iter().map(|_| std::sync::Mutex::new(Vec::new())).collect();
    let runs: Vec<CardRun> = configs.iter().map(|config| run(config, None)).collect();
    let outcomes = match train_on_card(&runs, &TrainOptions::default(), |index| Steps(Some(&all[index]))) {
        Ok(outcomes) => outcomes,
        Err(error) => {
            println!("skipped: {error}");
            return false;
        }
    };
    for ((config, outcome), all) in configs.iter().zip(outcomes).zip(all) {
        let name = format!("{} {} seed {}", config.task.name(), config.model.name, config.seed);
        let expected = std::sync::Mutex::new(Vec::new());
        let cpu = train(config, None, &TrainOptions::default(), &mut Steps(Some(&expected))).unwrap();
        let outcome = outcome.result.unwrap();
        assert_eq!((outcome.status, outcome.steps), (Status::Finished, cpu.steps), "{name}");
        let (found, expected) = (all.into_inner().unwrap(), expected.into_inner().unwrap());
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(
                (found.step, found.epoch, found.learning_rate),
                (expected.step, expected.epoch, expected.learning_rate)
            );
            let close = |left: f64, right: f64| (left - right).abs() <= 2e-3 * right.abs().max(1e-6);
            assert!(close(found.loss, expected.loss), "{name}: {found:?} against {expected:?}");
            assert!(close(found.gradient_norm, expected.gradient_norm), "{name}: {found:?} against {expected:?}");
            assert!((found.iterations - expected.iterations).abs() <= 0.3, "{name}: {found:?} against {expected:?}");
        }
        let (card, cpu) = (outcome.last_epoch.as_ref().unwrap(), cpu.last_epoch.as_ref().unwrap());
        let (left, right) = (card.selected_by.unwrap(), cpu.selected_by.unwrap());
        assert!((left - right).abs() < 1e-2 * right, "{name}: {left} against {right}");
    }
    true
}

#[test]
fn runs_on_a_card_see_what_runs_on_the_cpu_see() {
    let models = ["iter-homo-path", "iter-homo-path-settle", "path", "homo-path", "iter-path", "gcn", "gat"];
    for model in models.into_iter().chain(["iter-homo-gcn-settle", "iter-homo-gat-settle"]) {
        if !compare(&[config(model, 1), config(model, 2)]) {
            return;
        }
    }
}

#[test]
fn runs_that_differ_in_data_recipe_length_and_shape_learn_side_by_side() {
    let mut longer = config_of("shortest-path", "iter-homo-path-settle", 5);
    longer.optimiser.learning_rate = 3e-3;
    let itergnn_train::MethodConfig::Supervised(method) = &mut longer.method else { panic!("samples") };
    (method.epochs, method.data.train) = (2, 100);
    // Tours are measured in thousands.
    let tours = config_of("tsp", "iter-homo-path-settle", 6);
    let mut attentive = config("iter-homo-path-settle", 8);
    (attentive.model.layer, attentive.model.aggregation) =
        (Some(itergnn_nn::layers::LayerKind::Path), Some(itergnn_nn::layers::Aggregation::Attention));
    compare(&[config("iter-homo-path-settle", 4), longer, tours, config("path", 7), attentive]);
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_bit_on_the_card_and_also_on_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let config = config("iter-homo-path-settle", 3);
    let path = |name: &str| folder.path().join(name);
    let once = run(&config, Some(&path("once")));
    let Some(whole) = on_card(&[once], &TrainOptions::default()) else { return };
    let stopping = TrainOptions { stop_at_step: Some(5), ..TrainOptions::default() };
    let twice = [run(&config, Some(&path("twice")))];
    assert_eq!(on_card(&twice, &stopping).unwrap()[0].status, Status::Stopped);
    let going_on = TrainOptions { start: Start::Resume, ..TrainOptions::default() };
    let resumed = on_card(&twice, &going_on).unwrap();
    assert_eq!((resumed[0].status, resumed[0].best), (Status::Finished, whole[0].best));
    let model = |name: &str| std::fs::read(RunDirectory::best_model_in(&path(name))).unwrap();
    assert_eq!(model("once"), model("twice"));
    // Another device, the same directory.
    let other = [run(&config, Some(&path("other")))];
    assert_eq!(on_card(&other, &stopping).unwrap()[0].status, Status::Stopped);
    let outcome = train(&config, Some(&path("other")), &going_on, &mut Silent).unwrap();
    assert_eq!(outcome.status, Status::Finished);
}

#[test]
fn what_the_card_does_not_cover_says_so() {
    let config = RunConfig { model: itergnn_train::ModelConfig::preset("max-plus"), ..config("path", 0) };
    let error = train_on_card(&[run(&config, None)], &TrainOptions::default(), |_| Silent).unwrap_err().to_string();
    assert!(error.contains("not covered on a GPU") || error.contains("device cpu"), "{error}");
}

#[test]
fn predictions_of_a_card_are_those_of_the_cpu() {
    for (task, name) in
        [("shortest-path", "iter-homo-path-settle"), ("shortest-path", "path"), ("tsp", "iter-homo-path")]
    {
        let config = config_of(task, name, 4);
        let model = config.resolve().unwrap().model.init(&Device::flex(), &mut InitRng::new(4)).unwrap();
        let card = match CardPredictor::new(&model) {
            Ok(card) => card,
            Err(error) => return println!("skipped: {error}"),
        };
        let options = EvalOptions { cap: Some(40), records: true, ..EvalOptions::default() };
        let judge = |predictor: &dyn Predictor| {
            evaluate(predictor, config.task.built_in().unwrap(), 20, 1, &options, &mut |_| {}).unwrap()
        };
        let (found, expected) = (judge(&card), judge(&ModelPredictor::new(&model, &Device::flex())));
        assert_eq!(found.samples.len(), 20);
        for (found, expected) in found.samples.iter().zip(&expected.samples) {
            assert!(found.iterations.abs_diff(expected.iterations) <= 1, "{name}: {found:?} against {expected:?}");
            for (left, right) in found.prediction.iter().zip(&expected.prediction) {
                assert!((left - right).abs() <= 1e-4 * right.abs().max(1e-3), "{name}: {left} against {right}");
            }
        }
    }
}
