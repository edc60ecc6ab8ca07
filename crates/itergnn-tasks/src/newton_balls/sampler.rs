//! Drawing rows of balls and letting one time step pass.

use itergnn_graph::{Attributes, generators, rng};
use rand::{Rng, RngExt};

use super::{Balls, NewtonBallsSpec};
use crate::{Sample, Sampler, Task, TaskError};

/// Draws a row of balls that one more ball approaches from the left, and simulates one time step.
#[derive(Debug, Clone)]
pub struct NewtonBallsSampler {
    spec: NewtonBallsSpec,
}

impl NewtonBallsSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] unless there are at least two balls and radius and reach are positive.
    pub fn new(spec: NewtonBallsSpec) -> Result<Self, TaskError> {
        let refuse =
            |what: String, why: &str| Err(TaskError::Setting { task: Task::NewtonBalls, what, why: why.to_owned() });
        if spec.size.smallest() < 2 {
            return refuse(format!("size {}", spec.size), "leaves no row for the moving ball to hit");
        }
        for (name, value) in [("radius", spec.radius), ("reach", spec.reach)] {
            if !(value.is_finite() && value > 0.0) {
                return refuse(format!("{name} {value}"), "is not a positive number");
            }
        }
        Ok(Self { spec })
    }

    /// The settings.
    pub fn spec(&self) -> &NewtonBallsSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut impl Rng) -> Result<Sample, TaskError> {
        let size = self.spec.size.draw(rng);
        let gap = self.spec.reach * self.spec.radius * rng.random::<f64>();
        let speed = self.spec.reach * self.spec.radius * rng.random::<f64>();
        self.scene(size, gap, speed)
    }

    /// The sample in which the moving ball is `gap` away from the row, surface to surface, and has the given speed.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for fewer than two balls, or a gap or speed that is negative or not finite.
    pub fn scene(&self, size: u32, gap: f64, speed: f64) -> Result<Sample, TaskError> {
        for (name, value) in [("gap", gap), ("speed", speed), ("size", f64::from(size) - 2.0)] {
            if !(value.is_finite() && value >= 0.0) {
                let (what, why) = (name.to_owned(), "is too small or not finite".to_owned());
                return Err(TaskError::Setting { task: Task::NewtonBalls, what, why });
            }
        }
        let diameter = 2.0 * self.spec.radius;
        // The row, without the moving ball, is centred on the origin.
        let middle = f64::from(size) / 2.0;
        let mut positions: Vec<f64> = (0..size).map(|ball| diameter * (f64::from(ball) - middle)).collect();
        positions[0] -= gap;
        let mut speeds = vec![0.0; size as usize];
        speeds[0] = speed;
        let state: Vec<f32> = positions.iter().zip(&speeds).flat_map(|(&x, &v)| [x as f32, v as f32]).collect();
        let refused = |error: super::BallsError| TaskError::Setting {
            task: Task::NewtonBalls,
            what: "a scene".to_owned(),
            why: format!("is impossible: {error}"),
        };
        let mut balls = Balls::new(self.spec.radius, &positions, &speeds).map_err(refused)?;
        balls.advance(1.0).map_err(refused)?;

        let graph = generators::line(size as usize)?;
        let offset = |[sender, receiver]: [u32; 2]| (positions[sender as usize] - positions[receiver as usize]) as f32;
        let offsets = graph.edge_list().into_iter().map(offset).collect();
        let graph =
            graph.with_node_attributes(Attributes::new(2, state))?.with_edge_attributes(Attributes::new(1, offsets))?;
        let (after, last) = (balls.positions(), size as usize - 1);
        let target =
            [after[0], balls.speeds()[0], after[last], balls.speeds()[last]].map(|value| value as f32).to_vec();
        let mut sample = Sample::graph_level(Task::NewtonBalls, size, graph, target);
        sample.target_nodes = vec![0, last as u32];
        Ok(sample)
    }
}

impl Sampler for NewtonBallsSampler {
    fn task(&self) -> Task {
        Task::NewtonBalls
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        self.draw(&mut rng::sample(split_seed, index))
    }

    fn largest(&self) -> usize {
        3 * self.spec.size.largest() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions and speeds were computed in `f64` and rounded once.
    const ROUNDING: f32 = 1e-5;

    fn close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < ROUNDING), "{found:?} {expected:?}");
    }

    #[test]
    fn a_ball_that_does_not_arrive_flies_on() {
        let sample = NewtonBallsSpec::default().sampler().unwrap().scene(5, 10.0, 4.0).unwrap();
        // Four balls at -.3, -.1, .1, .3; the fifth starts at -10.5.
        close(sample.graph.node_attributes().values(), &[-10.5, 4.0, -0.3, 0.0, -0.1, 0.0, 0.1, 0.0, 0.3, 0.0]);
        close(&sample.target, &[-6.5, 4.0, 0.3, 0.0]);
        assert_eq!((sample.target_nodes.as_slice(), sample.outputs()), (&[0, 4][..], 2));
    }

    #[test]
    fn a_ball_that_arrives_stops_at_contact_and_sends_the_last_one_off() {
        let sample = NewtonBallsSpec::default().sampler().unwrap().scene(5, 1.0, 4.0).unwrap();
        close(&sample.target, &[-0.5, 0.0, 0.3 + 3.0, 4.0]);
    }

    #[test]
    fn edges_tell_which_balls_touch() {
        let sample = NewtonBallsSpec::default().sampler().unwrap().scene(3, 1.0, 4.0).unwrap();
        let graph = &sample.graph;
        for (position, value) in graph.edge_attributes().values().iter().enumerate() {
            let distance = if graph.senders()[position].min(graph.receivers()[position]) == 0 { 1.2 } else { 0.2 };
            let sign = if graph.senders()[position] > graph.receivers()[position] { 1.0 } else { -1.0 };
            close(&[*value], &[sign * distance]);
        }
    }

    #[test]
    fn half_of_the_balls_arrive() {
        let sampler = NewtonBallsSpec::default().sampler().unwrap();
        const DRAWS: u64 = 2_000;
        let arrived = (0..DRAWS).filter(|&index| sampler.sample(7, index).unwrap().target[1] == 0.0).count();
        // Five standard deviations of a fair coin thrown 2,000 times are 112.
        assert!(arrived.abs_diff(1_000) < 112, "{arrived}");
    }

    #[test]
    fn impossible_settings_are_refused() {
        let one = NewtonBallsSpec { size: crate::SizeRange::exactly(1).unwrap(), ..Default::default() };
        assert!(one.sampler().is_err());
        assert!(NewtonBallsSpec { radius: 0.0, ..Default::default() }.sampler().is_err());
        let sampler = NewtonBallsSpec::default().sampler().unwrap();
        assert!(sampler.scene(1, 1.0, 1.0).is_err());
        assert!(sampler.scene(3, -1.0, 1.0).is_err());
        assert!(sampler.scene(3, 1.0, f64::INFINITY).is_err());
    }
}
