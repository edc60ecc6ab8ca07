//! Batches made ahead of the model.

use std::sync::mpsc::sync_channel;

use super::{HostBatch, SampleSource};
use crate::TrainError;

/// How many batches wait at most: enough to hide drawing, few enough not to matter in memory.
const AHEAD: usize = 3;

/// Gives `consume` the batches of `order` from batch number `start` on, made by a thread of their own while the caller computes.
///
/// `consume` may stop early. The batches do not depend on when they are made.
pub fn with_batches<R>(
    source: &SampleSource,
    order: &[u32],
    batch_size: usize,
    start: usize,
    consume: impl FnOnce(&mut dyn Iterator<Item = Result<HostBatch, TrainError>>) -> R,
) -> R {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        scope.spawn(move || {
            for indices in order.chunks(batch_size).skip(start) {
                // An error here means that the consumer has gone, and there is nothing more to do.
                if sender.send(source.batch(indices)).is_err() {
                    return;
                }
            }
        });
        // The receiver goes with the iterator, which ends the thread if batches are left.
        consume(&mut receiver.into_iter())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_tasks::{Split, Task, TaskSpec};

    #[test]
    fn batches_come_in_order_from_any_place_and_may_be_left() {
        let spec = TaskSpec::paper(Task::RegularGraphs);
        let source = SampleSource::new(&spec, Split::Train.seed(0), 10).unwrap();
        let order: Vec<u32> = (0..10).rev().collect();
        let sizes = |start| {
            let count = |batches: &mut dyn Iterator<Item = Result<HostBatch, TrainError>>| {
                batches.map(|batch| batch.unwrap().graphs.len()).collect::<Vec<_>>()
            };
            with_batches(&source, &order, 4, start, count)
        };
        assert_eq!(sizes(0), [4, 4, 2]);
        assert_eq!(sizes(2), [2]);
        assert_eq!(sizes(3), [0_usize; 0]);
        let first = with_batches(&source, &order, 1, 0, |batches| batches.next().unwrap().unwrap());
        assert_eq!(first, source.batch(&[9]).unwrap());
    }
}
