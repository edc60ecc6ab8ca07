//! Matrix layouts of explicit distances.

/// How `EDGE_WEIGHT_SECTION` lists a symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatrixLayout {
    /// All rows in full.
    Full,
    /// Row by row right of the diagonal; the same numbers as column by column above it.
    Upper { diagonal: bool },
    /// Row by row left of the diagonal; the same numbers as column by column below it.
    Lower { diagonal: bool },
}

impl MatrixLayout {
    /// The layout that TSPLIB calls `name`. A symmetric matrix by columns of one triangle is the other triangle by
    /// rows.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "FULL_MATRIX" => Some(Self::Full),
            "UPPER_ROW" | "LOWER_COL" => Some(Self::Upper { diagonal: false }),
            "LOWER_ROW" | "UPPER_COL" => Some(Self::Lower { diagonal: false }),
            "UPPER_DIAG_ROW" | "LOWER_DIAG_COL" => Some(Self::Upper { diagonal: true }),
            "LOWER_DIAG_ROW" | "UPPER_DIAG_COL" => Some(Self::Lower { diagonal: true }),
            _ => None,
        }
    }

    /// How many numbers a matrix of this size lists.
    pub(crate) fn entries(self, dimension: usize) -> usize {
        let triangle = dimension * (dimension - 1) / 2;
        match self {
            Self::Full => dimension * dimension,
            Self::Upper { diagonal } | Self::Lower { diagonal } => triangle + if diagonal { dimension } else { 0 },
        }
    }

    /// The triangle below the diagonal, row by row, from the listed numbers.
    ///
    /// The diagonal is ignored, since files put anything there. `Err` names a pair whose two distances differ.
    pub(crate) fn lower_triangle(self, dimension: usize, listed: &[i64]) -> Result<Vec<i64>, (usize, usize)> {
        assert_eq!(listed.len(), self.entries(dimension), "a matrix of {dimension} cities in layout {self:?}");
        let mut triangle = Vec::with_capacity(dimension * (dimension - 1) / 2);
        for row in 0..dimension {
            for column in 0..row {
                triangle.push(match self {
                    Self::Full => {
                        let (below, above) = (row * dimension + column, column * dimension + row);
                        if listed[below] != listed[above] {
                            return Err((row, column));
                        }
                        listed[below]
                    }
                    Self::Lower { diagonal: false } => listed[row * (row - 1) / 2 + column],
                    Self::Lower { diagonal: true } => listed[row * (row + 1) / 2 + column],
                    // Above the diagonal (column, row) stands in row `column`, after the shorter and shorter rows
                    // before it.
                    Self::Upper { diagonal: false } => {
                        listed[column * (2 * dimension - column - 1) / 2 + row - column - 1]
                    }
                    Self::Upper { diagonal: true } => listed[column * (2 * dimension - column + 1) / 2 + row - column],
                });
            }
        }
        Ok(triangle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_layouts_say_the_same() {
        // 1-2: 12, 1-3: 13, 1-4: 14, 2-3: 23, 2-4: 24, 3-4: 34; 99 on the diagonal.
        let expected = [12, 13, 23, 14, 24, 34];
        let layouts: [(&str, &[i64]); 5] = [
            ("FULL_MATRIX", &[99, 12, 13, 14, 12, 99, 23, 24, 13, 23, 99, 34, 14, 24, 34, 99]),
            ("UPPER_ROW", &[12, 13, 14, 23, 24, 34]),
            ("LOWER_ROW", &[12, 13, 23, 14, 24, 34]),
            ("UPPER_DIAG_ROW", &[99, 12, 13, 14, 99, 23, 24, 99, 34, 99]),
            ("LOWER_DIAG_ROW", &[99, 12, 99, 13, 23, 99, 14, 24, 34, 99]),
        ];
        for (name, listed) in layouts {
            let layout = MatrixLayout::from_name(name).unwrap();
            assert_eq!(layout.entries(4), listed.len(), "{name}");
            assert_eq!(layout.lower_triangle(4, listed).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn an_asymmetric_matrix_is_seen() {
        assert_eq!(MatrixLayout::Full.lower_triangle(2, &[0, 1, 2, 0]), Err((1, 0)));
    }
}
