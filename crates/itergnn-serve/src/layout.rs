//! Places for the nodes of a graph that has none.
//!
//! Long trees (lobsters, lines) are laid in rows along their longest path, so that every leaf is seen; other trees are
//! laid in rings around a middle; everything else by pivot multidimensional scaling, which puts nodes as far apart as
//! they are by edges and takes time in proportion to the edges. Parts stand beside each other.

use std::collections::VecDeque;

/// Pivots of the scaling: more change the picture little.
const PIVOTS: usize = 24;

/// Up to this many nodes a scaling is smoothed by forces, which takes the square of it.
const SMOOTHED: usize = 400;

const UNREACHED: u32 = u32::MAX;

type Place = [f32; 2];

/// A place in the unit square for every node. Edges count in both directions.
///
/// # Complexity
/// O(nodes + edges), but for the smoothing of small graphs.
pub(crate) fn places(nodes: usize, edges: &[[u32; 2]]) -> Vec<Place> {
    let graph = Neighbours::new(nodes, edges);
    let mut result = vec![[0.0; 2]; nodes];
    let mut parts = graph.parts();
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    // Parts fill shelves of the width that makes the whole about a square.
    let side = |part: &[u32]| (part.len() as f32).sqrt();
    let width = parts.iter().map(|part| side(part).powi(2)).sum::<f32>().sqrt().max(1.0);
    let (mut x, mut y, mut shelf) = (0.0_f32, 0.0_f32, 0.0_f32);
    for part in &parts {
        let size = side(part);
        if x > 0.0 && x + size > width * 1.2 {
            (x, y, shelf) = (0.0, y + shelf * 1.15, 0.0);
        }
        for (&node, place) in part.iter().zip(into_unit_square(graph.lay_out(part))) {
            result[node as usize] = [x + place[0] * size, y + place[1] * size];
        }
        x += size * 1.15;
        shelf = shelf.max(size);
    }
    into_unit_square(result)
}

/// The same picture in the middle of the unit square, as large as it fits.
pub(crate) fn into_unit_square(mut places: Vec<Place>) -> Vec<Place> {
    let mut low = [f32::INFINITY; 2];
    let mut high = [f32::NEG_INFINITY; 2];
    for place in &places {
        for axis in 0..2 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }
    let extent = (high[0] - low[0]).max(high[1] - low[1]);
    let scale = if extent > 0.0 && extent.is_finite() { 1.0 / extent } else { 0.0 };
    for place in &mut places {
        for axis in 0..2 {
            let middle = (low[axis] + high[axis]) / 2.0;
            place[axis] = 0.5 + (place[axis] - middle) * scale;
        }
    }
    places
}

struct Neighbours {
    offsets: Vec<usize>,
    ends: Vec<u32>,
}

impl Neighbours {
    fn new(nodes: usize, edges: &[[u32; 2]]) -> Self {
        let mut pairs: Vec<[u32; 2]> =
            edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).filter(|[a, b]| a != b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0; nodes + 1];
        pairs.iter().for_each(|pair| offsets[pair[0] as usize + 1] += 1);
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        Self { offsets, ends: pairs.iter().map(|pair| pair[1]).collect() }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.ends[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// Edges from `start` to every node, the nodes in the order in which they are found, and from where.
    fn search(&self, start: u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let nodes = self.offsets.len() - 1;
        let (mut hops, mut from) = (vec![UNREACHED; nodes], vec![start; nodes]);
        let mut order = vec![start];
        let mut queue = VecDeque::from([start]);
        hops[start as usize] = 0;
        while let Some(node) = queue.pop_front() {
            for &next in self.of(node) {
                if hops[next as usize] == UNREACHED {
                    hops[next as usize] = hops[node as usize] + 1;
                    from[next as usize] = node;
                    order.push(next);
                    queue.push_back(next);
                }
            }
        }
        (hops, order, from)
    }

    fn parts(&self) -> Vec<Vec<u32>> {
        let nodes = self.offsets.len() - 1;
        let mut seen = vec![false; nodes];
        let mut parts = Vec::new();
        for start in 0..nodes as u32 {
            if seen[start as usize] {
                continue;
            }
            seen[start as usize] = true;
            let mut part = vec![start];
            let mut at = 0;
            while at < part.len() {
                for &next in self.of(part[at]) {
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        part.push(next);
                    }
                }
                at += 1;
            }
            parts.push(part);
        }
        parts
    }

    /// Places of a connected part, in its order.
    fn lay_out(&self, part: &[u32]) -> Vec<Place> {
        if part.len() < 3 {
            return (0..part.len()).map(|at| [at as f32, 0.0]).collect();
        }
        let edges: usize = part.iter().map(|&node| self.of(node).len()).sum::<usize>() / 2;
        if edges + 1 == part.len() {
            let path = self.longest_path(part[0]);
            return if path.len() * 3 > part.len() { self.rows(part, &path) } else { self.rings(part, &path) };
        }
        let scaled = self.scale(part);
        if part.len() <= SMOOTHED { self.smooth(part, scaled) } else { scaled }
    }

    /// The longest path of a tree: from the node farthest from anywhere to the one farthest from it.
    fn longest_path(&self, anywhere: u32) -> Vec<u32> {
        let last = |start| self.search(start).1.last().copied().unwrap_or(start);
        let end = last(anywhere);
        let (_, order, from) = self.search(end);
        let mut path = vec![order.last().copied().unwrap_or(end)];
        while let Some(&node) = path.last().filter(|&&node| node != end) {
            path.push(from[node as usize]);
        }
        path
    }

    /// The path to and fro in rows, what hangs on it above and below.
    fn rows(&self, part: &[u32], path: &[u32]) -> Vec<Place> {
        const ROW: f32 = 3.2;
        let columns = (path.len() as f32 * ROW).sqrt().ceil().max(2.0) as usize;
        let nodes = self.offsets.len() - 1;
        let mut places: Vec<Option<Place>> = vec![None; nodes];
        for (at, &node) in path.iter().enumerate() {
            let (row, along) = (at / columns, at % columns);
            let column = if row % 2 == 0 { along } else { columns - 1 - along };
            places[node as usize] = Some([column as f32, row as f32 * ROW]);
        }
        // Leaves fan out from where they hang, by turns up and down.
        let mut queue: VecDeque<(u32, u32, f32)> = path.iter().map(|&node| (node, 0, 0.0)).collect();
        while let Some((node, depth, heading)) = queue.pop_front() {
            let place = places[node as usize].unwrap_or_default();
            let hanging: Vec<u32> =
                self.of(node).iter().copied().filter(|&next| places[next as usize].is_none()).collect();
            let count = hanging.len() as f32;
            for (index, next) in hanging.into_iter().enumerate() {
                let side = if depth == 0 { if index % 2 == 0 { -1.0 } else { 1.0 } } else { heading };
                let sideways = if count > 1.0 { (index as f32 / (count - 1.0) - 0.5) * 0.9 } else { 0.25 * side };
                let reach = 1.1 / (depth as f32 + 1.0).sqrt();
                places[next as usize] = Some([place[0] + sideways, place[1] + side * reach]);
                queue.push_back((next, depth + 1, side));
            }
        }
        part.iter().map(|&node| places[node as usize].unwrap_or_default()).collect()
    }

    /// A tree in rings around the middle of its longest path, every branch in a sector as wide as it has leaves.
    fn rings(&self, part: &[u32], path: &[u32]) -> Vec<Place> {
        let root = path[path.len() / 2];
        let (hops, order, from) = self.search(root);
        let nodes = self.offsets.len() - 1;
        let mut leaves = vec![0.0_f32; nodes];
        for &node in order.iter().rev() {
            if leaves[node as usize] == 0.0 {
                leaves[node as usize] = 1.0;
            }
            if node != root {
                let own = leaves[node as usize];
                leaves[from[node as usize] as usize] += own;
            }
        }
        let mut begin = vec![0.0_f32; nodes];
        let mut places = vec![[0.0; 2]; nodes];
        for &node in &order {
            let all = leaves[root as usize].max(1.0);
            let angle = std::f32::consts::TAU * (begin[node as usize] + leaves[node as usize] / 2.0) / all;
            let radius = hops[node as usize] as f32;
            places[node as usize] = [radius * angle.cos(), radius * angle.sin()];
            let mut next_begin = begin[node as usize];
            for &next in self.of(node).iter().filter(|&&next| from[next as usize] == node && next != root) {
                begin[next as usize] = next_begin;
                next_begin += leaves[next as usize];
            }
        }
        part.iter().map(|&node| places[node as usize]).collect()
    }

    /// Pivot multidimensional scaling: the two directions in which squared distances to the pivots, centred, vary most.
    fn scale(&self, part: &[u32]) -> Vec<Place> {
        let count = PIVOTS.min(part.len());
        let mut nearest = vec![u32::MAX; part.len()];
        let mut pivot = part[0];
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(count);
        for _ in 0..count {
            let (hops, _, _) = self.search(pivot);
            columns.push(part.iter().map(|&node| f64::from(hops[node as usize]).powi(2)).collect());
            for (nearest, &node) in nearest.iter_mut().zip(part) {
                *nearest = (*nearest).min(hops[node as usize]);
            }
            let farthest = nearest.iter().enumerate().max_by_key(|(index, hops)| (**hops, std::cmp::Reverse(*index)));
            pivot = farthest.map_or(part[0], |(index, _)| part[index]);
        }
        centre(&mut columns);
        let first = direction(&columns, None);
        let second = direction(&columns, Some(&first));
        let project = |direction: &[f64], node: usize| -> f32 {
            columns.iter().zip(direction).map(|(column, weight)| column[node] * weight).sum::<f64>() as f32
        };
        (0..part.len()).map(|node| [project(&first, node), project(&second, node)]).collect()
    }

    /// Some rounds of springs along edges and repulsion between all nodes.
    fn smooth(&self, part: &[u32], places: Vec<Place>) -> Vec<Place> {
        const ROUNDS: usize = 80;
        let mut places = into_unit_square(places);
        let count = part.len();
        let mut index = vec![0; self.offsets.len() - 1];
        part.iter().enumerate().for_each(|(at, &node)| index[node as usize] = at);
        let ideal = 1.0 / (count as f32).sqrt();
        for round in 0..ROUNDS {
            let heat = 0.1 * (1.0 - round as f32 / ROUNDS as f32);
            let mut moves = vec![[0.0_f32; 2]; count];
            for at in 0..count {
                for other in at + 1..count {
                    let (dx, dy) = (places[at][0] - places[other][0], places[at][1] - places[other][1]);
                    // Two nodes in one place are pushed apart sideways, by their number.
                    let (dx, dy) = if dx == 0.0 && dy == 0.0 { (1e-3, 1e-3 * (at % 7) as f32) } else { (dx, dy) };
                    let push = ideal * ideal / (dx * dx + dy * dy);
                    moves[at] = [moves[at][0] + dx * push, moves[at][1] + dy * push];
                    moves[other] = [moves[other][0] - dx * push, moves[other][1] - dy * push];
                }
                for &next in self.of(part[at]) {
                    let other = index[next as usize];
                    let (dx, dy) = (places[other][0] - places[at][0], places[other][1] - places[at][1]);
                    let pull = (dx * dx + dy * dy).sqrt() / ideal;
                    moves[at] = [moves[at][0] + dx * pull, moves[at][1] + dy * pull];
                }
            }
            for (place, step) in places.iter_mut().zip(moves) {
                let length = (step[0] * step[0] + step[1] * step[1]).sqrt().max(1e-9);
                let factor = length.min(heat) / length;
                *place = [place[0] + step[0] * factor, place[1] + step[1] * factor];
            }
        }
        places
    }
}

/// Takes row and column means out, as the scaling wants it.
fn centre(columns: &mut [Vec<f64>]) {
    let rows = columns.first().map_or(0, Vec::len);
    let count = columns.len().max(1) as f64;
    let row_means: Vec<f64> =
        (0..rows).map(|row| columns.iter().map(|column| column[row]).sum::<f64>() / count).collect();
    let mean = row_means.iter().sum::<f64>() / rows.max(1) as f64;
    for column in columns {
        let own = column.iter().sum::<f64>() / rows.max(1) as f64;
        for (value, row_mean) in column.iter_mut().zip(&row_means) {
            *value = -0.5 * (*value - own - row_mean + mean);
        }
    }
}

/// The main direction of the columns' covariance by repeated multiplication, at right angles to another one if given.
fn direction(columns: &[Vec<f64>], other: Option<&[f64]>) -> Vec<f64> {
    const ROUNDS: usize = 60;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let covariance: Vec<Vec<f64>> = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    let mut vector: Vec<f64> = (0..columns.len()).map(|at| 1.0 + (at as f64 * 0.7).sin()).collect();
    for _ in 0..ROUNDS {
        vector = covariance.iter().map(|row| dot(row, &vector)).collect();
        if let Some(other) = other {
            let share = dot(&vector, other);
            vector.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
        }
        let length = dot(&vector, &vector).sqrt();
        if length <= 0.0 || !length.is_finite() {
            return vec![0.0; columns.len()];
        }
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::graph::{Graph, generators, rng};

    fn laid_out(graph: &Graph) -> Vec<Place> {
        let places = places(graph.nodes(), &graph.edge_list());
        assert_eq!(places.len(), graph.nodes());
        for place in &places {
            assert!(place.iter().all(|value| (-0.001..=1.001).contains(value)), "{place:?}");
        }
        places
    }

    #[test]
    fn graphs_of_every_kind_fit_into_the_square() {
        for generator in generators::Generator::ALL {
            laid_out(&generator.generate(30, &mut rng::seeded(1)).unwrap());
        }
        for graph in [Graph::new(0, &[]), Graph::new(1, &[]), Graph::new(5, &[]), Graph::new(3, &[[0, 0], [1, 2]])] {
            laid_out(&graph.unwrap());
        }
    }

    #[test]
    fn nodes_of_a_tree_do_not_lie_on_each_other() {
        for graph in
            [generators::lobster(200, 0.2, 0.2, &mut rng::seeded(3)), generators::tree(200, &mut rng::seeded(3))]
        {
            let places = laid_out(&graph.unwrap());
            for (at, a) in places.iter().enumerate() {
                for b in &places[..at] {
                    assert!((a[0] - b[0]).abs() + (a[1] - b[1]).abs() > 1e-4, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn far_nodes_of_a_grid_are_drawn_far_apart() {
        let side = 30;
        let places = laid_out(&generators::grid(side, side).unwrap());
        let distance = |a: usize, b: usize| {
            let (a, b) = (places[a], places[b]);
            ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
        };
        let (corner, beside, opposite) = (0, 1, side * side - 1);
        assert!(distance(corner, opposite) > 10.0 * distance(corner, beside));
    }
}
