//! Random and regular graphs.

use itergnn::graph::{generators::Generator, rng};
use pyo3::{prelude::*, types::PyDict};
use rayon::prelude::*;

use crate::{
    errors::Fault,
    graph::Graph,
    work::{guarded, work},
};

/// The generator of a name with its settings; `itergnn.generators` has a function for each.
fn named(name: &str, settings: &Bound<'_, PyDict>) -> Result<Generator, Fault> {
    let mut generator: Generator = name.parse().map_err(Fault::input)?;
    for (key, value) in settings {
        let key: String = key.extract()?;
        match (&mut generator, key.as_str()) {
            (Generator::Er { p, .. }, "p") => *p = value.extract()?,
            (Generator::Er { directed, .. }, "directed") => *directed = value.extract()?,
            (Generator::Knn { dimension, .. }, "dimension") => *dimension = value.extract()?,
            (Generator::Knn { k, .. }, "k") => *k = value.extract()?,
            (Generator::Lobster { p1, .. }, "p1") => *p1 = value.extract()?,
            (Generator::Lobster { p2, .. }, "p2") => *p2 = value.extract()?,
            (Generator::Regular { degree }, "degree") => *degree = value.extract()?,
            _ => return Err(Fault::input(format!("generator {name}: there is no setting '{key}'"))),
        }
    }
    Ok(generator)
}

/// Graphs `0..count` of a seed: graph i is drawn from stream i, so it depends neither on `count` nor on threads.
#[pyfunction]
#[pyo3(signature = (name, size, count, seed, **settings))]
pub(crate) fn generate(
    py: Python<'_>,
    name: &str,
    size: usize,
    count: u64,
    seed: u64,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Graph>> {
    guarded(|| {
        let generator = match settings {
            Some(settings) => named(name, settings)?,
            None => named(name, &PyDict::new(py))?,
        };
        work(py, move |_| {
            let draw = |index| generator.generate(size, &mut rng::sample(seed, index)).map(Graph::new);
            (0..count).into_par_iter().map(draw).collect::<Result<_, _>>().map_err(Fault::input)
        })
    })
}
