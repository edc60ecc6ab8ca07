//! `itergnn serve`: what it refuses before it listens.

use std::process::Command;

fn refused(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_itergnn")).arg("serve").args(arguments).output().expect("it works");
    let said = String::from_utf8(output.stderr).expect("it works");
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{arguments:?}: {said}");
    said
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    assert!(refused(&["--host", "0.0.0.0"]).contains("--token"));
    assert!(refused(&["--host", "0.0.0.0", "--token", "short"]).contains("16"));
}

#[test]
fn folders_that_are_not_there_are_named() {
    assert!(refused(&["--models", "no/such/models"]).contains("no/such/models"));
    assert!(refused(&["--runs", "no/such/runs"]).contains("no/such/runs"));
}
