//! What the nodes of a graph are called in the file it came from.

/// The name that a file uses for each node.
///
/// A [`Graph`](crate::Graph) counts its nodes from 0 without gaps. Files need not: DIMACS counts from 1, extracts of
/// maps keep numbers of many digits, and other files have words. What a user types and reads are the file's names; this
/// translates.
///
/// # Example
/// ```
/// use itergnn_graph::formats::NodeNames;
/// let dimacs = NodeNames::Sequence { first: 1, nodes: 4 };
/// assert_eq!((dimacs.find("1"), dimacs.find("5"), dimacs.name(3)), (Some(0), None, "4".to_owned()));
/// let extract = NodeNames::Numbers(vec![17, 4711, 90_000_000_000]);
/// assert_eq!((extract.find("4711"), extract.find("18"), extract.name(2)), (Some(1), None, "90000000000".to_owned()));
/// let cities = NodeNames::words(vec!["Rome".into(), "Oslo".into()]);
/// assert_eq!((cities.find("Oslo"), cities.find("Paris")), (Some(1), None));
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
    /// One number per node, strictly ascending.
    Numbers(Vec<u64>),
    /// One word per node; see [`NodeNames::words`].
    Words {
        /// The names by node.
        names: Vec<String>,
        /// The nodes in the order of their names.
        sorted: Vec<u32>,
    },
}

impl NodeNames {
    /// Names that are words; of equal ones the first is found.
    pub fn words(names: Vec<String>) -> Self {
        let mut sorted: Vec<u32> = (0..names.len() as u32).collect();
        sorted.sort_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
        Self::Words { names, sorted }
    }

    /// Names that are whole numbers, in any order and with repetitions.
    pub(crate) fn numbers(ids: impl Iterator<Item = u64>) -> Self {
        let mut numbers: Vec<u64> = ids.collect();
        numbers.sort_unstable();
        numbers.dedup();
        match (numbers.first(), numbers.last()) {
            (Some(&first), Some(&last)) if last - first == numbers.len() as u64 - 1 => {
                Self::Sequence { first, nodes: numbers.len() }
            }
            _ => Self::Numbers(numbers),
        }
    }

    /// The node of this name, as a user writes it.
    ///
    /// # Complexity
    /// O(log nodes).
    pub fn find(&self, name: &str) -> Option<u32> {
        match self {
            Self::Words { names, sorted } => {
                let place = sorted.partition_point(|&node| names[node as usize].as_str() < name);
                sorted.get(place).copied().filter(|&node| names[node as usize] == name)
            }
            _ => self.node(name.trim().parse().ok()?),
        }
    }

    /// The node of this number; words are not numbers.
    pub(crate) fn node(&self, number: u64) -> Option<u32> {
        match self {
            Self::Sequence { first, nodes } => {
                let node = usize::try_from(number.checked_sub(*first)?).ok()?;
                (node < *nodes).then_some(node as u32)
            }
            Self::Numbers(names) => names.binary_search(&number).ok().map(|node| node as u32),
            Self::Words { .. } => None,
        }
    }

    /// The number of a node, unless it has a word.
    pub(crate) fn number(&self, node: u32) -> Option<u64> {
        match self {
            Self::Sequence { first, nodes } => ((node as usize) < *nodes).then(|| first + u64::from(node)),
            Self::Numbers(names) => names.get(node as usize).copied(),
            Self::Words { .. } => None,
        }
    }

    /// The name of a node.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn name(&self, node: u32) -> String {
        assert!((node as usize) < self.len(), "node {node} of {}", self.len());
        match (self, self.number(node)) {
            (Self::Words { names, .. }, _) => names[node as usize].clone(),
            (_, number) => number.map_or_else(String::new, |number| number.to_string()),
        }
    }

    /// How many nodes have names.
    pub fn len(&self) -> usize {
        match self {
            Self::Sequence { nodes, .. } => *nodes,
            Self::Numbers(names) => names.len(),
            Self::Words { names, .. } => names.len(),
        }
    }

    /// Whether no node has a name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of some nodes, which ascend.
    pub(crate) fn select(&self, nodes: &[u32]) -> Self {
        match self {
            Self::Words { names, .. } => Self::words(nodes.iter().map(|&node| names[node as usize].clone()).collect()),
            _ => Self::numbers(nodes.iter().filter_map(|&node| self.number(node))),
        }
    }

    /// Which names there are, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Sequence { first, nodes } if *nodes > 1 => {
                format!("a number from {first} to {}", first + *nodes as u64 - 1)
            }
            Self::Numbers(names) if names.len() > 1 => {
                let (first, last) = (names[0], names[names.len() - 1]);
                format!("one of {} numbers between {first} and {last} that occur in the file", names.len())
            }
            Self::Words { names, .. } if names.len() > 1 => {
                format!("one of {} names such as \"{}\" and \"{}\"", names.len(), names[0], names[1])
            }
            _ if self.is_empty() => "a node, but the graph has none".to_owned(),
            _ => format!("the only node, \"{}\"", self.name(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(ids: &[u64]) -> NodeNames {
        NodeNames::numbers(ids.iter().copied())
    }

    #[test]
    fn only_numbers_that_occur_are_names() {
        assert_eq!(numbers(&[3, 1, 1, 2]), NodeNames::Sequence { first: 1, nodes: 3 });
        assert_eq!(numbers(&[0, 1, 1, 3]), NodeNames::Numbers(vec![0, 1, 3]));
        assert_eq!(numbers(&[0, u64::MAX]), NodeNames::Numbers(vec![0, u64::MAX]));
        assert_eq!(numbers(&[]), NodeNames::Numbers(vec![]));
    }

    #[test]
    fn every_name_leads_back_to_its_node() {
        let words = NodeNames::words(["b", "a", "10", "c"].map(str::to_owned).to_vec());
        for names in [numbers(&[5, 7, 6]), numbers(&[2, 1 << 40]), words.clone()] {
            for node in 0..names.len() as u32 {
                assert_eq!(names.find(&names.name(node)), Some(node));
            }
        }
        assert_eq!(words.select(&[0, 2]).find("10"), Some(1));
        assert_eq!(numbers(&[5, 7, 6]).select(&[0, 2]), NodeNames::Numbers(vec![5, 7]));
    }
}
