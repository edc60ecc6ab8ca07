//! Finding and loading a model: a `.safetensors` file or a run directory.

use std::path::{Path, PathBuf};

use itergnn::{
    graph::nearest_name,
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
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if !path.is_dir() {
        let hint = nearest(path).map_or(String::new(), |near| format!("; did you mean {}?", near.display()));
        return Err(Failure::bad_input(format!("{}: there is no such model{hint}", path.display())));
    }
    let best = RunDirectory::best_model_in(path);
    if best.is_file() {
        return Ok(best);
    }
    let why = format!("{}: there is no model in this folder; is it a run that has finished an epoch?", path.display());
    Err(Failure::bad_input(why))
}

/// The model whose name is nearest to one that does not exist: a `.safetensors` file or a run directory in the same folder, or in `models`.
fn nearest(path: &Path) -> Option<PathBuf> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let wanted = stem(path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = [parent, Path::new("models")].into_iter().filter_map(|folder| std::fs::read_dir(folder).ok());
    let is_model = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "safetensors")
            || RunDirectory::best_model_in(path).is_file()
    };
    let candidates = entries.flatten().filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_model);
    let mut named: Vec<(String, PathBuf)> = candidates.filter_map(|path| Some((stem(&path)?, path))).collect();
    named.sort();
    let near = nearest_name(&wanted, named.iter().map(|(name, _)| name))?.clone();
    named.into_iter().find(|(name, _)| *name == near).map(|(_, path)| path)
}
