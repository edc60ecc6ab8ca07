//! What a player remembers.

use std::sync::Arc;

use itergnn_tasks::pacman::{Action, NodeKind, Observation, ObservedNode, Picture};
use rand::{Rng, RngExt};

use super::GameView;

/// A move and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// What was seen before the move.
    pub view: Arc<GameView>,
    /// The move.
    pub action: Action,
    /// The discounted sum of the rewards that followed.
    pub reward: f32,
    /// What the value of `next` counts for: a power of the discount, 0 where the game was won.
    pub discount: f32,
    /// What was seen after the last reward that is in the sum.
    pub next: Arc<GameView>,
}

/// The last transitions, in a ring.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    capacity: usize,
    added: u64,
    ring: Vec<Transition>,
    /// How wrong the network was about each of them when it last learned from it; infinite before that.
    surprise: Vec<f32>,
}

impl Replay {
    /// An empty memory for `capacity` transitions.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, added: 0, ring: Vec::new(), surprise: Vec::new() }
    }

    /// Remembers a transition, and forgets the oldest if there is no room.
    pub fn push(&mut self, transition: Transition) {
        let place = (self.added % self.capacity as u64) as usize;
        if place < self.ring.len() {
            self.ring[place] = transition;
            self.surprise[place] = f32::INFINITY;
        } else {
            self.ring.push(transition);
            self.surprise.push(f32::INFINITY);
        }
        self.added += 1;
    }

    /// Transitions in memory.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether nothing is remembered yet.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// A transition by its place, counted from 0.
    pub fn get(&self, place: usize) -> Option<&Transition> {
        self.ring.get(place)
    }

    /// Draws places uniformly, `candidates` of them, and gives the one with the largest surprise, the first of equals;
    /// `None` if nothing is remembered.
    pub fn draw(&self, candidates: usize, stream: &mut impl Rng) -> Option<usize> {
        let held = u32::try_from(self.ring.len()).ok().filter(|&held| held > 0)?;
        let mut best = stream.random_range(0..held) as usize;
        for _ in 1..candidates {
            let other = stream.random_range(0..held) as usize;
            if self.surprise[other] > self.surprise[best] {
                best = other;
            }
        }
        Some(best)
    }

    /// Notes how wrong the network was about the transition at a place.
    pub fn note_surprise(&mut self, place: usize, surprise: f32) {
        if let Some(held) = self.surprise.get_mut(place) {
            *held = surprise;
        }
    }

    /// The memory as bytes, exact.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.added.to_le_bytes().to_vec();
        bytes.extend((self.ring.len() as u64).to_le_bytes());
        for (transition, surprise) in self.ring.iter().zip(&self.surprise) {
            bytes.extend(surprise.to_le_bytes());
            bytes.push(transition.action.index() as u8);
            bytes.extend(transition.reward.to_le_bytes());
            bytes.extend(transition.discount.to_le_bytes());
            write_view(&transition.view, &mut bytes);
            write_view(&transition.next, &mut bytes);
        }
        bytes
    }

    /// The memory of `capacity` transitions that was written as these bytes.
    ///
    /// # Errors
    /// A line that says what is wrong with them.
    pub fn from_bytes(capacity: usize, bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        let added = u64::from_le_bytes(reader.take()?);
        let count = u64::from_le_bytes(reader.take()?);
        if count != added.min(capacity as u64) {
            return Err(format!("the replay memory holds {count} of {added} transitions, expected at most {capacity}"));
        }
        let (mut ring, mut surprise) = (Vec::new(), Vec::new());
        for _ in 0..count {
            surprise.push(f32::from_le_bytes(reader.take()?));
            let [action] = reader.take()?;
            let action = Action::from_index(action.into()).ok_or("a move that does not exist")?;
            let (reward, discount) = (f32::from_le_bytes(reader.take()?), f32::from_le_bytes(reader.take()?));
            let (view, next) = (Arc::new(reader.view()?), Arc::new(reader.view()?));
            ring.push(Transition { view, action, reward, discount, next });
        }
        if reader.0.is_empty() {
            Ok(Self { capacity, added, ring, surprise })
        } else {
            Err("bytes left over".to_owned())
        }
    }
}

const GRAPH: u8 = 0;
const PICTURE: u8 = 1;

fn write_view(view: &GameView, bytes: &mut Vec<u8>) {
    match view {
        GameView::Graph(observation) => {
            bytes.push(GRAPH);
            bytes.extend((observation.nodes().len() as u32).to_le_bytes());
            for node in observation.nodes() {
                bytes.extend(node.right.to_le_bytes());
                bytes.extend(node.down.to_le_bytes());
                bytes.push(node.kind as u8);
            }
        }
        GameView::Picture(picture) => {
            bytes.push(PICTURE);
            bytes.extend(picture.side().to_le_bytes());
            bytes.extend_from_slice(picture.cells());
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or("cut short")?;
        self.0 = rest;
        Ok(*first)
    }

    fn view(&mut self) -> Result<GameView, String> {
        match self.take()? {
            [GRAPH] => {
                let count = u32::from_le_bytes(self.take()?);
                let node = |_| {
                    let (right, down) = (i16::from_le_bytes(self.take()?), i16::from_le_bytes(self.take()?));
                    let [kind] = self.take()?;
                    let kind = NodeKind::ALL.get(usize::from(kind)).ok_or("a kind of node that does not exist")?;
                    Ok(ObservedNode { right, down, kind: *kind })
                };
                let nodes = (0..count).map(node).collect::<Result<_, String>>()?;
                Ok(GameView::Graph(Observation::new(nodes)))
            }
            [PICTURE] => {
                let side = u16::from_le_bytes(self.take()?);
                let area = usize::from(side) * usize::from(side);
                let (cells, rest) = self.0.split_at_checked(area).ok_or("cut short")?;
                self.0 = rest;
                Picture::new(side, cells.to_vec()).map(GameView::Picture).ok_or_else(|| "no square picture".to_owned())
            }
            [other] => Err(format!("a view of unknown kind {other}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rl::ViewKind;
    use itergnn_tasks::pacman::PacmanConfig;

    fn transition(seed: u64, kind: ViewKind) -> Transition {
        let mut game = PacmanConfig::default().game(seed).unwrap();
        let view = Arc::new(GameView::of(&game, kind));
        let reward = game.step(Action::Down).reward;
        let next = Arc::new(GameView::of(&game, kind));
        Transition { view, action: Action::Down, reward, discount: 0.9, next }
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut replay = Replay::new(3);
        for seed in 0..5 {
            replay.push(transition(seed, ViewKind::Graph));
        }
        let held: Vec<_> = (0..3).map(|place| replay.get(place).unwrap().clone()).collect();
        assert_eq!(held, [3, 4, 2].map(|seed| transition(seed, ViewKind::Graph)));
        assert_eq!((replay.len(), replay.get(3)), (3, None));
    }

    #[test]
    fn surprises_are_drawn_more_often_and_new_transitions_first() {
        let mut replay = Replay::new(4);
        (0..4).for_each(|seed| replay.push(transition(seed, ViewKind::Graph)));
        (0..4).for_each(|place| replay.note_surprise(place, place as f32));
        let drawn = |replay: &Replay, candidates: usize| {
            let mut counts = [0; 4];
            let mut stream = itergnn_graph::rng::seeded(1);
            (0..4_000).for_each(|_| counts[replay.draw(candidates, &mut stream).unwrap()] += 1);
            counts
        };
        // Of two draws the larger one: 1, 3, 5 and 7 sixteenths. Five deviations of 4,000 throws are below 160.
        for (count, expected) in drawn(&replay, 2).into_iter().zip([250, 750, 1_250, 1_750]) {
            assert!(i32::abs_diff(count, expected) < 160, "{count} for {expected}");
        }
        assert!(drawn(&replay, 1).iter().all(|count| i32::abs_diff(*count, 1_000) < 160));
        replay.push(transition(9, ViewKind::Graph));
        assert!(drawn(&replay, 2)[0] > 1_500, "the new one is at the first place");
        assert_eq!(Replay::new(3).draw(2, &mut itergnn_graph::rng::seeded(1)), None);
    }

    #[test]
    fn what_is_written_is_read_and_damage_is_named() {
        for kind in [ViewKind::Graph, ViewKind::Picture] {
            let mut replay = Replay::new(4);
            (0..6).for_each(|seed| replay.push(transition(seed, kind)));
            replay.note_surprise(1, 0.25);
            let bytes = replay.to_bytes();
            assert_eq!(Replay::from_bytes(4, &bytes).unwrap(), replay);
            assert!(Replay::from_bytes(4, &bytes[..bytes.len() - 1]).is_err());
            assert!(Replay::from_bytes(5, &bytes).is_err());
        }
    }
}
