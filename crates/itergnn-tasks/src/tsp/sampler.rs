//! Drawing points and finding their optimal tour.

use itergnn_graph::{
    Attributes, generators, rng,
    solvers::tsp::{DistanceMatrix, TspOptions, solve},
};
use rand::{Rng, RngExt};

use super::{TspSpec, memory};
use crate::{Fields, Sample, Sampler, Task, TaskError};

/// The most points that are labelled: beyond some hundreds a proof can take very long.
const LARGEST: u32 = 1_000;

/// Units of the solver's integer distances in one unit of length. The tour found is then at most n / 1e6 longer than
/// the true optimum, for 100 points about 1e-8 of its length, which is less than the rounding of the label to `f32`.
pub(super) const UNITS: f64 = 1e6;

/// Draws points in a square and labels them with the length of a tour that is proven optimal.
#[derive(Debug, Clone)]
pub struct TspSampler {
    spec: TspSpec,
}

impl TspSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for fewer than two points, more than the solver is meant for, or coordinates that `f32`
    /// cannot hold.
    pub fn new(spec: TspSpec) -> Result<Self, TaskError> {
        let refuse = |what: String, why: String| Err(TaskError::Setting { task: Task::Tsp, what, why });
        if spec.size.smallest() < 2 || spec.size.largest() > LARGEST {
            return refuse(format!("size {}", spec.size), format!("is not between 2 and {LARGEST}"));
        }
        // Integers up to 2^24 are exact in f32.
        if spec.extent == 0 || spec.extent > 1 << 24 {
            return refuse(format!("extent {}", spec.extent), "is not between 1 and 16777216".to_owned());
        }
        Ok(Self { spec })
    }

    /// The settings.
    pub fn spec(&self) -> &TspSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut impl Rng) -> Result<Sample, TaskError> {
        let size = self.spec.size.draw(rng);
        let mut coordinate = || f64::from(rng.random_range(1..=self.spec.extent));
        let points: Vec<(f64, f64)> = (0..size).map(|_| (coordinate(), coordinate())).collect();
        Self::label(&points)
    }

    /// The sample of given points.
    ///
    /// # Errors
    /// [`TaskError::Tour`] if the solver refuses the points or ends without a proof.
    pub fn label(points: &[(f64, f64)]) -> Result<Sample, TaskError> {
        let failed = |why: String| TaskError::Tour { points: points.len(), why };
        let tour = memory::tour(points, || {
            let matrix =
                DistanceMatrix::from_points_scaled(points, UNITS).map_err(|error| failed(error.to_string()))?;
            let solution = solve(&matrix, &TspOptions::default());
            if solution.proven {
                Ok(solution.tour)
            } else {
                Err(failed("the tour found is not proven optimal".to_owned()))
            }
        })?;
        let distance = |from: u32, to: u32| {
            let ((ax, ay), (bx, by)) = (points[from as usize], points[to as usize]);
            ((ax - bx).powi(2) + (ay - by).powi(2)).sqrt()
        };
        // The true length of the tour, not the sum of rounded distances.
        let ends = tour.iter().zip(tour.iter().cycle().skip(1));
        let length: f64 = ends.map(|(&from, &to)| distance(from, to)).sum();

        let graph = generators::complete(points.len())?;
        let weights = graph.edge_list().into_iter().map(|[from, to]| distance(from, to) as f32).collect();
        let coordinates = points.iter().flat_map(|&(x, y)| [x as f32, y as f32]).collect();
        let graph = graph
            .with_node_attributes(Attributes::new(2, coordinates))?
            .with_edge_attributes(Attributes::new(1, weights))?;
        let mut sample = Sample::graph_level(Task::Tsp, points.len() as u32, graph, vec![length as f32]);
        sample.fields = Fields { tour: Some(tour), ..Fields::default() };
        Ok(sample)
    }
}

impl Sampler for TspSampler {
    fn task(&self) -> Task {
        Task::Tsp
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        self.draw(&mut rng::sample(split_seed, index))
    }

    fn largest(&self) -> usize {
        let size = self.spec.size.largest() as usize;
        size * size
    }

    fn largest_nodes(&self) -> usize {
        self.spec.size.largest() as usize
    }

    fn chunk(&self) -> usize {
        // Up to 33 points take milliseconds, 100 points about a second each.
        if self.spec.size.largest() < 40 { 128 } else { 16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeRange;

    #[test]
    fn the_tour_around_a_square_with_points_on_its_sides() {
        let points = [(1.0, 1.0), (3.0, 3.0), (1.0, 3.0), (3.0, 1.0), (2.0, 1.0), (2.0, 3.0)];
        let sample = TspSampler::label(&points).unwrap();
        assert_eq!(sample.target, [8.0]);
        assert_eq!(sample.graph.edges(), 30);
    }

    #[test]
    fn two_points_and_equal_points_have_tours() {
        assert_eq!(TspSampler::label(&[(1.0, 1.0), (4.0, 5.0)]).unwrap().target, [10.0]);
        assert_eq!(TspSampler::label(&[(1.0, 1.0); 5]).unwrap().target, [0.0]);
    }

    #[test]
    fn points_are_integers_in_the_square_and_the_tour_visits_each() {
        let sample = TspSpec::default().sampler().unwrap().sample(3, 1).unwrap();
        let coordinates = sample.graph.node_attributes().values();
        assert!(coordinates.iter().all(|value| (1.0..=1_000.0).contains(value) && value.fract() == 0.0));
        let mut tour = sample.fields.tour.unwrap();
        tour.sort_unstable();
        assert_eq!(tour, (0..sample.size).collect::<Vec<_>>());
    }

    #[test]
    fn impossible_settings_are_refused() {
        for size in [SizeRange::exactly(1).unwrap(), SizeRange::exactly(2_000).unwrap()] {
            assert!(TspSpec { size, ..Default::default() }.sampler().is_err());
        }
        assert!(TspSpec { extent: 0, ..Default::default() }.sampler().is_err());
    }
}
