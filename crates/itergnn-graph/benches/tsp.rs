//! Time to solve and prove: the task's training sizes, its test size, and the local search alone.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use itergnn_graph::solvers::tsp::{DistanceMatrix, LocalSearchOptions, TspOptions, local_search, solve};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Uniform integer points in 1..=1000 squared, as in the paper's task.
fn uniform(cities: usize, seed: u64) -> DistanceMatrix {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut coordinate = || f64::from(1 + random.next_u32() % 1000);
    let points: Vec<(f64, f64)> = (0..cities).map(|_| (coordinate(), coordinate())).collect();
    DistanceMatrix::from_points_scaled(&points, 1e6).expect("integer points are valid")
}

fn training_sizes(criterion: &mut Criterion) {
    let instances: Vec<DistanceMatrix> = (0..300).map(|seed| uniform(4 + seed as usize % 30, seed)).collect();
    criterion.bench_function("tsp/300 instances of [4,34), all cores", |bencher| {
        bencher.iter(|| {
            let proven = instances.par_iter().filter(|matrix| solve(matrix, &TspOptions::default()).proven).count();
            assert_eq!(proven, instances.len());
        });
    });
}

fn test_size(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tsp");
    group.sample_size(20);
    let mut seed = 0;
    group.bench_function("one of 20 instances of 100", |bencher| {
        // A new instance each time: times vary with the instance far more than with the machine.
        bencher.iter_batched(
            || {
                seed += 1;
                uniform(100, seed % 20)
            },
            |matrix| assert!(solve(&matrix, &TspOptions::default()).proven),
            BatchSize::PerIteration,
        );
    });
    let matrix = uniform(1000, 0);
    let options = LocalSearchOptions { kicks: Some(20_000), ..Default::default() };
    group.bench_function("local search, 1000 cities, 20,000 kicks", |bencher| {
        bencher.iter(|| local_search(&matrix, &options));
    });
    group.finish();
}

criterion_group!(benches, training_sizes, test_size);
criterion_main!(benches);
