//! Reading `.tsp` files.

use std::{io::BufRead, path::Path};

use super::{DistanceKind, TspInstance, explicit::MatrixLayout};
use crate::formats::{
    FormatError,
    lines::{Line, Lines, Position},
};

/// The most cities an instance may have, and the largest coordinate or distance: together they keep every tour length
/// within `i64`.
const DIMENSION_LIMIT: u64 = 1_000_000;
const MAGNITUDE_LIMIT: f64 = 1e12;

/// Reads a symmetric travelling salesman instance from a `.tsp` file.
///
/// Distances: `EUC_2D`, `CEIL_2D`, `GEO`, `ATT`, and `EXPLICIT` as `FULL_MATRIX` or any row or column layout of a
/// triangle. At most a million cities; coordinates and distances up to 1e12. What follows `EOF` is not read; the `EOF`
/// itself may be missing.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn read_tsp(path: &Path) -> Result<TspInstance, FormatError> {
    read_tsp_lines(Lines::open(path)?)
}

/// [`read_tsp`] from memory or a stream, called `file` in messages.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_tsp(reader: impl BufRead, file: &str) -> Result<TspInstance, FormatError> {
    read_tsp_lines(Lines::new(reader, file))
}

/// A line `KEYWORD : value`; a section has no value.
pub(super) fn keyword_and_value<'a>(line: &Line<'a>) -> (&'a str, &'a str) {
    let (keyword, value) = line.text.split_once(':').unwrap_or_else(|| {
        line.text.split_once(|character: char| character.is_ascii_whitespace()).unwrap_or((line.text, ""))
    });
    (keyword.trim(), value.trim())
}

/// The number of cities, checked.
pub(super) fn read_dimension(line: &Line<'_>, value: &str) -> Result<usize, FormatError> {
    match line.unsigned("DIMENSION", Some(value))? {
        dimension @ 1..=DIMENSION_LIMIT => Ok(dimension as usize),
        _ => Err(line.error("DIMENSION", format!("a number from 1 to {DIMENSION_LIMIT}"), Some(value))),
    }
}

/// What the file has said so far.
#[derive(Default)]
struct Header {
    name: String,
    dimension: Option<usize>,
    kind: Option<DistanceKind>,
    layout: Option<MatrixLayout>,
    coordinates: Option<Vec<[f64; 2]>>,
    triangle: Option<Vec<i64>>,
}

fn read_tsp_lines(mut lines: Lines<impl BufRead>) -> Result<TspInstance, FormatError> {
    let mut header = Header::default();
    while let Some(line) = lines.next_filled()? {
        let (keyword, value) = keyword_and_value(&line);
        match keyword {
            "EOF" => break,
            "NODE_COORD_SECTION" => {
                let dimension = declared(&header.dimension, "DIMENSION", line.position)?;
                header.coordinates = Some(read_coordinates(&mut lines, dimension)?);
            }
            "DISPLAY_DATA_SECTION" => {
                let dimension = declared(&header.dimension, "DIMENSION", line.position)?;
                read_coordinates(&mut lines, dimension)?; // only for drawing
            }
            "EDGE_WEIGHT_SECTION" => {
                let dimension = declared(&header.dimension, "DIMENSION", line.position)?;
                let layout = declared(&header.layout, "EDGE_WEIGHT_FORMAT", line.position)?;
                header.triangle = Some(read_matrix(&mut lines, dimension, layout)?);
            }
            _ => read_specification(&line, keyword, value, &mut header)?,
        }
    }
    let dimension = declared(&header.dimension, "DIMENSION", lines.position())?;
    let kind = declared(&header.kind, "EDGE_WEIGHT_TYPE", lines.position())?;
    let (coordinates, triangle) = match (kind, header.coordinates, header.triangle) {
        (DistanceKind::Explicit, _, Some(triangle)) => (None, triangle),
        (DistanceKind::Explicit, _, None) => return Err(lines.end("TSPLIB instance", "EDGE_WEIGHT_SECTION")),
        (_, Some(coordinates), _) => (Some(coordinates), Vec::new()),
        (_, None, _) => return Err(lines.end("TSPLIB instance", "NODE_COORD_SECTION")),
    };
    Ok(TspInstance { name: header.name, dimension, kind, coordinates, triangle })
}

fn declared<T: Copy>(value: &Option<T>, what: &'static str, position: Position<'_>) -> Result<T, FormatError> {
    value.ok_or_else(|| position.error(what, "to be declared before this line", "nothing"))
}

fn read_specification(line: &Line<'_>, keyword: &str, value: &str, header: &mut Header) -> Result<(), FormatError> {
    let unsupported = |what, expected: &str| Err(line.error(what, expected, Some(value)));
    match keyword {
        "NAME" => header.name = value.to_owned(),
        // Some files add a name in brackets after the type.
        "TYPE" if value.split_ascii_whitespace().next() == Some("TSP") => {}
        "TYPE" => return unsupported("TYPE", "TSP (symmetric)"),
        "DIMENSION" => {
            // Sections that were read by then have as many cities as were declared before.
            let dimension = read_dimension(line, value)?;
            if let Some(before) = header.dimension.replace(dimension).filter(|&before| before != dimension) {
                return unsupported("DIMENSION", &format!("{before}, as declared before"));
            }
        }
        "EDGE_WEIGHT_TYPE" => match DistanceKind::from_name(value) {
            Some(kind) => header.kind = Some(kind),
            None => return unsupported("EDGE_WEIGHT_TYPE", "EUC_2D, CEIL_2D, GEO, ATT or EXPLICIT"),
        },
        "EDGE_WEIGHT_FORMAT" if value == "FUNCTION" => {} // said of instances with coordinates
        "EDGE_WEIGHT_FORMAT" => match MatrixLayout::from_name(value) {
            Some(layout) => header.layout = Some(layout),
            None => {
                return unsupported(
                    "EDGE_WEIGHT_FORMAT",
                    "FULL_MATRIX, UPPER_ROW, LOWER_ROW, UPPER_DIAG_ROW, LOWER_DIAG_ROW or their _COL forms",
                );
            }
        },
        "NODE_COORD_TYPE" if value != "TWOD_COORDS" => return unsupported("NODE_COORD_TYPE", "TWOD_COORDS"),
        "COMMENT" | "NODE_COORD_TYPE" | "DISPLAY_DATA_TYPE" => {}
        _ => return Err(line.error("TSPLIB keyword", "one of a TSP instance", Some(keyword))),
    }
    Ok(())
}

/// As many lines `id x y` as there are cities, in any order, each city once.
fn read_coordinates(lines: &mut Lines<impl BufRead>, dimension: usize) -> Result<Vec<[f64; 2]>, FormatError> {
    let mut listed: Vec<(u32, [f64; 2])> = Vec::new();
    while listed.len() < dimension {
        let Some(line) = lines.next_filled()? else {
            let expected = format!("{dimension} cities, as declared");
            return Err(lines.end("coordinates", expected));
        };
        let mut fields = line.text.split_ascii_whitespace();
        let field = fields.next();
        let city = line.unsigned("city", field)?;
        if city == 0 || city > dimension as u64 {
            return Err(line.error("city", format!("a number from 1 to {dimension}"), field));
        }
        let mut coordinate = || {
            let field = fields.next();
            let value = line.finite("coordinate", field)?;
            if value.abs() > MAGNITUDE_LIMIT {
                return Err(line.error("coordinate", format!("at most {MAGNITUDE_LIMIT:e} in size"), field));
            }
            Ok(value)
        };
        listed.push((city as u32 - 1, [coordinate()?, coordinate()?]));
        line.ends("coordinates", fields.next())?;
    }
    let mut coordinates = vec![None; dimension];
    for (city, point) in listed {
        if coordinates[city as usize].replace(point).is_some() {
            return Err(lines.position().error("coordinates", "each city once", format!("city {} twice", city + 1)));
        }
    }
    // As many distinct cities as there are places, so that none is left empty.
    Ok(coordinates.into_iter().flatten().collect())
}

/// The numbers of a matrix, broken into lines anywhere; as the triangle below the diagonal.
fn read_matrix(
    lines: &mut Lines<impl BufRead>,
    dimension: usize,
    layout: MatrixLayout,
) -> Result<Vec<i64>, FormatError> {
    let expected = layout.entries(dimension);
    let section = lines.number();
    let mut listed = Vec::new();
    while listed.len() < expected {
        let Some(line) = lines.next_filled()? else {
            let expected = format!("{expected} distances for {dimension} cities");
            return Err(lines.position().error("distances", expected, format!("{}", listed.len())));
        };
        for field in line.text.split_ascii_whitespace() {
            let distance = line.integer("distance", Some(field))?;
            if distance < 0 || distance as f64 > MAGNITUDE_LIMIT {
                let expected = format!("a number from 0 to {MAGNITUDE_LIMIT:e}");
                return Err(line.error("distance", expected, Some(field)));
            }
            if listed.len() == expected {
                let expected = format!("no more than {expected} distances for {dimension} cities");
                return Err(line.error("distances", expected, Some(field)));
            }
            listed.push(distance);
        }
    }
    layout.lower_triangle(dimension, &listed).map_err(|(row, column)| {
        let found = format!("two distances between {} and {}", column + 1, row + 1);
        Position { file: lines.file(), number: section }.error("distances", "a symmetric matrix", found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TspInstance, FormatError> {
        parse_tsp(text.as_bytes(), "t.tsp")
    }

    #[test]
    fn keywords_may_have_spaces_and_eof_may_be_missing() {
        let text = "NAME : t\r\nTYPE : TSP (somebody)\r\nDIMENSION :2\r\nEDGE_WEIGHT_TYPE : CEIL_2D\r\n\r\nNODE_COORD_SECTION\r\n 2 1e0 1\r\n 1 0 0\r\n";
        let instance = read(text).unwrap();
        assert_eq!((instance.name.as_str(), instance.dimension, instance.distance(0, 1)), ("t", 2, 2));
        assert_eq!(instance.coordinates.unwrap(), [[0.0, 0.0], [1.0, 1.0]]);
    }

    #[test]
    fn explicit_distances_may_break_anywhere_and_have_display_data() {
        let text = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n1\n2 3\nDISPLAY_DATA_SECTION\n1 0 0\n2 1 1\n3 2 2\nEOF\nanything";
        let instance = read(text).unwrap();
        assert_eq!((instance.distance(0, 1), instance.distance(0, 2), instance.distance(2, 1)), (1, 2, 3));
        assert!(instance.coordinates.is_none());
    }

    /// Found by fuzzing: the instance had more cities than coordinates, and the first question about one of them
    /// panicked.
    #[test]
    fn a_second_dimension_after_the_coordinates_was_believed() {
        let points = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n";
        assert_eq!(read(&format!("{points}DIMENSION: 2\n")).unwrap().distance(0, 1), 5);
        let message = read(&format!("{points}DIMENSION: 55\n")).unwrap_err().to_string();
        assert_eq!(message, "t.tsp:6: DIMENSION: expected 2, as declared before, found \"55\"");
        let matrix =
            "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n7\n";
        assert!(read(&format!("{matrix}DIMENSION: 3\n")).is_err());
    }

    #[test]
    fn every_fault_has_its_line() {
        let points = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n";
        let matrix = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n";
        let faults = [
            (String::new(), "t.tsp:1: DIMENSION: expected to be declared"),
            ("DIMENSION: 0\n".into(), "t.tsp:1: DIMENSION: expected a number from 1 to 1000000, found \"0\""),
            ("DIMENSION: 99999999999\n".into(), "t.tsp:1: DIMENSION: expected a number from 1 to"),
            ("TYPE: ATSP\n".into(), "t.tsp:1: TYPE: expected TSP (symmetric), found \"ATSP\""),
            ("EDGE_WEIGHT_TYPE: XRAY1\n".into(), "t.tsp:1: EDGE_WEIGHT_TYPE: expected EUC_2D"),
            ("FIXED_EDGES_SECTION\n".into(), "t.tsp:1: TSPLIB keyword: expected one of a TSP instance"),
            ("NODE_COORD_SECTION\n".into(), "t.tsp:1: DIMENSION: expected to be declared"),
            ("DIMENSION: 2\nEDGE_WEIGHT_TYPE: GEO\n".into(), "t.tsp:2: TSPLIB instance: expected NODE_COORD_SECTION"),
            (
                format!("{points}1 0 0\n"),
                "t.tsp:4: coordinates: expected 2 cities, as declared, found the end of the file",
            ),
            (
                format!("{points}1 0 0\nEOF\n"),
                "t.tsp:5: city: expected a whole number that is not negative, found \"EOF\"",
            ),
            (format!("{points}1 0 0\n3 0 0\n"), "t.tsp:5: city: expected a number from 1 to 2, found \"3\""),
            (format!("{points}1 0 0\n1 0 0\n"), "t.tsp:5: coordinates: expected each city once, found city 1 twice"),
            (format!("{points}1 0 nan\n"), "t.tsp:4: coordinate: expected a finite number, found \"nan\""),
            (format!("{points}1 0 1e300\n"), "t.tsp:4: coordinate: expected at most 1e12 in size"),
            (format!("{points}1 0 0\n2 0 0\n3 0 0\n"), "t.tsp:6: TSPLIB keyword"),
            (format!("{matrix}0 1 1\n"), "t.tsp:5: distances: expected 4 distances for 2 cities, found 3"),
            (format!("{matrix}0 1 1 0 7\n"), "t.tsp:5: distances: expected no more than 4 distances"),
            (
                format!("{matrix}0 1 2 0\n"),
                "t.tsp:4: distances: expected a symmetric matrix, found two distances between 1 and 2",
            ),
            (format!("{matrix}0 -1 -1 0\n"), "t.tsp:5: distance: expected a number from 0 to 1e12, found \"-1\""),
        ];
        for (text, message) in faults {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
