//! A report as Markdown; figures are files beside it.

use std::fmt::Write;

use super::{Figure, Report, ReportCell, ReportSection, ReportTable};

/// The longest line of prose.
const WIDTH: usize = 120;

/// What marks a cell that falls short.
const SHORT: &str = " ▼";

impl Report {
    /// The report, with figures in the folder `figures` beside it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.title, wrapped(&self.opening.0, ""));
        if let Some(figure) = &self.opening.1 {
            figure.write_markdown(&mut text);
            text.push('\n');
        }
        for (what, value) in &self.facts {
            let _ = writeln!(text, "{}", wrapped(&format!("- {what}: {value}"), "  "));
        }
        for section in &self.sections {
            section.write_markdown(&mut text);
        }
        text
    }
}

impl ReportSection {
    fn write_markdown(&self, text: &mut String) {
        let _ = write!(text, "\n## {}\n\n`{}`\n", self.title, self.command);
        for table in &self.tables {
            text.push('\n');
            table.write_markdown(text);
        }
        for figure in &self.figures {
            text.push('\n');
            figure.write_markdown(text);
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "{}", wrapped(&format!("- {note}"), "  "));
        }
    }
}

impl Figure {
    fn write_markdown(&self, text: &mut String) {
        let _ = writeln!(text, "![{}](figures/{}.svg)", self.caption, self.name);
    }
}

impl ReportTable {
    fn write_markdown(&self, text: &mut String) {
        if let Some(title) = &self.folded {
            let _ = write!(text, "<details><summary>{title}</summary>\n\n");
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text.push_str(&line(self.header.clone()));
        text.push_str(&line(vec!["---".to_owned(); self.header.len()]));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(ReportCell::markdown).collect()));
        }
        if self.folded.is_some() {
            text.push_str("\n</details>\n");
        }
    }
}

impl ReportCell {
    fn markdown(&self) -> String {
        let text = self.text.replace('|', "\\|");
        if self.short { format!("{text}{SHORT}") } else { text }
    }
}

/// Prose in lines of at most [`WIDTH`] characters; those after the first begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        // At the beginning of a line these would be a list or a heading.
        let breaks = !matches!(word, "-" | "+" | "*" | "1." | "#");
        if width + 1 + length > WIDTH && breaks {
            lines.push('\n');
            lines.push_str(indent);
            width = indent.len();
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_no_word_begins_a_list() {
        let full = format!("- {}abc", "word ".repeat(23));
        assert_eq!(wrapped(&format!("{full} a ± b"), "  "), format!("{full}\n  a ± b"));
        assert_eq!(wrapped(&format!("{full} - b"), "  "), format!("{full} -\n  b"));
        assert_eq!(wrapped("short", "  "), "short");
        assert!(wrapped(&"word ".repeat(100), "").lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn cells_that_fall_short_are_marked() {
        let rows = vec![vec![ReportCell::plain("x|y"), ReportCell { text: "1".to_owned(), short: true }]];
        let table = ReportTable::new(vec!["a".to_owned(), "b".to_owned()], rows);
        let mut text = String::new();
        table.write_markdown(&mut text);
        assert_eq!(text, "| a | b |\n| --- | --- |\n| x\\|y | 1 ▼ |\n");
        let mut folded = String::new();
        table.folded("more").write_markdown(&mut folded);
        assert_eq!(folded, format!("<details><summary>more</summary>\n\n{text}\n</details>\n"));
    }
}
