//! `itergnn predict`: what a model says about a graph in a file.

use std::path::Path;

use itergnn::{
    graph::{
        Graph,
        formats::{read_sample, read_tsp},
    },
    nn::{GraphTensors, Prediction, RunOptions},
    tasks::Task,
    train::evaluation::Predicted,
};
use serde::Serialize;

use crate::{
    commands::{domain, model, predict_lines, train::failure},
    compute::DeviceName,
    estimate::Allowance,
    failure::Failure,
    given::Given,
    options::PredictArguments,
    output::{self, print, print_json, warn},
    progress::Progress,
};

#[derive(Serialize)]
struct Answer {
    /// What predicts, in one line.
    architecture: String,
    /// One number per output, `unreachable` where a model of paths sees no way; for node-level models one row per node.
    prediction: serde_json::Value,
    iterations: usize,
    /// Whether the cap, not the model, ended the loop.
    capped: bool,
    /// The mean share of nodes that were active, where the engine measures it.
    #[serde(skip_serializing_if = "Option::is_none")]
    active_share: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trace: Vec<TraceRow>,
}

#[derive(Serialize)]
struct TraceRow {
    block: usize,
    step: usize,
    confidence: f64,
    remaining: f64,
    change: f64,
    /// Share of nodes that had changed in the step before: only they have something new to say.
    active: f64,
}

/// Flags of every prediction.
const ALWAYS: [&str; 4] = ["engine", "device", "threads", "timeout"];

pub(crate) fn run(arguments: &PredictArguments, given: &Given) -> Result<(), Failure> {
    let device = arguments.compute.start_anywhere()?;
    arguments.time.start();
    let on_card = arguments.compute.device == DeviceName::Cuda;
    if on_card && arguments.trace {
        return Err(Failure::bad_input("--device cuda: --trace is computed on the CPU only; leave the flag out"));
    }
    let (model, card) = model::load(&arguments.model)?;
    let (what, iterating) = match model.config().iterates() {
        true => ("a prediction".to_owned(), &["max-iterations"][..]),
        false => (format!("a model without loops ({})", model.config().architecture_line()), &[][..]),
    };
    if let Some(data) = &arguments.data {
        given.only(&what, &[&ALWAYS[..], &["data"], iterating].concat())?;
        let predictor = arguments.compute.predictor(&model, &device)?;
        return predict_lines::run(arguments, data, &model, &card, &*predictor);
    }
    given.only(&what, &[&ALWAYS[..], &["graph", "trace"], iterating].concat())?;
    let predictor = on_card.then(|| arguments.compute.predictor(&model, &device)).transpose()?;
    let graph = read(arguments)?;
    if !on_card {
        let what = format!("{}: {} nodes and {} edges", file(arguments).display(), graph.nodes(), graph.edges());
        Allowance::free().check(&what, model.config().settings().bytes(graph.nodes(), graph.edges()))?;
    }
    domain::warn_outside(&card, &graph);
    let mut options = RunOptions::inference().with_engine(arguments.engine.engine);
    if let Some(cap) = arguments.max_iterations {
        options = options.with_cap(cap);
    }
    if arguments.trace {
        options = options.with_trace();
    }
    let working = Progress::endless("predicting");
    let (mut answer, overflow) = match &predictor {
        Some(predictor) => {
            let predicted = predictor.predict(&[&graph], &options).map_err(failure)?;
            let outputs = model.config().widths().output_width;
            (card_answer(model.config().architecture_line(), &predicted, outputs), predicted.overflows)
        }
        None => {
            let tensors = GraphTensors::from_graph(&graph, &device);
            let prediction = model.predict_with(&tensors, &options).map_err(|error| in_file(arguments, &error))?;
            (answer(model.config().architecture_line(), &prediction), prediction.overflows())
        }
    };
    if let Some(Some(iteration)) = overflow.first() {
        let why = format!("a value of the model is not finite at iteration {iteration}: there is no prediction");
        return Err(Failure::failed(format!("{}: {why}", file(arguments).display())));
    }
    drop(working);
    if matches!(card.task.parse(), Ok(Task::ShortestPath | Task::Navigation))
        && let Some(lengths) = answer.prediction.as_array_mut()
    {
        for length in lengths.iter_mut() {
            *length = domain::prediction_or_unreachable(length.as_f64().unwrap_or(f64::NAN), &graph);
        }
    }
    if arguments.trace && answer.trace.is_empty() {
        return Err(Failure::bad_input(
            "--trace means nothing for this model, which keeps no record of its steps; leave it out",
        ));
    }
    if answer.capped {
        warn("the model did not stop by itself: the prediction is what it had at the cap");
    }
    if arguments.json {
        return print_json(&answer);
    }
    let mut text =
        format!("{}\nprediction {}, {} iterations\n", answer.architecture, answer.prediction, answer.iterations);
    if arguments.trace {
        let rows = answer.trace.iter().map(|row| {
            let number = |value: f64| format!("{value:.3e}");
            vec![
                row.block.to_string(),
                row.step.to_string(),
                number(row.confidence),
                number(row.remaining),
                number(row.change),
                format!("{:.2}%", 100.0 * row.active),
            ]
        });
        text += &output::table(&["block", "step", "confidence", "remaining", "change", "active"], rows);
    }
    print(&text)
}

/// The graph of the file; a TSPLIB instance is the complete graph of its distances.
fn read(arguments: &PredictArguments) -> Result<Graph, Failure> {
    let file = file(arguments);
    let graph = if file.extension().is_some_and(|found| found.eq_ignore_ascii_case("tsp")) {
        read_tsp(file).map_err(Failure::bad_input)?.graph()
    } else {
        read_sample(file).map_err(Failure::bad_input)?.graph()
    };
    graph.map_err(|error| in_file(arguments, &error))
}

fn file(arguments: &PredictArguments) -> &Path {
    arguments.graph.as_deref().unwrap_or(Path::new(""))
}

fn in_file(arguments: &PredictArguments, error: &impl std::fmt::Display) -> Failure {
    Failure::bad_input(format!("{}: {error}", file(arguments).display()))
}

fn first(values: &[f64]) -> f64 {
    values.first().copied().unwrap_or_default()
}

/// What a card says about one graph.
fn card_answer(architecture: String, predicted: &Predicted, outputs: usize) -> Answer {
    let values = predicted.values.first().map_or(&[][..], Vec::as_slice);
    let rows: Vec<Vec<f64>> =
        values.chunks(outputs.max(1)).map(|row| row.iter().map(|&value| value.into()).collect()).collect();
    Answer {
        architecture,
        prediction: in_rows(&rows),
        iterations: predicted.loops.iterations.first().copied().unwrap_or_default(),
        capped: predicted.loops.capped.contains(&true),
        active_share: None,
        trace: Vec::new(),
    }
}

/// One row as it is, several as a list.
fn in_rows(rows: &[Vec<f64>]) -> serde_json::Value {
    if rows.len() == 1 { serde_json::json!(rows[0]) } else { serde_json::json!(rows) }
}

fn answer(architecture: String, prediction: &Prediction) -> Answer {
    let value = in_rows(&prediction.values);
    let trace = prediction.traces.iter().enumerate().flat_map(|(block, trace)| {
        // At first every node has something to say.
        let before = std::iter::once(1.0).chain(trace.steps.iter().map(|at| first(&at.changed)));
        trace.steps.iter().zip(before).map(move |(at, active)| TraceRow {
            block,
            step: at.step,
            confidence: first(&at.confidence),
            remaining: first(&at.remaining),
            change: first(&at.change),
            active,
        })
    });
    Answer {
        architecture,
        prediction: value,
        iterations: prediction.loops.iterations.first().copied().unwrap_or_default(),
        capped: prediction.loops.capped.contains(&true),
        active_share: prediction.active_shares.first().copied(),
        trace: trace.collect(),
    }
}
