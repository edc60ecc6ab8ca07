//! TSPLIB: travelling salesman instances.

mod distance;
mod explicit;
mod instance;
mod reader;

pub use distance::DistanceKind;
pub use instance::TspInstance;
pub use reader::{parse_tsp, read_tsp};
