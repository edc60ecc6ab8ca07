//! Batches made ahead of the model.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use super::HostBatch;
use crate::TrainError;

/// How many batches wait at most: enough to hide drawing, few enough not to matter in memory.
const AHEAD: usize = 3;

/// The batches of an order from one of them on, made by a thread of their own while the caller computes.
///
/// They do not depend on when they are made. The thread ends with the batches, or when they are dropped.
#[derive(Debug)]
pub struct Batches {
    receiver: Option<Receiver<Result<HostBatch, TrainError>>>,
    maker: Option<JoinHandle<()>>,
}

impl Batches {
    /// The batches of `order` from batch number `start` on; `make` makes one of the samples it is given.
    pub fn new(
        make: impl Fn(&[u32]) -> Result<HostBatch, TrainError> + Send + 'static,
        order: Vec<u32>,
        batch_size: usize,
        start: usize,
    ) -> Self {
        let (sender, receiver) = sync_channel(AHEAD);
        let make = move || {
            for indices in order.chunks(batch_size).skip(start) {
                // An error here means that nobody waits any more, and there is nothing more to do.
                if sender.send(make(indices)).is_err() {
                    return;
                }
            }
        };
        let maker = std::thread::Builder::new().name("batches".to_owned()).spawn(make);
        // Without a thread the channel is closed, and there are no batches.
        Self { receiver: Some(receiver), maker: maker.ok() }
    }
}

impl Iterator for Batches {
    type Item = Result<HostBatch, TrainError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.receiver.as_ref()?.recv().ok()
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        // The receiver first: then the thread's next message fails, and it ends.
        self.receiver = None;
        if let Some(maker) = self.maker.take() {
            // A panic there has been seen here as batches that are missing.
            let _ = maker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SampleSource;
    use itergnn_tasks::{Split, Task, TaskSpec};
    use std::sync::Arc;

    #[test]
    fn batches_come_in_order_from_any_place_and_may_be_left() {
        let spec = TaskSpec::paper(Task::RegularGraphs);
        let source = Arc::new(SampleSource::new(&spec, Split::Train.seed(0), 10).unwrap());
        let order: Vec<u32> = (0..10).rev().collect();
        let batches = |size, start| {
            let source = Arc::clone(&source);
            Batches::new(move |indices| source.batch(indices), order.clone(), size, start)
        };
        let sizes = |start| batches(4, start).map(|batch| batch.unwrap().graphs.len()).collect::<Vec<_>>();
        assert_eq!(sizes(0), [4, 4, 2]);
        assert_eq!(sizes(2), [2]);
        assert_eq!(sizes(3), [0_usize; 0]);
        assert_eq!(batches(1, 0).next().unwrap().unwrap(), source.batch(&[9]).unwrap());
    }
}
