//! How large samples are.

use std::{fmt, ops::Range, str::FromStr};

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::TaskError;

/// A half-open range of sizes, drawn from uniformly.
///
/// Written `A..B` (A included, B not) or `N` (always N). What a size means is the task's: the generator's n, balls,
/// side of a map.
///
/// # Example
/// ```
/// use itergnn_tasks::SizeRange;
/// let range: SizeRange = "4..34".parse()?;
/// assert_eq!((range.smallest(), range.largest()), (4, 33));
/// assert_eq!("100".parse::<SizeRange>()?, SizeRange::exactly(100)?);
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SizeRange {
    start: u32,
    end: u32,
}

impl SizeRange {
    /// The paper's training sizes, [4, 34).
    pub const TRAINING: Self = Self { start: 4, end: 34 };

    /// The sizes `range.start` up to, not including, `range.end`.
    ///
    /// # Errors
    /// [`TaskError::Parse`] if the range is empty or begins at 0.
    pub fn new(range: Range<u32>) -> Result<Self, TaskError> {
        if range.start == 0 || range.start >= range.end {
            let text = format!("{}..{}", range.start, range.end);
            return Err(TaskError::Parse { what: "size", text, expected: EXPECTED });
        }
        Ok(Self { start: range.start, end: range.end })
    }

    /// Always this size.
    ///
    /// # Errors
    /// [`TaskError::Parse`] if the size is 0 or the largest `u32`.
    pub fn exactly(size: u32) -> Result<Self, TaskError> {
        Self::new(size..size.saturating_add(1))
    }

    /// The smallest size that can be drawn.
    pub fn smallest(self) -> u32 {
        self.start
    }

    /// The largest size that can be drawn.
    pub fn largest(self) -> u32 {
        self.end - 1
    }

    /// The sizes of this range that are not larger than `largest`; `None` if there are none.
    pub const fn up_to(self, largest: u32) -> Option<Self> {
        if largest < self.start {
            return None;
        }
        let end = if largest < self.end - 1 { largest + 1 } else { self.end };
        Some(Self { start: self.start, end })
    }

    /// A size, each equally likely.
    pub fn draw(self, rng: &mut impl Rng) -> u32 {
        rng.random_range(self.start..self.end)
    }
}

const EXPECTED: &str = "a size N or a range A..B with 0 < A < B";

impl fmt::Display for SizeRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.end - self.start == 1 {
            write!(formatter, "{}", self.start)
        } else {
            write!(formatter, "{}..{}", self.start, self.end)
        }
    }
}

impl FromStr for SizeRange {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        let parse = |part: &str| part.trim().parse::<u32>().ok();
        let range = match text.split_once("..") {
            Some((start, end)) => parse(start).zip(parse(end)).map(|(start, end)| start..end),
            None => parse(text).and_then(|size| Some(size..size.checked_add(1)?)),
        };
        let refused = || TaskError::Parse { what: "size", text: text.to_owned(), expected: EXPECTED };
        Self::new(range.ok_or_else(refused)?).map_err(|_| refused())
    }
}

impl TryFrom<String> for SizeRange {
    type Error = TaskError;

    fn try_from(text: String) -> Result<Self, TaskError> {
        text.parse()
    }
}

impl From<SizeRange> for String {
    fn from(range: SizeRange) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::rng;

    #[test]
    fn what_is_printed_is_read_back() {
        for text in ["4..34", "100", "1", "7..9"] {
            assert_eq!(text.parse::<SizeRange>().unwrap().to_string(), text);
        }
        assert_eq!("5..6".parse::<SizeRange>().unwrap().to_string(), "5");
    }

    #[test]
    fn nonsense_is_refused_with_the_text_as_given() {
        for text in
            ["", "0", "0..4", "4..4", "9..3", "a..b", "-3", "4..", "..4", "1..2..3", "4294967295", "99999999999"]
        {
            let message = text.parse::<SizeRange>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("size '{text}': expected")), "{message}");
        }
    }

    #[test]
    fn up_to_cuts_from_above() {
        let range = SizeRange::TRAINING;
        assert_eq!(range.up_to(10).unwrap().to_string(), "4..11");
        assert_eq!(range.up_to(33), Some(range));
        assert_eq!(range.up_to(u32::MAX), Some(range));
        assert_eq!(range.up_to(3), None);
    }

    #[test]
    fn draws_reach_both_ends_and_nothing_beyond() {
        let range = SizeRange::new(4..7).unwrap();
        let mut rng = rng::seeded(0);
        let mut seen = [0; 8];
        for _ in 0..300 {
            seen[range.draw(&mut rng) as usize] += 1;
        }
        assert!(seen[4] > 50 && seen[5] > 50 && seen[6] > 50);
        assert_eq!(seen.iter().sum::<i32>(), seen[4..7].iter().sum::<i32>());
    }
}
