//! Samples on their way to a model: where they come from, in which order, in which batches.

mod feed;
mod host_batch;
mod order;
mod sample_source;

pub use feed::Batches;
pub use host_batch::HostBatch;
pub use order::epoch_order;
pub use sample_source::SampleSource;
