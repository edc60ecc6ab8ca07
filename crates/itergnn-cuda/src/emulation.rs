//! The kernels on the processor, thread by thread (`kernels/emulation.h`), against the reference: for machines with a
//! C++ compiler and without a card.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of a test: a panic is a failure, and a skipped test says so"
)]

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use libloading::Library;

use crate::gpu::Limits;
use crate::layout::{Launch, RecipeNumbers, StepNumbers};
use crate::packing::pack;
use crate::plan::Plan;
use crate::program::PARTS;
use crate::{Loss, Network, Recipe};

mod cases;
#[path = "../tests/support/mod.rs"]
mod support;

use cases::{Case, cases};
use support::{Numbers, Sample, all_of, distance, truth};

/// Shared memory and multiprocessors of an H200.
const LIMITS: Limits =
    Limits { multiprocessors: 132, shared_per_block: 227 << 10, shared_per_multiprocessor: 228 << 10, clusters: true };

const PRICE: f64 = 0.3;

/// A block of a launch: the launch, its pack and model, packs of a model, bytes of shared memory, a seed for the order
/// of the warps.
type Emulate = unsafe extern "C" fn(*const Launch, u32, u32, u32, u32, u32) -> i32;

/// The kernels with the given settings as a library.
fn compiled(folder: &Path, name: usize, settings: &[(&str, usize)]) -> Library {
    let head = include_str!("kernels/emulation.h");
    let source = [head, &PARTS.concat(), include_str!("kernels/emulation_run.h")].concat();
    let (from, to) = (folder.join(format!("{name}.cpp")), folder.join(format!("{name}.so")));
    std::fs::write(&from, source).unwrap();
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-o"]).arg(&to).arg(&from);
    compiler.args(settings.iter().map(|(name, value)| format!("-D{name}={value}")));
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: it was compiled above, and what it runs when it is loaded are the constructors of the standard library.
    unsafe { Library::new(&to) }.unwrap()
}

/// Room that is aligned as memory of a card is; what nobody writes to is not a number.
fn room(bytes: usize) -> Vec<u128> {
    vec![u128::MAX; bytes.div_ceil(16).max(1)]
}

/// Loss, unspent mass, iterations and gradient of a batch, by kernels whose warps take turns as `schedule` says.
fn emulated(
    library: &Library,
    plan: &Plan,
    network: &Network,
    parameters: &[f32],
    samples: &crate::Samples,
    loss: Loss,
    schedule: u32,
) -> ([f32; 4], Vec<f32>) {
    let recipe =
        Recipe { loss, price: PRICE, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-5, weight_decay: 0.0, clip_norm: None };
    let batch: Vec<u32> = (0..samples.len() as u32).collect();
    let target = batch.len().div_ceil(plan.graphs_per_pack);
    let packs = pack(samples, &batch, target, plan.capacity, plan.costs(network));
    let recipes: [RecipeNumbers; 1] = [network.numbers(Some(&recipe), None, true)];
    let targets: usize = batch.iter().map(|&sample| samples.target_count(sample)).sum();
    let nodes: usize = batch.iter().map(|&sample| samples.node_count(sample)).sum();
    let units = if network.block().node_wise() { nodes } else { batch.len() };
    let steps = [StepNumbers {
        packs: packs.len() as i32,
        inverse_targets: 1.0 / targets as f32,
        inverse_units: 1.0 / units as f32,
        learns: 1,
        ..StepNumbers::default()
    }];
    let mut slots = Vec::new();
    for pack in &packs {
        slots.extend(pack.iter().map(|&sample| sample as i32));
        slots.resize(slots.len().next_multiple_of(plan.capacity.graphs), -1);
    }
    let mut launch = Launch { packs: packs.len() as i32, samples: samples.host_addresses(), ..Launch::default() };
    let workspace = plan.describe(network, network.head.widths[1], &mut launch);
    let blocks = packs.len() * plan.cluster;
    let mut floats = room(4 * blocks * workspace.floats);
    let mut winners = room(blocks * workspace.winner_bytes);
    let mut rows = room(blocks * workspace.row_bytes);
    let mut gradients = vec![f32::NAN; blocks * parameters.len()];
    let mut reports = vec![f32::NAN; 4 * blocks];
    launch.recipes = recipes.as_ptr() as u64;
    launch.steps = steps.as_ptr() as u64;
    launch.slots = slots.as_ptr() as u64;
    launch.parameters = parameters.as_ptr() as u64;
    launch.gradients = gradients.as_mut_ptr() as u64;
    launch.floats = floats.as_mut_ptr() as u64;
    launch.winners = winners.as_mut_ptr() as u64;
    launch.indices = rows.as_mut_ptr() as u64;
    launch.reports = reports.as_mut_ptr() as u64;
    launch.samples_count = samples.len() as i32;
    // SAFETY: the function has this signature, the launch the layout that the kernels read, and every address points to
    // a list of the size that the plan gave.
    unsafe {
        let emulate = library.get::<Emulate>(b"emulate\0").unwrap();
        for pack in 0..packs.len() as u32 {
            let result = emulate(&launch, pack, 0, packs.len() as u32, plan.shared_bytes as u32, schedule);
            assert_eq!(result, 0, "1: threads that wait for each other, 2: a write behind the shared memory");
        }
    }
    let mut report = [0.0; 4];
    reports.iter().enumerate().for_each(|(index, value)| report[index % 4] += value);
    let mut gradient = vec![0.0; parameters.len()];
    gradients.iter().enumerate().for_each(|(index, value)| gradient[index % parameters.len()] += value);
    (report, gradient)
}

/// What differs from the reference.
fn compare(folder: &Path, index: usize, case: &Case) -> Vec<String> {
    let network = case.network();
    let mut numbers = Numbers::new(index as u64 + 40);
    let mut samples: Vec<Sample> =
        [5, 14, 9].map(|count| Sample::random(&mut numbers, count, 0.2, 3, 1)).into_iter().collect();
    for sample in &mut samples {
        sample.label(&mut numbers, case.readout, case.loss, case.outputs());
    }
    let scale = 1.5 / (case.hidden as f32).sqrt();
    let parameters: Vec<f32> = (0..network.parameters()).map(|_| scale * numbers.symmetric()).collect();
    let uploaded = all_of(&samples, 3, 1).read_by(&network).unwrap();
    let iterations = network.block().max_iterations();
    let plan = Plan::new(&LIMITS, &network, &uploaded, 1, samples.len(), iterations, true, &case.tuning).unwrap();
    let mut settings = network.settings();
    settings.extend(plan.settings());
    let library = compiled(folder, index, &settings);
    let run = |schedule| emulated(&library, &plan, &network, &parameters, &uploaded, case.loss, schedule);
    let (report, gradient) = run(1);
    let batch: Vec<&Sample> = samples.iter().collect();
    let expected = truth(&network, &parameters, &batch, case.loss, PRICE);
    let graphs = samples.len() as f64;
    let errors = [
        ("loss", distance(&report[..1], &[expected.loss])),
        ("auxiliary", (f64::from(report[1]) - expected.auxiliary_loss).abs()),
        ("iterations", (f64::from(report[2]) / graphs - expected.iterations).abs()),
        ("capped", (f64::from(report[3]) / graphs - expected.capped).abs()),
        ("gradient", distance(&gradient, &expected.gradient)),
    ];
    let mut failures: Vec<String> = errors
        .into_iter()
        .filter(|&(_, error)| error.is_nan() || error >= 1e-5)
        .map(|(what, error)| format!("{}: {what} {error:.2e}", case.name))
        .collect();
    if run(2) != (report, gradient) {
        failures.push(format!("{}: another order of the warps gives other numbers", case.name));
    }
    failures
}

#[test]
fn emulated_kernels_agree_with_the_reference() {
    if Command::new("c++").arg("--version").output().is_err() {
        return println!("skipped: no C++ compiler");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut cases = cases();
    if let Ok(wanted) = std::env::var("ITERGNN_CASES") {
        cases.retain(|case| case.name.contains(&wanted));
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    failures.lock().unwrap().extend(compare(folder.path(), index, case));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
