//! Reading and writing `.tour` files.

use std::{
    io::{self, BufRead, Write},
    path::Path,
};

use super::reader::{keyword_and_value, read_dimension};
use crate::formats::{FormatError, lines::Lines};

/// Reads a tour: the cities, counted from 0, in the order in which they are visited.
///
/// Takes TSPLIB's form, with a header, `TOUR_SECTION` and a final `-1`, and the bare form, which is only the numbers of the cities, counted from 1,
/// on one or many lines.
///
/// # Errors
/// [`FormatError`] with file and line, also where the numbers are not a permutation of 1 to their count.
pub fn read_tour(path: &Path) -> Result<Vec<u32>, FormatError> {
    read_tour_lines(Lines::open(path)?)
}

/// [`read_tour`] from memory or a stream, called `file` in messages.
///
/// # Errors
/// As [`read_tour`].
///
/// # Example
/// ```
/// use itergnn_graph::formats::parse_tour;
/// assert_eq!(parse_tour(&b"1\n3\n2\n"[..], "t.tour")?, [0, 2, 1]);
/// # Ok::<(), itergnn_graph::formats::FormatError>(())
/// ```
pub fn parse_tour(reader: impl BufRead, file: &str) -> Result<Vec<u32>, FormatError> {
    read_tour_lines(Lines::new(reader, file))
}

fn read_tour_lines(mut lines: Lines<impl BufRead>) -> Result<Vec<u32>, FormatError> {
    let mut dimension = None;
    // Each city with its line, so that a number beyond the final count can be named.
    let mut cities: Vec<(u64, usize)> = Vec::new();
    'file: while let Some(line) = lines.next_filled()? {
        if line.text.starts_with(|character: char| character.is_ascii_alphabetic()) {
            match keyword_and_value(&line) {
                ("EOF", _) => break,
                _ if !cities.is_empty() => {
                    return Err(line.error("tour", "a city, -1 or EOF", Some(line.text)));
                }
                ("DIMENSION", value) => dimension = Some(read_dimension(&line, value)?),
                ("TYPE", value) if value != "TOUR" => return Err(line.error("TYPE", "TOUR", Some(value))),
                ("TYPE" | "NAME" | "COMMENT" | "TOUR_SECTION", _) => {}
                (keyword, _) => return Err(line.error("TSPLIB keyword", "one of a tour", Some(keyword))),
            }
            continue;
        }
        for field in line.text.split_ascii_whitespace() {
            if field == "-1" {
                break 'file;
            }
            match line.unsigned("city", Some(field))? {
                0 => return Err(line.error("city", "at least 1 (tours count from 1)", Some(field))),
                city => cities.push((city, line.position.number)),
            }
        }
    }
    if cities.is_empty() {
        return Err(lines.end("tour", "at least one city"));
    }
    if let Some(dimension) = dimension.filter(|&dimension| dimension != cities.len()) {
        let expected = format!("{dimension} cities, as declared");
        return Err(lines.position().error("tour", expected, cities.len()));
    }
    let mut seen = vec![false; cities.len()];
    for &(city, number) in &cities {
        let fresh = usize::try_from(city - 1).ok().and_then(|at| seen.get_mut(at));
        if fresh.is_none_or(|flag| std::mem::replace(flag, true)) {
            let position = crate::formats::lines::Position { file: lines.file(), number };
            let expected = format!("each city from 1 to {} once", cities.len());
            return Err(position.error("city", expected, city));
        }
    }
    Ok(cities.into_iter().map(|(city, _)| (city - 1) as u32).collect())
}

/// Writes a tour in TSPLIB's form.
///
/// # Errors
/// What the writer says.
///
/// # Example
/// ```
/// use itergnn_graph::formats::write_tour;
/// let mut text = Vec::new();
/// write_tour(&mut text, "t", &[0, 2, 1])?;
/// assert_eq!(text, b"NAME : t\nTYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1\n3\n2\n-1\nEOF\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_tour(mut writer: impl Write, name: &str, tour: &[u32]) -> io::Result<()> {
    writeln!(writer, "NAME : {name}\nTYPE : TOUR\nDIMENSION : {}\nTOUR_SECTION", tour.len())?;
    for &city in tour {
        writeln!(writer, "{}", u64::from(city) + 1)?;
    }
    writeln!(writer, "-1\nEOF")?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u32>, FormatError> {
        parse_tour(text.as_bytes(), "t.tour")
    }

    #[test]
    fn both_forms_are_read() {
        let full = "NAME : t.opt.tour\nCOMMENT : length 3\nTYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1 3\n2\n-1\nEOF\n";
        assert_eq!(read(full).unwrap(), [0, 2, 1]);
        assert_eq!(read("\r\n  1  3\r\n2\r\n").unwrap(), [0, 2, 1]);
    }

    #[test]
    fn every_fault_has_its_line() {
        let faults = [
            ("", "t.tour:1: tour: expected at least one city, found the end of the file"),
            ("1\n0\n", "t.tour:2: city: expected at least 1 (tours count from 1), found \"0\""),
            ("1\n1\n", "t.tour:2: city: expected each city from 1 to 2 once, found 1"),
            ("1\n99999999999999999999\n", "t.tour:2: city: expected a whole number"),
            ("1\n18446744073709551615\n", "t.tour:2: city: expected each city from 1 to 2 once"),
            ("DIMENSION: 3\nTOUR_SECTION\n1\n2\n-1\n", "t.tour:5: tour: expected 3 cities, as declared, found 2"),
            ("TYPE: TSP\n", "t.tour:1: TYPE: expected TOUR, found \"TSP\""),
            ("1\nx\n", "t.tour:2: tour: expected a city, -1 or EOF, found \"x\""),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
