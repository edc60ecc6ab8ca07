//! Maps, reachable dots, good moves and corners against networkx (`reference/pacman`).

use std::collections::BTreeSet;

use itergnn_tasks::pacman::{NearestDot, NodeKind, Pacman, PacmanConfig, Policy};
use serde::Deserialize;

#[derive(Deserialize)]
struct Described {
    map: Vec<String>,
    reachable: u32,
    good: Vec<String>,
    corners: Vec<(i16, i16)>,
}

fn described() -> Vec<Described> {
    serde_json::from_str(include_str!("../../../reference/pacman/values.json")).expect("the committed values are JSON")
}

#[test]
fn networkx_sees_the_same_in_every_map() {
    let mut with_corners = 0;
    for (number, expected) in described().iter().enumerate() {
        let rows: Vec<&str> = expected.map.iter().map(String::as_str).collect();
        let game = Pacman::from_rows(PacmanConfig::default(), &rows).expect("a map of 16 x 16");
        assert_eq!(game.episode().reachable, expected.reachable, "map {number}");
        let at = game.agent();
        let cell = |right: i16, down: i16| (at.x as i16 + right, at.y as i16 + down);
        let observation = game.observation();
        let landmarks = observation.nodes().iter().filter(|node| node.kind == NodeKind::Landmark);
        let found: BTreeSet<(i16, i16)> = landmarks.map(|node| cell(node.right, node.down)).collect();
        assert_eq!(found, expected.corners.iter().copied().collect(), "map {number}");
        with_corners += usize::from(!found.is_empty());
        if expected.reachable > 0 {
            let chosen = format!("{:?}", NearestDot.act(&game)).to_lowercase();
            assert!(expected.good.contains(&chosen), "map {number}: {chosen} is none of {:?}", expected.good);
        }
    }
    assert!(with_corners > 30, "{with_corners} maps with corners");
}
