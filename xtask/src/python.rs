//! The Python package: its wheel and its tests, in a virtual environment of their own.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use crate::{check::cargo, say};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const MANIFEST: &str = "crates/itergnn-py/Cargo.toml";

/// Formatting and lints of the crate, its wheel in the dev profile, and pytest in a fresh environment with that wheel and pinned versions of everything else.
pub(crate) fn test() -> Result<()> {
    cargo(&["fmt", "--manifest-path", MANIFEST, "--check"], &[])?;
    let target = ["--manifest-path", MANIFEST, "--target-dir", "target"];
    cargo(&[&["clippy"], &target[..], &["--", "-D", "warnings"]].concat(), &[])?;
    let environment = Environment::fresh("target/python-tests")?;
    environment.run("pip", &["install", "--quiet", "-r", "crates/itergnn-py/requirements-test.txt"])?;
    let wheel = environment.build_wheel("dev", "target/wheels/dev")?;
    let wheel = wheel.to_str().context("a path that is no text")?;
    environment.run("pip", &["install", "--quiet", "--no-deps", "--force-reinstall", wheel])?;
    let config = "crates/itergnn-py/pyproject.toml";
    environment.run("pytest", &["-c", config, "--pyargs", "crates/itergnn-py/tests", "itergnn"])
}

/// The wheel for others, in `target/wheels`; it works with every Python from 3.10 on.
pub(crate) fn wheel() -> Result<()> {
    let environment = Environment::fresh("target/python-wheel")?;
    environment.run("pip", &["install", "--quiet", "-r", "crates/itergnn-py/requirements-build.txt"])?;
    let wheel = environment.build_wheel("release", "target/wheels")?;
    say(&format!("    {}", wheel.display()));
    Ok(())
}

/// A Python virtual environment.
struct Environment {
    folder: &'static str,
}

impl Environment {
    /// An empty environment of the Python in `ITERGNN_PYTHON`, or of `python3`.
    fn fresh(folder: &'static str) -> Result<Self> {
        let python = std::env::var("ITERGNN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        run(&python, &["-m", "venv", "--clear", folder])?;
        Ok(Self { folder })
    }

    /// Runs a program of the environment.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<()> {
        run(&format!("{ROOT}/{}/bin/{program}", self.folder), arguments)
    }

    /// Builds the wheel and says where it is.
    fn build_wheel(&self, profile: &str, out: &str) -> Result<PathBuf> {
        let out = Path::new(ROOT).join(out);
        if out.is_dir() {
            // What lies there is of another version.
            for wheel in wheels(&out)? {
                std::fs::remove_file(&wheel).with_context(|| format!("could not remove {}", wheel.display()))?;
            }
        }
        let folder = out.to_str().context("a path that is no text")?;
        self.run(
            "maturin",
            &["build", "--manifest-path", MANIFEST, "--profile", profile, "--target-dir", "target", "--out", folder],
        )?;
        wheels(&out)?.pop().with_context(|| format!("maturin left no wheel in {folder}"))
    }
}

/// The wheels in a folder.
fn wheels(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let files = entries.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path());
    Ok(files.filter(|file| file.extension().is_some_and(|extension| extension == "whl")).collect())
}

/// Runs a program from the workspace root and fails with it.
fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    say(&format!("==> {line}"));
    let started = Instant::now();
    let status = Command::new(program).args(arguments).current_dir(ROOT).status();
    let status = status.with_context(|| format!("could not run `{line}`"))?;
    ensure!(status.success(), "`{line}` failed");
    say(&format!("    done in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}
