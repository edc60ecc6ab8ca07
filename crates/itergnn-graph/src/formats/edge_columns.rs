//! Which column of an edge list means what.

use super::{FormatError, error::excerpt, lines::Line};

/// Which columns of an edge list hold the ends and the weight, where its header does not tell.
///
/// A column is named by its heading or by its place, counted from 1. GraphML and node-link JSON have names of edge
/// attributes instead, of which only `weight` can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnChoice {
    /// Where edges begin.
    pub source: Option<String>,
    /// Where edges end.
    pub target: Option<String>,
    /// The weight; `none` for weight 1 on every edge.
    pub weight: Option<String>,
}

/// What stands between the fields of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// `;`, also with spaces around it.
    Semicolon,
    /// `,`, also with spaces around it.
    Comma,
    /// Tabs, where the first row has one.
    Tab,
    /// Any number of spaces.
    Space,
}

impl Separator {
    /// The separator of a file, judged by its first row.
    pub(crate) fn of(row: &str) -> Self {
        match row {
            _ if row.contains(';') => Self::Semicolon,
            _ if row.contains(',') => Self::Comma,
            _ if row.contains('\t') => Self::Tab,
            _ => Self::Space,
        }
    }

    /// The fields of a row, without spaces and quotes around them.
    pub(crate) fn split(self, row: &str) -> impl Iterator<Item = &str> {
        let character = match self {
            Self::Semicolon => Some(';'),
            Self::Comma => Some(','),
            Self::Tab => Some('\t'),
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) sender: usize,
    pub(crate) receiver: usize,
    pub(crate) weight: Option<usize>,
    /// A column that only numbers the rows.
    pub(crate) edge_id: Option<usize>,
    /// What each column is called; by its place where there is no header.
    pub(crate) names: Vec<String>,
    /// Whether the first row is a header.
    pub(crate) header: bool,
    /// Whether every edge is to weigh 1, whatever columns there are.
    unit: bool,
}

const SENDER_NAMES: [&str; 8] = ["source", "sender", "from", "src", "u", "tail", "start", "node1"];
const RECEIVER_NAMES: [&str; 9] = ["target", "receiver", "to", "dst", "v", "head", "end", "dest", "node2"];
const WEIGHT_NAMES: [&str; 7] = ["weight", "length", "distance", "dist", "cost", "w", "len"];
const ROW_NAMES: [&str; 11] =
    ["", "id", "edge", "edge_id", "edgeid", "eid", "fid", "key", "index", "osmid", "unnamed: 0"];

/// The answer to `--weight-column` that asks for weight 1.
const NO_WEIGHT: &str = "none";

/// Whether a name is among the known ones, in any case and also with "id" behind it.
fn is_among(known: &[&str], name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let bare = name.strip_suffix("_id").or(name.strip_suffix("id")).unwrap_or(&name);
    known.contains(&name.as_str()) || known.contains(&bare.trim_end())
}

/// Whether a column or attribute of this name only numbers the edges.
pub(crate) fn only_numbers_edges(name: &str) -> bool {
    ROW_NAMES.contains(&name.to_ascii_lowercase().as_str())
}

/// The names in quotes, for messages.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().take(20).map(excerpt).collect::<Vec<_>>().join(", ")
}

/// Which of the names is the weight: the one chosen, or the only one that is called like a weight. What is wrong is
/// said as what was expected and what was found.
pub(crate) fn choose_weight(names: &[&str], choice: Option<&str>) -> Result<Option<usize>, (String, String)> {
    match choice {
        Some(NO_WEIGHT) => Ok(None),
        Some(name) => {
            let found = names.iter().position(|known| known.eq_ignore_ascii_case(name));
            let fault = || (format!("one of {}, or {NO_WEIGHT}", list(names.iter().copied())), excerpt(name));
            found.map(Some).ok_or_else(fault)
        }
        None => {
            let mut known = (0..names.len()).filter(|&place| is_among(&WEIGHT_NAMES, names[place]));
            let (first, second) = (known.next(), known.next());
            match (first, second) {
                (Some(_), Some(_)) => Err((HOW_TO_CHOOSE_WEIGHT.to_owned(), list(names.iter().copied()))),
                _ => Ok(first),
            }
        }
    }
}

/// What to do where numbers could be weights.
pub(crate) const HOW_TO_CHOOSE_WEIGHT: &str =
    "one weight: choose it with --weight-column NAME, or --weight-column none for weight 1 on every edge";

impl Columns {
    /// The columns of a file, judged by its first row and what the user chose.
    ///
    /// `numbered_rows` says that the format puts a number before every row (`.cedge`).
    pub(crate) fn of(
        line: &Line<'_>,
        row: &[&str],
        choice: &ColumnChoice,
        numbered_rows: bool,
    ) -> Result<Self, FormatError> {
        let is_number = |field: &&str| field.parse::<f64>().is_ok();
        let chosen = [&choice.source, &choice.target, &choice.weight].into_iter().flatten();
        let mut by_heading = chosen.filter(|name| name.as_str() != NO_WEIGHT && name.parse::<usize>().is_err());
        let names_ends = row.iter().any(|name| is_among(&SENDER_NAMES, name))
            && row.iter().any(|name| is_among(&RECEIVER_NAMES, name));
        let nothing_chosen = *choice == ColumnChoice::default();
        let header = by_heading.next().is_some() || names_ends || (nothing_chosen && !row.iter().any(is_number));
        let place = |what: &'static str, name: &str| {
            let by_name = row.iter().position(|field| header && field.eq_ignore_ascii_case(name));
            let by_place = || name.parse::<usize>().ok()?.checked_sub(1).filter(|&place| place < row.len());
            by_name.or_else(by_place).ok_or_else(|| {
                let known = if header { format!("one of {}, or ", list(row.iter().copied())) } else { String::new() };
                line.error(what, format!("{known}a number from 1 to {}", row.len()), Some(name))
            })
        };
        let unnamed = |place: usize| if header { row[place].to_owned() } else { format!("column {}", place + 1) };
        let names: Vec<String> = (0..row.len()).map(unnamed).collect();
        let unit = choice.weight.as_deref() == Some(NO_WEIGHT);
        let mut columns = Self { sender: 0, receiver: 1, weight: None, edge_id: None, names, header, unit };
        let by_name = |known: &[&str]| row.iter().position(|field| header && is_among(known, field));
        let ends = match (&choice.source, &choice.target) {
            (Some(source), Some(target)) => {
                Some((place("--source-column", source)?, place("--target-column", target)?))
            }
            (None, None) => by_name(&SENDER_NAMES).zip(by_name(&RECEIVER_NAMES)),
            _ => {
                let expected = "both --source-column and --target-column, or neither";
                return Err(line.position.error("columns", expected, "one of them"));
            }
        };
        match (ends, header, row.len()) {
            (Some((sender, receiver)), ..) => (columns.sender, columns.receiver) = (sender, receiver),
            (None, true, _) => {
                let expected = "headings such as source and target: choose with --source-column and --target-column, \
                    or put a row \"source,target\" first";
                return Err(line.position.error("columns", expected, list(row.iter().copied())));
            }
            (None, false, 2 | 3) => columns.weight = (row.len() == 3 && !unit).then_some(2),
            (None, false, 4) if numbered_rows => {
                (columns.sender, columns.receiver, columns.weight, columns.edge_id) = (1, 2, Some(3), Some(0));
            }
            (None, false, count) => {
                let expected = "2 (u v), 3 (u v weight) or a header: choose with --source-column N, --target-column N \
                    and --weight-column N";
                return Err(line.position.error("columns", expected, format!("{count} without a header")));
            }
        }
        if let Some(name) = choice.weight.as_deref().filter(|_| !unit) {
            columns.weight = Some(place("--weight-column", name)?);
        } else if header && !unit {
            let names: Vec<&str> = row.to_vec();
            let fault = |(expected, found)| line.position.error("columns", expected, found);
            columns.weight = choose_weight(&names, None).map_err(fault)?;
        }
        let used = [Some(columns.sender), Some(columns.receiver), columns.weight];
        if (0..3).any(|a| used[a].is_some() && used[..a].contains(&used[a])) {
            return Err(line.position.error(
                "columns",
                "different ones for source, target and weight",
                "the same twice",
            ));
        }
        Ok(columns)
    }

    /// Whether a column is neither an end, nor the weight, nor a number of the row.
    pub(crate) fn is_unused(&self, column: usize) -> bool {
        let used = [Some(self.sender), Some(self.receiver), self.weight, self.edge_id].contains(&Some(column));
        let numbers_edges = self.header && only_numbers_edges(&self.names[column]);
        !(used || numbers_edges)
    }

    /// That numbers in an unused column do not matter: there is a weight, or the user wants none.
    pub(crate) fn check_unused(&self, line: &Line<'_>, column: usize) -> Result<(), FormatError> {
        if self.weight.is_some() || self.unit {
            return Ok(());
        }
        let found = format!(
            "numbers in {} (columns: {})",
            excerpt(&self.names[column]),
            list(self.names.iter().map(String::as_str))
        );
        Err(line.position.error("columns", HOW_TO_CHOOSE_WEIGHT, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::lines::Position;

    fn columns(row: &[&str], choice: &ColumnChoice) -> Result<Columns, String> {
        let line = Line { position: Position { file: "test", number: 1 }, text: "" };
        Columns::of(&line, row, choice, false).map_err(|error| error.to_string())
    }

    fn choice(source: &str, target: &str, weight: Option<&str>) -> ColumnChoice {
        ColumnChoice {
            source: Some(source.to_owned()),
            target: Some(target.to_owned()),
            weight: weight.map(str::to_owned),
        }
    }

    #[test]
    fn separators_are_told_apart() {
        let fields = |row: &'static str| Separator::of(row).split(row).collect::<Vec<_>>();
        assert_eq!(fields("1;2; 3.5"), ["1", "2", "3.5"]);
        assert_eq!(fields("1, 2,3.5"), ["1", "2", "3.5"]);
        assert_eq!(fields("New York\tLos Angeles\t3.5"), ["New York", "Los Angeles", "3.5"]);
        assert_eq!(fields("1  2  3.5"), ["1", "2", "3.5"]);
        assert_eq!(fields(r#""1","2""#), ["1", "2"]);
    }

    #[test]
    fn a_header_may_name_columns_in_any_order() {
        let found = columns(&["name", "Weight", "To", "From_ID", "speed"], &ColumnChoice::default()).unwrap();
        assert_eq!((found.sender, found.receiver, found.weight, found.header), (3, 2, Some(1), true));
        assert!(found.is_unused(4) && !found.is_unused(1));
        let unknown = columns(&["alpha", "beta", "gamma"], &ColumnChoice::default()).unwrap_err();
        assert!(unknown.contains(r#"found "alpha", "beta", "gamma""#), "{unknown}");
        let two = columns(&["from", "to", "length", "cost"], &ColumnChoice::default()).unwrap_err();
        assert!(two.contains("--weight-column") && two.contains("\"cost\""), "{two}");
    }

    #[test]
    fn the_user_chooses_by_heading_or_by_place() {
        let named = columns(&["alpha", "beta", "km"], &choice("beta", "Alpha", Some("km"))).unwrap();
        assert_eq!((named.sender, named.receiver, named.weight, named.header), (1, 0, Some(2), true));
        let placed = columns(&["0", "5", "6", "2.5"], &choice("2", "3", Some("4"))).unwrap();
        assert_eq!((placed.sender, placed.receiver, placed.weight, placed.header), (1, 2, Some(3), false));
        let missing = columns(&["alpha", "beta"], &choice("alpha", "gamma", None)).unwrap_err();
        assert!(missing.contains("--target-column") && missing.contains("\"beta\""), "{missing}");
        assert!(columns(&["a", "b"], &choice("a", "a", None)).is_err());
        assert!(columns(&["1", "2"], &choice("1", "3", None)).is_err());
    }

    #[test]
    fn four_columns_without_a_header_are_ambiguous() {
        let error = columns(&["0", "1", "2", "2.5"], &ColumnChoice::default()).unwrap_err();
        assert!(error.contains("4 without a header") && error.contains("--source-column N"), "{error}");
        let line = Line { position: Position { file: "test", number: 1 }, text: "" };
        let numbered = Columns::of(&line, &["0", "1", "2", "2.5"], &ColumnChoice::default(), true).unwrap();
        assert_eq!((numbered.sender, numbered.edge_id), (1, Some(0)));
    }
}
