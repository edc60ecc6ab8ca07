//! The distance functions of TSPLIB.

/// How the distance of two cities follows from the file.
///
/// All are whole numbers, rounded as TSPLIB prescribes (Reinelt, TSPLIB 95), since the published optima hold for the
/// rounded distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceKind {
    /// `EUC_2D`: Euclidean, rounded to the nearest.
    Euclidean,
    /// `CEIL_2D`: Euclidean, rounded up.
    EuclideanCeiling,
    /// `GEO`: on a sphere of the Earth's size, in kilometres, from latitude and longitude as `degrees.minutes`.
    Geographical,
    /// `ATT`: Euclidean divided by sqrt 10, rounded up.
    PseudoEuclidean,
    /// `EXPLICIT`: given one by one.
    Explicit,
}

impl DistanceKind {
    /// The kind that TSPLIB calls `name`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "EUC_2D" => Some(Self::Euclidean),
            "CEIL_2D" => Some(Self::EuclideanCeiling),
            "GEO" => Some(Self::Geographical),
            "ATT" => Some(Self::PseudoEuclidean),
            "EXPLICIT" => Some(Self::Explicit),
            _ => None,
        }
    }

    /// The distance between two points; 0 for `Explicit`, which has no points.
    pub(crate) fn between(self, a: [f64; 2], b: [f64; 2]) -> i64 {
        let (dx, dy) = (a[0] - b[0], a[1] - b[1]);
        let square = dx * dx + dy * dy;
        match self {
            Self::Euclidean => (square.sqrt() + 0.5) as i64,
            Self::EuclideanCeiling => square.sqrt().ceil() as i64,
            Self::PseudoEuclidean => {
                let exact = (square / 10.0).sqrt();
                let nearest = (exact + 0.5) as i64;
                if (nearest as f64) < exact { nearest + 1 } else { nearest }
            }
            Self::Geographical => geographical(a, b),
            Self::Explicit => 0,
        }
    }
}

/// TSPLIB's constants: its pi and the radius of its Earth in kilometres. The optima depend on every digit.
#[expect(clippy::approx_constant, reason = "TSPLIB computes with this pi")]
const PI: f64 = 3.141592;
const EARTH_RADIUS: f64 = 6378.388;

fn geographical(a: [f64; 2], b: [f64; 2]) -> i64 {
    let radians = |degrees_minutes: f64| {
        let degrees = degrees_minutes.trunc();
        PI * (degrees + 5.0 * (degrees_minutes - degrees) / 3.0) / 180.0
    };
    let [latitude_a, longitude_a] = a.map(radians);
    let [latitude_b, longitude_b] = b.map(radians);
    // libm instead of std: the same digits, hence the same whole number, on every platform.
    let q1 = libm::cos(longitude_a - longitude_b);
    let q2 = libm::cos(latitude_a - latitude_b);
    let q3 = libm::cos(latitude_a + latitude_b);
    let cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
    (EARTH_RADIUS * libm::acos(cosine.clamp(-1.0, 1.0)) + 1.0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_tsplibs() {
        let origin = [0.0, 0.0];
        // sqrt 2 = 1.41.., sqrt 8 = 2.83.., sqrt(8 / 10) = 0.89.., sqrt(50 / 10) = 2.24..
        assert_eq!(DistanceKind::Euclidean.between(origin, [1.0, 1.0]), 1);
        assert_eq!(DistanceKind::Euclidean.between(origin, [2.0, 2.0]), 3);
        assert_eq!(DistanceKind::EuclideanCeiling.between(origin, [1.0, 1.0]), 2);
        assert_eq!(DistanceKind::EuclideanCeiling.between(origin, [3.0, 4.0]), 5);
        assert_eq!(DistanceKind::PseudoEuclidean.between(origin, [2.0, 2.0]), 1);
        assert_eq!(DistanceKind::PseudoEuclidean.between(origin, [5.0, 5.0]), 3);
    }

    #[test]
    fn a_degree_of_latitude_is_about_111_kilometres() {
        // 6378.388 * 3.141592 / 180 = 111.32, and TSPLIB adds 1 before cutting off.
        assert_eq!(DistanceKind::Geographical.between([10.0, 20.0], [11.0, 20.0]), 112);
        // Half a degree is written as 30 minutes: 55.66 + 1.
        assert_eq!(DistanceKind::Geographical.between([10.0, 20.0], [10.30, 20.0]), 56);
        // Opposite points: half the circumference, and no NaN from a cosine beyond -1.
        assert_eq!(DistanceKind::Geographical.between([0.0, 0.0], [0.0, 180.0]), 20_039);
    }
}
