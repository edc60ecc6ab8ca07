//! Which column of an edge list means what.

use super::{FormatError, lines::Line};

/// What stands between the fields of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// `;`, also with spaces around it.
    Semicolon,
    /// `,`, also with spaces around it.
    Comma,
    /// Tabs, or any number of spaces.
    Space,
}

impl Separator {
    /// The separator of a file, judged by its first row.
    pub(crate) fn of(row: &str) -> Self {
        if row.contains(';') {
            Self::Semicolon
        } else if row.contains(',') {
            Self::Comma
        } else {
            Self::Space
        }
    }

    /// The fields of a row, without spaces and quotes around them.
    pub(crate) fn split(self, row: &str) -> impl Iterator<Item = &str> {
        let character = match self {
            Self::Semicolon => Some(';'),
            Self::Comma => Some(','),
            Self::Space => None,
        };
        let separated = character.map(|character| row.split(character));
        let spaced = character.is_none().then(|| row.split_whitespace());
        separated.into_iter().flatten().chain(spaced.into_iter().flatten()).map(unquoted)
    }
}

fn unquoted(field: &str) -> &str {
    let field = field.trim();
    let inner = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
    inner.map_or(field, str::trim)
}

/// The columns of an edge list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) sender: usize,
    pub(crate) receiver: usize,
    pub(crate) weight: Option<usize>,
    /// A column that only numbers the rows.
    pub(crate) edge_id: Option<usize>,
    /// How many columns there are.
    pub(crate) count: usize,
}

const SENDER_NAMES: [&str; 8] = ["source", "sender", "from", "src", "u", "tail", "start", "node1"];
const RECEIVER_NAMES: [&str; 9] = ["target", "receiver", "to", "dst", "v", "head", "end", "dest", "node2"];
const WEIGHT_NAMES: [&str; 7] = ["weight", "length", "distance", "dist", "cost", "w", "len"];

impl Columns {
    /// The columns by their position: `u v`, `u v weight` or `edge_id u v weight`.
    pub(crate) fn by_position(line: &Line<'_>, count: usize) -> Result<Self, FormatError> {
        match count {
            2 => Ok(Self { sender: 0, receiver: 1, weight: None, edge_id: None, count }),
            3 => Ok(Self { sender: 0, receiver: 1, weight: Some(2), edge_id: None, count }),
            4 => Ok(Self { sender: 1, receiver: 2, weight: Some(3), edge_id: Some(0), count }),
            _ => {
                let expected =
                    "2 (u v), 3 (u v weight), 4 (edge_id u v weight), or a header that names source and target";
                Err(line.position.error("columns", expected, count))
            }
        }
    }

    /// The columns by the names in a header; by position where it does not name both ends.
    pub(crate) fn by_header(line: &Line<'_>, header: &[&str]) -> Result<Self, FormatError> {
        let column = |names: &[&str]| {
            header.iter().position(|field| {
                let field = field.to_ascii_lowercase();
                let bare = field.strip_suffix("_id").or(field.strip_suffix("id")).unwrap_or(&field);
                names.contains(&field.as_str()) || names.contains(&bare.trim_end())
            })
        };
        match (column(&SENDER_NAMES), column(&RECEIVER_NAMES)) {
            (Some(sender), Some(receiver)) => {
                let weight = column(&WEIGHT_NAMES);
                Ok(Self { sender, receiver, weight, edge_id: None, count: header.len() })
            }
            _ => Self::by_position(line, header.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::lines::Position;

    #[test]
    fn separators_are_told_apart() {
        let fields = |row: &'static str| Separator::of(row).split(row).collect::<Vec<_>>();
        assert_eq!(fields("1;2; 3.5"), ["1", "2", "3.5"]);
        assert_eq!(fields("1, 2,3.5"), ["1", "2", "3.5"]);
        assert_eq!(fields("1\t2  3.5"), ["1", "2", "3.5"]);
        assert_eq!(fields(r#""1","2""#), ["1", "2"]);
    }

    #[test]
    fn a_header_may_name_columns_in_any_order() {
        let line = Line { position: Position { file: "test", number: 1 }, text: "" };
        let columns = Columns::by_header(&line, &["name", "Weight", "To", "From_ID", "speed"]).unwrap();
        assert_eq!((columns.sender, columns.receiver, columns.weight, columns.count), (3, 2, Some(1), 5));
        let unnamed = Columns::by_header(&line, &["alpha", "beta", "gamma"]).unwrap();
        assert_eq!((unnamed.sender, unnamed.receiver, unnamed.weight), (0, 1, Some(2)));
        assert!(Columns::by_header(&line, &["a", "b", "c", "d", "e"]).is_err());
    }
}
