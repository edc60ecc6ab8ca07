//! `itergnn demo`: for now the ground truth only; training comes with the training crate.

use std::time::Instant;

use itergnn::{
    graph::solvers::diameter,
    tasks::{Samples, SizeRange, Split, Task, TaskSpec},
};
use serde::Serialize;

use crate::{
    failure::Failure,
    options::DemoArguments,
    output::{self, print, print_json},
    progress,
};

/// Sizes of Table 2 of the paper.
const SIZES: [u32; 5] = [20, 100, 500, 1000, 5000];
const GRAPHS: u64 = 100;

#[derive(Serialize)]
struct Row {
    size: u32,
    graphs: u64,
    mean_nodes: f64,
    mean_diameter: f64,
    mean_distance: f64,
    seconds: f64,
}

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let progress = progress::bar(SIZES.len() as u64 * GRAPHS, "graphs");
    let mut rows = Vec::new();
    for size in SIZES {
        rows.push(measure(size, arguments.seed, &progress).map_err(Failure::failed)?);
    }
    progress.finish_and_clear();
    let tour = tour(arguments.seed).map_err(Failure::failed)?;
    if arguments.json {
        return print_json(&serde_json::json!({ "trained": false, "lobsters": rows, "tour": tour }));
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.size.to_string(),
            row.graphs.to_string(),
            format!("{:.1}", row.mean_nodes),
            format!("{:.1}", row.mean_diameter),
            format!("{:.1}", row.mean_distance),
            format!("{:.3}", row.seconds),
        ]
    });
    let header = ["size", "graphs", "nodes (mean)", "hop diameter (mean)", "distance (mean)", "seconds"];
    print(&format!(
        "Shortest paths on lobsters: samples with labels by Dijkstra\n{}\n\
         The shortest tour through {} random points has length {:.1}: proven in {:.2} s.\n\n\
         This version samples and solves exactly; it does not train yet. Next: `itergnn sample --help`.\n",
        output::table(&header, cells),
        tour.cities,
        tour.length,
        tour.seconds
    ))
}

fn measure(size: u32, seed: u64, progress: &indicatif::ProgressBar) -> Result<Row, Box<dyn std::error::Error>> {
    let started = Instant::now();
    let mut spec = TaskSpec::paper(Task::ShortestPath);
    spec.set_size(SizeRange::exactly(size)?)?;
    let sampler = spec.sampler()?;
    let (mut nodes, mut hops, mut distance) = (0.0, 0.0, 0.0);
    for sample in Samples::new(&*sampler, Split::Test.seed(seed), 0..GRAPHS) {
        let sample = sample?;
        nodes += sample.graph.nodes() as f64;
        hops += f64::from(diameter::hop_diameter(&sample.graph, u64::MAX).lower);
        distance += f64::from(sample.target[0]);
        progress.inc(1);
    }
    let mean = |sum: f64| sum / GRAPHS as f64;
    Ok(Row {
        size,
        graphs: GRAPHS,
        mean_nodes: mean(nodes),
        mean_diameter: mean(hops),
        mean_distance: mean(distance),
        seconds: started.elapsed().as_secs_f64(),
    })
}

#[derive(Serialize)]
struct Tour {
    cities: usize,
    length: f32,
    seconds: f64,
}

fn tour(seed: u64) -> Result<Tour, Box<dyn std::error::Error>> {
    let mut spec = TaskSpec::paper(Task::Tsp);
    spec.set_size(SizeRange::exactly(50)?)?;
    let started = Instant::now();
    let sample = spec.sampler()?.sample(Split::Test.seed(seed), 0)?;
    Ok(Tour { cities: sample.graph.nodes(), length: sample.target[0], seconds: started.elapsed().as_secs_f64() })
}
