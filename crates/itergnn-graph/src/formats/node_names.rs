//! What the nodes of a graph are called in the file it came from.

/// The number that a file uses for each node.
///
/// A [`Graph`](crate::Graph) counts its nodes from 0 without gaps. Files need not: DIMACS counts from 1, and extracts of maps keep numbers of
/// many digits. What a user types and reads are the file's numbers; this translates. Names ascend with the node.
///
/// # Example
/// ```
/// use itergnn_graph::formats::NodeNames;
/// let dimacs = NodeNames::Sequence { first: 1, nodes: 4 };
/// assert_eq!((dimacs.node(1), dimacs.node(5), dimacs.name(3)), (Some(0), None, 4));
/// let extract = NodeNames::Listed(vec![17, 4711, 90_000_000_000]);
/// assert_eq!((extract.node(4711), extract.node(18), extract.name(2)), (Some(1), None, 90_000_000_000));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeNames {
    /// `first`, `first + 1`, and so on.
    Sequence {
        /// The name of node 0.
        first: u64,
        /// How many nodes there are.
        nodes: usize,
    },
    /// One name a node, strictly ascending.
    Listed(Vec<u64>),
}

impl NodeNames {
    /// The node of this name.
    ///
    /// # Complexity
    /// O(log nodes).
    pub fn node(&self, name: u64) -> Option<u32> {
        match self {
            Self::Sequence { first, nodes } => {
                let node = usize::try_from(name.checked_sub(*first)?).ok()?;
                (node < *nodes).then_some(node as u32)
            }
            Self::Listed(names) => names.binary_search(&name).ok().map(|node| node as u32),
        }
    }

    /// The name of a node.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn name(&self, node: u32) -> u64 {
        match self {
            Self::Sequence { first, nodes } => {
                assert!((node as usize) < *nodes, "node {node} of {nodes}");
                first + u64::from(node)
            }
            Self::Listed(names) => names[node as usize],
        }
    }

    /// How many nodes have names.
    pub fn len(&self) -> usize {
        match self {
            Self::Sequence { nodes, .. } => *nodes,
            Self::Listed(names) => names.len(),
        }
    }

    /// Whether no node has a name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which names there are, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Sequence { first, nodes } if *nodes > 0 => {
                format!("a number from {first} to {}", first + *nodes as u64 - 1)
            }
            Self::Listed(names) if names.len() > 1 => {
                let (first, last) = (names[0], names[names.len() - 1]);
                format!("one of {} numbers between {first} and {last} that occur in the file", names.len())
            }
            _ => "the only node".to_owned(),
        }
    }

    /// Names for the ids that occur in a file without a declared number of nodes.
    ///
    /// Where at least half of the numbers from `first` to the largest id occur, all of them are nodes, the missing ones without edges.
    /// Otherwise only the ids that occur are. `occurring` lists ids, with repetitions; none is below `first`.
    pub(crate) fn occurring(first: u64, occurring: impl Iterator<Item = u64> + Clone) -> Self {
        let (mut count, mut largest) = (0_u64, first);
        for id in occurring.clone() {
            count += 1;
            largest = largest.max(id);
        }
        // There are at most `count` distinct ids, so a longer range cannot be half full; this also bounds the table of flags.
        let span = (largest - first).saturating_add(1);
        if count > 0 && span <= 2 * count {
            let mut seen = vec![false; span as usize];
            occurring.clone().for_each(|id| seen[(id - first) as usize] = true);
            let distinct = seen.iter().filter(|&&flag| flag).count() as u64;
            if span <= 2 * distinct {
                return Self::Sequence { first, nodes: span as usize };
            }
        }
        let mut names: Vec<u64> = occurring.collect();
        names.sort_unstable();
        names.dedup();
        Self::Listed(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(first: u64, ids: &[u64]) -> NodeNames {
        NodeNames::occurring(first, ids.iter().copied())
    }

    #[test]
    fn dense_ids_keep_their_gaps_and_sparse_ids_lose_them() {
        assert_eq!(names(0, &[0, 1, 1, 3]), NodeNames::Sequence { first: 0, nodes: 4 });
        assert_eq!(names(1, &[1, 2]), NodeNames::Sequence { first: 1, nodes: 2 });
        assert_eq!(names(0, &[0, 1, 1, 5]), NodeNames::Sequence { first: 0, nodes: 6 }); // three of six occur
        assert_eq!(names(0, &[0, 1, 1, 6]), NodeNames::Listed(vec![0, 1, 6])); // three of seven
        assert_eq!(names(0, &[0, 1, 1, 90]), NodeNames::Listed(vec![0, 1, 90]));
        assert_eq!(names(0, &[0, u64::MAX]), NodeNames::Listed(vec![0, u64::MAX]));
        assert_eq!(names(0, &[]), NodeNames::Listed(vec![]));
    }

    #[test]
    fn every_name_leads_back_to_its_node() {
        for names in [names(5, &[5, 7, 6]), names(2, &[2, 1 << 40])] {
            for node in 0..names.len() as u32 {
                assert_eq!(names.node(names.name(node)), Some(node));
            }
        }
    }
}
