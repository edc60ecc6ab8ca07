//! A trained player of Pacman.

use std::sync::Arc;

use itergnn::train::rl::ValuePlayer;
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::{
    arrays::table,
    errors::Fault,
    model::Model,
    pacman::Pacman,
    training::fault,
    work::{guarded, work},
};

/// The Rust side of `itergnn.gym.Agent`: a value network that sees games.
#[pyclass(frozen, module = "itergnn._core")]
pub(crate) struct Player {
    inner: Arc<ValuePlayer>,
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (model, symmetries=false))]
    fn new(model: &Model, symmetries: bool) -> Result<Self, Fault> {
        guarded(|| {
            let task = &model.inner.card().task;
            if task != "pacman" {
                return Err(Fault::input(format!("this model was trained on {task}, not to play pacman")));
            }
            let inner = ValuePlayer::new(model.inner.network()).with_symmetries(symmetries);
            Ok(Self { inner: Arc::new(inner) })
        })
    }

    /// The values of the four moves in each game, `[games, 4]`.
    fn values<'py>(&self, py: Python<'py>, games: Vec<PyRef<'py, Pacman>>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        guarded(|| {
            let player = Arc::clone(&self.inner);
            let games: Vec<_> = games.iter().map(|game| game.game.clone()).collect();
            let (count, rows) = (
                games.len(),
                work(py, move |_| {
                    let numbered: Vec<_> =
                        games.iter().enumerate().map(|(number, game)| (number as u64, game)).collect();
                    player.outputs(&numbered).map_err(fault)
                })?,
            );
            table(py, count, 4, rows.into_iter().flat_map(|(values, _, _)| values).collect())
        })
    }
}
