//! Drawing samples, one or many.

use std::{collections::VecDeque, ops::Range};

use rayon::prelude::*;

use crate::{Sample, Task, TaskError};

/// Draws the samples of one task under one specification.
///
/// A sample is a pure function of the split's seed and its index, so it does not matter who draws it, when, or on how
/// many threads.
pub trait Sampler: Send + Sync {
    /// The task.
    fn task(&self) -> Task;

    /// Sample `index` of the split whose seed ([`Split::seed`](crate::Split::seed)) is given.
    ///
    /// # Errors
    /// Whatever the task reports: settings that no graph satisfies, or a label that could not be found.
    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError>;

    /// Roughly how many nodes and edges the largest sample has.
    fn largest(&self) -> usize;

    /// Roughly how many of these are nodes; all of them, unless the task knows better.
    fn largest_nodes(&self) -> usize {
        self.largest()
    }

    /// How many samples a stream draws at a time: as many as threads can share well and memory holds.
    ///
    /// Tasks whose labels take long ask for fewer, so that the first samples do not wait for hundreds of others.
    fn chunk(&self) -> usize {
        (HELD / self.largest().max(1)).clamp(1, CHUNK)
    }

    /// How many samples there are; `None` where they are drawn and never run out.
    fn count(&self) -> Option<u64> {
        None
    }
}

/// How many nodes and edges a stream holds at most, unless a single sample has more: about 100 MB.
const HELD: usize = 1 << 22;

/// The most samples that a stream draws at once; enough to keep many threads busy.
const CHUNK: usize = 512;

/// Draws samples in parallel and gives them out in order, holding only a bounded number.
///
/// The work is done in rayon's current thread pool, a chunk at a time.
///
/// # Example
/// ```
/// use itergnn_tasks::{Samples, Split, TaskSpec, Task};
/// let sampler = TaskSpec::paper(Task::NewtonBalls).sampler()?;
/// let seed = Split::Train.seed(0);
/// let samples: Result<Vec<_>, _> = Samples::new(&*sampler, seed, 0..100).collect();
/// assert_eq!(samples?[42], sampler.sample(seed, 42)?);
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
pub struct Samples<'a, S: Sampler + ?Sized> {
    sampler: &'a S,
    split_seed: u64,
    indices: Range<u64>,
    chunk: usize,
    ready: VecDeque<Result<Sample, TaskError>>,
}

impl<'a, S: Sampler + ?Sized> Samples<'a, S> {
    /// The samples `indices` of a split, in order.
    pub fn new(sampler: &'a S, split_seed: u64, indices: Range<u64>) -> Self {
        Self { sampler, split_seed, indices, chunk: sampler.chunk().max(1), ready: VecDeque::new() }
    }
}

impl<S: Sampler + ?Sized> Iterator for Samples<'_, S> {
    type Item = Result<Sample, TaskError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() && !self.indices.is_empty() {
            let end = self.indices.end.min(self.indices.start.saturating_add(self.chunk as u64));
            let (sampler, seed) = (self.sampler, self.split_seed);
            let count = (end - self.indices.start) as usize;
            let start = self.indices.start;
            let drawn: Vec<_> =
                (0..count).into_par_iter().map(|offset| sampler.sample(seed, start + offset as u64)).collect();
            self.ready = drawn.into();
            self.indices.start = end;
        }
        self.ready.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.indices.end.saturating_sub(self.indices.start)) as usize + self.ready.len();
        (left, Some(left))
    }
}

impl<S: Sampler + ?Sized> ExactSizeIterator for Samples<'_, S> {}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::Graph;

    /// Sample i has target i; some indices fail.
    struct Counter {
        largest: usize,
    }

    impl Sampler for Counter {
        fn task(&self) -> Task {
            Task::Tsp
        }

        fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
            if index % 1_000 == 999 {
                return Err(TaskError::NoSuchSample { task: Task::Tsp, index, count: 0 });
            }
            let graph = Graph::new(1, &[])?;
            Ok(Sample::graph_level(Task::Tsp, 1, graph, vec![(split_seed + index) as f32]))
        }

        fn largest(&self) -> usize {
            self.largest
        }
    }

    #[test]
    fn order_and_errors_survive_chunks_of_every_size() {
        for largest in [0, 1, HELD / 100, HELD, usize::MAX] {
            let sampler = Counter { largest };
            let stream = Samples::new(&sampler, 5, 10..1_300);
            assert_eq!(stream.len(), 1_290);
            for (offset, sample) in stream.enumerate() {
                let index = 10 + offset as u64;
                match sample {
                    Ok(sample) => assert_eq!(sample.target, [(5 + index) as f32]),
                    Err(error) => assert!(index == 999, "{error}"),
                }
            }
        }
    }

    #[test]
    fn an_empty_range_gives_nothing() {
        assert_eq!(Samples::new(&Counter { largest: 1 }, 0, 7..7).count(), 0);
    }
}
