//! The exact solvers.

use std::sync::{Arc, atomic::Ordering};

use itergnn::graph::solvers::{
    components as union_find, dijkstra,
    tsp::{DistanceMatrix, TspOptions, solve},
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{
    errors::Fault,
    graph::Graph,
    work::{guarded, work},
};

/// The nodes of a shortest path and its length, or `None` where there is no path. Weights are in the order of the
/// edges.
#[pyfunction]
#[pyo3(signature = (graph, source, target, weights=None))]
pub(crate) fn shortest_path(
    py: Python<'_>,
    graph: &Graph,
    source: u32,
    target: u32,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Option<(Vec<u32>, f64)>> {
    guarded(|| {
        let weights = graph.weights(weights)?;
        let graph = Arc::clone(&graph.inner);
        work(py, move |_| {
            let path = dijkstra::shortest_path(&graph, &weights, source, target).map_err(Fault::input)?;
            Ok(path.map(|path| (path.nodes, path.length)))
        })
    })
}

/// The component of every node, counted from 0 in the order of their smallest nodes.
#[pyfunction]
pub(crate) fn components<'py>(py: Python<'py>, graph: &Graph) -> PyResult<Bound<'py, PyArray1<i64>>> {
    guarded(|| {
        let graph = Arc::clone(&graph.inner);
        let labels = work(py, move |_| Ok(union_find::labels(&graph)))?;
        Ok(labels.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py))
    })
}

/// The order, the length, a lower bound of any tour's length, and whether the two are proven equal, of a matrix of
/// whole distances.
#[pyfunction]
#[pyo3(signature = (distances, node_limit=None))]
pub(crate) fn tour(
    py: Python<'_>,
    distances: PyReadonlyArray2<'_, i64>,
    node_limit: Option<u64>,
) -> PyResult<(Vec<u32>, i64, i64, bool)> {
    guarded(|| {
        let distances = distances.as_array();
        if distances.nrows() != distances.ncols() {
            let found = format!("{} x {}", distances.nrows(), distances.ncols());
            return Err(Fault::input(format!("distances: expected a square matrix, found {found}")).into());
        }
        let matrix =
            DistanceMatrix::from_fn(distances.nrows(), |from, to| distances[[from, to]]).map_err(Fault::input)?;
        work(py, move |stop| {
            let stops = || stop.load(Ordering::Relaxed);
            let solution = solve(&matrix, &TspOptions { node_limit, stop: Some(&stops), ..TspOptions::default() });
            Ok((solution.tour, solution.length, solution.lower_bound, solution.proven))
        })
    })
}
