//! A game of Pacman as a moving picture: GIF or SVG.

use std::fmt::Write as _;
use std::io::Write;

use gif::{Encoder, EncodingError, Frame, Repeat};
use itergnn::tasks::pacman::{Pacman, Position};

/// Pixels of a cell.
const CELL: usize = 16;

/// Background, wall, dot, agent, in this order of indices.
const COLOURS: [[u8; 3]; 4] = [[16, 20, 32], [58, 90, 160], [240, 240, 230], [250, 205, 40]];

/// Writes the situations of a game, one frame each, as an animated GIF that repeats.
pub(crate) fn write_gif(out: impl Write, frames: &[Pacman], moves_a_second: f64) -> Result<(), EncodingError> {
    let Some(first) = frames.first() else { return Ok(()) };
    // A frame of wall all around.
    let cells = usize::from(first.config().size) + 2;
    let side = (cells * CELL) as u16;
    let mut encoder = Encoder::new(out, side, side, COLOURS.as_flattened())?;
    encoder.set_repeat(Repeat::Infinite)?;
    // Hundredths of a second; viewers do not show less than two.
    let delay = (100.0 / moves_a_second).round().clamp(2.0, 500.0) as u16;
    for (index, game) in frames.iter().enumerate() {
        let is_last = index + 1 == frames.len();
        let mut frame = Frame::from_indexed_pixels(side, side, pixels(game, cells), None);
        frame.delay = if is_last { 150 } else { delay };
        encoder.write_frame(&frame)?;
    }
    Ok(())
}

fn pixels(game: &Pacman, cells: usize) -> Vec<u8> {
    let side = cells * CELL;
    let mut pixels = vec![0; side * side];
    let mut paint = |x: usize, y: usize, colour: u8, radius: Option<usize>| {
        for row in 0..CELL {
            for column in 0..CELL {
                let away = |at: usize| (2 * at + 1).abs_diff(CELL);
                let inside = radius.is_none_or(|radius| away(row).pow(2) + away(column).pow(2) <= (2 * radius).pow(2));
                if inside {
                    pixels[(y * CELL + row) * side + x * CELL + column] = colour;
                }
            }
        }
    };
    for y in 0..cells {
        for x in 0..cells {
            let outside = x == 0 || y == 0 || x + 1 == cells || y + 1 == cells;
            if outside || game.is_wall(Position { x: x as u16 - 1, y: y as u16 - 1 }) {
                paint(x, y, 1, None);
            }
        }
    }
    for dot in game.dots() {
        paint(usize::from(dot.x) + 1, usize::from(dot.y) + 1, 2, Some(CELL / 5));
    }
    let agent = game.agent();
    paint(usize::from(agent.x) + 1, usize::from(agent.y) + 1, 3, Some(CELL / 2 - 1));
    pixels
}

/// The situations of a game as an SVG that moves and repeats.
pub(crate) fn svg(frames: &[Pacman], moves_a_second: f64) -> String {
    let Some(first) = frames.first() else { return String::new() };
    let size = usize::from(first.config().size);
    let side = (size + 2) * CELL;
    let colour = |index: usize| {
        let [red, green, blue] = COLOURS[index];
        format!("#{red:02x}{green:02x}{blue:02x}")
    };
    let middle = |at: u16| (usize::from(at) + 1) * CELL + CELL / 2;
    // A second of rest at the end, so that the last situation can be seen.
    let seconds = frames.len() as f64 / moves_a_second + 1.0;
    let share = |index: usize| index as f64 / moves_a_second / seconds;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\">\n\
         <rect width=\"{side}\" height=\"{side}\" fill=\"{}\"/>\n\
         <rect x=\"{CELL}\" y=\"{CELL}\" width=\"{inner}\" height=\"{inner}\" fill=\"{}\"/>\n",
        colour(1),
        colour(0),
        inner = size * CELL
    );
    for y in 0..size as u16 {
        for x in 0..size as u16 {
            if first.is_wall(Position { x, y }) {
                let at = |value: u16| (usize::from(value) + 1) * CELL;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\"/>",
                    at(x),
                    at(y),
                    colour(1)
                );
            }
        }
    }
    for dot in first.dots() {
        let eaten = frames.iter().position(|game| !game.dots().any(|left| left == dot));
        let vanish = eaten.map_or(String::new(), |index| {
            format!(
                "<animate attributeName=\"r\" values=\"{radius};0\" keyTimes=\"0;{:.5}\" calcMode=\"discrete\" \
                 dur=\"{seconds:.3}s\" repeatCount=\"indefinite\"/>",
                share(index),
                radius = CELL / 5
            )
        });
        let _ = writeln!(
            svg,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\">{vanish}</circle>",
            middle(dot.x),
            middle(dot.y),
            CELL / 5,
            colour(2)
        );
    }
    let times: Vec<String> =
        (0..frames.len()).map(|index| format!("{:.5}", share(index))).chain(["1".into()]).collect();
    let along = |name: &str, place: &dyn Fn(&Pacman) -> usize| {
        let places = frames.iter().chain(frames.last()).map(|game| place(game).to_string());
        format!(
            "<animate attributeName=\"{name}\" values=\"{}\" keyTimes=\"{}\" dur=\"{seconds:.3}s\" repeatCount=\"indefinite\"/>",
            places.collect::<Vec<_>>().join(";"),
            times.join(";")
        )
    };
    let _ = writeln!(
        svg,
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\">{}{}</circle>\n</svg>",
        middle(first.agent().x),
        middle(first.agent().y),
        CELL / 2 - 1,
        colour(3),
        along("cx", &|game| middle(game.agent().x)),
        along("cy", &|game| middle(game.agent().y))
    );
    svg
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
        let mut bytes = Vec::new();
        write_gif(&mut bytes, &frames(), 8.0).unwrap();
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
        let svg = svg(&frames(), 4.0);
        assert_eq!((svg.matches("<circle").count(), svg.matches("values=\"3;0\"").count()), (3, 2));
        assert!(svg.contains("values=\"24;40;56;56\"") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
