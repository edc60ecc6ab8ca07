//! Labelled graphs on their way to a model: where they come from, in which order, in which batches.

mod algorithm_data;
mod dataset;
mod feed;
mod host_batch;
mod json_lines;
mod order;
mod own_data;
mod sample_source;

pub use algorithm_data::AlgorithmData;
pub use dataset::{Dataset, Example};
pub use feed::Batches;
pub use host_batch::HostBatch;
pub use json_lines::read_examples;
pub use order::epoch_order;
pub use own_data::{OwnData, read_file};
pub use sample_source::SampleSource;
