//! Rows of numbers that belong to nodes, edges or graphs.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeSeq};

use crate::GraphError;

/// A table of `f32` with equally long rows, stored flat.
///
/// Row `i` is `values[i * width .. (i + 1) * width]`. Width 0 means that there are no attributes; such a table has no
/// rows whatever the graph.
///
/// Serialised as a list of rows.
///
/// # Example
/// ```
/// use itergnn_graph::Attributes;
/// let table = Attributes::new(2, vec![1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(table.row(1), &[3.0, 4.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attributes {
    width: usize,
    values: Vec<f32>,
}

impl Attributes {
    /// The table without columns.
    pub fn none() -> Self {
        Self::default()
    }

    /// A table of the given width over flat values.
    ///
    /// # Panics
    /// If the number of values is not a multiple of the width.
    pub fn new(width: usize, values: Vec<f32>) -> Self {
        let whole = if width == 0 { values.is_empty() } else { values.len().is_multiple_of(width) };
        assert!(whole, "{} values do not make rows of width {width}", values.len());
        Self { width, values }
    }

    /// A table from one slice per row.
    ///
    /// # Errors
    /// [`GraphError::RowLength`] names the first row whose length differs from the first one's.
    pub fn from_rows<R: AsRef<[f32]>>(what: &'static str, rows: &[R]) -> Result<Self, GraphError> {
        let width = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(width * rows.len());
        for (index, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != width {
                return Err(GraphError::RowLength { what, row: index, expected: width, found: row.len() });
            }
            values.extend_from_slice(row);
        }
        Ok(Self { width, values })
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are (0 when the width is 0).
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are no numbers at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Row `index`; the empty slice when the width is 0.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..(index + 1) * self.width]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        // chunks_exact panics on width 0; a table of width 0 has no values, so any width gives no rows.
        self.values.chunks_exact(self.width.max(1))
    }

    /// The rows `start..end` as a table of their own.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Self {
        Self { width: self.width, values: self.values[start * self.width..end * self.width].to_vec() }
    }

    /// Row `i` of the result is row `order[i]` of this table.
    pub(crate) fn gather(&self, order: &[u32]) -> Self {
        let mut values = Vec::with_capacity(self.values.len());
        if self.width > 0 {
            for &source in order {
                values.extend_from_slice(self.row(source as usize));
            }
        }
        Self { width: self.width, values }
    }

    /// Adds whole rows.
    pub(crate) fn extend(&mut self, values: &[f32]) {
        debug_assert!(values.len().is_multiple_of(self.width.max(1)));
        self.values.extend_from_slice(values);
    }

    /// Checks that there is a row for each of `expected` things and that every number is finite.
    pub(crate) fn check(&self, what: &'static str, expected: usize) -> Result<(), GraphError> {
        if self.width > 0 && self.len() != expected {
            return Err(GraphError::RowCount { what, expected, found: self.len() });
        }
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(GraphError::NotFinite {
                what,
                row: at / self.width,
                column: at % self.width,
                value: f64::from(self.values[at]),
            }),
            None => Ok(()),
        }
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.len()))?;
        for row in self.rows() {
            sequence.serialize_element(row)?;
        }
        sequence.end()
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = Vec::<Vec<f32>>::deserialize(deserializer)?;
        Self::from_rows("attributes", &rows).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ragged_table_is_refused_with_its_row() {
        let error = Attributes::from_rows("edge attributes", &[vec![1.0], vec![1.0, 2.0]]).unwrap_err();
        assert_eq!(error.to_string(), "edge attributes: row 1 has 2 values, expected 1");
    }

    #[test]
    fn width_zero_has_no_rows() {
        let none = Attributes::none();
        assert_eq!((none.len(), none.rows().count()), (0, 0));
        assert_eq!(none.row(5), &[] as &[f32]);
    }

    #[test]
    fn gather_permutes_rows() {
        let table = Attributes::new(2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(table.gather(&[2, 0, 1]).values(), &[4.0, 5.0, 0.0, 1.0, 2.0, 3.0]);
    }
}
