//! Who works on what, so that the result does not depend on how many work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` for every item, the first items first, on the threads of the current rayon pool; each thread has its
/// own `scratch`.
///
/// Results come back in the order of the items.
pub(super) fn for_each<I: Send, S: Default, R: Send>(items: Vec<I>, work: impl Fn(I, &mut S) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads().min(items.len());
    if threads <= 1 {
        let mut scratch = S::default();
        return items.into_iter().map(|item| work(item, &mut scratch)).collect();
    }
    let slots: Vec<Mutex<(Option<I>, Option<R>)>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut scratch = S::default();
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(item) = slot.0.take() {
                slot.1 = Some(work(item, &mut scratch));
            }
        }
    };
    rayon::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| run());
        }
        run();
    });
    slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1).collect()
}

/// Graphs by falling cost; equal ones in their order.
pub(super) fn largest_first(costs: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&graph| std::cmp::Reverse(costs[graph]));
    order
}

/// Divides graphs into at most `most` groups of about equal cost: each graph, the largest first, goes to the group with
/// the least so far.
///
/// Depends on nothing but the costs, so sums over groups in their order have the same bits on any number of threads.
pub(super) fn groups(costs: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut groups = vec![(0, Vec::new()); most.min(costs.len())];
    for graph in largest_first(costs) {
        if let Some(group) = groups.iter_mut().min_by_key(|group| group.0) {
            group.0 += costs[graph].max(1);
            group.1.push(graph);
        }
    }
    groups.into_iter().map(|group| group.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_graph_once_and_are_balanced() {
        let costs: Vec<usize> = (0..50).map(|graph| graph * 7 % 31).collect();
        let groups = groups(&costs, 4);
        let mut all: Vec<usize> = groups.concat();
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
        let sums: Vec<usize> = groups.iter().map(|group| group.iter().map(|&graph| costs[graph]).sum()).collect();
        assert!(sums.iter().max().unwrap() - sums.iter().min().unwrap() <= 31);
        assert!(super::groups(&[], 4).is_empty());
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let squares = for_each::<_, (), _>((0..100).collect(), |item: usize, ()| item * item);
        assert_eq!(squares, (0..100).map(|item| item * item).collect::<Vec<_>>());
    }
}
