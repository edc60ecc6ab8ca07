//! Moving-AI `.scen` files: problems on a map with their optimal lengths.

use std::{io::BufRead, path::Path};

use super::{FormatError, lines::Line, lines::Lines};

/// One path-finding problem on a map.
///
/// Lengths count 1 for a straight step and sqrt 2 for a diagonal one; a diagonal step needs both cells beside it free
/// ([`Neighbours::Eight`](super::Neighbours::Eight)).
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The group of similar lengths it belongs to.
    pub bucket: u64,
    /// The map's file name, as the scenario file gives it.
    pub map: String,
    /// Columns of the map.
    pub width: usize,
    /// Rows of the map.
    pub height: usize,
    /// Column and row of the start.
    pub start: (usize, usize),
    /// Column and row of the goal.
    pub goal: (usize, usize),
    /// The length of a shortest path, rounded by the file's author.
    pub optimal_length: f64,
}

/// Reads the scenarios of a file: `version 1`, then rows `bucket map width height start_x start_y goal_x goal_y length`.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn read_scenarios(path: &Path) -> Result<Vec<Scenario>, FormatError> {
    read_scenario_lines(Lines::open(path)?)
}

/// [`read_scenarios`] from memory or a stream, called `file` in messages.
///
/// # Errors
/// [`FormatError`] with file and line.
///
/// # Example
/// ```
/// use itergnn_graph::formats::parse_scenarios;
/// let scenarios = parse_scenarios(&b"version 1\n0\tsmall.map\t3\t2\t0\t0\t2\t1\t2.41421\n"[..], "small.scen")?;
/// assert_eq!((scenarios[0].start, scenarios[0].goal), ((0, 0), (2, 1)));
/// # Ok::<(), itergnn_graph::formats::FormatError>(())
/// ```
pub fn parse_scenarios(reader: impl BufRead, file: &str) -> Result<Vec<Scenario>, FormatError> {
    read_scenario_lines(Lines::new(reader, file))
}

fn read_scenario_lines(mut lines: Lines<impl BufRead>) -> Result<Vec<Scenario>, FormatError> {
    match lines.next_filled()? {
        Some(line) => {
            let mut fields = line.text.split_ascii_whitespace();
            let version = (fields.next(), fields.next());
            if !matches!(version, (Some("version"), Some("1" | "1.0"))) {
                return Err(line.error("scenario header", "\"version 1\"", Some(line.text)));
            }
            line.ends("scenario header", fields.next())?;
        }
        None => return Err(lines.end("scenario header", "\"version 1\"")),
    }
    let mut scenarios = Vec::new();
    while let Some(line) = lines.next_filled()? {
        // Names of maps may hold spaces where tabs separate the fields.
        scenarios.push(if line.text.contains('\t') {
            read_scenario(&line, line.text.split('\t').map(str::trim))?
        } else {
            read_scenario(&line, line.text.split_ascii_whitespace())?
        });
    }
    Ok(scenarios)
}

fn read_scenario<'a>(line: &Line<'_>, mut fields: impl Iterator<Item = &'a str>) -> Result<Scenario, FormatError> {
    let bucket = line.unsigned("bucket", fields.next())?;
    let map = match fields.next() {
        Some(map) if !map.is_empty() => map.to_owned(),
        other => return Err(line.error("map", "a file name", other)),
    };
    let mut below = |what, limit: Option<u64>| {
        let field = fields.next();
        let value = line.unsigned(what, field)?;
        let limit = limit.unwrap_or(u64::from(u32::MAX));
        if value >= limit {
            return Err(line.error(what, format!("a number below {limit}"), field));
        }
        Ok(value)
    };
    let (width, height) = (below("map width", None)?, below("map height", None)?);
    let start = (below("start x", Some(width))? as usize, below("start y", Some(height))? as usize);
    let goal = (below("goal x", Some(width))? as usize, below("goal y", Some(height))? as usize);
    let length = fields.next();
    let optimal_length = line.finite("optimal length", length)?;
    if optimal_length < 0.0 {
        return Err(line.error("optimal length", "a number that is not negative", length));
    }
    line.ends("scenario", fields.next())?;
    Ok(Scenario { bucket, map, width: width as usize, height: height as usize, start, goal, optimal_length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_tabs_or_spaces() {
        let tabs = parse_scenarios(&b"version 1\r\n\r\n3\ta b.map\t4\t5\t0\t1\t3\t4\t7.5\r\n"[..], "t").unwrap();
        assert_eq!((tabs[0].map.as_str(), tabs[0].goal, tabs[0].optimal_length), ("a b.map", (3, 4), 7.5));
        let spaces = parse_scenarios(&b"version 1.0\n3 b.map 4 5 0 1 3 4 7.5"[..], "t").unwrap();
        assert_eq!((spaces[0].map.as_str(), spaces[0].start), ("b.map", (0, 1)));
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t:1: scenario header: expected \"version 1\", found the end of the file"),
            ("version 2\n", "t:1: scenario header: expected \"version 1\", found \"version 2\""),
            ("version 1\n0 m 4 5 4 0 0 0 1\n", "t:2: start x: expected a number below 4, found \"4\""),
            ("version 1\n0 m 4 5 0 0 0 9 1\n", "t:2: goal y: expected a number below 5, found \"9\""),
            ("version 1\n0 m 4 5 0 0 0 1 -1\n", "t:2: optimal length: expected a number that is not negative"),
            ("version 1\n0 m 4 5 0 0 0 1 nan\n", "t:2: optimal length: expected a finite number, found \"nan\""),
            ("version 1\n0 m 4 5 0 0\n", "t:2: goal x: expected a whole number that is not negative, found the end"),
            ("version 1\n0 m 4 5 0 0 0 0 0 7\n", "t:2: scenario: expected the end of the line, found \"7\""),
        ];
        for (text, message) in faults {
            let error = parse_scenarios(text.as_bytes(), "t").unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
