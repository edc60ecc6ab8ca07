//! The steps of CI.

use std::{path::Path, process::Command, time::Instant};

use anyhow::{Context, Result, ensure};

use crate::{ROOT, architecture, python, say, web};

/// All steps, cheapest first.
pub(crate) fn everything() -> Result<()> {
    architecture::check()?;
    lint()?;
    test()?;
    web::everything()?;
    python::test_where_possible()
}

/// Formatting, clippy and documentation; a warning fails.
///
/// With the examples documentation sees the same features as clippy and the tests; without them cargo leaves out what
/// only tests use, and reads all of Burn once more for the difference.
pub(crate) fn lint() -> Result<()> {
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &[])?;
    let documented = ["--lib", "--bin", "xtask", "--examples"];
    let arguments = [&["doc", "--workspace", "--no-deps", "--locked"], &documented[..]].concat();
    cargo(&arguments, &[("RUSTDOCFLAGS", "-D warnings")])
}

/// Unit tests, laws, golden values, command-line tests and documentation examples, all in the dev profile, so that
/// nothing is built twice.
pub(crate) fn test() -> Result<()> {
    let libraries = cuda_compiler();
    let environment = libraries.as_deref().map(|path| ("LD_LIBRARY_PATH", path));
    cargo(&["test", "--workspace", "--locked"], environment.as_slice())
}

/// Where the CUDA compiler of a Python package was put, so that a test can compile the kernels without a card; `None`
/// where there is no such package.
fn cuda_compiler() -> Option<String> {
    let folder = &format!("{ROOT}/target/nvrtc");
    let library = format!("{folder}/nvidia/cu13/lib");
    if !Path::new(&library).is_dir() {
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--retries", "0", "--timeout", "10"];
        let status =
            Command::new("python3").args(install).args(["--target", folder, "nvidia-cuda-nvrtc==13.0.88"]).status();
        if !status.is_ok_and(|status| status.success()) || !Path::new(&library).is_dir() {
            say("    the CUDA kernels are not compiled: python3 with pip and PyPI are needed for that");
            return None;
        }
    }
    Some(std::env::var("LD_LIBRARY_PATH").map_or(library.clone(), |path| format!("{path}:{library}")))
}

/// Runs cargo from the workspace root and fails with it.
pub(crate) fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let line = format!("cargo {}", arguments.join(" "));
    say(&format!("==> {line}"));
    let started = Instant::now();
    let status = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(ROOT)
        .status()
        .with_context(|| format!("could not run `{line}`"))?;
    ensure!(status.success(), "`{line}` failed");
    say(&format!("    done in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}
