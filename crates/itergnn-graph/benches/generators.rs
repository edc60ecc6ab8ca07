//! How fast graphs are made: `cargo bench -p itergnn-graph --bench generators`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use itergnn_graph::{generators, generators::Generator, rng};

/// The four generators of the paper at 10,000 nodes; Erdos-Renyi at the density of a sparse graph (mean degree 10),
/// since p = 0.5 only measures memory.
fn ten_thousand(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generate-10000");
    let sparse = Generator::Er { p: 0.001, directed: true };
    let flat = Generator::Knn { dimension: 2, k: 8 };
    for (name, generator) in [
        ("er-p0.001", sparse),
        ("knn-d1", Generator::KNN),
        ("knn-d2", flat),
        ("planar", Generator::Planar),
        ("lobster", Generator::LOBSTER),
    ] {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            let mut seed = 0;
            bencher.iter(|| {
                seed += 1;
                black_box(generator.generate(10_000, &mut rng::seeded(seed)))
            });
        });
    }
    group.finish();
}

/// A million nodes in one graph.
fn a_million(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generate-1000000");
    group.sample_size(10);
    group.bench_function("planar", |bencher| {
        bencher.iter(|| black_box(generators::planar(1_000_000, &mut rng::seeded(1))));
    });
    group.bench_function("lobster", |bencher| {
        bencher.iter(|| black_box(generators::lobster(1_000_000, 0.2, 0.2, &mut rng::seeded(1))));
    });
    group.finish();
}

criterion_group!(benches, ten_thousand, a_million);
criterion_main!(benches);
