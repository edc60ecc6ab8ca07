//! Predictions, losses, steps and all gradients against the kernels' reference in double precision, over layers,
//! controllers, priors, readouts and losses.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a panic is a failure, and a skipped test says so"
)]

mod cases;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::{Case, cases, iterative};
use itergnn_cuda::{Ensemble, EnsembleOptions, Gpu, Loss, Mode, ModelSpec, Predictor, Question, Readout, Recipe};
use itergnn_kernels::settings::LayerKind;
use support::{Numbers, Sample, all_of, distance, gpu, truth};

/// Single precision over a few dozen iterations.
const TOLERANCE: f64 = 1e-4;

/// Networks next to one whose gradient jumps.
const NEIGHBOURS: usize = 40;

#[test]
fn steps_and_gradients_are_those_of_the_reference() {
    let Some(gpu) = gpu("steps_and_gradients_are_those_of_the_reference") else { return };
    let mut cases: Vec<(u64, Case)> = (1..).zip(cases()).collect();
    // All of them compile some hundred kernels: while working on one kind, `ITERGNN_CASES="PathSim Max"` keeps to it.
    if let Ok(wanted) = std::env::var("ITERGNN_CASES") {
        cases.retain(|(_, case)| format!("{} {:?} {:?}", case.name, case.layer, case.aggregation).contains(&wanted));
    }
    // Those at the end of the list have the largest kernels.
    cases.reverse();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    // Compiling the kernels of a case takes longer than running them, so cases go side by side.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((seed, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = compare(&gpu, *seed, case);
                    failures.lock().unwrap().extend(found);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What differs between the card and the reference.
fn compare(gpu: &Gpu, seed: u64, case: &Case) -> Vec<String> {
    let mut failures = Vec::new();
    let (inputs, edge) = (3, 1);
    let outputs = match case.readout {
        Readout::Pointer => 1,
        _ if case.loss == Loss::CrossEntropy => 3,
        _ => 2,
    };
    let network = case.network(inputs, edge, outputs);
    let mut numbers = Numbers::new(seed);
    let samples: Vec<Sample> = (0..7)
        .map(|_| {
            let count = 4 + numbers.below(16);
            let mut sample = Sample::random(&mut numbers, count, case.density, inputs, edge);
            sample.label(&mut numbers, case.readout, case.loss, outputs);
            sample
        })
        .collect();
    let recipe = Recipe {
        loss: case.loss,
        price: 0.3,
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 1e-5,
        weight_decay: 0.0,
        clip_norm: None,
    };
    let model = |numbers: &mut Numbers| {
        let scale = 1.5 / (case.hidden as f32).sqrt();
        let parameters = (0..network.parameters()).map(|_| scale * numbers.symmetric()).collect();
        ModelSpec { network: network.clone(), recipe, parameters }
    };
    let models = [model(&mut numbers), model(&mut numbers)];
    let batches = vec![vec![0, 3, 2, 5, 1], vec![4, 6, 6, 0]];
    let options = EnsembleOptions { batch_size: 5, tuning: case.tuning };
    let mut ensemble = Ensemble::new(gpu, &models, all_of(&samples, inputs, edge), options).unwrap();
    let results = ensemble.gradients(&batches).unwrap();
    let predictor = Predictor::new(gpu, &network, all_of(&samples, inputs, edge), &case.tuning).unwrap();
    let all: Vec<u32> = (0..samples.len() as u32).collect();
    let mut pairs = Vec::new();
    for ModelSpec { network, parameters, .. } in &models {
        pairs.push(Question { network, parameters, samples: &all });
    }
    let answers = predictor.predict(&pairs, Mode { cap: None, settles: true }).unwrap();
    for (index, (report, gradient)) in results.iter().enumerate() {
        let batch: Vec<&Sample> = batches[index].iter().map(|&sample| &samples[sample as usize]).collect();
        let expected = truth(&network, &models[index].parameters, &batch, case.loss, recipe.price);
        let found = batches[index].iter().flat_map(|&sample| predictor.rows(sample as usize));
        let found: Vec<f32> = found.flat_map(|row| answers[index].values[row].clone()).collect();
        // A gradient jumps where two messages are the largest or an activation is zero, to rounding. Then it must be
        // that of a network next to the given one.
        let mut gradient_error = |expected: &[f64]| {
            let mut error = distance(gradient, expected);
            for _ in 0..NEIGHBOURS {
                if error < TOLERANCE {
                    break;
                }
                let moved = |&value: &f32| value * (1.0 + 1e-6 * numbers.symmetric());
                let parameters: Vec<f32> = models[index].parameters.iter().map(moved).collect();
                let neighbour = truth(&network, &parameters, &batch, case.loss, recipe.price);
                error = error.min(distance(gradient, &neighbour.gradient));
            }
            error
        };
        let errors = [
            ("predictions", distance(&found, &expected.predictions)),
            ("loss", distance(&[report.loss], &[expected.loss])),
            ("auxiliary", (f64::from(report.auxiliary_loss) - expected.auxiliary_loss).abs()),
            ("iterations", (f64::from(report.iterations) - expected.iterations).abs()),
            ("capped", (f64::from(report.capped) - expected.capped).abs()),
            ("gradient", gradient_error(&expected.gradient)),
        ];
        println!("{}: {}", case.name, errors.map(|(what, error)| format!("{what} {error:.1e}")).join(", "));
        for (what, error) in errors {
            // A NaN is a failure too.
            if error.is_nan() || error >= TOLERANCE {
                failures.push(format!("{} model {index}: {what} {error:.2e}", case.name));
            }
        }
    }
    failures
}

#[test]
fn a_run_repeats_to_the_bit_and_learns() {
    let Some(gpu) = gpu("a_run_repeats_to_the_bit_and_learns") else { return };
    let case = Case {
        hidden: 32,
        ..Case::new("learning", LayerKind::PathSim, iterative(|options| options.settle = Some(0.3)))
    };
    let network = case.network(3, 1, 1);
    let mut numbers = Numbers::new(5);
    let samples: Vec<Sample> = (0..40)
        .map(|_| {
            let count = 4 + numbers.below(20);
            let mut sample = Sample::random(&mut numbers, count, 0.1, 3, 1);
            sample.targets = vec![count as f32 / 10.0];
            sample
        })
        .collect();
    let recipe = squares(Some(1.0));
    let models: Vec<ModelSpec> = (0..3)
        .map(|_| {
            let parameters = (0..network.parameters()).map(|_| 0.2 * numbers.symmetric()).collect();
            ModelSpec { network: network.clone(), recipe, parameters }
        })
        .collect();
    let run = |steps: &[usize]| {
        let options = EnsembleOptions { batch_size: 8, ..EnsembleOptions::default() };
        let mut ensemble = Ensemble::new(&gpu, &models, all_of(&samples, 3, 1), options).unwrap();
        let (mut reports, mut done) = (Vec::new(), 0);
        for &count in steps {
            let batch = |step: usize, model: usize, list: &mut Vec<u32>| {
                list.extend((0..8).map(|slot| ((done + step) * 8 + slot + 3 * model) as u32 % 40));
                1e-3
            };
            reports.extend(ensemble.train(count, batch).unwrap());
            done += count;
            // As a run that was stopped and goes on.
            for model in 0..3 {
                let (parameters, moments) = (ensemble.parameters(model).unwrap(), ensemble.moments(model).unwrap());
                ensemble.restore(model, &parameters, &moments).unwrap();
            }
        }
        let parameters: Vec<Vec<f32>> = (0..3).map(|model| ensemble.parameters(model).unwrap()).collect();
        (reports, parameters)
    };
    let (reports, parameters) = run(&[600]);
    let (again, same) = run(&[250, 350]);
    assert_eq!(reports, again);
    assert_eq!(parameters, same);
    for model in [0, 1, 2] {
        let mean = |steps: std::ops::Range<usize>| {
            steps.clone().map(|step| reports[step][model].loss).sum::<f32>() / steps.len() as f32
        };
        assert!(mean(580..600) < 0.5 * mean(0..20), "model {model}: {} to {}", mean(0..20), mean(580..600));
    }
}

/// Squared errors with a price on mass left.
fn squares(clip_norm: Option<f64>) -> Recipe {
    Recipe { loss: Loss::Mse, price: 0.3, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-5, weight_decay: 0.0, clip_norm }
}

#[test]
fn a_model_that_overflows_stops_learning_and_the_others_go_on() {
    let Some(gpu) = gpu("a_model_that_overflows_stops_learning_and_the_others_go_on") else { return };
    let network = Case::new("overflow", LayerKind::PathSim, iterative(|_| {})).network(3, 1, 1);
    let mut numbers = Numbers::new(9);
    let mut sample = Sample::random(&mut numbers, 6, 0.2, 3, 1);
    sample.targets = vec![1.0];
    let recipe = squares(None);
    let model = |scale: f32, numbers: &mut Numbers| {
        let parameters = (0..network.parameters()).map(|_| scale * numbers.symmetric()).collect();
        ModelSpec { network: network.clone(), recipe, parameters }
    };
    let models = [model(0.2, &mut numbers), model(1e12, &mut numbers)];
    let options = EnsembleOptions { batch_size: 1, ..EnsembleOptions::default() };
    let mut ensemble = Ensemble::new(&gpu, &models, all_of(&[sample], 3, 1), options).unwrap();
    let reports = ensemble
        .train(3, |_, _, list| {
            list.push(0);
            1e-2
        })
        .unwrap();
    assert!(reports.iter().all(|reports| reports[0].learned && !reports[1].learned), "{reports:?}");
    assert_eq!(ensemble.parameters(1).unwrap(), models[1].parameters);
    assert_ne!(ensemble.parameters(0).unwrap(), models[0].parameters);
}
