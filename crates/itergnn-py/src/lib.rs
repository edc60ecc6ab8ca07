//! The Python package `itergnn`: a shell over the facade crate, like the command line.
//!
//! This crate is the module `itergnn._core`: what must be Rust. Everything that can be Python (other libraries' graph
//! objects, Gymnasium, scikit-learn, Ray) is in `python/itergnn`, which is also where the public names are. No logic of
//! the library is repeated here.
//!
//! - `errors`: what goes wrong becomes a Python exception, panics included.
//! - `work`: long calls run without the interpreter's lock and end at Ctrl-C.
//! - The other modules are one subject each.

mod answer;
mod arrays;
mod errors;
mod exact;
mod generators;
mod graph;
mod model;
mod pacman;
mod player;
mod reproduction;
mod samples;
mod training;
mod work;

use pyo3::prelude::*;

/// What of the package `itergnn` is Rust; `itergnn` has the public names.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::exact::{components, shortest_path, tour};
    #[pymodule_export]
    use crate::generators::generate;
    #[pymodule_export]
    use crate::graph::Graph;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::pacman::Pacman;
    #[pymodule_export]
    use crate::player::Player;
    #[pymodule_export]
    use crate::reproduction::{run_job, table_cells, table_jobs};
    #[pymodule_export]
    use crate::samples::{Sample, sample};
    #[pymodule_export]
    use crate::training::train_run;
    #[pymodule_export]
    use crate::work::panic_for_tests;
}
