//! A trained network; `itergnn.Model` wraps it.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
};

use itergnn::{
    Error, Model as Inner,
    nn::{
        RunOptions,
        controllers::{NodeWatch, Trace},
        named_tensors,
    },
    train::{
        CardPredictor,
        evaluation::{EvalOptions, evaluate},
    },
};
use numpy::PyArray2;
use pyo3::{prelude::*, types::PyDict};
use rayon::prelude::*;

use crate::{
    answer::rows,
    arrays::table,
    errors::Fault,
    graph::Graph,
    samples::{from_json, task_spec},
    training::is_card,
    work::{guarded, work},
};

/// Nodes and edges that are predicted together: enough to share the cost of a call, few enough for any memory.
const TOGETHER: usize = 1 << 16;

/// Values, iterations, and whether a cap ended the loop.
type Answer<'py> = (Bound<'py, PyArray2<f64>>, usize, bool);

/// The Rust side of `itergnn.Model`.
#[pyclass(frozen, module = "itergnn._core")]
pub(crate) struct Model {
    pub(crate) inner: Arc<Inner>,
}

/// What is wrong with a model's input or file is the caller's to mend; values that overflow and trainings that diverge
/// are not.
pub(crate) fn fault(error: Error) -> Fault {
    match error {
        Error::NotFinite { .. } => Fault::failed(error),
        Error::Train(error) => crate::training::fault(error),
        _ => Fault::input(error),
    }
}

fn options(max_iterations: Option<usize>) -> RunOptions {
    let options = RunOptions::inference();
    max_iterations.map_or(options, |cap| options.with_cap(cap))
}

#[pymethods]
impl Model {
    /// The model of a file or run directory.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guarded(|| {
            let inner = work(py, move |_| Inner::load(&path).map_err(fault))?;
            Ok(Self { inner: Arc::new(inner) })
        })
    }

    /// Writes the model into a `.safetensors` file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        guarded(|| {
            let model = Arc::clone(&self.inner);
            work(py, move |_| model.save(&path).map_err(Fault::failed))
        })
    }

    /// Values, iterations and whether a cap ended the loop, for every graph.
    #[pyo3(signature = (graphs, max_iterations=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        graphs: Vec<PyRef<'py, Graph>>,
        max_iterations: Option<usize>,
    ) -> PyResult<Vec<Answer<'py>>> {
        guarded(|| {
            let model = Arc::clone(&self.inner);
            let graphs: Vec<_> = graphs.iter().map(|graph| Arc::clone(&graph.inner)).collect();
            let answers = work(py, move |stop| {
                let mut parts: Vec<Vec<&itergnn::graph::Graph>> = Vec::new();
                let mut held = TOGETHER;
                for graph in &graphs {
                    held += graph.nodes() + graph.edges();
                    match parts.last_mut().filter(|_| held < TOGETHER) {
                        Some(part) => part.push(graph),
                        None => {
                            held = graph.nodes() + graph.edges();
                            parts.push(vec![graph]);
                        }
                    }
                }
                let predict = |part: &Vec<&itergnn::graph::Graph>| {
                    if stop.load(Ordering::Relaxed) {
                        return Err(Fault::failed("interrupted"));
                    }
                    model.predict_many(part, &options(max_iterations)).map_err(fault)
                };
                let answers = parts.par_iter().map(predict).collect::<Result<Vec<_>, _>>()?;
                let level = model.config().widths().readout.level();
                let give = |(graph, answer): (&Arc<itergnn::graph::Graph>, itergnn::Answer)| {
                    let (iterations, capped) = (answer.iterations, answer.capped);
                    (rows(level, graph, answer), iterations, capped)
                };
                Ok(graphs.iter().zip(answers.into_iter().flatten()).map(give).collect::<Vec<_>>())
            })?;
            let give = |(rows, iterations, capped): (Vec<Vec<f64>>, usize, bool)| {
                let width = rows.first().map_or(0, Vec::len);
                Ok((table(py, rows.len(), width, rows.concat())?, iterations, capped))
            };
            answers.into_iter().map(give).collect()
        })
    }

    /// One dictionary per block: `step`, `confidence`, `remaining` and `change` per step; `norm` and `channel` have a
    /// list of nodes per step.
    #[pyo3(signature = (graph, channel, max_iterations=None))]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        graph: &Graph,
        channel: usize,
        max_iterations: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        guarded(|| {
            let (model, graph) = (Arc::clone(&self.inner), Arc::clone(&graph.inner));
            let traces = work(py, move |_| {
                let watch = NodeWatch { channel, every: 1 };
                let answer = model.predict_with(&graph, &options(max_iterations).with_watch(watch)).map_err(fault)?;
                Ok(answer.traces)
            })?;
            traces.iter().map(|trace| block(py, trace)).collect()
        })
    }

    /// The path (or `None`), its length, the predicted length, iterations of that prediction, and predictions that were
    /// needed.
    fn solve(&self, py: Python<'_>, graph: &Graph, source: u32, target: u32) -> PyResult<Solved> {
        guarded(|| {
            let (model, graph) = (Arc::clone(&self.inner), Arc::clone(&graph.inner));
            work(py, move |_| {
                let found = model.solve(&graph, source, target).map_err(fault)?;
                let path = found.path.map(|path| (path.nodes, path.length));
                Ok((path, found.predicted_length, found.iterations, found.predictions))
            })
        })
    }

    /// The report of `itergnn eval`, as a dictionary.
    #[pyo3(signature = (settings, count, seed, success, max_iterations=None, device="cpu"))]
    fn evaluate<'py>(
        &self,
        settings: &Bound<'py, PyDict>,
        count: u64,
        seed: u64,
        success: bool,
        max_iterations: Option<usize>,
        device: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| {
            let py = settings.py();
            let (model, spec, on_card) = (Arc::clone(&self.inner), task_spec(settings)?, is_card(device)?);
            let text = work(py, move |_| {
                let options = EvalOptions { success, cap: max_iterations, ..EvalOptions::default() };
                let report = if on_card {
                    let card = CardPredictor::new(model.network()).map_err(crate::training::fault)?;
                    evaluate(&card, &spec, count, seed, &options, &mut |_| {}).map_err(crate::training::fault)?
                } else {
                    model.evaluate(&spec, count, seed, &options).map_err(fault)?
                };
                serde_json::to_string(&report).map_err(Fault::failed)
            })?;
            from_json(py, &text)
        })
    }

    /// Weights by name.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| {
            let parameters = PyDict::new(py);
            for (name, tensor) in named_tensors(self.inner.network()) {
                let flat = table(py, 1, tensor.values.len(), tensor.values)?;
                parameters.set_item(name, flat.call_method1("reshape", (tensor.shape,))?)?;
            }
            Ok(parameters)
        })
    }

    /// The network's settings, as in the file.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| from_json(py, &serde_json::to_string(self.inner.config()).map_err(Fault::failed)?))
    }

    /// Name, task, seed and training record.
    #[getter]
    fn card<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| from_json(py, &serde_json::to_string(self.inner.card()).map_err(Fault::failed)?))
    }

    /// The architecture in one line.
    fn describe(&self) -> PyResult<String> {
        guarded(|| Ok(self.inner.architecture()))
    }
}

/// A path with its length, the predicted length, iterations, predictions.
type Solved = (Option<(Vec<u32>, f64)>, f64, usize, usize);

/// The steps of a block side by side.
fn block<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let block = PyDict::new(py);
    block.set_item("step", trace.steps.iter().map(|at| at.step).collect::<Vec<_>>())?;
    block.set_item("confidence", trace.steps.iter().map(|at| at.confidence.clone()).collect::<Vec<_>>())?;
    block.set_item("remaining", trace.steps.iter().map(|at| at.remaining.clone()).collect::<Vec<_>>())?;
    block.set_item("change", trace.steps.iter().map(|at| at.change.first().copied()).collect::<Vec<_>>())?;
    let nodes = || trace.steps.iter().filter_map(|at| at.nodes.as_ref());
    block.set_item("norm", nodes().map(|at| at.norm.clone()).collect::<Vec<_>>())?;
    block.set_item("channel", nodes().map(|at| at.channel.clone()).collect::<Vec<_>>())?;
    Ok(block)
}
