//! Laws of Pacman: what must hold in every maze and for every player.

use itergnn_graph::{
    rng,
    solvers::grid::{CellGrid, Connectivity},
};
use itergnn_tasks::pacman::{NearestDot, Pacman, PacmanConfig, Policy, Position, RandomMoves, play};
use proptest::prelude::*;

fn config() -> impl Strategy<Value = PacmanConfig> {
    (3_u16..13, 0_u16..14, 1_u16..4, 1_u16..12).prop_map(|(size, walls, wall_length, dots)| PacmanConfig {
        size,
        walls,
        wall_length: wall_length.min(size),
        // Small maps with many walls are full; leave room for the dots.
        dots: dots.min(size * size / 4),
    })
}

fn game(config: PacmanConfig, seed: u64) -> Option<Pacman> {
    Pacman::new(config, seed).ok()
}

/// Which dots can be reached, by the graph crate's grid solver instead of the game's own search.
fn reachable(game: &Pacman) -> u32 {
    let side = game.config().size;
    let cells = (0..side).flat_map(|y| (0..side).map(move |x| Position { x, y }));
    let free = cells.map(|position| !game.is_wall(position)).collect();
    let grid = CellGrid::new(side.into(), side.into(), free).expect("one cell for each position");
    let cell = |position: Position| u32::from(position.y) * u32::from(side) + u32::from(position.x);
    let agent = cell(game.agent());
    let path = |dot| grid.shortest_path(agent, cell(dot), Connectivity::Four).expect("both cells exist");
    game.dots().filter(|&dot| path(dot).is_some()).count() as u32
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_player_obeys_the_walls_and_the_clock(config in config(), seed: u64) {
        let Some(mut game) = game(config, seed) else { return Ok(()) };
        let mut moves = RandomMoves(rng::seeded(seed));
        let mut total = 0.0;
        while !game.is_over() {
            let before = game.agent();
            let dots_before = game.dots().len();
            let action = moves.act(&game);
            let feasible = game.is_feasible(action);
            let result = game.step(action);
            total += result.reward;
            prop_assert!(!game.is_wall(game.agent()));
            prop_assert_eq!(before.manhattan(game.agent()), u32::from(feasible));
            prop_assert_eq!(dots_before - game.dots().len(), result.reward as usize);
            prop_assert_eq!(result.done, game.is_over());
        }
        let episode = game.episode();
        prop_assert_eq!(total, episode.eaten as f32);
        prop_assert!(episode.eaten <= episode.reachable);
        prop_assert!(game.steps() <= game.step_limit());
        prop_assert_eq!(game.step_limit(), u32::from(config.size).pow(2) * (u32::from(config.dots) + 1));
    }

    #[test]
    fn reachable_dots_are_counted_right(config in config(), seed: u64) {
        let Some(game) = game(config, seed) else { return Ok(()) };
        prop_assert_eq!(game.episode().reachable, reachable(&game));
        prop_assert_eq!(game.dots().len(), usize::from(config.dots));
        prop_assert!(game.dots().all(|dot| !game.is_wall(dot) && dot != game.agent()));
    }

    #[test]
    fn the_same_seed_is_the_same_episode(config in config(), seed: u64) {
        let Some(mut first) = game(config, seed) else { return Ok(()) };
        let mut second = first.clone();
        play(&mut second, &mut NearestDot);
        prop_assert!(second.reset(seed).is_ok());
        prop_assert_eq!(&first, &second);
        let ends = [&mut first, &mut second].map(|game| play(game, &mut RandomMoves(rng::seeded(seed))));
        prop_assert_eq!(ends[0], ends[1]);
        prop_assert_eq!(first, second);
    }

    #[test]
    fn a_player_who_walks_to_the_nearest_dot_eats_all(config in config(), seed: u64) {
        let Some(mut game) = game(config, seed) else { return Ok(()) };
        let reachable = reachable(&game);
        prop_assert_eq!(play(&mut game, &mut NearestDot).eaten, reachable);
    }

    #[test]
    fn observations_describe_the_game(config in config(), seed: u64, steps in 0..40) {
        let Some(mut game) = game(config, seed) else { return Ok(()) };
        let mut moves = RandomMoves(rng::seeded(seed));
        for _ in 0..steps {
            let action = moves.act(&game);
            game.step(action);
        }
        let graph = game.observation_graph().unwrap();
        let agent = game.agent();
        let dots: Vec<Position> = game.dots().collect();
        prop_assert_eq!(graph.edges(), graph.nodes() * (graph.nodes() - 1));
        for (node, row) in graph.node_attributes().rows().enumerate() {
            let x = f32::from(agent.x) + row[0];
            let y = f32::from(agent.y) + row[1];
            let here = Position { x: x as u16, y: y as u16 };
            prop_assert!(!game.is_wall(here));
            let kind = row[2..].iter().position(|&value| value == 1.0);
            match node {
                0 => prop_assert_eq!((here, kind), (agent, Some(0))),
                _ if node <= dots.len() => prop_assert_eq!((here, kind), (dots[node - 1], Some(1))),
                _ => prop_assert_eq!(kind, Some(2)),
            }
        }
        let image = game.picture().image();
        let area = usize::from(config.size).pow(2);
        prop_assert_eq!(image.len(), 3 * area);
        prop_assert_eq!(image[area..2 * area].iter().sum::<f32>(), dots.len() as f32);
        prop_assert_eq!(image[2 * area..].iter().sum::<f32>(), 1.0);
    }
}
