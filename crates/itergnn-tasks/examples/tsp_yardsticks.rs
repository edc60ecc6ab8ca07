//! What a model of tour lengths has to be better than, as JSON.
//!
//! `cargo run --release -p itergnn-tasks --example tsp_yardsticks -- [test size] [test count] [seed]`

#![allow(clippy::print_stdout)] // an example shows its result

use itergnn_tasks::{
    SizeRange, Split,
    tsp::{TspSpec, yardsticks},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let size: SizeRange = arguments.next().as_deref().unwrap_or("100").parse()?;
    let count: u64 = arguments.next().as_deref().unwrap_or("200").parse()?;
    let seed: u64 = arguments.next().as_deref().unwrap_or("1").parse()?;
    let train = TspSpec::default().sampler()?;
    let test = TspSpec { size, ..TspSpec::default() }.sampler()?;
    let found = yardsticks(&train, Split::Train.samples(), &test, count, seed)?;
    println!("{}", serde_json::to_string_pretty(&found)?);
    Ok(())
}
