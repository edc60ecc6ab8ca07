//! The page of `itergnn serve`: building it, testing it in a browser, and the server under load.
//!
//! The built page is in the repository, so that nobody needs node to build itergnn; whoever changes the page does.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use crate::{ROOT, check::cargo, metadata::Metadata, say};

const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

fn folder() -> PathBuf {
    Path::new(ROOT).join("crates").join("itergnn-serve").join("web")
}

/// Compiles the page's TypeScript into `dist`.
pub(crate) fn build() -> Result<()> {
    require(&["node", "npm"])?;
    install()?;
    let dist = folder().join("dist");
    if dist.is_dir() {
        fs::remove_dir_all(&dist)?;
    }
    compile(&dist)
}

/// Fails unless the page in the repository is what its sources give.
pub(crate) fn check() -> Result<()> {
    require(&["node", "npm"])?;
    install()?;
    let fresh = folder().join("node_modules").join(".fresh");
    compile(&fresh)?;
    let (built, committed) = (files(&fresh)?, files(&folder().join("dist"))?);
    fs::remove_dir_all(&fresh)?;
    for (name, text) in &built {
        let same = committed.iter().any(|(known, other)| known == name && other == text);
        ensure!(same, "web/dist/{name} is not what its source gives; run `cargo xtask web` and commit");
    }
    ensure!(built.len() == committed.len(), "web/dist has files without a source; run `cargo xtask web` and commit");
    say(&format!("==> web: the {} built files are current", built.len()));
    Ok(())
}

/// Drives the page in a real browser.
pub(crate) fn browser() -> Result<()> {
    require(&["node", "npm", "chromium"])?;
    install()?;
    // The program as the tests build it, so that nothing is built twice.
    cargo(&["test", "--workspace", "--locked", "--no-run"], &[])?;
    let program = Metadata::read()?.target_directory.join("debug").join("itergnn");
    say("==> node tests/run.mjs");
    run(Command::new("node").arg("tests/run.mjs").env("ITERGNN", program).current_dir(folder()))
}

/// What CI runs. Where node or a browser is neither there nor can be installed, it says what was left out.
pub(crate) fn everything() -> Result<()> {
    match require(&["node", "npm", "chromium"]).and_then(|()| install()) {
        Ok(()) => check().and_then(|()| browser()),
        Err(error) => {
            say(&format!("==> web: the page is NOT tested here: {error:#}"));
            Ok(())
        }
    }
}

/// Sixty-four clients for half a minute. On an idle machine only.
pub(crate) fn load() -> Result<()> {
    cargo(&["test", "--workspace", "--locked", "--test", "load", "--", "--ignored", "--nocapture"], &[])
}

/// Finds programs, or installs them from the system's packages if this user may.
fn require(programs: &[&str]) -> Result<()> {
    let missing = |program: &&&str| match **program {
        "chromium" => env::var_os("CHROMIUM").is_none() && !BROWSERS.iter().any(|path| Path::new(path).exists()),
        other => !has(other),
    };
    let wanted: Vec<&str> = programs.iter().filter(missing).copied().collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> =
        wanted.iter().map(|program| if *program == "node" { "nodejs" } else { program }).collect();
    let advice = format!("install {} (or set CHROMIUM to a browser)", packages.join(", "));
    ensure!(may_install(), "{advice}");
    say(&format!("==> apt-get install {}", packages.join(" ")));
    let apt =
        |arguments: &[&str]| run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "-qq"]).context(advice.clone())?;
    apt(&[&["install", "-y", "-qq", "--no-install-recommends"], &packages[..]].concat()).context(advice.clone())?;
    ensure!(!programs.iter().any(|program| missing(&program)), "the system's packages did not bring them: {advice}");
    Ok(())
}

/// Whether there is a package manager that this user may use.
fn may_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    has("apt-get") && user.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// What the lock file names, from whichever registry npm is set to.
fn install() -> Result<()> {
    let lock = folder().join("package-lock.json");
    let done = folder().join("node_modules").join(".package-lock.json");
    let age = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    if age(&done).is_some_and(|done| age(&lock).is_some_and(|lock| done >= lock)) {
        return Ok(());
    }
    say("==> npm ci");
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(folder()))
}

fn compile(target: &Path) -> Result<()> {
    let tsc = Path::new("node_modules").join("typescript").join("bin").join("tsc");
    say("==> tsc");
    run(Command::new("node").arg(tsc).args(["-p", "tsconfig.json", "--outDir"]).arg(target).current_dir(folder()))
}

fn files(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        found.push((name, fs::read_to_string(&path)?));
    }
    Ok(found)
}

fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> Result<()> {
    let line = format!("{command:?}");
    let status = command.status().with_context(|| format!("could not run {line}"))?;
    ensure!(status.success(), "{line} failed");
    Ok(())
}
