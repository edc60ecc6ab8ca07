//! Arguments about samples and graphs.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use itergnn::{
    graph::{
        formats::{ColumnChoice, ReadOptions},
        generators::Generator,
    },
    tasks::{SizeRange, Split, algorithms::GraphFamily, graph_classification::DataSetName, shortest_path::Weights},
};

use super::{Subject, one_of};
use crate::compute::{parse_seconds, parse_threads};

/// Changes to a task's settings; without them a task is as in the paper.
#[derive(Debug, Args)]
pub(crate) struct TaskChoice {
    /// Where graphs come from: er, knn, planar, lobster, grid, line, complete, cycle, regular, tree, mixed or
    /// lobster-or-line (one graph in five a line of six times the size)
    #[arg(long)]
    pub(crate) generator: Option<Generator>,
    /// Where the graphs of an algorithm come from: er, ws (Watts-Strogatz) or delaunay.
    #[arg(long, value_parser = one_of::<GraphFamily>())]
    pub(crate) family: Option<GraphFamily>,
    /// N, or A..B for sizes drawn uniformly from [A, B). For lobsters the length of the line.
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true)]
    pub(crate) size: Option<SizeRange>,
    /// Weights uniform in [0.5, 1.5), as in the paper.
    #[arg(long, conflicts_with = "weights")]
    pub(crate) weighted: bool,
    /// Weights uniform in [LO, HI), or with log:LO..HI their logarithms uniform
    #[arg(long, value_name = "LO..HI", allow_hyphen_values = true)]
    pub(crate) weights: Option<Weights>,
    /// Dots of a Pacman map.
    #[arg(long)]
    pub(crate) dots: Option<u16>,
    /// Walls of a Pacman map.
    #[arg(long)]
    pub(crate) walls: Option<u16>,
    /// Folder of the graph classification sets; for own graphs a file of JSON lines (plain or .gz, .xz, .zst), - for
    /// standard input, or the folder of a TUDataset.
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) data: Option<PathBuf>,
    /// MUTAG, PTC, PROTEINS, IMDBBINARY or IMDBMULTI.
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<DataSetName>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn sample shortest-path --generator lobster --size 4..34 --count 10000 --out train.jsonl
  itergnn sample shortest-path --generator er --size 100 --weights 0.5..1.5 --split test
  itergnn sample tsp --size 100 --count 5
  itergnn sample pacman --dots 10 --walls 8 --count 1
  itergnn sample graph-classification --data DIR --dataset MUTAG
  itergnn sample dijkstra --family delaunay --size 80 --split test

Each line is one object: node_attributes, edges [[sender, receiver], ..], edge_attributes, target, and what the task
knows besides (source, target_node, ..). Sample i depends on seed, split and i alone, not on count or threads.")]
pub(crate) struct SampleArguments {
    /// shortest-path, component-count, tsp, newton-balls, pacman, navigation, graph-classification or regular-graphs;
    /// or an algorithm: bfs, dfs, dijkstra, prim, eccentricity, mis, reachability, widest-path or bipartiteness
    #[arg(value_name = "TASK")]
    pub(crate) task: Subject,
    #[command(flatten)]
    pub(crate) samples_of: TaskChoice,
    /// How many samples; graph-classification gives all there are unless told.
    #[arg(long)]
    pub(crate) count: Option<u64>,
    /// Where randomness starts: the same seed gives the same samples on every machine.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// train, validation or test: independent streams of the same seed.
    #[arg(long, default_value_t = Split::Train)]
    pub(crate) split: Split,
    /// Write here instead of stdout; the file appears when it is complete, and replaces one that is there.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; all cores unless told. The samples do not depend on it.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn exact berlin52.tsp                     length, tour and proof
  itergnn exact rome99.gr --from 1 --to 3000     shortest path
  itergnn exact arena.map --from 1,11 --to 1,12  on a map, cells are column,row
  itergnn exact power_grid.edges                 components, nodes, edges, diameter

Reads TSPLIB .tsp, DIMACS .gr, edge lists (.csv, .tsv, .edges, .cedge), moving-AI .map and JSON. Nodes are named as the
file names them (DIMACS counts from 1).")]
pub(crate) struct ExactArguments {
    /// A .tsp instance or a graph.
    pub(crate) file: PathBuf,
    /// Source of a shortest path.
    #[arg(long, requires = "to", value_name = "NODE")]
    pub(crate) from: Option<String>,
    /// Target of a shortest path.
    #[arg(long, requires = "from", value_name = "NODE")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
    /// Give up the proof of a tour after this long and say so; lattices of 100 cities and more can take very long.
    #[arg(long, alias = "time-limit", value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  itergnn properties --out figures

Writes an SVG for each of lobster, er, knn, planar, navigation and pacman, and medians.svg with all of them. These are the paper's figures about
its data.")]
pub(crate) struct PropertiesArguments {
    /// Graphs of every kind and size; the paper draws 1,000.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) count: u64,
    /// Seed of the graphs.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Folder for the figures; those of an earlier run are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// One JSON list on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How to read a graph where its file leaves a choice.
#[derive(Debug, Args)]
pub(crate) struct ReadingOptions {
    /// Edges lead one way only; DIMACS, JSON and GraphML say so themselves.
    #[arg(long)]
    pub(crate) directed: bool,
    /// Column of an edge list where edges begin, by its heading or counted from 1.
    #[arg(long, value_name = "COLUMN", requires = "target_column")]
    pub(crate) source_column: Option<String>,
    /// Column of an edge list where edges end, by its heading or counted from 1.
    #[arg(long, value_name = "COLUMN", requires = "source_column")]
    pub(crate) target_column: Option<String>,
    /// Column or edge attribute that is the weight; none for weight 1 on every edge.
    #[arg(long, value_name = "COLUMN|none")]
    pub(crate) weight_column: Option<String>,
}

impl ReadingOptions {
    /// What the reader is told.
    pub(crate) fn options(&self) -> ReadOptions {
        let columns = ColumnChoice {
            source: self.source_column.clone(),
            target: self.target_column.clone(),
            weight: self.weight_column.clone(),
        };
        ReadOptions { directed: self.directed.then_some(true), columns, ..ReadOptions::default() }
    }
}
