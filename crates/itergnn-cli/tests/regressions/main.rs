//! What broke once and must not break again, with the real binary.

#[path = "../support/mod.rs"]
mod support;

mod exit_codes;
mod flags;
mod limits;
#[cfg(unix)]
mod outputs;
mod solving;
mod training;
