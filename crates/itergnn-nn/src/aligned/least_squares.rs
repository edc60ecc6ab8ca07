//! Least squares with a handful of unknowns.

/// A column counts as a combination of the earlier ones if less than this share of it is new; far above the rounding of
/// `f64` sums.
const NEW: f64 = 1e-9;

/// The coefficients `a` that minimise `|sum_j a_j columns_j - target|`, by Gram and Schmidt; columns that add nothing
/// to the earlier ones get 0.
pub(super) fn least_squares(columns: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    least_squares_of_rank(columns, target, NEW)
}

/// The same where a column counts as a combination of the earlier ones if less than the share `new` of it is not.
pub(crate) fn least_squares_of_rank(columns: &[Vec<f64>], target: &[f64], new: f64) -> Vec<f64> {
    let least = new;
    let mut basis: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut triangle: Vec<Vec<f64>> = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let norm = dot(column, column).sqrt();
        let mut rest = column.clone();
        let mut row = vec![0.0; basis.len()];
        // Twice, because one pass leaves rounding errors of the size of what is taken away.
        for _ in 0..2 {
            for ((_, direction), entry) in basis.iter().zip(&mut row) {
                let part = dot(direction, &rest);
                *entry += part;
                rest.iter_mut().zip(direction).for_each(|(rest, direction)| *rest -= part * direction);
            }
        }
        let new = dot(&rest, &rest).sqrt();
        if new > least * norm {
            rest.iter_mut().for_each(|rest| *rest /= new);
            row.push(new);
            basis.push((index, rest));
            triangle.push(row);
        }
    }
    let mut coefficients = vec![0.0; columns.len()];
    for place in (0..basis.len()).rev() {
        let known: f64 =
            (place + 1..basis.len()).map(|later| triangle[later][place] * coefficients[basis[later].0]).sum();
        coefficients[basis[place].0] = (dot(&basis[place].1, target) - known) / triangle[place][place];
    }
    coefficients
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of four numbers near 1.
    const ROUNDING: f64 = 1e-12;

    #[test]
    fn an_exact_combination_is_found() {
        let columns = [vec![1.0, 2.0, 3.0, 4.0], vec![1.0, -1.0, 1.0, 0.5], vec![0.0, 1.0, 0.0, 2.0]];
        let wanted = [2.0, -0.5, 3.0];
        let target: Vec<f64> = (0..4).map(|row| (0..3).map(|j| wanted[j] * columns[j][row]).sum()).collect();
        let found = least_squares(&columns, &target);
        assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < ROUNDING), "{found:?}");
    }

    #[test]
    fn the_residual_is_orthogonal_to_the_columns() {
        let columns = [vec![1.0, 2.0, 3.0, 4.0], vec![1.0, -1.0, 1.0, 0.5]];
        let target = vec![3.0, 1.0, -2.0, 0.5];
        let found = least_squares(&columns, &target);
        let residual: Vec<f64> =
            (0..4).map(|row| target[row] - found[0] * columns[0][row] - found[1] * columns[1][row]).collect();
        assert!(columns.iter().all(|column| dot(column, &residual).abs() < ROUNDING));
    }

    #[test]
    fn a_copy_and_an_empty_column_get_nothing() {
        let columns = [vec![1.0, 2.0], vec![2.0, 4.0], vec![0.0, 0.0]];
        assert_eq!(least_squares(&columns, &[3.0, 6.0])[1..], [0.0, 0.0]);
    }
}
