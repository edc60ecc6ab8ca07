//! Which set, and where it is.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use super::GraphClassificationSampler;
use crate::TaskError;

/// The settings of graph classification.
///
/// The set `NAME` is the file `DATA/NAME/NAME.txt` in the text format of the GIN paper, published in the dataset
/// archive of the powerful-gnns repository and in the data folder of the pytorch_DGCNN repository on GitHub. Fold
/// files, if wanted, are `DATA/NAME/10fold_idx/{train,test}_idx-K.txt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphClassificationSpec {
    /// The directory that holds a directory for each set.
    pub data: PathBuf,
    /// The set.
    pub dataset: DataSetName,
}

impl Default for GraphClassificationSpec {
    /// MUTAG below the directory `data`.
    fn default() -> Self {
        Self { data: PathBuf::from("data"), dataset: DataSetName("MUTAG".to_owned()) }
    }
}

impl GraphClassificationSpec {
    /// The file that holds the set.
    pub fn file(&self) -> PathBuf {
        self.directory().join(format!("{}.txt", self.dataset))
    }

    /// The directory of the published fold files.
    pub fn fold_directory(&self) -> PathBuf {
        self.directory().join("10fold_idx")
    }

    fn directory(&self) -> PathBuf {
        Path::new(&self.data).join(self.dataset.as_str())
    }

    /// Reads the set.
    ///
    /// # Errors
    /// [`TaskError::MissingDataSet`] if it is not there, [`TaskError::DataSet`] if it cannot be read.
    pub fn sampler(self) -> Result<GraphClassificationSampler, TaskError> {
        GraphClassificationSampler::new(self)
    }
}

/// The name of a set, which is also its file name.
///
/// The five sets of the paper are recognised in any case and under their usual abbreviations: `MUTAG`, `PTC`,
/// `PROTEINS`, `IMDBBINARY` (`IMDB-B`), `IMDBMULTI` (`IMDB-M`). Other sets in the same format keep the name as given.
///
/// # Example
/// ```
/// use itergnn_tasks::graph_classification::DataSetName;
/// assert_eq!("imdb-b".parse::<DataSetName>()?.as_str(), "IMDBBINARY");
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DataSetName(String);

impl DataSetName {
    /// The five sets of the paper, by file name and abbreviation.
    const PAPER: [(&'static str, &'static str); 5] = [
        ("MUTAG", "MUTAG"),
        ("PTC", "PTC"),
        ("PROTEINS", "PROTEINS"),
        ("IMDBBINARY", "IMDB-B"),
        ("IMDBMULTI", "IMDB-M"),
    ];

    /// The names of the five sets of the paper.
    pub fn paper() -> [Self; 5] {
        Self::PAPER.map(|(name, _)| Self(name.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DataSetName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl FromStr for DataSetName {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        let known = Self::PAPER
            .into_iter()
            .find(|(name, short)| text.eq_ignore_ascii_case(name) || text.eq_ignore_ascii_case(short));
        if let Some((name, _)) = known {
            return Ok(Self(name.to_owned()));
        }
        // The name becomes part of a path and must not lead elsewhere.
        let plain = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '-' || symbol == '_';
        if text.is_empty() || !text.chars().all(plain) {
            let expected = "letters, digits, '-' and '_', such as MUTAG or IMDB-B";
            return Err(TaskError::Parse { what: "data set", text: text.to_owned(), expected });
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for DataSetName {
    type Error = TaskError;

    fn try_from(text: String) -> Result<Self, TaskError> {
        text.parse()
    }
}

impl From<DataSetName> for String {
    fn from(name: DataSetName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_and_paths_are_not() {
        for (text, name) in [("mutag", "MUTAG"), ("IMDB-M", "IMDBMULTI"), ("NCI1", "NCI1")] {
            assert_eq!(text.parse::<DataSetName>().unwrap().as_str(), name);
        }
        for text in ["", "../x", "a/b", "a b", "."] {
            assert!(text.parse::<DataSetName>().is_err(), "{text}");
        }
        let spec = GraphClassificationSpec { data: "sets".into(), dataset: "ptc".parse().unwrap() };
        assert_eq!(spec.file(), Path::new("sets").join("PTC").join("PTC.txt"));
    }
}
