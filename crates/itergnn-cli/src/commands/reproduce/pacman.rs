//! The place of the Pacman tables: what `itergnn eval --grid` has measured, beside the paper.

use std::{fs, path::Path};

use itergnn::train::rl::{GridCell, GridReport, PAPER_DOTS, PAPER_WALLS};

use crate::report::{ReportCell, ReportSection, ReportTable};

/// Where the reports of `itergnn eval MODEL --grid --json` are looked for.
pub(super) const FOLDER: &str = "pacman";

/// One table a player, and the summary at the training setting.
pub(super) fn section(results: &Path) -> ReportSection {
    let reports = read(&results.join(FOLDER));
    let summary = ReportTable {
        header: ["player", "10 dots, 8 walls", "worst cell", "games a cell"].map(str::to_owned).to_vec(),
        rows: reports.iter().map(summary).collect(),
    };
    let mut tables = if reports.is_empty() { Vec::new() } else { vec![summary] };
    tables.extend(reports.iter().map(grid));
    let mut notes = vec!["Share of the reachable dots that were eaten; rows are walls, columns dots.".to_owned()];
    if reports.is_empty() {
        notes.push(format!("Not measured here: put the output of the command above into results/{FOLDER}/."));
    }
    ReportSection {
        title: "Symbolic Pacman".to_owned(),
        command: format!("itergnn eval MODEL --grid --json > results/{FOLDER}/NAME.json"),
        tables,
        figures: Vec::new(),
        notes,
    }
}

/// Reports in the order of their file names; other files are passed over.
fn read(folder: &Path) -> Vec<GridReport> {
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect()
}

fn shown(cell: &GridCell) -> ReportCell {
    let ours = cell.report.success_rate;
    let paper = cell.paper.map_or(String::new(), |paper| format!(" / {paper:.2}"));
    ReportCell { text: format!("{ours:.3}{paper}"), short: cell.paper.is_some_and(|paper| ours < paper) }
}

fn name(report: &GridReport) -> String {
    report.training_seed.map_or(report.player.clone(), |seed| format!("{}, seed {seed}", report.player))
}

fn summary(report: &GridReport) -> Vec<ReportCell> {
    let plain = ReportCell::plain;
    vec![
        plain(name(report)),
        shown(&report.training_setting),
        plain(format!("{:.3}", report.worst())),
        plain(report.count.to_string()),
    ]
}

fn grid(report: &GridReport) -> ReportTable {
    let mut header = vec![format!("{}: walls", name(report))];
    header.extend(PAPER_DOTS.iter().map(|dots| format!("{dots} dots")));
    let rows = PAPER_WALLS.iter().zip(report.cells.chunks(PAPER_DOTS.len()));
    let row = |(walls, cells): (&u16, &[GridCell])| {
        let mut row = vec![ReportCell::plain(walls.to_string())];
        row.extend(cells.iter().map(shown));
        row
    };
    ReportTable { header, rows: rows.map(row).collect() }
}
