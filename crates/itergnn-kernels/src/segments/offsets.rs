//! Contiguous segments of rows.

use std::sync::Arc;

/// Consecutive groups of rows, one per receiver: rows `offsets[i]..offsets[i + 1]` belong to segment `i`.
///
/// Edges are stored sorted by receiver, so the incoming edges of every node are such a group. The offsets stay on the
/// host because every kernel walks them; they are shared, so a clone costs one reference count.
///
/// # Example
///
/// ```
/// use itergnn_kernels::segments::Segments;
///
/// let segments = Segments::from_offsets(vec![0, 2, 2, 5]);
/// assert_eq!(segments.len(), 3);
/// assert_eq!(segments.rows(), 5);
/// assert!(segments.range(1).is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    offsets: Arc<[u32]>,
}

impl Segments {
    /// Segments from compressed offsets.
    ///
    /// # Panics
    ///
    /// When `offsets` is empty, does not start at 0 or decreases.
    pub fn from_offsets(offsets: impl Into<Arc<[u32]>>) -> Self {
        let offsets = offsets.into();
        assert_eq!(offsets.first(), Some(&0), "segment offsets start at 0");
        assert!(offsets.windows(2).all(|pair| pair[0] <= pair[1]), "segment offsets must not decrease");
        Self { offsets }
    }

    /// Segments from the size of each.
    pub fn from_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut offsets = vec![0_u32];
        let mut end = 0_usize;
        for length in lengths {
            end += length;
            offsets.push(u32::try_from(end).expect("segments hold fewer than 2^32 rows"));
        }
        Self { offsets: offsets.into() }
    }

    /// Number of segments, empty ones included.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no segment at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows in all segments.
    pub fn rows(&self) -> usize {
        self.offsets[self.len()] as usize
    }

    /// The rows of segment `index`.
    pub fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// The rows of every segment, in order.
    pub fn iter(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// The offsets themselves: `len() + 1` numbers that start at 0.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// For every row the segment that holds it.
    pub fn ids(&self) -> Vec<u32> {
        let mut ids = Vec::with_capacity(self.rows());
        for (segment, range) in self.iter().enumerate() {
            ids.resize(range.end, segment as u32);
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_offsets_describe_the_same_segments() {
        let segments = Segments::from_lengths([2, 0, 3]);
        assert_eq!(segments, Segments::from_offsets(vec![0, 2, 2, 5]));
        assert_eq!(segments.ids(), [0, 0, 2, 2, 2]);
        assert_eq!(segments.range(1), 2..2);
    }

    #[test]
    #[should_panic(expected = "must not decrease")]
    fn decreasing_offsets_are_refused() {
        Segments::from_offsets(vec![0, 3, 2]);
    }
}
