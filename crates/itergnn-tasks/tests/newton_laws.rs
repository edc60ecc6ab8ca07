//! Laws of Newton's balls: what physics says must hold for every scene.

use itergnn_tasks::newton_balls::Balls;
use proptest::prelude::*;

/// Radius in these scenes.
const RADIUS: f64 = 0.1;

/// Positions are sums of some dozens of products of numbers below 100, each rounded to 1e-16 of its size; this is far
/// above what that gives.
const POSITION_TOLERANCE: f64 = 1e-9;

/// Balls this close may have swapped in one computation and not yet in the other.
const SWAP_TOLERANCE: f64 = 1e-6;

#[derive(Debug, Clone)]
struct Scene {
    positions: Vec<f64>,
    speeds: Vec<f64>,
}

impl Scene {
    fn balls(&self) -> Balls {
        Balls::new(RADIUS, &self.positions, &self.speeds).expect("scenes do not overlap")
    }
}

fn scene() -> impl Strategy<Value = Scene> {
    // About half of the balls touch their left neighbour, and some stand still.
    let gap = prop_oneof![Just(0.0), 0.0..3.0];
    let speed = prop_oneof![2 => -5.0..5.0, 1 => Just(0.0)];
    prop::collection::vec((gap, speed), 1..24).prop_map(|list| {
        let mut place = -3.0;
        let mut positions = Vec::new();
        for (gap, _) in &list {
            place += 2.0 * RADIUS + gap;
            positions.push(place);
        }
        Scene { positions, speeds: list.into_iter().map(|(_, speed)| speed).collect() }
    })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// Equal balls that collide swap speeds, which is as if they passed through each other: where every ball would be
/// without collisions, from left to right. Shares no code and no idea with the simulation from collision to collision.
fn passing_through(scene: &Scene, time: f64) -> Vec<(f64, f64)> {
    let mut ghosts: Vec<(f64, f64)> = (0..scene.positions.len())
        .map(|ball| {
            (scene.positions[ball] - 2.0 * RADIUS * ball as f64 + scene.speeds[ball] * time, scene.speeds[ball])
        })
        .collect();
    ghosts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ghosts.iter().enumerate().map(|(ball, &(place, speed))| (place + 2.0 * RADIUS * ball as f64, speed)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn momentum_and_energy_are_conserved_to_the_bit(scene in scene(), time in 0.0..10.0) {
        let mut balls = scene.balls();
        balls.advance(time).unwrap();
        // The same speeds in another order: every symmetric function of them is conserved, the sum and the sum of
        // squares among them.
        prop_assert_eq!(sorted(balls.speeds()), sorted(&scene.speeds));
    }

    #[test]
    fn balls_never_overlap_or_change_their_order(scene in scene(), time in 0.0..10.0) {
        let mut balls = scene.balls();
        balls.advance(time).unwrap();
        for pair in balls.positions().windows(2) {
            prop_assert!(pair[1] - pair[0] >= 2.0 * RADIUS - POSITION_TOLERANCE);
        }
    }

    #[test]
    fn the_simulation_agrees_with_balls_that_pass_through_each_other(scene in scene(), time in 0.0..10.0) {
        let mut balls = scene.balls();
        balls.advance(time).unwrap();
        let expected = passing_through(&scene, time);
        let found = balls.positions();
        for ball in 0..found.len() {
            prop_assert!((found[ball] - expected[ball].0).abs() < POSITION_TOLERANCE, "ball {ball}");
            let alone = |other: usize| (found[ball] - found[other]).abs() > 2.0 * RADIUS + SWAP_TOLERANCE;
            if (ball == 0 || alone(ball - 1)) && (ball + 1 == found.len() || alone(ball + 1)) {
                prop_assert_eq!(balls.speeds()[ball], expected[ball].1, "ball {}", ball);
            }
        }
    }

    #[test]
    fn two_short_times_are_one_long_time(scene in scene(), first in 0.0..5.0, second in 0.0..5.0) {
        let (mut twice, mut once) = (scene.balls(), scene.balls());
        let collisions = twice.advance(first).unwrap() + twice.advance(second).unwrap();
        prop_assert!(collisions <= (scene.positions.len() * scene.positions.len()) as u64 / 2);
        once.advance(first + second).unwrap();
        for (a, b) in twice.positions().iter().zip(once.positions()) {
            prop_assert!((a - b).abs() < POSITION_TOLERANCE);
        }
    }
}
