//! The models that can be asked, by name.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::assets::{CARDS, MODELS};
use crate::engine::Loaded;
use crate::engine::description::Description;
use crate::error::ApiError;
use crate::runs::Runs;

/// Models that are kept ready.
const KEPT: usize = 64;

/// Most models that are listed.
const MOST: usize = 300;

/// How the name of a run's model begins.
const RUN: &str = "run:";

/// The models of a folder, or those inside the binary, and those of runs.
pub(crate) struct Catalogue {
    folder: Option<PathBuf>,
    runs: Runs,
    ready: Mutex<HashMap<String, (Stamp, Arc<Loaded>)>>,
}

/// Where a model comes from.
enum Source {
    Inside(&'static [u8]),
    File(PathBuf),
}

/// What tells that a file is still the one that was read.
#[derive(PartialEq, Clone)]
struct Stamp(Option<(u64, SystemTime)>);

impl Catalogue {
    pub(crate) fn new(folder: Option<PathBuf>, runs: Runs) -> Self {
        Self { folder, runs, ready: Mutex::default() }
    }

    /// Every model that can be read, by name; a file that cannot is left out.
    pub(crate) fn list(&self) -> Vec<Description> {
        let mut sources = self.kept();
        sources.extend(self.trained());
        sources.truncate(MOST);
        let describe = |(name, source): &(String, Source)| {
            let from = match source {
                _ if name.starts_with(RUN) => "runs",
                Source::Inside(_) => "built-in",
                Source::File(_) => "models",
            };
            Some(self.open(name, source).ok()?.describe(name, from))
        };
        sources.iter().filter_map(describe).collect()
    }

    /// The model of a name.
    ///
    /// # Errors
    /// 404 if there is none; 500 if its file cannot be read.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Loaded>, ApiError> {
        let source = self.source(name).ok_or_else(|| ApiError::not_found("model", name))?;
        self.open(name, &source)
    }

    /// What is written about a model, Markdown.
    ///
    /// # Errors
    /// 404 if there is nothing.
    pub(crate) fn card(&self, name: &str) -> Result<String, ApiError> {
        let missing = || ApiError::not_found("card of a model", name);
        match self.source(name) {
            Some(Source::File(file)) => fs::read_to_string(file.with_extension("md")).map_err(|_| missing()),
            Some(Source::Inside(_)) => {
                let card = CARDS.iter().find(|card| card.name.strip_suffix(".md") == Some(name));
                card.map(|card| String::from_utf8_lossy(card.bytes).into_owned()).ok_or_else(missing)
            }
            None => Err(missing()),
        }
    }

    /// Where a name leads. It is looked up in the listings and never joined to a path; runs are only looked through for
    /// a run's model.
    fn source(&self, name: &str) -> Option<Source> {
        let listed = if name.starts_with(RUN) { self.trained() } else { self.kept() };
        listed.into_iter().find(|(known, _)| known == name).map(|(_, source)| source)
    }

    /// The models of the folder, or those inside the binary.
    fn kept(&self) -> Vec<(String, Source)> {
        let name = |name: &'static str| name.strip_suffix(".safetensors").unwrap_or(name).to_owned();
        match &self.folder {
            Some(folder) => in_folder(folder),
            None => MODELS.iter().map(|model| (name(model.name), Source::Inside(model.bytes))).collect(),
        }
    }

    /// The models of runs.
    fn trained(&self) -> Vec<(String, Source)> {
        let named = |(run, file): (String, PathBuf)| (format!("{RUN}{run}"), Source::File(file));
        self.runs.models().into_iter().map(named).collect()
    }

    fn open(&self, name: &str, source: &Source) -> Result<Arc<Loaded>, ApiError> {
        let stamp = source.stamp();
        {
            let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, loaded)) = ready.get(name).filter(|(known, _)| *known == stamp) {
                return Ok(Arc::clone(loaded));
            }
        }
        let loaded = Arc::new(match source {
            Source::Inside(bytes) => Loaded::from_bytes(bytes)?,
            Source::File(path) => Loaded::from_file(path)?,
        });
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= KEPT {
            ready.clear();
        }
        ready.insert(name.to_owned(), (stamp, Arc::clone(&loaded)));
        Ok(loaded)
    }
}

impl Source {
    fn stamp(&self) -> Stamp {
        Stamp(match self {
            Self::Inside(_) => None,
            Self::File(path) => fs::metadata(path).ok().and_then(|data| Some((data.len(), data.modified().ok()?))),
        })
    }
}

fn in_folder(folder: &Path) -> Vec<(String, Source)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "safetensors")).collect();
    files.sort();
    let name = |path: &PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    files.into_iter().filter_map(|path| Some((name(&path)?, Source::File(path)))).collect()
}
