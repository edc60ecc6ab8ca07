//! TSPLIB: travelling salesman instances and tours.

mod distance;
mod explicit;
mod instance;
mod reader;
mod tour;

pub use distance::DistanceKind;
pub use instance::TspInstance;
pub use reader::{parse_tsp, read_tsp};
pub use tour::{parse_tour, read_tour, write_tour};
