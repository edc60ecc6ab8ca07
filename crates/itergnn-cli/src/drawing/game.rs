//! A game of Pacman as a moving picture: GIF or SVG.

use gif::{Encoder, EncodingError, Frame, Repeat};
use itergnn::tasks::pacman::{Pacman, Position};

use super::{Animation, Color, Drawing, Shape};

/// Side of a cell.
const CELL: usize = 16;
const DOT_RADIUS: f64 = (CELL / 5) as f64;
const AGENT_RADIUS: f64 = (CELL / 2 - 1) as f64;

/// Background, wall, dot, agent.
const COLORS: [Color; 4] = [[16, 20, 32], [58, 90, 160], [240, 240, 230], [250, 205, 40]];

/// The situations of a game, one after the other.
pub(crate) struct GamePicture<'a> {
    pub(crate) frames: &'a [Pacman],
    pub(crate) moves_per_second: f64,
}

impl GamePicture<'_> {
    /// A frame for every situation, as an animated GIF that repeats.
    pub(crate) fn gif(&self) -> Result<Vec<u8>, EncodingError> {
        let mut bytes = Vec::new();
        let Some(first) = self.frames.first() else { return Ok(bytes) };
        let side = side_of(first) as u16;
        let mut encoder = Encoder::new(&mut bytes, side, side, COLORS.as_flattened())?;
        encoder.set_repeat(Repeat::Infinite)?;
        // Hundredths of a second; viewers do not show less than two.
        let delay = (100.0 / self.moves_per_second).round().clamp(2.0, 500.0) as u16;
        for (index, game) in self.frames.iter().enumerate() {
            let mut shapes = maze(game);
            shapes.extend(game.dots().map(|dot| Shape::dot(middle(dot), DOT_RADIUS, COLORS[2])));
            shapes.push(Shape::dot(middle(game.agent()), AGENT_RADIUS, COLORS[3]));
            let drawing = Drawing { width: f64::from(side), height: f64::from(side), shapes };
            let mut frame = Frame::from_indexed_pixels(side, side, drawing.indexed(&COLORS), None);
            frame.delay = if index + 1 == self.frames.len() { 150 } else { delay };
            encoder.write_frame(&frame)?;
        }
        drop(encoder);
        Ok(bytes)
    }

    /// The first situation; in an SVG the agent moves and what it eats vanishes, over and over.
    pub(crate) fn drawing(&self) -> Drawing {
        let Some(first) = self.frames.first() else { return Drawing { width: 0.0, height: 0.0, shapes: Vec::new() } };
        // A second of rest at the end, so that the last situation can be seen.
        let seconds = self.frames.len() as f64 / self.moves_per_second + 1.0;
        let share = |index: usize| index as f64 / self.moves_per_second / seconds;
        let mut shapes = maze(first);
        for dot in first.dots() {
            let eaten = self.frames.iter().position(|game| !game.dots().any(|left| left == dot));
            let vanish = |index| Animation {
                attribute: "r",
                moments: vec![(0.0, DOT_RADIUS), (share(index), 0.0)],
                jumps: true,
                seconds,
            };
            let animations = eaten.map(vanish).into_iter().collect();
            shapes.push(Shape::Dot { at: middle(dot), radius: DOT_RADIUS, fill: COLORS[2], opacity: 1.0, animations });
        }
        let along = |attribute, place: fn((f64, f64)) -> f64| {
            let last = self.frames.last().map(|game| (1.0, place(middle(game.agent()))));
            let places =
                self.frames.iter().enumerate().map(|(index, game)| (share(index), place(middle(game.agent()))));
            Animation { attribute, moments: places.chain(last).collect(), jumps: false, seconds }
        };
        let animations = vec![along("cx", |at| at.0), along("cy", |at| at.1)];
        let (at, fill) = (middle(first.agent()), COLORS[3]);
        shapes.push(Shape::Dot { at, radius: AGENT_RADIUS, fill, opacity: 1.0, animations });
        Drawing { width: side_of(first) as f64, height: side_of(first) as f64, shapes }
    }
}

/// Side of the picture: the maze with a frame of wall all around.
fn side_of(game: &Pacman) -> usize {
    (usize::from(game.config().size) + 2) * CELL
}

fn middle(at: Position) -> (f64, f64) {
    let middle = |at: u16| ((usize::from(at) + 1) * CELL + CELL / 2) as f64;
    (middle(at.x), middle(at.y))
}

/// Walls and ground.
fn maze(game: &Pacman) -> Vec<Shape> {
    let cells = usize::from(game.config().size) + 2;
    let fill = |place: usize| {
        let (x, y) = (place % cells, place / cells);
        let outside = x == 0 || y == 0 || x + 1 == cells || y + 1 == cells;
        COLORS[usize::from(outside || game.is_wall(Position { x: x as u16 - 1, y: y as u16 - 1 }))]
    };
    vec![Shape::Cells { columns: cells, side: CELL as f64, fills: (0..cells * cells).map(fill).collect() }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::tasks::pacman::{Action, PacmanConfig};

    fn frames() -> Vec<Pacman> {
        let config = PacmanConfig { size: 3, ..PacmanConfig::default() };
        let mut game = Pacman::from_rows(config, &["@..", " # ", "   "]).unwrap();
        let mut frames = vec![game.clone()];
        for action in [Action::Right, Action::Right] {
            game.step(action);
            frames.push(game.clone());
        }
        frames
    }

    #[test]
    fn a_gif_has_a_frame_for_every_situation() {
        let bytes = GamePicture { frames: &frames(), moves_per_second: 8.0 }.gif().unwrap();
        let mut decoder = gif::DecodeOptions::new().read_info(&bytes[..]).unwrap();
        let mut seen = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            let dots = frame.buffer.iter().filter(|&&pixel| pixel == 2).count();
            seen.push((frame.width, frame.buffer.contains(&3), dots));
        }
        assert_eq!(seen.iter().map(|(width, agent, _)| (*width, *agent)).collect::<Vec<_>>(), [(80, true); 3]);
        assert!(seen[0].2 == 2 * seen[1].2 && seen[2].2 == 0, "{seen:?}");
    }

    #[test]
    fn an_svg_moves_the_agent_and_removes_what_is_eaten() {
        let svg = GamePicture { frames: &frames(), moves_per_second: 4.0 }.drawing().svg();
        assert_eq!((svg.matches("<circle").count(), svg.matches("values=\"3;0\"").count()), (3, 2));
        assert!(svg.contains("values=\"24;40;56;56\"") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
