//! The arguments of every command, typed. What they mean is decided by the commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use itergnn::{
    graph::generators::Generator,
    nn::Engine,
    tasks::{SizeRange, Split, Task, shortest_path::Weights},
};

use crate::compute::{ComputeChoice, EngineChoice};

/// Graph neural networks that learn on small graphs and work on graphs of any size.
#[derive(Debug, Parser)]
#[command(
    name = "itergnn",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 bad usage or bad input.\n\
                        First steps: `itergnn demo`, then `itergnn sample shortest-path --count 1`.")]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Trains on small graphs in about a minute and solves large ones.
    Demo(DemoArguments),
    /// Draws labelled samples of a task as JSON lines.
    Sample(SampleArguments),
    /// Solves a graph or a TSPLIB instance exactly.
    Exact(ExactArguments),
    /// Trains a model on samples of a task.
    Train(Box<TrainArguments>),
    /// Judges a model on fresh samples of any size.
    Eval(EvalArguments),
    /// Finds a path through a graph of yours with a shortest-path model.
    Solve(SolveArguments),
    /// Says what a model predicts for a graph.
    Predict(PredictArguments),
    /// Runs the experiments of the paper's tables and reports ours beside theirs.
    Reproduce(ReproduceArguments),
    /// Shows a game of Pacman in the terminal, or lets you play.
    Play(PlayArguments),
    /// Times training steps and inference on this machine; run it when nothing else does.
    Bench(BenchArguments),
    /// Turns a checkpoint of the paper's PyTorch code into a model.
    Import(ImportArguments),
    /// Measures how far apart nodes are in the graphs of every generator and map, by size, and draws box plots.
    Properties(PropertiesArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Where randomness starts: the same seed gives the same numbers.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Train for this long instead of the recipe's own time.
    #[arg(long)]
    pub(crate) epochs: Option<u64>,
    /// Where to draw iterations against distance: a .svg or a .png file.
    #[arg(long, value_name = "FILE.svg|png", default_value = "itergnn-demo.svg")]
    pub(crate) picture: PathBuf,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    /// One JSON object on stdout instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn sample shortest-path --generator lobster --size 4..34 --count 10000 --out train.jsonl
  itergnn sample shortest-path --generator er --size 100 --weights 0.5..1.5 --split test
  itergnn sample tsp --size 100 --count 5
  itergnn sample pacman --dots 10 --walls 8 --count 1
  itergnn sample graph-classification --data DIR --dataset MUTAG

Each line is one object: node_attributes, edges [[sender, receiver], ..], edge_attributes, target, and what the task
knows besides (source, target_node, ..). Sample i depends on seed, split and i alone, not on count or threads.")]
pub(crate) struct SampleArguments {
    /// shortest-path, component-count, tsp, newton-balls, pacman, navigation, graph-classification or regular-graphs.
    pub(crate) task: Task,
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
    /// Write here instead of stdout; the file appears when it is complete.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; all cores unless told. The samples do not depend on it.
    #[arg(long)]
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
    /// Edges of an edge list lead one way only; DIMACS and JSON say so themselves.
    #[arg(long)]
    pub(crate) directed: bool,
    /// Give up the proof of a tour after this long and say so; lattices of 100 cities and more can take very long.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) time_limit: Option<f64>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  itergnn sample shortest-path --size 100 --count 1 --split test --out graph.json
  itergnn predict models/NAME.safetensors --graph graph.json --json")]
pub(crate) struct PredictArguments {
    /// A run directory or a .safetensors file.
    pub(crate) model: PathBuf,
    /// A JSON object with node_attributes, edges and edge_attributes, as `itergnn sample` writes it (of several lines the first), or a TSPLIB .tsp file.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: PathBuf,
    /// Stop every loop after this many iterations; unlimited (but for a reported safety cap) unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Also show confidence, remaining probability and change of every step.
    #[arg(long)]
    pub(crate) trace: bool,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  itergnn import checkpoint.pth --as DecIterGNN30-HomoPathSimConv-Max --out model.safetensors

NAME is the authors' own model string: <architecture><iterations>-<Homo|SHomo|><layer>-<readout>[-<modules>].
The pickle inside the file is parsed, never executed. The model follows their code where it differs from the paper.")]
pub(crate) struct ImportArguments {
    /// A .pth file that holds a dict with `model_state_dict`.
    pub(crate) file: PathBuf,
    /// The authors' model string.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: String,
    /// The model to write.
    #[arg(long, value_name = "MODEL.safetensors")]
    pub(crate) out: PathBuf,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Changes to a task's settings; without them a task is as in the paper.
#[derive(Debug, Args)]
pub(crate) struct TaskChoice {
    /// Where graphs come from: er, knn, planar, lobster, grid, line, complete, cycle, regular or tree.
    #[arg(long)]
    pub(crate) generator: Option<Generator>,
    /// N, or A..B for sizes drawn uniformly from [A, B). For lobsters the length of the line.
    #[arg(long, value_name = "N|A..B", allow_hyphen_values = true)]
    pub(crate) size: Option<SizeRange>,
    /// Weights uniform in [0.5, 1.5), as in the paper.
    #[arg(long, conflicts_with = "weights")]
    pub(crate) weighted: bool,
    /// Weights uniform in [LO, HI).
    #[arg(long, value_name = "LO..HI", allow_hyphen_values = true)]
    pub(crate) weights: Option<Weights>,
    /// Dots of a Pacman map.
    #[arg(long)]
    pub(crate) dots: Option<u16>,
    /// Walls of a Pacman map.
    #[arg(long)]
    pub(crate) walls: Option<u16>,
    /// Folder of the graph classification sets.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// MUTAG, PTC, PROTEINS, IMDBBINARY or IMDBMULTI.
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn train shortest-path --model iter-homo-path --out runs/lobster
  itergnn train shortest-path --model iter-homo-path-paper --generator er --weighted --out runs/er --seeds 3
  itergnn train --config experiments/shortest-path/config.toml --out runs/a
  itergnn train --out runs/a --resume
  itergnn train shortest-path --generator er --weighted --set model.max_plus.training_cap=8 --set optimiser.clip_norm=1 --out runs/b
  itergnn train graph-classification --data DIR --dataset MUTAG --model gin --out runs/mutag

With --seeds, --threads is the number of runs at a time. Ctrl-C saves the run; --resume continues it to the bit. The run directory holds config.toml, metrics.jsonl, TensorBoard events and
the model of the best epoch.")]
pub(crate) struct TrainArguments {
    /// shortest-path, component-count, tsp, newton-balls, pacman, navigation, regular-graphs or graph-classification (ten folds).
    pub(crate) task: Option<Task>,
    /// A preset: gcn, gat, gin, path, homo-path, iter-path, iter-homo-path, iter-homo-path-paper, act-homo-path, ..
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The run directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A configuration file instead of TASK and --model; other flags change what it says.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) samples_of: TaskChoice,
    /// path, path-sim or mpnn-max.
    #[arg(long)]
    pub(crate) layer: Option<String>,
    /// attention, max or sparsemax.
    #[arg(long)]
    pub(crate) aggregation: Option<String>,
    /// stack, shared, iter, iter-decay or act.
    #[arg(long)]
    pub(crate) controller: Option<String>,
    /// none, full or core.
    #[arg(long)]
    pub(crate) prior: Option<String>,
    /// Width of the hidden state.
    #[arg(long)]
    pub(crate) hidden: Option<usize>,
    /// How often every sample is seen.
    #[arg(long)]
    pub(crate) epochs: Option<u64>,
    /// Training samples.
    #[arg(long)]
    pub(crate) samples: Option<u64>,
    /// Validation samples.
    #[arg(long)]
    pub(crate) validation: Option<u64>,
    /// Moves to make, for pacman, which is learned by playing.
    #[arg(long)]
    pub(crate) steps: Option<u64>,
    /// Layers of a stack, for pacman's gcn and cnn.
    #[arg(long)]
    pub(crate) layers: Option<usize>,
    /// Side of the kernels of pacman's cnn, odd.
    #[arg(long)]
    pub(crate) kernel: Option<usize>,
    /// Graphs in a step.
    #[arg(long)]
    pub(crate) batch_size: Option<usize>,
    /// Learning rate of Adam.
    #[arg(long)]
    pub(crate) learning_rate: Option<f64>,
    /// Seed of weights, order and samples.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Train this many seeds, counting up from --seed, side by side; each gets a folder of its own in DIR.
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<u64>,
    /// Folds of graph-classification: dealt as scikit-learn deals them, or the files published with the set.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) folds: Option<FoldSource>,
    /// Train only this fold of graph-classification, 0 to 9; the rest follows with --resume.
    #[arg(long, value_name = "K")]
    pub(crate) fold: Option<usize>,
    /// Go on with the run in DIR, if there is one.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Any other setting, by its name in the configuration file; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// auto (fused where it can), fused (an error where it cannot) or plain (tensor operations). They agree to rounding.
    #[arg(long, value_name = "auto|fused|plain")]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the folds of a cross-validation come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FoldSource {
    /// Ten stratified folds of all graphs.
    Stratified,
    /// The index files beside the set.
    Published,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn eval runs/lobster --size 1000 --count 100 --success
  itergnn eval models/shortest-path-lobster.safetensors --weights 8..24 --size 100 --json
  itergnn eval models/pacman-iter.safetensors --dots 10 --walls 8 --count 200
  itergnn eval models/pacman-iter.safetensors --grid --count 200
  itergnn eval random --grid    a player without a model: random or nearest-dot")]
pub(crate) struct EvalArguments {
    /// A run directory or a .safetensors file.
    pub(crate) model: PathBuf,
    /// The task, for a model that does not say it (an imported one).
    #[arg(long)]
    pub(crate) task: Option<Task>,
    #[command(flatten)]
    pub(crate) samples_of: TaskChoice,
    /// Graphs to evaluate.
    #[arg(long, default_value_t = 100)]
    pub(crate) count: u64,
    /// Seed of the test samples.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Also walk from source to target by predicted lengths and count the shortest paths.
    #[arg(long)]
    pub(crate) success: bool,
    /// Also list every graph: distance, prediction, iterations (in --json).
    #[arg(long)]
    pub(crate) records: bool,
    /// Stop every loop after this many iterations; unlimited (but for a reported safety cap) unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Memory that predictions may take together, in GiB; 0.5 unless told. A graph that needs more than there is is refused.
    #[arg(long, value_name = "GIB", allow_negative_numbers = true)]
    pub(crate) memory: Option<f64>,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
    /// Pacman: play the paper's 30 settings of walls and dots.
    #[arg(long)]
    pub(crate) grid: bool,
    /// Pacman: share of random moves; none unless given.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) exploration: f64,
    /// Pacman: let the player correct its values by what its moves led to, until it eats the next dot.
    #[arg(long)]
    pub(crate) recall: bool,
    /// Pacman: average the network over the eight rotations and reflections of the map.
    #[arg(long)]
    pub(crate) symmetries: bool,
    /// Pacman: also write the numbers of --grid here, as JSON.
    #[arg(long, value_name = "FILE", requires = "grid")]
    pub(crate) out: Option<PathBuf>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn play models/pacman-iter.safetensors                        watch; space pauses, + and - change the speed, q quits
  itergnn play models/pacman-iter.safetensors --record episode.gif   the whole game as a moving picture (.gif or .svg)
  itergnn play                                                       play yourself, with the arrow keys
  itergnn play nearest-dot --walls 15                                a player that always finds the way

Without a terminal the situations are printed one after the other.")]
pub(crate) struct PlayArguments {
    /// A run directory or a .safetensors file; nearest-dot or random; nobody: you play.
    pub(crate) model: Option<PathBuf>,
    /// Play yourself, on the games the model would play.
    #[arg(long)]
    pub(crate) human: bool,
    /// Dots of the map; those the model was trained with unless given.
    #[arg(long)]
    pub(crate) dots: Option<u16>,
    /// Walls of the map.
    #[arg(long)]
    pub(crate) walls: Option<u16>,
    /// Side of the map.
    #[arg(long)]
    pub(crate) size: Option<u16>,
    /// Which game.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Moves a second.
    #[arg(long, default_value_t = 8.0)]
    pub(crate) speed: f64,
    /// Let the player correct its values by what its moves led to, until it eats the next dot.
    #[arg(long)]
    pub(crate) recall: bool,
    /// Average the network over the eight rotations and reflections of the map.
    #[arg(long)]
    pub(crate) symmetries: bool,
    /// Write the game here as a moving picture, .gif or .svg.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn solve runs/lobster --graph rome99.gr --from 1 --to 3000 --check
  itergnn solve models/shortest-path-lobster.safetensors --graph power_grid.edges --from 0 --to 17 --json
  itergnn solve models/navigation.safetensors --image map.png --from 0,0 --to 15,15 --picture path.png --check
  itergnn solve models/shortest-path-lobster.safetensors --graph arena.map --from 1,11 --to 40,30 --picture way.png
  itergnn solve runs/lobster --graph roads.edges --largest-component --pairs 50 --seed 1

Nodes are named as the file names them (DIMACS counts from 1; cells of a map are column,row). The model never sees the exact answer:
--check compares afterwards.

In a picture brighter is higher: a grey value g of 255 is a height of g / 255, colours count by their luminance, 16 bits are kept, transparent
pixels are refused. The model of this project learned by itself that heights above 0.8 (grey above 204) cannot be entered.")]
pub(crate) struct SolveArguments {
    /// A run directory or a .safetensors file of a shortest-path model, or of a navigation model with --image.
    pub(crate) model: PathBuf,
    /// DIMACS .gr, an edge list (.csv, .tsv, .edges, .cedge), a moving-AI .map, or JSON.
    #[arg(long, value_name = "FILE", required_unless_present = "image")]
    pub(crate) graph: Option<PathBuf>,
    /// A PNG as a map of heights, for a model of image navigation: every pixel a cell with four neighbours.
    #[arg(long, value_name = "MAP.png", conflicts_with_all = ["graph", "directed", "pairs", "largest_component"])]
    pub(crate) image: Option<PathBuf>,
    /// Source node; ROW,COL from 0 at the top left of an image.
    #[arg(long, value_name = "NODE", requires = "to")]
    pub(crate) from: Option<String>,
    /// Target node; ROW,COL from 0 at the top left of an image.
    #[arg(long, value_name = "NODE", requires = "from")]
    pub(crate) to: Option<String>,
    /// Instead of --from and --to: this many random pairs that have a path, each compared with the exact solver afterwards.
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to", "picture"])]
    pub(crate) pairs: Option<usize>,
    /// Seed of the pairs.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Search only the largest connected component.
    #[arg(long)]
    pub(crate) largest_component: bool,
    /// Edges of an edge list lead one way only; DIMACS and JSON say so themselves.
    #[arg(long)]
    pub(crate) directed: bool,
    /// Compare with the exact solver afterwards.
    #[arg(long)]
    pub(crate) check: bool,
    /// Draw the path: a .svg or a .png file; maps and images only.
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) picture: Option<PathBuf>,
    /// Stop every loop after this many iterations; unlimited (but for a reported safety cap) unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Memory that predictions may take together, in GiB; 1 unless told. A graph that needs more than there is is refused.
    #[arg(long, value_name = "GIB", allow_negative_numbers = true)]
    pub(crate) memory: Option<f64>,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn reproduce --quick                     every table, small, in under 20 minutes on two cores
  itergnn reproduce lobsters ablation --seeds 3 two tables in full
  itergnn reproduce --report-only               the report again from the results that are there

Tables: summary, lobsters, ablation, iterations, regular-graphs, graph-classification, pacman, properties. A result that is there is not made again, so the same command goes on after Ctrl-C;
results, report.md and report.html stand in the folder given by --out.")]
pub(crate) struct ReproduceArguments {
    /// Tables to make; all unless given.
    #[arg(value_name = "TABLE")]
    pub(crate) tables: Vec<String>,
    /// Fewer samples, epochs and test graphs: shows that everything runs and roughly where it ends.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Train every model this many times, with seeds 0, 1, ..; 3 unless told, 1 with --quick.
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<u64>,
    /// Epochs of the paper's models; ours have a recipe of their own and train no longer than that.
    #[arg(long)]
    pub(crate) epochs: Option<u64>,
    /// Run only these models of the tables, by the names in the list of runs; the report still shows all results that are there.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Training samples of the paper's models, and the most that ours take.
    #[arg(long)]
    pub(crate) samples: Option<u64>,
    /// Folder of the graph classification sets; without it that table is left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Folder of results and report.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub(crate) out: PathBuf,
    /// Experiments at a time; all cores unless told.
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Run nothing; write the report from the results that are there.
    #[arg(long)]
    pub(crate) report_only: bool,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Timed repetitions of every training step.
    #[arg(long, default_value_t = 20)]
    pub(crate) repetitions: usize,
    /// Also predictions for graphs of a million nodes: half a minute, and 3 GiB of memory.
    #[arg(long)]
    pub(crate) large: bool,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
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
    /// Folder for the figures.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// One JSON list on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}
