//! Prints the median time, in seconds, of each generator at 10,000 nodes as JSON: our side of
//! `benches/networkx/compare.py`.

use std::time::Instant;

use itergnn_graph::{GraphError, generators::Generator, rng};

/// As many repetitions as the other side takes.
const REPETITIONS: u64 = 15;

#[expect(clippy::print_stdout, reason = "the result is this program's output")]
fn main() -> Result<(), GraphError> {
    let cases = [
        ("er", Generator::Er { p: 0.001, directed: true }),
        ("knn-d1", Generator::KNN),
        ("knn-d2", Generator::Knn { dimension: 2, k: 8 }),
        ("planar", Generator::Planar),
        ("lobster", Generator::LOBSTER),
    ];
    let mut fields = Vec::new();
    for (name, generator) in cases {
        let mut seconds = Vec::new();
        for seed in 0..REPETITIONS {
            let started = Instant::now();
            let graph = generator.generate(10_000, &mut rng::seeded(seed))?;
            seconds.push(started.elapsed().as_secs_f64());
            assert!(graph.nodes() >= 10_000, "the graph is used");
        }
        seconds.sort_by(f64::total_cmp);
        fields.push(format!("\"{name}\": {:e}", seconds[seconds.len() / 2]));
    }
    println!("{{{}}}", fields.join(", "));
    Ok(())
}
