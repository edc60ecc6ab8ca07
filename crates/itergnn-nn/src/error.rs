//! What can go wrong.

/// An error of this crate: wrong configuration or wrong user data.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting of a layer or module makes no sense alone or together with another one.
    #[error("{module}: {problem}")]
    Config {
        /// The module or layer the setting belongs to, such as `gat`.
        module: &'static str,
        /// What is wrong, with the values found.
        problem: String,
    },
    /// The arrays that describe a graph do not fit together.
    #[error("graph: {0}")]
    Graph(String),
}

impl Error {
    pub(crate) fn config(module: &'static str, problem: impl Into<String>) -> Self {
        Self::Config { module, problem: problem.into() }
    }
}
