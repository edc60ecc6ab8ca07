//! A report as data, written as Markdown and as one self-contained page.

mod date;
mod html;
mod markdown;

pub(crate) use date::today;

/// A report: what was measured, beside what it is compared with.
pub(crate) struct Report {
    pub(crate) title: String,
    /// What it is about, for a stranger, and a picture of it.
    pub(crate) opening: (String, Option<Figure>),
    /// What a reader must know: command, machine, date.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) sections: Vec<ReportSection>,
}

/// One part of a report.
pub(crate) struct ReportSection {
    pub(crate) title: String,
    /// How to make it again.
    pub(crate) command: String,
    pub(crate) tables: Vec<ReportTable>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) notes: Vec<String>,
}

/// A table of texts.
pub(crate) struct ReportTable {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<ReportCell>>,
    /// What a reader opens to see the table, where it is not shown at once.
    pub(crate) folded: Option<String>,
}

impl ReportTable {
    pub(crate) fn new(header: Vec<String>, rows: Vec<Vec<ReportCell>>) -> Self {
        Self { header, rows, folded: None }
    }

    /// The same table, shown when a reader asks for it.
    pub(crate) fn folded(self, title: impl Into<String>) -> Self {
        Self { folded: Some(title.into()), ..self }
    }
}

/// A cell, and whether it falls short of what it is compared with.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportCell {
    pub(crate) text: String,
    pub(crate) short: bool,
}

impl ReportCell {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), short: false }
    }
}

/// A picture.
pub(crate) struct Figure {
    /// Its file name without ending.
    pub(crate) name: String,
    pub(crate) caption: String,
    pub(crate) svg: String,
}
