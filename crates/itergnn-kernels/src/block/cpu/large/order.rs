//! An order of the nodes in which neighbours mostly share a chunk.

use std::collections::VecDeque;

use super::CHUNK_NODES;

/// Share of nodes that may send beyond their chunk before another order is looked for.
const TOLERABLE_EXPORTS: f64 = 0.05;

/// An order (new to old) that keeps more edges within chunks than the present one does; `None` where the present one is
/// good enough.
///
/// Regions grow breadth first along incoming edges until they fill a chunk; the next one grows from the border that was
/// left over. On a line that is a walk along it; on a grid, chunks become discs, of which only the rim sends beyond,
/// where rows of a breadth-first order would send everything.
///
/// # Complexity
/// `O(nodes + edges)`.
pub(super) fn better_order(offsets: &[u32], senders: &[u32]) -> Option<Vec<u32>> {
    let nodes = offsets.len() - 1;
    let present = exports(offsets, senders, |node| node as usize);
    if present as f64 <= TOLERABLE_EXPORTS * nodes as f64 {
        return None;
    }
    let order = grow_regions(offsets, senders);
    let mut places = vec![0_u32; nodes];
    order.iter().enumerate().for_each(|(place, &node)| places[node as usize] = place as u32);
    (exports(offsets, senders, |node| places[node as usize] as usize) < present).then_some(order)
}

/// Number of nodes with an edge into another chunk.
fn exports(offsets: &[u32], senders: &[u32], place: impl Fn(u32) -> usize) -> usize {
    let nodes = offsets.len() - 1;
    let mut exported = vec![false; nodes];
    for receiver in 0..nodes {
        let chunk = place(receiver as u32) / CHUNK_NODES;
        for &sender in &senders[offsets[receiver] as usize..offsets[receiver + 1] as usize] {
            exported[sender as usize] |= place(sender) / CHUNK_NODES != chunk;
        }
    }
    exported.into_iter().filter(|&exported| exported).count()
}

fn grow_regions(offsets: &[u32], senders: &[u32]) -> Vec<u32> {
    let nodes = offsets.len() - 1;
    let mut order = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    let (mut border, mut region) = (VecDeque::new(), VecDeque::new());
    for start in 0..nodes as u32 {
        if seen[start as usize] {
            continue;
        }
        border.push_back(start);
        while let Some(seed) = border.pop_front() {
            if seen[seed as usize] {
                continue;
            }
            seen[seed as usize] = true;
            region.push_back(seed);
            while let Some(node) = region.pop_front() {
                order.push(node);
                let incoming = offsets[node as usize] as usize..offsets[node as usize + 1] as usize;
                for &neighbour in &senders[incoming] {
                    if !seen[neighbour as usize] {
                        seen[neighbour as usize] = true;
                        region.push_back(neighbour);
                    }
                }
                if order.len() % CHUNK_NODES == 0 {
                    // The chunk is full: what it reached but could not hold is where others start.
                    region.iter().for_each(|&node| seen[node as usize] = false);
                    border.extend(region.drain(..));
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid whose nodes are numbered at random.
    fn shuffled_grid(side: usize) -> (Vec<u32>, Vec<u32>) {
        let nodes = side * side;
        // 7 is prime to the number of nodes of the grids below.
        let name = |x: usize, y: usize| ((y * side + x) * 7 % nodes) as u32;
        let mut edges = Vec::new();
        for y in 0..side {
            for x in 0..side {
                let right = (x + 1 < side).then(|| name(x + 1, y));
                let below = (y + 1 < side).then(|| name(x, y + 1));
                for other in right.into_iter().chain(below) {
                    edges.extend([(name(x, y), other), (other, name(x, y))]);
                }
            }
        }
        edges.sort_unstable();
        let offsets = (0..=nodes as u32).map(|node| edges.partition_point(|edge| edge.0 < node) as u32).collect();
        (offsets, edges.into_iter().map(|edge| edge.1).collect())
    }

    #[test]
    fn orders_are_permutations_that_send_less_beyond_chunks() {
        let (offsets, senders) = shuffled_grid(96);
        let nodes = offsets.len() - 1;
        let order = better_order(&offsets, &senders).expect("the numbering is a bad one");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..nodes as u32).collect::<Vec<_>>());
        let mut places = vec![0; nodes];
        order.iter().enumerate().for_each(|(place, &node)| places[node as usize] = place);
        let exports = exports(&offsets, &senders, |node| places[node as usize]);
        assert!(exports < nodes / 3, "{exports} of {nodes}");
    }

    #[test]
    fn a_line_in_order_stays_as_it_is() {
        let nodes = 5 * CHUNK_NODES as u32;
        let offsets: Vec<u32> = (0..=nodes).map(|node| node.saturating_sub(1)).collect();
        let senders: Vec<u32> = (0..nodes - 1).collect();
        assert_eq!(better_order(&offsets, &senders), None);
    }
}
