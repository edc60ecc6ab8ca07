//! The unsafe code of the kernels under tools that watch memory. Too slow for CI; for whoever changed it.

use anyhow::Result;

use crate::check::cargo;

/// Targets that the tools exist for; results of one are results of all, since the code is the same.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The kernels' tests on the portable path with the address sanitizer, which the stable compiler has but does not
/// offer.
pub(crate) fn address() -> Result<()> {
    let environment = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address"), ("ITERGNN_ISA", "portable")];
    // A folder of its own: with other flags everything is built again.
    let arguments = ["test", "-p", "itergnn-kernels", "--locked", "--lib", "--tests", "--target", TARGET];
    cargo(&[&arguments[..], &["--target-dir", "target/sanitize"]].concat(), &environment)
}

/// The corner cases and the large graphs under valgrind, which must be installed. It knows no AVX-512, so the kernels
/// take the widest path it offers.
pub(crate) fn valgrind() -> Result<()> {
    let runner = ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "valgrind -q --error-exitcode=99");
    let arguments = ["test", "-p", "itergnn-kernels", "--locked", "--test", "corners", "--test", "large"];
    let few = ["--", "--test-threads", "1", "--skip", "random_structures", "--skip", "hubs", "--skip", "large_graphs"];
    cargo(&[&arguments[..], &few].concat(), &[runner])
}
