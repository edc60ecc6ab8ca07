//! A report as one page that needs nothing else.

use std::fmt::Write;

use super::{Figure, Report, ReportSection, ReportTable};
use crate::drawing::escaped;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1200px;margin:2rem auto;padding:0 1rem;color:#1b1f24}\
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}td,th{border:1px solid #d0d7de;padding:.3rem .6rem;text-align:right;white-space:nowrap}\
td:first-child,th:first-child{text-align:left}th{background:#f6f8fa}.short{background:#ffecec}.short::after{content:' \\25BC';color:#b42318}\
code{background:#f6f8fa;padding:.1rem .3rem}figure{margin:1rem 0}figcaption,li{color:#57606a}svg{max-width:100%;height:auto}";

impl Report {
    /// The report, figures included.
    pub(crate) fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n<p>{}</p>\n",
            escaped(&self.opening.0)
        );
        if let Some(figure) = &self.opening.1 {
            figure.write_html(&mut text);
        }
        text.push_str("<ul>\n");
        for (what, value) in &self.facts {
            let _ = writeln!(text, "<li>{}: {}</li>", escaped(what), escaped(value));
        }
        text.push_str("</ul>\n<p>Cells marked &#9660; fall short of the paper.</p>\n");
        for section in &self.sections {
            section.write_html(&mut text);
        }
        text.push_str("</body></html>\n");
        text
    }
}

impl ReportSection {
    fn write_html(&self, text: &mut String) {
        let _ = write!(text, "<h2>{}</h2>\n<p><code>{}</code></p>\n", escaped(&self.title), escaped(&self.command));
        for table in &self.tables {
            table.write_html(text);
        }
        for figure in &self.figures {
            figure.write_html(text);
        }
        if !self.notes.is_empty() {
            text.push_str("<ul>\n");
            for note in &self.notes {
                let _ = writeln!(text, "<li>{}</li>", escaped(note));
            }
            text.push_str("</ul>\n");
        }
    }
}

impl Figure {
    fn write_html(&self, text: &mut String) {
        let caption = escaped(&self.caption);
        let _ = writeln!(text, "<figure>{}<figcaption>{caption}</figcaption></figure>", self.svg);
    }
}

impl ReportTable {
    fn write_html(&self, text: &mut String) {
        if let Some(title) = &self.folded {
            let _ = writeln!(text, "<details><summary>{}</summary>", escaped(title));
        }
        text.push_str("<table><thead><tr>");
        for heading in &self.header {
            let _ = write!(text, "<th>{}</th>", escaped(heading));
        }
        text.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            text.push_str("<tr>");
            for cell in row {
                let class = if cell.short { " class=\"short\"" } else { "" };
                let _ = write!(text, "<td{class}>{}</td>", escaped(&cell.text));
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</tbody></table>\n");
        if self.folded.is_some() {
            text.push_str("</details>\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ReportCell;

    #[test]
    fn texts_are_escaped_and_short_cells_marked() {
        let rows = vec![vec![ReportCell { text: "1 & 2".to_owned(), short: true }]];
        let table = ReportTable::new(vec!["<a>".to_owned()], rows).folded("x < y");
        let mut text = String::new();
        table.write_html(&mut text);
        assert!(text.contains("<th>&lt;a&gt;</th>") && text.contains("<td class=\"short\">1 &amp; 2</td>"), "{text}");
        assert!(text.starts_with("<details><summary>x &lt; y</summary>") && text.ends_with("</details>\n"), "{text}");
    }
}
