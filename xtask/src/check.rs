//! The steps of CI.

use std::{process::Command, time::Instant};

use anyhow::{Context, Result, ensure};

use crate::{architecture, say, web};

/// All steps, cheapest first.
pub(crate) fn everything() -> Result<()> {
    architecture::check()?;
    lint()?;
    test()?;
    web::everything()
}

/// Formatting, clippy and documentation; a warning fails.
pub(crate) fn lint() -> Result<()> {
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &[])?;
    cargo(&["doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")])
}

/// Unit tests, laws, golden values, command-line tests and documentation examples, all in the dev profile, so that nothing is built twice.
pub(crate) fn test() -> Result<()> {
    cargo(&["test", "--workspace", "--locked"], &[])
}

/// Runs cargo from the workspace root and fails with it.
pub(crate) fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let line = format!("cargo {}", arguments.join(" "));
    say(&format!("==> {line}"));
    let started = Instant::now();
    let status = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()
        .with_context(|| format!("could not run `{line}`"))?;
    ensure!(status.success(), "`{line}` failed");
    say(&format!("    done in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}
