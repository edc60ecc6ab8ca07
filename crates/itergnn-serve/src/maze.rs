//! A maze on a square of cells.

use rand::{Rng, RngExt};

/// One wall in so many that the spanning tree leaves is opened, so that there is more than one way.
const DOORS: u32 = 12;

/// The openings of a maze of `side` x `side` cells and the places of the cells: a random spanning tree by depth-first
/// search, and some doors more.
pub(crate) fn draw(side: usize, random: &mut impl Rng) -> (Vec<[u32; 2]>, Vec<[f32; 2]>) {
    let cells = side * side;
    let neighbours = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        let steps = [
            (row > 0).then(|| cell - side),
            (row + 1 < side).then_some(cell + side),
            (column > 0).then(|| cell - 1),
            (column + 1 < side).then_some(cell + 1),
        ];
        steps.into_iter().flatten()
    };
    let mut visited = vec![false; cells];
    let mut openings = Vec::with_capacity(cells);
    let mut way = vec![random.random_range(0..cells as u32) as usize];
    visited[way[0]] = true;
    while let Some(&here) = way.last() {
        let fresh: Vec<usize> = neighbours(here).filter(|&cell| !visited[cell]).collect();
        if fresh.is_empty() {
            way.pop();
            continue;
        }
        let next = fresh[random.random_range(0..fresh.len() as u32) as usize];
        visited[next] = true;
        openings.push([here.min(next) as u32, here.max(next) as u32]);
        way.push(next);
    }
    openings.sort_unstable();
    let walls =
        (0..cells).flat_map(|cell| neighbours(cell).filter(move |&next| next > cell).map(move |next| (cell, next)));
    let doors: Vec<[u32; 2]> = walls
        .map(|(cell, next)| [cell as u32, next as u32])
        .filter(|pair| openings.binary_search(pair).is_err())
        .filter(|_| random.random_range(0..DOORS) == 0)
        .collect();
    openings.extend(doors);
    (openings, self::cells(side))
}

/// The places of the cells of a square, row by row.
pub(crate) fn cells(side: usize) -> Vec<[f32; 2]> {
    (0..side * side).map(|cell| [(cell % side) as f32, (cell / side) as f32]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::graph::{Graph, rng, solvers::components};

    #[test]
    fn every_cell_can_be_reached_and_there_is_more_than_one_way() {
        for side in [2, 3, 20] {
            let (openings, places) = draw(side, &mut rng::seeded(4));
            let graph = Graph::undirected(side * side, &openings).unwrap();
            assert_eq!((components::count(&graph), places.len()), (1, side * side));
            assert!(openings.iter().all(|[a, b]| b - a == 1 || b - a == side as u32));
        }
        assert!(draw(20, &mut rng::seeded(4)).0.len() > 399);
    }
}
