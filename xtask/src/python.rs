//! The Python package: its wheel and its tests, in a virtual environment of their own.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{check::cargo, say};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const MANIFEST: &str = "crates/itergnn-py/Cargo.toml";

/// What makes clippy look at the crate while its wheel is built: a check beforehand would read all of Burn a second
/// time. The second is how `cargo clippy -- -D warnings` passes its arguments on.
const LINTS: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")];

/// Formatting and lints of the crate, its wheel in the dev profile, and pytest in a fresh environment with that wheel
/// and pinned versions of everything else.
pub(crate) fn test() -> Result<()> {
    cargo(&["fmt", "--manifest-path", MANIFEST, "--check"], &[])?;
    let environment = Environment::fresh("target/python-tests")?;
    environment.install(&["-r", "crates/itergnn-py/requirements-test.txt"])?;
    let wheel = environment.build_wheel("dev", "target/wheels/dev", &LINTS)?;
    let wheel = wheel.to_str().context("a path that is no text")?;
    environment.install(&["--no-deps", "--force-reinstall", wheel])?;
    let config = "crates/itergnn-py/pyproject.toml";
    environment.run("pytest", &["-c", config, "--pyargs", "crates/itergnn-py/tests", "itergnn"], &[])
}

/// What CI runs: [`test()`], where there is a Python that can make environments; else a line that says what is missing.
pub(crate) fn test_where_possible() -> Result<()> {
    match Maker::find() {
        Ok(_) => test(),
        Err(missing) => {
            say(&format!("==> the Python package is NOT tested: {missing}"));
            Ok(())
        }
    }
}

/// The wheel for others, in `target/wheels`; it works with every Python from 3.10 on.
pub(crate) fn wheel() -> Result<()> {
    let environment = Environment::fresh("target/python-wheel")?;
    environment.install(&["-r", "crates/itergnn-py/requirements-build.txt"])?;
    let wheel = environment.build_wheel("release", "target/wheels", &[])?;
    say(&format!("    {}", wheel.display()));
    Ok(())
}

/// How virtual environments are made here.
struct Maker {
    python: String,
    /// Whether the environment gets a pip of its own; Debian has that in a package apart, but the system's pip can
    /// install into an environment without one.
    with_pip: bool,
}

impl Maker {
    /// The Python in `ITERGNN_PYTHON`, or `python3`.
    fn find() -> Result<Self> {
        let python = std::env::var("ITERGNN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let can = |program: &str| {
            let status =
                Command::new(&python).args(["-c", program]).stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        if !can("import sys; sys.exit(sys.version_info < (3, 10))") {
            bail!("there is no `{python}` of version 3.10 or later; install one, or name it in ITERGNN_PYTHON");
        }
        let with_pip = can("import venv, ensurepip");
        if !with_pip && !can("import venv, pip") {
            bail!(
                "`{python}` can make no virtual environments; on Debian `apt install python3-venv` adds what is missing"
            );
        }
        Ok(Self { python, with_pip })
    }
}

/// A Python virtual environment.
struct Environment {
    folder: &'static str,
    maker: Maker,
}

impl Environment {
    /// An empty environment.
    fn fresh(folder: &'static str) -> Result<Self> {
        let maker = Maker::find()?;
        let pip: &[&str] = if maker.with_pip { &[] } else { &["--without-pip"] };
        run(&maker.python, &[&["-m", "venv", "--clear", folder], pip].concat(), &[])?;
        Ok(Self { folder, maker })
    }

    /// Installs packages.
    fn install(&self, what: &[&str]) -> Result<()> {
        let inside = format!("{ROOT}/{}/bin/python", self.folder);
        let outside = ["-m", "pip", "--python", &inside];
        let (program, pip) = if self.maker.with_pip {
            (inside.as_str(), &outside[..2])
        } else {
            (self.maker.python.as_str(), &outside[..])
        };
        let done = run(program, &[pip, &["install", "--quiet", "--disable-pip-version-check"], what].concat(), &[]);
        done.context("the Python package is tested with packages of PyPI; it must be reachable for that")
    }

    /// Runs a program of the environment.
    fn run(&self, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        run(&format!("{ROOT}/{}/bin/{program}", self.folder), arguments, variables)
    }

    /// Builds the wheel and says where it is.
    fn build_wheel(&self, profile: &str, out: &str, variables: &[(&str, &str)]) -> Result<PathBuf> {
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
            variables,
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
fn run(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    say(&format!("==> {line}"));
    let started = Instant::now();
    let mut command = Command::new(program);
    let status = command.args(arguments).envs(variables.iter().copied()).current_dir(ROOT).status();
    let status = status.with_context(|| format!("could not run `{line}`"))?;
    ensure!(status.success(), "`{line}` failed");
    say(&format!("    done in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}
