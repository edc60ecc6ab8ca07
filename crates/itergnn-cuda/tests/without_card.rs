//! What can be said without a card.

#![allow(clippy::print_stdout, reason = "a test that did not run must say so")]

use itergnn_cuda::{CudaError, Gpu};

#[test]
fn what_is_missing_is_one_clear_line() {
    match Gpu::open() {
        Ok(gpu) => println!("found {}", gpu.name()),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.contains("device cpu"), "{text}");
            assert!(!matches!(error, CudaError::Compile(_) | CudaError::Driver(_)), "{text}");
        }
    }
}
