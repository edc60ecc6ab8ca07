//! The Python package: its tests and its wheel, each in a virtual environment of its own.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{ROOT, check::cargo, metadata::Metadata, say};

const MANIFEST: &str = "crates/itergnn-py/Cargo.toml";

/// Puts the package into the environment that runs it, as its wheel would: the Python files, the library given and what
/// a package says of itself.
const PUT: &str = r#"
import pathlib, shutil, subprocess, sys, sysconfig
library, manifest = sys.argv[1:]
site = pathlib.Path(sysconfig.get_path("purelib"))
files = pathlib.Path(manifest).with_name("python") / "itergnn"
shutil.copytree(files, site / "itergnn", ignore=shutil.ignore_patterns("__pycache__"))
shutil.copy(library, site / "itergnn" / ("_core.pyd" if sys.platform == "win32" else "_core.abi3.so"))
maturin = pathlib.Path(sysconfig.get_path("scripts")) / "maturin"
about = [maturin, "pep517", "write-dist-info", "--manifest-path", manifest, "--metadata-directory", site]
subprocess.run(about, check=True)
"#;

/// Pytest in a fresh environment with the package and pinned versions of everything else.
///
/// The package is built together with the tests of the other crates and in their profile: then cargo finds all of Burn
/// and our own crates built already. A wheel would choose features for itself and have all of that compiled again.
pub(crate) fn test() -> Result<()> {
    cargo(&["build", "--workspace", "--locked", "--lib", "--tests"], &[])?;
    let library = format!("{}itergnn_py{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = Metadata::read()?.target_directory.join("debug").join(library);
    let library = library.to_str().context("a path that is no text")?;
    let environment = Environment::fresh("target/python-tests")?;
    environment.install(&["-r", "crates/itergnn-py/requirements-test.txt"])?;
    environment.run("python", &["-c", PUT, library, MANIFEST])?;
    let config = "crates/itergnn-py/pyproject.toml";
    environment.run("pytest", &["-c", config, "--pyargs", "crates/itergnn-py/tests", "itergnn"])
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
    environment.run("maturin", &["build", "--manifest-path", MANIFEST, "--locked", "--out", "target/wheels"])
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
        run(&maker.python, &[&["-m", "venv", "--clear", folder], pip].concat())?;
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
        let done = run(program, &[pip, &["install", "--quiet", "--disable-pip-version-check"], what].concat());
        done.context("the Python package is tested with packages of PyPI; it must be reachable for that")
    }

    /// Runs a program of the environment.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<()> {
        run(&format!("{ROOT}/{}/bin/{program}", self.folder), arguments)
    }
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
