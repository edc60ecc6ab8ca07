//! Which graphs of a batch share a thread block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    order.sort_by_key(|&(work, _)| Reverse(work));
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
    bins.sort_by_key(|bin| Reverse(bin.work));
    bins.into_iter().map(|bin| bin.graphs).collect()
}

/// How many packs of about `usual` work a batch of so much makes.
pub(crate) fn packs_of(work: usize, usual: usize, batch: usize) -> usize {
    ((work + usual / 2) / usual.max(1)).clamp(1, batch.max(1))
}

/// Edges that take as long as what every tile of edges takes however few it has.
const TILE_EDGES: usize = 24;

/// The work of a pack with which `models` batches at once are done soonest on `places` multiprocessors, near `usual`,
/// and how long they take: smaller packs spread the work better, until there are more of them than places. Found by
/// packing batches as they might be drawn from the samples. Edges go through a thread block in tiles of so many.
pub(crate) fn best_work(
    samples: &Samples,
    (models, batch, places): (usize, usize, usize),
    capacity: Capacity,
    tile: usize,
    costs: Costs,
    usual: usize,
) -> (usize, usize) {
    const STEPS: usize = 40;
    // What a pack takes however little it has.
    let fixed = usual / 8;
    let mut number = 0x1234_5678_9abc_def1_u64;
    let mut draw = || {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        (number % samples.len().max(1) as u64) as u32
    };
    let steps: Vec<Vec<Vec<u32>>> =
        (0..STEPS).map(|_| (0..models).map(|_| (0..batch).map(|_| draw()).collect()).collect()).collect();
    let time = |share: usize| -> usize {
        let last = |step: &Vec<Vec<u32>>| {
            let mut free: BinaryHeap<Reverse<usize>> = (0..places).map(|_| Reverse(0)).collect();
            let mut last = 0;
            for list in step {
                let work = |list: &[u32]| list.iter().map(|&sample| costs.of(samples, sample)).sum::<usize>();
                let edges = |list: &[u32]| list.iter().map(|&sample| samples.edge_count(sample)).sum::<usize>();
                let target = packs_of(work(list), usual * share / 100, batch);
                for pack in pack(samples, list, target, capacity, costs) {
                    let tiles = edges(&pack).div_ceil(tile.max(1)) * TILE_EDGES * costs.edge;
                    let end = free.pop().map_or(0, |Reverse(start)| start) + fixed + work(&pack) + tiles;
                    free.push(Reverse(end));
                    last = last.max(end);
                }
            }
            last
        };
        steps.iter().map(last).sum()
    };
    let best = (94..108).map(|share| (time(share), usual * share / 100)).min();
    best.map_or((usual, 0), |(time, work)| (work, time))
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

    #[test]
    fn packs_are_small_where_they_still_find_a_place_at_once() {
        let samples = lines(&(4..34).collect::<Vec<_>>());
        let (capacity, costs) = (Capacity { graphs: 8, rows: 128, edges: 300 }, Costs { row: 1, edge: 1 });
        let usual = 4 * (0..30).map(|sample| costs.of(&samples, sample)).sum::<usize>() / 30;
        let best = |places| best_work(&samples, (16, 32, places), capacity, 128, costs, usual).0;
        // 512 graphs are 128 packs of usual work.
        assert!(best(150) < best(132), "{} {}", best(150), best(132));
        assert!(best(132) < best(126), "{} {}", best(132), best(126));
    }
}
