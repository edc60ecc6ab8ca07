//! What cargo knows of the workspace: its crates, what they use, and where it builds.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The part of `cargo metadata` that the tasks need.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    /// The crates of the workspace.
    pub(crate) packages: Vec<Package>,
    /// Where cargo puts what it builds.
    pub(crate) target_directory: PathBuf,
}

/// A crate of the workspace.
#[derive(Deserialize)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// What it uses, for itself, its tests or its building.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A crate that another uses.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// Its name.
    pub(crate) name: String,
}

impl Metadata {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(crate::ROOT)
            .output()
            .context("could not run `cargo metadata`")?;
        ensure!(output.status.success(), "`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("what `cargo metadata` says is not understood")
    }
}
