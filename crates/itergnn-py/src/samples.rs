//! Labelled samples of the paper's tasks.

use std::sync::atomic::Ordering;

use itergnn::tasks::{Sample as Inner, Samples, Split, TaskSpec};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    arrays::table,
    errors::Fault,
    graph::Graph,
    work::{guarded, work},
};

/// A labelled graph of one of the paper's tasks: `graph`, `target`, and what the task knows besides in `fields`.
#[pyclass(frozen, module = "itergnn")]
pub(crate) struct Sample {
    inner: Inner,
    graph: Py<Graph>,
}

#[pymethods]
impl Sample {
    /// The name of the task.
    #[getter]
    fn task(&self) -> PyResult<&'static str> {
        guarded(|| Ok(self.inner.task.name()))
    }

    /// The size that was drawn: the generator's n, not the number of nodes.
    #[getter]
    fn size(&self) -> PyResult<u32> {
        guarded(|| Ok(self.inner.size))
    }

    /// The model's input.
    #[getter]
    fn graph(&self, py: Python<'_>) -> PyResult<Py<Graph>> {
        guarded(|| Ok(self.graph.clone_ref(py)))
    }

    /// What the model should say: `[1, outputs]` for the graph, or one row for each of `target_nodes`.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        guarded(|| {
            let outputs = self.inner.outputs();
            table(py, self.inner.target.len() / outputs.max(1), outputs, self.inner.target.clone())
        })
    }

    /// The nodes that the rows of the target belong to; empty when the target belongs to the graph.
    #[getter]
    fn target_nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        guarded(|| {
            let nodes = self.inner.target_nodes.iter().map(|&node| i64::from(node));
            Ok(nodes.collect::<Vec<_>>().into_pyarray(py))
        })
    }

    /// What else is known, such as `source` and `target_node`; a model does not see it.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| from_json(py, &serde_json::to_string(&self.inner.fields).map_err(Fault::failed)?))
    }

    /// The sample as one line of the command line's format: what `itergnn sample` writes and training on own data
    /// reads.
    fn to_json(&self) -> PyResult<String> {
        guarded(|| Ok(serde_json::to_string(&self.inner).map_err(Fault::failed)?))
    }

    fn __repr__(&self) -> PyResult<String> {
        guarded(|| {
            let graph = &self.inner.graph;
            Ok(format!(
                "Sample({}, size={}, nodes={}, edges={})",
                self.inner.task,
                self.inner.size,
                graph.nodes(),
                graph.edges()
            ))
        })
    }
}

/// JSON as Python objects, by Python's own reader.
pub(crate) fn from_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// Settings of a task that a dictionary gives, as a configuration file would.
pub(crate) fn task_spec(settings: &Bound<'_, PyDict>) -> Result<TaskSpec, Fault> {
    let text: String = settings.py().import("json")?.call_method1("dumps", (settings,))?.extract()?;
    serde_json::from_str(&text).map_err(Fault::input)
}

/// Samples `0..count` of a split. `settings` has the task's name under `task` and its settings beside it, as in a
/// configuration file.
#[pyfunction]
pub(crate) fn sample(
    py: Python<'_>,
    settings: &Bound<'_, PyDict>,
    count: u64,
    seed: u64,
    split: &str,
) -> PyResult<Vec<Sample>> {
    guarded(|| {
        let spec = task_spec(settings)?;
        let split: Split = split.parse().map_err(Fault::input)?;
        let samples: Vec<Inner> = work(py, move |stop| {
            let sampler = spec.sampler().map_err(Fault::input)?;
            if let Some(available) = sampler.count().filter(|&available| count > available) {
                return Err(Fault::input(format!("count {count}: the data set has {available} graphs")));
            }
            let samples = Samples::new(&*sampler, split.seed(seed), 0..count);
            samples.take_while(|_| !stop.load(Ordering::Relaxed)).collect::<Result<_, _>>().map_err(Fault::input)
        })?;
        let wrap = |inner: Inner| Ok(Sample { graph: Py::new(py, Graph::new(inner.graph.clone()))?, inner });
        samples.into_iter().map(wrap).collect()
    })
}
