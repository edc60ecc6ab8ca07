//! Symmetric integer distances between cities.

use super::TspError;

/// Largest sum over one tour a matrix may reach: leaves room to add node multipliers of twice the largest distance to
/// every edge without leaving `i64`.
const MAX_TOUR_SUM: i64 = 1 << 58;

/// Largest number of cities; a full table of this size already takes 8 GiB.
const MAX_CITIES: usize = 1 << 15;

/// Symmetric, non-negative integer distances between `n >= 1` cities.
///
/// Integers make "the bound equals the tour" an exact statement. Real distances enter through
/// [`from_points_scaled`](Self::from_points_scaled) as fixed-point numbers.
///
/// # Example
/// ```
/// use itergnn_graph::solvers::tsp::DistanceMatrix;
///
/// let line = DistanceMatrix::from_fn(4, |i, j| (i as i64 - j as i64).abs())?;
/// assert_eq!(line.distance(0, 3), 3);
/// assert_eq!(line.tour_length(&[0, 1, 2, 3]), 6);
/// # Ok::<(), itergnn_graph::solvers::tsp::TspError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistanceMatrix {
    cities: usize,
    distances: Vec<i64>,
}

impl DistanceMatrix {
    /// Builds the matrix with `distance(i, j)` between each pair of different cities; the diagonal is zero.
    ///
    /// # Errors
    /// [`TspError`] when there are no cities or too many, or when a distance is negative, asymmetric, or so large that
    /// a tour could overflow (`cities * distance` above 2^58).
    pub fn from_fn(cities: usize, mut distance: impl FnMut(usize, usize) -> i64) -> Result<Self, TspError> {
        let limit = Self::distance_limit(cities)?;
        let mut distances = vec![0; cities * cities];
        for from in 0..cities {
            for to in 0..cities {
                if from != to {
                    distances[from * cities + to] = distance(from, to);
                }
            }
        }
        for from in 0..cities {
            for to in 0..from {
                let (forward, backward) = (distances[from * cities + to], distances[to * cities + from]);
                if forward != backward {
                    return Err(TspError::Asymmetric { from, to, forward, backward });
                }
                if forward < 0 {
                    return Err(TspError::Negative { from, to, distance: forward });
                }
                if forward > limit {
                    return Err(TspError::TooLong { from, to, limit, cities });
                }
            }
        }
        Ok(Self { cities, distances })
    }

    /// Builds Euclidean distances between points in the plane as fixed-point numbers, `round(scale * |p - q|)`.
    ///
    /// Each distance is off by at most `0.5 / scale`, so the tour that is optimal for the matrix is longer than the
    /// true optimum by at most `n / scale`, and its fixed-point length differs from its true length by at most
    /// `0.5 n / scale` (5e-5 for 100 points at scale 1e6). Only correctly rounded operations are used, so the matrix
    /// is the same on every platform.
    ///
    /// # Errors
    /// [`TspError`] when there are no points or too many, a coordinate is not finite, the scale is not positive and
    /// finite, or a scaled distance is too large.
    ///
    /// # Example
    /// ```
    /// use itergnn_graph::solvers::tsp::DistanceMatrix;
    ///
    /// let matrix = DistanceMatrix::from_points_scaled(&[(0.0, 0.0), (3.0, 4.0)], 1e6)?;
    /// assert_eq!(matrix.distance(0, 1), 5_000_000);
    /// # Ok::<(), itergnn_graph::solvers::tsp::TspError>(())
    /// ```
    pub fn from_points_scaled(points: &[(f64, f64)], scale: f64) -> Result<Self, TspError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(TspError::BadScale { found: scale });
        }
        for (city, &(x, y)) in points.iter().enumerate() {
            if !(x.is_finite() && y.is_finite()) {
                return Err(TspError::NotFinite { city, x, y });
            }
        }
        Self::from_fn(points.len(), |from, to| {
            let (dx, dy) = (points[from].0 - points[to].0, points[from].1 - points[to].1);
            // The cast saturates, and `from_fn` refuses what is too large; infinity minus infinity cannot occur here.
            ((dx * dx + dy * dy).sqrt() * scale).round() as i64
        })
    }

    /// Number of cities.
    #[must_use]
    pub fn cities(&self) -> usize {
        self.cities
    }

    /// Distance between two cities.
    ///
    /// # Panics
    /// When a city is out of range.
    #[inline]
    #[must_use]
    pub fn distance(&self, from: usize, to: usize) -> i64 {
        debug_assert!(to < self.cities);
        self.distances[from * self.cities + to]
    }

    /// Distances from one city to every city.
    ///
    /// # Panics
    /// When the city is out of range.
    #[must_use]
    pub fn row(&self, from: usize) -> &[i64] {
        &self.distances[from * self.cities..(from + 1) * self.cities]
    }

    /// Length of the closed tour that visits the cities in this order.
    ///
    /// # Panics
    /// When a city is out of range.
    #[must_use]
    pub fn tour_length(&self, tour: &[u32]) -> i64 {
        let closing = tour.last().zip(tour.first()).map_or(0, |(&last, &first)| self.step(last, first));
        closing + tour.windows(2).map(|pair| self.step(pair[0], pair[1])).sum::<i64>()
    }

    /// Largest distance in the matrix.
    #[must_use]
    pub fn max_distance(&self) -> i64 {
        self.distances.iter().copied().max().unwrap_or(0)
    }

    /// Distance between two cities given as tour entries.
    #[inline]
    pub(super) fn step(&self, from: u32, to: u32) -> i64 {
        self.distance(from as usize, to as usize)
    }

    fn distance_limit(cities: usize) -> Result<i64, TspError> {
        match cities {
            0 => Err(TspError::NoCities),
            1..=MAX_CITIES => Ok(MAX_TOUR_SUM / cities as i64),
            _ => Err(TspError::TooManyCities { found: cities, limit: MAX_CITIES }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_bad_matrices_and_names_the_pair() {
        assert_eq!(DistanceMatrix::from_fn(0, |_, _| 0), Err(TspError::NoCities));
        assert!(matches!(DistanceMatrix::from_fn(1 << 20, |_, _| 0), Err(TspError::TooManyCities { .. })));
        assert_eq!(
            DistanceMatrix::from_fn(3, |i, j| if i.min(j) == 1 { -4 } else { 1 }),
            Err(TspError::Negative { from: 2, to: 1, distance: -4 })
        );
        assert_eq!(
            DistanceMatrix::from_fn(2, |i, _| i as i64),
            Err(TspError::Asymmetric { from: 1, to: 0, forward: 1, backward: 0 })
        );
        assert!(matches!(DistanceMatrix::from_fn(2, |_, _| i64::MAX), Err(TspError::TooLong { from: 1, to: 0, .. })));
        assert!(DistanceMatrix::from_fn(2, |_, _| MAX_TOUR_SUM / 2).is_ok());
    }

    #[test]
    fn refuses_bad_points() {
        assert!(matches!(
            DistanceMatrix::from_points_scaled(&[(0.0, 0.0), (f64::NAN, 0.0)], 1.0),
            Err(TspError::NotFinite { city: 1, .. })
        ));
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(DistanceMatrix::from_points_scaled(&[(0.0, 0.0)], scale), Err(TspError::BadScale { .. })));
        }
        assert!(matches!(
            DistanceMatrix::from_points_scaled(&[(-1e300, 0.0), (1e300, 0.0)], 1e6),
            Err(TspError::TooLong { .. })
        ));
    }

    #[test]
    fn tour_length_closes_the_tour() {
        let matrix =
            DistanceMatrix::from_points_scaled(&[(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)], 10.0).unwrap();
        assert_eq!(matrix.tour_length(&[0, 1, 2, 3]), 40);
        assert_eq!(matrix.tour_length(&[0, 2, 1, 3]), 48);
        assert_eq!(matrix.tour_length(&[2]), 0);
        assert_eq!(matrix.tour_length(&[]), 0);
    }
}
