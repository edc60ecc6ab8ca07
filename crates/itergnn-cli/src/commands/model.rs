//! Loading a model: a `.safetensors` file or a run directory.

use std::path::Path;

use itergnn::{
    Model,
    nn::{GnnModel, store::ModelCard},
};

use crate::failure::Failure;

/// The model of a file, or the best one of a run directory.
pub(crate) fn load(path: &Path) -> Result<(GnnModel, ModelCard), Failure> {
    let model = Model::load(path).map_err(Failure::bad_input)?;
    Ok((model.network().clone(), model.card().clone()))
}
