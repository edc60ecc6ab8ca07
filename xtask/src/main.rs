//! Development tasks. `cargo xtask check` runs what CI runs, in the same order.

mod architecture;
mod check;
mod metadata;
mod python;
mod sanitize;
mod web;

use std::process::ExitCode;

/// The workspace root.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const USAGE: &str = "\
usage: cargo xtask <task>

  check          everything CI runs: architecture, formatting, lints, documentation, tests, the page, the Python package
  architecture   which crate may depend on which (see docs/architecture.md)
  lint           formatting, clippy and documentation, warnings denied
  test           all tests
  python         the Python package: pytest in a fresh virtual environment (needs python3 and PyPI)
  wheel          the wheel of the Python package, optimised, in target/wheels
  web            compiles the page of `itergnn serve` (needs node)
  web-check      whether the compiled page in the repository is current (needs node)
  browser        the page in a headless Chromium (node and browser are installed if missing and allowed)
  load           64 clients on the server for 30 s (not in CI; on an idle machine)
  sanitize       the kernels' portable path with the address sanitizer (not in CI)
  valgrind       the kernels' corner cases under valgrind (not in CI; minutes)";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let outcome = match task.as_str() {
        "check" => check::everything(),
        "architecture" => architecture::check(),
        "lint" => check::lint(),
        "test" => check::test(),
        "python" => python::test(),
        "wheel" => python::wheel(),
        "web" => web::build(),
        "web-check" => web::check(),
        "browser" => web::browser(),
        "load" => web::load(),
        "sanitize" => sanitize::address(),
        "valgrind" => sanitize::valgrind(),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("xtask {task}: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Tells the developer something, beside the output of the tools that run.
#[expect(clippy::print_stderr, reason = "talking to the developer is what this program is for")]
fn say(text: &str) {
    eprintln!("{text}");
}
