//! Which graphs of a batch share a thread block.

use crate::Samples;

/// What fits into one thread block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) graphs: usize,
    pub(crate) rows: usize,
    pub(crate) edges: usize,
}

/// Rows that a graph takes: its nodes, padded to a multiple of four.
pub(crate) fn rows(nodes: usize) -> usize {
    nodes.next_multiple_of(4)
}

/// Multiplications of a step for each row and each edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    pub(crate) row: usize,
    pub(crate) edge: usize,
}

impl Costs {
    /// The work of a sample.
    pub(crate) fn of(&self, samples: &Samples, sample: u32) -> usize {
        self.row * rows(samples.node_count(sample)) + self.edge * samples.edge_count(sample)
    }
}

/// Distributes samples to `target` packs, or to more where they do not fit: the costliest sample first, each to the
/// pack with the least work. The same list gives the same packs; those with most work come first.
pub(crate) fn pack(samples: &Samples, list: &[u32], target: usize, capacity: Capacity, costs: Costs) -> Vec<Vec<u32>> {
    struct Bin {
        graphs: Vec<u32>,
        rows: usize,
        edges: usize,
        work: usize,
    }
    let mut bins: Vec<Bin> = Vec::new();
    let mut order: Vec<(usize, u32)> = list.iter().map(|&sample| (costs.of(samples, sample), sample)).collect();
    // A stable sort: equal samples keep the order of the batch.
    order.sort_by_key(|&(work, _)| std::cmp::Reverse(work));
    for (work, sample) in order {
        let (rows, edges) = (rows(samples.node_count(sample)), samples.edge_count(sample));
        let fits = |bin: &&mut Bin| {
            bin.graphs.len() < capacity.graphs
                && bin.rows + rows <= capacity.rows
                && bin.edges + edges <= capacity.edges
        };
        let open = bins.len() < target;
        let chosen = if open { None } else { bins.iter_mut().filter(fits).min_by_key(|bin| bin.work) };
        match chosen {
            Some(bin) => {
                bin.graphs.push(sample);
                (bin.rows, bin.edges, bin.work) = (bin.rows + rows, bin.edges + edges, bin.work + work);
            }
            None => bins.push(Bin { graphs: vec![sample], rows, edges, work }),
        }
    }
    bins.sort_by_key(|bin| std::cmp::Reverse(bin.work));
    bins.into_iter().map(|bin| bin.graphs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleView;

    fn lines(sizes: &[usize]) -> Samples {
        let mut samples = Samples::new(1, 0);
        for &size in sizes {
            let senders: Vec<u32> = (0..size as u32 - 1).collect();
            let incoming: Vec<u32> = std::iter::once(0).chain(0..size as u32).collect();
            let view = SampleView {
                nodes: &vec![0.0; size],
                incoming: &incoming,
                senders: &senders,
                edges: &[],
                targets: &[],
                target_rows: &[],
            };
            samples.push(&view).unwrap();
        }
        samples
    }

    #[test]
    fn packs_hold_every_sample_once_and_keep_the_capacity() {
        let sizes = [5, 33, 4, 17, 20, 9, 30, 12];
        let samples = lines(&sizes);
        let capacity = Capacity { graphs: 3, rows: 48, edges: 60 };
        let costs = Costs { row: 2, edge: 1 };
        let list: Vec<u32> = (0..8).chain([1]).collect();
        for target in 1..6 {
            let packs = pack(&samples, &list, target, capacity, costs);
            let mut seen: Vec<u32> = packs.concat();
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 1, 2, 3, 4, 5, 6, 7]);
            for pack in &packs {
                assert!(pack.len() <= 3);
                assert!(pack.iter().map(|&sample| rows(samples.node_count(sample))).sum::<usize>() <= 48);
            }
        }
    }
}
