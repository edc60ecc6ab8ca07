//! Evaluation with predictors whose answers are known.

#![allow(clippy::unwrap_used)] // a test that meets an error has failed

use std::path::Path;

use burn::tensor::Device;
use itergnn_graph::{EdgeWeights, Graph, solvers::dijkstra};
use itergnn_nn::controllers::RunOptions;
use itergnn_nn::store;
use itergnn_tasks::{Task, TaskSpec};
use itergnn_train::TrainError;
use itergnn_train::evaluation::{
    EvalOptions, Found, Kept, Marks, ModelPredictor, PathFinder, Predicted, Predictor, Searched, evaluate,
};

/// Answers with a multiple of the true distance between the marked nodes.
struct Exact {
    factor: f32,
}

impl Predictor for Exact {
    fn predict(&self, graphs: &[&Graph], _: &RunOptions) -> Result<Predicted, TrainError> {
        let mut predicted = Predicted::default();
        for graph in graphs {
            let marked = |kind: usize| graph.node_attributes().rows().position(|row| row[kind] > 0.0).unwrap() as u32;
            let weights = EdgeWeights::from_attribute(graph, 0)?;
            let path = dijkstra::shortest_path(graph, &weights, marked(0), marked(1))?;
            let length = path.map_or(f64::NAN, |path| path.length) as f32;
            predicted.values.push(vec![self.factor * length]);
            predicted.loops.iterations.push((length / 2.0).ceil() as usize);
            predicted.loops.capped.push(false);
            predicted.overflows.push(None);
        }
        Ok(predicted)
    }

    fn architecture(&self) -> String {
        "the exact answer".to_owned()
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        (nodes + edges) as u64
    }
}

fn spec(size: &str) -> TaskSpec {
    let mut spec = TaskSpec::paper(Task::ShortestPath);
    spec.set_size(size.parse().unwrap()).unwrap();
    spec.set_weights("0.5..1.5".parse().unwrap()).unwrap();
    spec
}

#[test]
fn a_perfect_predictor_has_no_loss_and_finds_every_path() {
    let options = EvalOptions { success: true, records: true, ..EvalOptions::default() };
    let mut told = Vec::new();
    let report =
        evaluate(&Exact { factor: 1.0 }, &spec("30..60"), 40, 3, &options, &mut |progress| told.push(progress))
            .unwrap();
    assert!(report.relative_loss.unwrap() < 1e-6 && report.mse.unwrap() < 1e-6);
    assert_eq!((report.success_rate, report.accuracy, report.count), (Some(1.0), None, 40));
    assert_eq!((report.success_rate_as_written, report.walkable_success_rate), (Some(1.0), None));
    assert_eq!((report.size.as_deref(), report.capped, report.not_finite), (Some("30..60"), 0, 0));
    assert!(report.nodes.mean > 30.0 && report.iterations.max > 1 && report.seconds > 0.0);
    assert_eq!(report.samples.len(), 40);
    assert!(report.samples.iter().zip(0..).all(|(sample, index)| sample.index == index));
    assert!(report.samples.iter().all(|sample| sample.iterations == (sample.target[0] / 2.0).ceil() as usize));
    assert!(told.len() > 5 && told.last().unwrap().judged == 40);
}

#[test]
fn a_predictor_that_is_short_by_a_tenth_is_judged_so() {
    let options = EvalOptions { success: true, ..EvalOptions::default() };
    let report = evaluate(&Exact { factor: 0.9 }, &spec("40"), 20, 3, &options, &mut |_| {}).unwrap();
    assert!((report.relative_loss.unwrap() - 0.1).abs() < 1e-6);
    // Every edge seems longer than the difference it makes: the walk as written never gets beyond neighbours of the
    // target, the released one does not mind.
    assert!(report.success_rate_as_written.unwrap() < 0.3);
    assert_eq!(report.success_rate, Some(1.0));
    assert!(report.samples.is_empty());
}

#[test]
fn memory_and_threads_do_not_change_a_report() {
    let report = |threads, memory| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = EvalOptions { success: true, records: true, memory, ..EvalOptions::default() };
        let mut report =
            pool.install(|| evaluate(&Exact { factor: 1.01 }, &spec("20"), 12, 0, &options, &mut |_| {})).unwrap();
        report.seconds = 0.0;
        report
    };
    assert_eq!(report(1, 1 << 29), report(2, 100));
}

#[test]
fn the_report_has_the_names_of_the_command_line() {
    let report = evaluate(&Exact { factor: 1.0 }, &spec("10"), 3, 7, &EvalOptions::default(), &mut |_| {}).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    for name in ["task", "size", "count", "seed", "relative_loss", "success_rate", "accuracy", "mse", "seconds"] {
        assert!(json.get(name).is_some(), "{name} is missing");
    }
    assert!(json["iterations"]["mean"].is_number() && json["iterations"]["max"].is_number());
    assert!(json["nodes"]["mean"].is_number() && json["success_rate"].is_null());
}

#[test]
fn success_is_only_asked_of_tasks_with_paths() {
    let options = EvalOptions { success: true, ..EvalOptions::default() };
    let counting = TaskSpec::paper(Task::ComponentCount);
    let error = evaluate(&Exact { factor: 1.0 }, &counting, 3, 7, &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("component-count: success rate"), "{error}");
}

/// The same predictions without any short cut: one per question.
struct OneByOne(ModelPredictor);

impl Predictor for OneByOne {
    fn predict(&self, graphs: &[&Graph], options: &RunOptions) -> Result<Predicted, TrainError> {
        self.0.predict(graphs, options)
    }

    fn bytes(&self, nodes: usize, edges: usize) -> u64 {
        self.0.bytes(nodes, edges)
    }

    fn architecture(&self) -> String {
        self.0.architecture()
    }
}

fn committed(name: &str) -> ModelPredictor {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("{name}.safetensors"));
    ModelPredictor::new(&store::load(file, &Device::flex()).unwrap().0, &Device::flex())
}

#[test]
fn paths_by_one_pass_or_by_a_prepared_graph_are_those_of_one_prediction_per_candidate() {
    // On a weighted grid the planar model has one pass, and the lobster model only a prepared graph.
    let mut spec = TaskSpec::paper(Task::ShortestPath);
    spec.set_generator("grid".parse().unwrap()).unwrap();
    spec.set_size("12".parse().unwrap()).unwrap();
    spec.set_weights("0.5..1.5".parse().unwrap()).unwrap();
    let samples = spec.sampler().unwrap();
    for (name, predictions) in [("shortest-path-planar-weighted", 2), ("shortest-path-lobster", usize::MAX)] {
        let (quick, slow) = (committed(name), OneByOne(committed(name)));
        for index in 0..4 {
            let sample = samples.sample(7, index).unwrap();
            let weights = sample.weights().unwrap();
            let finder = |predictor| PathFinder {
                predictor,
                graph: &sample.graph,
                weights: &weights,
                marks: Marks::Ends { scale: 1.0 },
                options: RunOptions::inference(),
                memory: 1 << 28,
            };
            let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
            let found = finder(&quick).find(source, target, &mut |_| true).unwrap();
            let mut shares = Vec::new();
            let mut note = |searched: Searched| {
                shares.push(searched.share);
                true
            };
            let expected = finder(&slow).find(source, target, &mut note).unwrap();
            assert_eq!((&found.path, found.iterations), (&expected.path, expected.iterations), "{name}, {index}");
            assert_eq!(found.predicted_length as f32, expected.predicted_length as f32);
            assert!(found.predictions <= predictions && expected.predictions > 2);
            assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
        }
        let options = EvalOptions { success: true, ..EvalOptions::default() };
        let rates = |predictor: &dyn Predictor| {
            let report = evaluate(predictor, &spec, 6, 1, &options, &mut |_| {}).unwrap();
            (report.success_rate, report.success_rate_as_written, report.relative_loss)
        };
        assert_eq!(rates(&quick), rates(&slow), "{name}");
    }
}

/// General networks compute only what a candidate changes; by candidates that are graphs of their own they find the
/// same.
#[test]
fn paths_by_variants_are_those_of_one_prediction_per_candidate() {
    for (weights, generator) in [("unit", "lobster"), ("0.5..1.5", "grid")] {
        let mut spec = TaskSpec::paper(Task::ShortestPath);
        spec.set_generator(generator.parse().unwrap()).unwrap();
        spec.set_size(if generator == "grid" { "33" } else { "1100" }.parse().unwrap()).unwrap();
        spec.set_weights(weights.parse().unwrap()).unwrap();
        for name in ["lobster-iter-homo-path", "lobster-weighted-iter-homo-path"] {
            let (quick, slow) = (committed(name), OneByOne(committed(name)));
            let sample = spec.sampler().unwrap().sample(7, 0).unwrap();
            let weights = sample.weights().unwrap();
            // Beside the target, so that the walk is short.
            let target = sample.fields.target_node.unwrap();
            let source =
                dijkstra::shortest_path(&sample.graph, &weights, sample.fields.source.unwrap(), target).unwrap();
            let nodes = source.unwrap().nodes;
            let source = nodes[nodes.len().saturating_sub(7)];
            let finder = |predictor, memory| {
                let (graph, options) = (&sample.graph, RunOptions::inference());
                let marks = Marks::for_weights(&weights);
                PathFinder { predictor, graph, weights: &weights, marks, options, memory }
            };
            let expected = finder(&slow, 1 << 28).find(source, target, &mut |_| true).unwrap();
            // Without memory for the record of the graph every candidate is a graph again.
            for memory in [1 << 28, 1 << 16] {
                let finder = finder(&quick, memory);
                let found = finder.find(source, target, &mut |_| true).unwrap();
                // What one search leaves serves the next, in the other direction and back.
                let mut kept = Kept::default();
                for (from, to) in [(source, target), (target, source), (source, target)] {
                    let fresh = finder.find(from, to, &mut |_| true).unwrap();
                    assert_eq!(finder.find_next(from, to, &mut kept, &mut |_| true).unwrap(), fresh, "{name}");
                }
                let numbers = |found: &Found| (found.iterations, found.predictions, found.capped);
                assert_eq!((&found.path, numbers(&found)), (&expected.path, numbers(&expected)), "{name}, {generator}");
                let (found, expected) = (found.predicted_length, expected.predicted_length);
                assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found} instead of {expected}");
            }
        }
    }
}
