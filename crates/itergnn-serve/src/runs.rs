//! Run directories, as they lie in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use itergnn::train::RunDirectory;
use serde::Serialize;
use serde_json::Value;

use crate::error::ApiError;

/// Most runs that are listed.
const MOST: usize = 500;

/// How deep a run may lie below the folder: table, experiment, seed.
const DEPTH: usize = 4;

/// Longest configuration or result that is shown.
const TEXT_LIMIT: u64 = 1 << 20;

/// The runs of a folder.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    folder: Option<PathBuf>,
}

/// A run, as the list shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunSummary {
    /// The path below the folder, with `/`.
    pub(crate) name: String,
    pub(crate) task: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) seed: Option<i64>,
    /// Whether a result was written.
    pub(crate) finished: bool,
    /// Whether there is a model to try.
    pub(crate) has_model: bool,
    /// When the metrics last grew, in seconds since 1970.
    pub(crate) changed: Option<u64>,
}

/// Everything about a run but its curves.
#[derive(Debug, Serialize)]
pub(crate) struct RunDetails {
    #[serde(flatten)]
    summary: RunSummary,
    /// The configuration file.
    config: Option<String>,
    /// The result, if there is one.
    result: Option<Value>,
    /// Versions, device, machine of every start.
    starts: Option<Value>,
}

impl Runs {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Every run below the folder, by name.
    pub(crate) fn list(&self) -> Vec<RunSummary> {
        let mut found: Vec<RunSummary> = self.directories().iter().map(|(name, path)| summary(name, path)).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Names and directories. What a request names is looked up here and never joined to a path.
    fn directories(&self) -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        if let Some(folder) = &self.folder {
            collect(folder, "", DEPTH, &mut found);
        }
        found
    }

    fn directory(&self, name: &str) -> Result<PathBuf, ApiError> {
        let found = self.directories().into_iter().find(|(known, _)| known == name);
        found.map(|(_, path)| path).ok_or_else(|| ApiError::not_found("run", name))
    }

    /// Configuration, result and starts of a run.
    ///
    /// # Errors
    /// 404 if there is none of that name.
    pub(crate) fn details(&self, name: &str) -> Result<RunDetails, ApiError> {
        let path = self.directory(name)?;
        let read = |file: &str| read_text(&path.join(file));
        let value = |file: &str| read(file).and_then(|text| serde_json::from_str(&text).ok());
        Ok(RunDetails {
            summary: summary(name, &path),
            config: read("config.toml"),
            result: value("result.json"),
            starts: value("run.json"),
        })
    }

    /// The file with the curves of a run.
    ///
    /// # Errors
    /// 404 if there is none.
    pub(crate) fn metrics_file(&self, name: &str) -> Result<PathBuf, ApiError> {
        let file = self.directory(name)?.join("metrics.jsonl");
        if file.is_file() { Ok(file) } else { Err(ApiError::not_found("file of metrics in a run", name)) }
    }

    /// The models of runs that have one: the run's name and the file.
    pub(crate) fn models(&self) -> Vec<(String, PathBuf)> {
        let with_model = |(name, path): (String, PathBuf)| best_model(&path).map(|file| (name, file));
        self.directories().into_iter().filter_map(with_model).collect()
    }

    /// The reports in the folder: name and file.
    pub(crate) fn reports(&self) -> Vec<(String, PathBuf)> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let own = std::iter::once(("report".to_owned(), folder.join("report.html")));
        let below = subfolders(folder).into_iter().map(|(name, path)| (name, path.join("report.html")));
        own.chain(below).filter(|(_, file)| file.is_file()).collect()
    }
}

/// Where a run keeps the model of its best state.
fn best_model(run: &Path) -> Option<PathBuf> {
    Some(RunDirectory::best_model_in(run)).filter(|file| file.is_file())
}

fn is_run(path: &Path) -> bool {
    path.join("metrics.jsonl").is_file() || path.join("config.toml").is_file()
}

/// The folders in a folder, links left out: nothing outside the folder is ever read.
fn subfolders(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<_> =
        folders.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect();
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    for (name, path) in subfolders(folder) {
        if found.len() >= MOST {
            return;
        }
        let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if depth > 1 {
            collect(&path, &name, depth - 1, found);
        }
        if is_run(&path) {
            found.push((name, path));
        }
    }
}

fn read_text(path: &Path) -> Option<String> {
    let length = fs::metadata(path).ok()?.len();
    (length <= TEXT_LIMIT).then(|| fs::read_to_string(path).ok())?
}

fn summary(name: &str, path: &Path) -> RunSummary {
    let config = read_text(&path.join("config.toml")).and_then(|text| text.parse::<toml::Table>().ok());
    let config = config.unwrap_or_default();
    let text = |value: Option<&toml::Value>, key: &str| match value {
        Some(toml::Value::String(name)) => Some(name.clone()),
        Some(toml::Value::Table(table)) => table.get(key).and_then(toml::Value::as_str).map(str::to_owned),
        _ => None,
    };
    let playing = config.contains_key("game").then(|| "pacman".to_owned());
    let changed = fs::metadata(path.join("metrics.jsonl")).and_then(|data| data.modified()).ok();
    RunSummary {
        name: name.to_owned(),
        task: text(config.get("task"), "task").or(playing),
        model: text(config.get("model"), "name"),
        seed: config.get("seed").and_then(toml::Value::as_integer),
        finished: path.join("result.json").is_file(),
        has_model: best_model(path).is_some(),
        changed: changed.and_then(|time| Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path, name: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.join("checkpoints")).unwrap();
        let config = "seed = 3\n[task]\ntask = \"shortest-path\"\n[model]\nname = \"iter-homo-path\"\n";
        fs::write(path.join("config.toml"), config).unwrap();
        fs::write(path.join("metrics.jsonl"), "{}\n").unwrap();
    }

    #[test]
    fn runs_are_found_below_the_folder_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), "inside/lobster");
        run(folder.path(), "inside/table/seed-0");
        run(folder.path(), "outside");
        let runs = Runs::new(Some(folder.path().join("inside")));
        let names: Vec<String> = runs.list().into_iter().map(|run| run.name).collect();
        assert_eq!(names, ["lobster", "table/seed-0"]);
        let found = &runs.list()[0];
        assert_eq!((found.task.as_deref(), found.seed), (Some("shortest-path"), Some(3)));
        for name in ["../outside", "..", "", "/", "inside", "lobster/../../outside", "lobster/checkpoints"] {
            assert!(runs.details(name).is_err(), "{name}");
            assert!(runs.metrics_file(name).is_err(), "{name}");
        }
        assert!(runs.details("table/seed-0").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), "outside");
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), inside.join("link")).unwrap();
        assert!(Runs::new(Some(inside)).list().is_empty());
    }
}
