//! Writes samples of every algorithm as JSON lines, each with the line number it has here;
//! `reference/algorithms/make.py` reads them.

#![allow(clippy::print_stdout)] // an example prints

use itergnn_tasks::{
    Split,
    algorithms::{Algorithm, AlgorithmSpec, GraphFamily},
};
use strum::VariantArray;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for &algorithm in Algorithm::VARIANTS {
        let tests = GraphFamily::VARIANTS.iter().map(|&family| AlgorithmSpec::test(algorithm, family, 40));
        for spec in std::iter::once(AlgorithmSpec::training(algorithm)).chain(tests) {
            for index in 0..6 {
                println!("{}", serde_json::to_string(&spec.sample(Split::Test.seed(0), index)?)?);
            }
        }
    }
    Ok(())
}
