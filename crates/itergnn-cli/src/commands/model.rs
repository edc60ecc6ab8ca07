//! Finding and loading a model: a `.safetensors` file or a run directory.

use std::path::{Path, PathBuf};

use itergnn::{
    nn::{
        Device, GnnModel,
        store::{self, ModelCard},
    },
    train::RunDirectory,
};

use crate::failure::Failure;

/// The model of a file, or the best one of a run directory.
pub(crate) fn load(path: &Path, device: &Device) -> Result<(GnnModel, ModelCard), Failure> {
    let file = file(path)?;
    store::load(&file, device).map_err(|error| {
        let (name, message) = (file.display().to_string(), error.to_string());
        // Some errors of the store name the file themselves.
        Failure::bad_input(if message.contains(&name) { message } else { format!("{name}: {message}") })
    })
}

fn file(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let best = RunDirectory::best_model_in(path);
    if best.is_file() {
        return Ok(best);
    }
    let why = format!("{}: there is no model in this folder; is it a run that has finished an epoch?", path.display());
    Err(Failure::bad_input(why))
}
