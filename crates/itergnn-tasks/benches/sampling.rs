//! How fast samples are made, labels included, and how fast Pacman is played.
//!
//! Goals on two cores: 10,000 shortest-path samples on lobsters of [4, 34) in 0.3 s, on planar graphs in 3 s; one
//! lobster of a million line nodes in 2 s; 50,000 Pacman steps with observation graphs per second and core.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use itergnn_graph::{generators::Generator, rng};
use itergnn_tasks::{
    Sampler, Samples, SizeRange, Task, TaskSpec,
    pacman::{PacmanConfig, Policy, RandomMoves},
    shortest_path::{ShortestPathSpec, Weights},
};

fn draw(sampler: &dyn Sampler, count: u64) -> f32 {
    Samples::new(sampler, 1, 0..count).map(|sample| sample.map_or(f32::NAN, |sample| sample.target[0])).sum()
}

fn samples(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("10000-samples");
    group.sample_size(10);
    for (generator, weights, name) in [
        (Generator::LOBSTER, Weights::Unit, "shortest-path/lobster"),
        (Generator::LOBSTER, Weights::PAPER, "shortest-path/lobster-weighted"),
        (Generator::ER, Weights::PAPER, "shortest-path/er-weighted"),
        (Generator::KNN, Weights::PAPER, "shortest-path/knn-weighted"),
        (Generator::Planar, Weights::PAPER, "shortest-path/planar-weighted"),
    ] {
        let spec = ShortestPathSpec { generator, size: SizeRange::TRAINING, weights };
        let sampler = spec.sampler().expect("the paper's settings");
        group.bench_function(name, |bencher| bencher.iter(|| draw(&sampler, 10_000)));
    }
    for task in [Task::ComponentCount, Task::NewtonBalls, Task::Navigation, Task::Pacman] {
        let sampler = TaskSpec::paper(task).sampler().expect("the paper's settings");
        group.bench_function(task.name(), |bencher| bencher.iter(|| draw(&*sampler, 10_000)));
    }
    group.finish();
}

fn one_large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one-sample");
    group.sample_size(10);
    let size = SizeRange::exactly(1_000_000).expect("a size");
    let sampler =
        ShortestPathSpec { size, weights: Weights::PAPER, ..Default::default() }.sampler().expect("a large lobster");
    group.bench_function("shortest-path/lobster-1000000", |bencher| bencher.iter(|| draw(&sampler, 1)));
    group.finish();
}

fn pacman(criterion: &mut Criterion) {
    const STEPS: u64 = 1_000;
    let mut group = criterion.benchmark_group("pacman");
    group.throughput(Throughput::Elements(STEPS));
    let game = || PacmanConfig::default().game(3).expect("the paper's settings");
    group.bench_function("steps-with-observation-graphs", |bencher| {
        bencher.iter_batched(
            game,
            |mut game| {
                let mut moves = RandomMoves(rng::seeded(0));
                for seed in 0..STEPS {
                    let action = moves.act(&game);
                    if game.step(action).done {
                        game.reset(seed).expect("the paper's settings");
                    }
                    black_box(game.observation_graph().expect("a small graph"));
                }
                game
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, samples, one_large, pacman);
criterion_main!(benches);
