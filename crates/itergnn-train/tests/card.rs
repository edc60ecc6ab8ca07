//! Runs on a card against the same runs on the CPU; skipped where there is no card.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a panic is a failure, and a skipped test says so"
)]

use std::path::Path;
use std::sync::Arc;

use itergnn_graph::{Attributes, Graph};
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::{Device, InitRng, Level};
use itergnn_train::data::{Example, OwnData};
use itergnn_train::evaluation::{EvalOptions, ModelPredictor, Predictor, evaluate};
use itergnn_train::{
    CardPredictor, CardRun, ModelConfig, Observer, Outcome, OwnTask, RunConfig, RunDirectory, Silent, Start, Status,
    StepRecord, TrainError, TrainOptions, train, train_on, train_on_card,
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
    CardRun { config: config.clone(), directory: directory.map(Path::to_owned), data: None }
}

/// Trains on the card and on the CPU; says whether there is a card.
fn compare(configs: &[RunConfig]) -> bool {
    compare_runs(&configs.iter().map(|config| run(config, None)).collect::<Vec<_>>())
}

fn compare_runs(runs: &[CardRun]) -> bool {
    let all: Vec<_> = runs.iter().map(|_| std::sync::Mutex::new(Vec::new())).collect();
    let outcomes = match train_on_card(runs, &TrainOptions::default(), |index| Steps(Some(&all[index]))) {
        Ok(outcomes) => outcomes,
        Err(error) => {
            println!("skipped: {error}");
            return false;
        }
    };
    for ((CardRun { config, data, .. }, outcome), all) in runs.iter().zip(outcomes).zip(all) {
        let name = format!("{} {} seed {}", config.task.name(), config.model.name, config.seed);
        let expected = std::sync::Mutex::new(Vec::new());
        let (options, mut steps) = (TrainOptions::default(), Steps(Some(&expected)));
        let cpu = match data {
            Some(data) => train_on(config, data, None, &options, &mut steps).unwrap(),
            None => train(config, None, &options, &mut steps).unwrap(),
        };
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
        assert!((left - right).abs() <= 1e-2 * right.abs(), "{name}: {left} against {right}");
    }
    true
}

#[test]
fn runs_on_a_card_see_what_runs_on_the_cpu_see() {
    let models = ["iter-homo-path", "iter-homo-path-settle", "path", "homo-path", "iter-path", "gcn", "gat"];
    // Side by side, because compiling their kernels takes longer than running them.
    std::thread::scope(|scope| {
        for model in models.into_iter().chain(["iter-homo-gcn-settle", "iter-homo-gat-settle"]) {
            scope.spawn(move || compare(&[config(model, 1), config(model, 2)]));
        }
    });
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

/// Graphs with targets at a level: a line with a few more edges, from both ends.
fn own(level: Level, classes: Option<usize>, count: u64) -> OwnData {
    let example = |index: u64| {
        let nodes = 3 + index as usize % 6;
        let mut edges: Vec<[u32; 2]> =
            (1..nodes as u32).rev().flat_map(|node| [[node, node - 1], [node - 1, node]]).collect();
        edges.push([0, nodes as u32 - 1]);
        let number = |place: usize| ((place as u64 * 7 + index * 3) % 10) as f32 / 10.0 + 0.5;
        let attributes = |count: usize| Attributes::new(1, (0..count).map(number).collect());
        let graph = Graph::new(nodes, &edges).unwrap().with_node_attributes(attributes(nodes)).unwrap();
        let graph = graph.with_edge_attributes(attributes(edges.len())).unwrap();
        let target: Vec<f32> = match level {
            Level::Graph => vec![nodes as f32],
            Level::Node => (0..nodes).map(number).collect(),
            Level::Edge => (0..edges.len()).map(number).collect(),
            Level::Pointer => {
                let incoming =
                    |node: usize| edges.iter().position(|edge| edge[1] as usize == node && !node.is_multiple_of(3));
                (0..nodes).map(|node| incoming(node).map_or(-1.0, |edge| edge as f32)).collect()
            }
        };
        let class = |value: &f32| (value * 10.0) as usize % classes.unwrap_or(1);
        let target = if classes.is_some() { target.iter().map(|value| class(value) as f32).collect() } else { target };
        Example::new(graph, target)
    };
    let examples = Arc::new((0..count).map(example).collect::<Vec<_>>());
    OwnData { train: examples.clone(), validation: examples }
}

#[test]
fn own_graphs_of_every_level_are_learned_as_on_the_cpu() {
    let mut runs = Vec::new();
    for (model, level, classes) in [
        ("iter-homo-path", Level::Graph, None),
        ("iter-path", Level::Node, None),
        ("iter-path", Level::Node, Some(3)),
        ("iter-homo-path", Level::Edge, None),
        ("gcn", Level::Edge, Some(2)),
        ("iter-path", Level::Pointer, None),
        ("iter-homo-gat-settle", Level::Pointer, None),
    ] {
        let mut config = RunConfig::new(OwnTask { classes, ..OwnTask::new(level) }, ModelConfig::preset(model));
        config.model.hidden_width = Some(16);
        let method = config.supervised_mut().unwrap();
        (method.epochs, method.batch_size) = (3, 8);
        runs.push(CardRun { config, directory: None, data: Some(own(level, classes, 20)) });
    }
    // An algorithm draws its own graphs.
    let text = "epochs = 2\nlog_every = 1\ntask = { task = 'bfs', sizes = [4, 7] }\nbatch_size = 8\n\
                model = { name = 'iter-path', hidden_width = 16 }\ndata = { train = 24, validation = 8 }";
    runs.push(run(&RunConfig::from_toml(text).unwrap(), None));
    compare_runs(&runs);
}

#[test]
fn predictions_for_edges_and_pointers_are_those_of_the_cpu() {
    for level in [Level::Edge, Level::Pointer] {
        let (task, data) = (OwnTask::new(level), own(level, None, 12));
        let mut config = RunConfig::new(task.clone(), ModelConfig::preset("iter-path"));
        config.model.hidden_width = Some(16);
        let model = config.resolve_for(&data).unwrap().model.init(&Device::flex(), &mut InitRng::new(4)).unwrap();
        let card = match CardPredictor::new(&model) {
            Ok(card) => card,
            Err(error) => return println!("skipped: {error}"),
        };
        let graphs: Vec<_> = (0..12).map(|index| data.train.sample(index).unwrap().graph.clone()).collect();
        let graphs: Vec<_> = graphs.iter().collect();
        let options = RunOptions::inference().with_cap(40);
        let found = card.predict(&graphs, &options).unwrap();
        let expected = ModelPredictor::new(&model, &Device::flex()).predict(&graphs, &options).unwrap();
        for (found, expected) in found.values.iter().zip(&expected.values) {
            assert_eq!(found.len(), expected.len());
            for (left, right) in found.iter().zip(expected) {
                assert!((left - right).abs() <= 1e-4 * right.abs().max(1e-2), "{level}: {left} against {right}");
            }
        }
    }
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
    let starts = std::fs::read(path("other").join("run.json")).unwrap();
    let starts: Vec<serde_json::Value> = serde_json::from_slice(&starts).unwrap();
    assert!(starts.len() == 2 && starts[0]["device"] != starts[1]["device"], "{starts:?}");
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
