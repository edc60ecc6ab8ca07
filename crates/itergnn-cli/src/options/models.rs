//! Arguments about trained models.

use std::path::PathBuf;

use clap::Args;
use itergnn::tasks::Task;

use super::{ReadingOptions, TaskChoice};
use crate::compute::{ComputeChoice, EngineChoice, TimeLimit};

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
    /// Also list every graph in the JSON: distance, prediction, iterations.
    #[arg(long, requires = "json")]
    pub(crate) records: bool,
    /// Stop every loop after this many iterations; unlimited (but for a reported safety cap) unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Memory that predictions may take together, in GiB; 0.5 unless told. A graph that needs more than there is is
    /// refused.
    #[arg(long, value_name = "GIB", allow_negative_numbers = true)]
    pub(crate) memory: Option<f64>,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) time: TimeLimit,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
    /// Pacman: play the paper's 30 settings of walls and dots.
    #[arg(long)]
    pub(crate) grid: bool,
    /// Pacman: share of random moves, 0 to 1; none unless given.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) exploration: f64,
    /// Pacman: let the player correct its values by what its moves led to, until it eats the next dot.
    #[arg(long)]
    pub(crate) recall: bool,
    /// Pacman: average the network over the eight rotations and reflections of the map.
    #[arg(long)]
    pub(crate) symmetries: bool,
    /// Pacman: also write the numbers of --grid here, as JSON; a file that is there is replaced.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
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
    /// A JSON object with node_attributes, edges and edge_attributes, as `itergnn sample` writes it (of several lines
    /// the first), or a TSPLIB .tsp file.
    #[arg(long, value_name = "FILE", required_unless_present = "data")]
    pub(crate) graph: Option<PathBuf>,
    /// A file of such objects, one per line, or - for standard input: a line of JSON is printed for each.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["graph", "trace", "json"])]
    pub(crate) data: Option<PathBuf>,
    /// Stop every loop after this many iterations; unlimited (but for a reported safety cap) unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Also show confidence, remaining probability and change of every step.
    #[arg(long)]
    pub(crate) trace: bool,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) time: TimeLimit,
    #[command(flatten)]
    pub(crate) engine: EngineChoice,
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
    /// Moves per second, of what is shown or recorded.
    #[arg(long, default_value_t = 8.0)]
    pub(crate) speed: f64,
    /// Let the player correct its values by what its moves led to, until it eats the next dot.
    #[arg(long)]
    pub(crate) recall: bool,
    /// Average the network over the eight rotations and reflections of the map.
    #[arg(long)]
    pub(crate) symmetries: bool,
    /// Write the game here as a moving picture, .gif or .svg; a file that is there is replaced.
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

Nodes are named as the file names them (DIMACS counts from 1). Cells of maps and of images are both COLUMN,ROW, from 0 at the top left.
The model never sees the exact answer: --check compares afterwards.

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
    /// Source node, by its name in the file; COLUMN,ROW from 0 at the top left on maps and images.
    #[arg(long, value_name = "NODE", requires = "to")]
    pub(crate) from: Option<String>,
    /// Target node, named as the source.
    #[arg(long, value_name = "NODE", requires = "from")]
    pub(crate) to: Option<String>,
    /// Instead of --from and --to: this many random pairs that have a path, each compared with the exact solver
    /// afterwards.
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to", "picture"])]
    pub(crate) pairs: Option<usize>,
    /// Seed of the pairs.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Search only the largest connected component.
    #[arg(long)]
    pub(crate) largest_component: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
    /// Compare with the exact solver afterwards.
    #[arg(long)]
    pub(crate) check: bool,
    /// Draw the path: a .svg or a .png file, maps and images only; a file that is there is replaced.
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) picture: Option<PathBuf>,
    /// Stop every loop after this many iterations; unlimited (but for a reported safety cap) unless given.
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Memory that predictions may take together, in GiB; a quarter of what is free unless told. A graph that needs
    /// more than there is is refused.
    #[arg(long, value_name = "GIB", allow_negative_numbers = true)]
    pub(crate) memory: Option<f64>,
    #[command(flatten)]
    pub(crate) compute: ComputeChoice,
    #[command(flatten)]
    pub(crate) time: TimeLimit,
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
    /// The model to write; a file that is there is replaced.
    #[arg(long, value_name = "MODEL.safetensors")]
    pub(crate) out: PathBuf,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}
