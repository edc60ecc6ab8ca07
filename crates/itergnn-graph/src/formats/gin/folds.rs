//! Fixed folds for cross-validation.

use std::{io::BufRead, path::Path};

use crate::formats::{FormatError, lines::Lines};

/// Which graphs of a set to learn from and which to judge by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Indices of the graphs to learn from.
    pub train: Vec<u32>,
    /// Indices of the graphs to judge by.
    pub test: Vec<u32>,
}

/// Reads the folds of a directory: `train_idx-1.txt`, `test_idx-1.txt`, `train_idx-2.txt` and so on, as far as there
/// are any.
///
/// `graphs` is the number of graphs in the set. Test folds need not cover the whole set: the published ones of MUTAG
/// leave 8 graphs out.
///
/// # Errors
/// [`FormatError`] where a file is missing or wrong, or where a graph stands in both parts of a fold.
pub fn read_folds(directory: &Path, graphs: usize) -> Result<Vec<Fold>, FormatError> {
    let mut folds = Vec::new();
    loop {
        let part = |name: &str| directory.join(format!("{name}_idx-{}.txt", folds.len() + 1));
        let (train, test) = (part("train"), part("test"));
        if !folds.is_empty() && !train.exists() && !test.exists() {
            return Ok(folds);
        }
        let fold = Fold {
            train: read_fold_lines(Lines::open(&train)?, graphs)?,
            test: read_fold_lines(Lines::open(&test)?, graphs)?,
        };
        let mut in_train = vec![false; graphs];
        fold.train.iter().for_each(|&index| in_train[index as usize] = true);
        if let Some(index) = fold.test.iter().find(|&&index| in_train[index as usize]) {
            return Err(FormatError::Content {
                file: test.display().to_string(),
                line: 1,
                what: "fold",
                expected: "graphs that are not also in its training part".into(),
                found: format!("graph {index}"),
            });
        }
        folds.push(fold);
    }
}

/// Reads one part of a fold: indices of graphs, counted from 0, each once.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_fold_indices(reader: impl BufRead, file: &str, graphs: usize) -> Result<Vec<u32>, FormatError> {
    read_fold_lines(Lines::new(reader, file), graphs)
}

fn read_fold_lines(mut lines: Lines<impl BufRead>, graphs: usize) -> Result<Vec<u32>, FormatError> {
    let mut seen = vec![false; graphs];
    let mut indices = Vec::new();
    while let Some(line) = lines.next_filled()? {
        let index = line.unsigned("graph index", Some(line.text))?;
        match usize::try_from(index).ok().and_then(|index| seen.get_mut(index)) {
            Some(flag) if !*flag => *flag = true,
            Some(_) => return Err(line.error("graph index", "each graph once", Some(line.text))),
            None => {
                let expected = format!("a number below {graphs}");
                return Err(line.error("graph index", expected, Some(line.text)));
            }
        }
        indices.push(index as u32);
    }
    if indices.is_empty() {
        return Err(lines.end("fold", "at least one graph"));
    }
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_checked() {
        assert_eq!(parse_fold_indices(&b"3\r\n\r\n0\r\n"[..], "t", 4).unwrap(), [3, 0]);
        for (text, message) in [
            ("", "t:1: fold: expected at least one graph"),
            ("4\n", "t:1: graph index: expected a number below 4, found \"4\""),
            ("1\n1\n", "t:2: graph index: expected each graph once, found \"1\""),
        ] {
            let error = parse_fold_indices(text.as_bytes(), "t", 4).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }

    #[test]
    fn folds_are_read_until_there_are_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        assert!(read_folds(directory.path(), 3).is_err());
        write("train_idx-1.txt", "0\n1\n");
        write("test_idx-1.txt", "2\n");
        let folds = read_folds(directory.path(), 3).unwrap();
        assert_eq!(folds, [Fold { train: vec![0, 1], test: vec![2] }]);
        write("train_idx-2.txt", "0\n2\n");
        assert!(read_folds(directory.path(), 3).unwrap_err().to_string().contains("test_idx-2.txt"));
        write("test_idx-2.txt", "2\n");
        let error = read_folds(directory.path(), 3).unwrap_err().to_string();
        assert!(error.ends_with("found graph 2"), "{error}");
    }
}
