//! The place of the Pacman tables: what `itergnn eval --grid` has measured, beside the paper.

use std::{fs, path::Path};

use itergnn::train::rl::{GridCell, GridReport};

use crate::report::{Figure, ReportCell, ReportSection, ReportTable};

/// Where the reports of `itergnn eval MODEL --grid --out FILE` are looked for.
pub(super) const FOLDER: &str = "pacman";

/// A player under one rule, over the seeds of its training.
struct Group {
    name: String,
    rule: String,
    /// One report per seed.
    reports: Vec<GridReport>,
}

/// One table a player, and the summary at the training setting.
pub(super) fn section(results: &Path) -> ReportSection {
    let groups = grouped(read(&results.join(FOLDER)));
    let header = [
        "player",
        "rule",
        "10 dots, 8 walls",
        "worst cell",
        "moves at 10 dots, 8 walls",
        "nearest dot's moves",
        "games per cell",
        "seeds",
    ];
    let summary = ReportTable::new(header.map(str::to_owned).to_vec(), groups.iter().map(Group::summary).collect());
    let mut tables = if groups.is_empty() { Vec::new() } else { vec![summary] };
    for (place, group) in groups.iter().enumerate() {
        // Iterated networks and the first table of every other player of the paper are in view; the rest opens on
        // demand.
        let first = groups[..place].iter().all(|before| before.player() != group.player());
        let in_view = group.in_the_paper() && (first || group.player().starts_with("iter"));
        let table = group.grid();
        let title = format!("{}, {}: {} settings", group.name, group.rule, group.settings());
        tables.push(if in_view { table } else { table.folded(title) });
    }
    let mut notes = vec![
        "Share of the reachable dots that were eaten, ours / the paper's; rows are walls, columns dots. All are trained at 10 dots and 8 walls.".to_owned(),
        "greedy: the best move by the outputs, always; a player who comes back to a cell without having eaten is in a circle, and its game ends there with the dots it has. averaged: the outputs are averaged over the eight rotations and reflections of the map. .1 random: a tenth of random moves, as in training. recall: outputs at visited cells are corrected by what the moves led to until the next dot (Q-learning within the game, no look at the map). The paper does not say which rule its numbers follow.".to_owned(),
        "Moves count up to the last dot eaten, so a player in a circle seems to need few.".to_owned(),
    ];
    if groups.is_empty() {
        notes.push(format!("Not measured here: write the output of the command above to results/{FOLDER}/."));
    }
    ReportSection {
        title: "Symbolic Pacman".to_owned(),
        command: format!("itergnn eval MODEL --grid --count 200 --seed 1 --out results/{FOLDER}/NAME.json"),
        tables,
        figures: episode(&results.join(FOLDER)).into_iter().collect(),
        notes,
    }
}

/// The moving picture of a game, if there is one.
fn episode(folder: &Path) -> Option<Figure> {
    let svg = fs::read_to_string(folder.join("episode.svg")).ok()?;
    let caption = "A game at 15 walls and 20 dots, played by the trained network with recall".to_owned();
    Some(Figure { name: "pacman-episode".to_owned(), caption, svg })
}

/// Reports in the order of their file names, iterated networks first; other files are passed over.
fn read(folder: &Path) -> Vec<GridReport> {
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let iterated = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("iter"));
    paths.sort_by_key(|path| (!iterated(path), path.clone()));
    paths.iter().filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect()
}

/// Reports that differ in nothing but the seed of training, together.
fn grouped(reports: Vec<GridReport>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for report in reports {
        let name = report.variant.as_ref().map_or(report.player.clone(), |it| format!("{}, {it}", report.player));
        let rule = rule(&report);
        match groups.iter_mut().find(|group| (&group.name, &group.rule) == (&name, &rule)) {
            Some(group) => group.reports.push(report),
            None => groups.push(Group { name, rule, reports: vec![report] }),
        }
    }
    groups
}

fn rule(report: &GridReport) -> String {
    if report.training_seed.is_none() {
        return "not learned".to_owned();
    }
    let played = &report.training_setting.report;
    let mut parts = Vec::new();
    if played.recall {
        parts.push("recall".to_owned());
    }
    if played.exploration > 0.0 {
        parts.push(format!("{} random", played.exploration).trim_start_matches('0').to_owned());
    }
    if parts.is_empty() {
        parts.push("greedy".to_owned());
    }
    if report.symmetries {
        parts.push("averaged".to_owned());
    }
    parts.join(", ")
}

impl Group {
    fn summary(&self) -> Vec<ReportCell> {
        let settings: Vec<&GridCell> = self.reports.iter().map(|report| &report.training_setting).collect();
        let mean =
            |value: fn(&GridCell) -> f64| settings.iter().map(|cell| value(cell)).sum::<f64>() / settings.len() as f64;
        let worst = self.reports.iter().map(GridReport::worst).fold(1.0, f64::min);
        let count = self.reports.first().map_or(0, |report| report.count);
        vec![
            ReportCell::plain(self.name.clone()),
            ReportCell::plain(self.rule.clone()),
            shown(&settings),
            ReportCell::plain(format!("{worst:.3}")),
            ReportCell::plain(format!("{:.0}", mean(|cell| cell.report.moves))),
            ReportCell::plain(format!("{:.0}", mean(|cell| cell.report.oracle_moves))),
            ReportCell::plain(count.to_string()),
            ReportCell::plain(self.reports.len().to_string()),
        ]
    }

    fn player(&self) -> &str {
        self.reports.first().map_or("", |report| &report.player)
    }

    fn settings(&self) -> usize {
        self.reports.first().map_or(0, |report| report.cells.len())
    }

    fn in_the_paper(&self) -> bool {
        self.reports.iter().any(|report| report.cells.iter().any(|cell| cell.paper.is_some()))
    }

    fn grid(&self) -> ReportTable {
        let Some(first) = self.reports.first() else { return ReportTable::new(Vec::new(), Vec::new()) };
        let columns = first.columns();
        let mut header = vec![format!("{}, {}: walls", self.name, self.rule)];
        header.extend(columns.iter().map(|dots| format!("{dots} dot{}", if *dots == 1 { "" } else { "s" })));
        let row = |(place, (walls, cells)): (usize, (u16, &[GridCell]))| {
            let mut row = vec![ReportCell::plain(walls.to_string())];
            for column in 0..cells.len() {
                let of_seed = |report: &'_ GridReport| report.cells.get(place * columns.len() + column).cloned();
                let cells: Vec<GridCell> = self.reports.iter().filter_map(of_seed).collect();
                row.push(shown(&cells.iter().collect::<Vec<_>>()));
            }
            row
        };
        ReportTable::new(header, first.rows().enumerate().map(row).collect())
    }
}

/// The mean over seeds with its deviation, beside the paper's number.
fn shown(cells: &[&GridCell]) -> ReportCell {
    let count = cells.len() as f64;
    let rate = |cell: &&GridCell| cell.report.success_rate;
    let mean = cells.iter().map(rate).sum::<f64>() / count;
    let squares: f64 = cells.iter().map(|cell| (rate(cell) - mean).powi(2)).sum();
    let around = if cells.len() > 1 { format!(" ± {:.3}", (squares / (count - 1.0)).sqrt()) } else { String::new() };
    let paper = cells.first().and_then(|cell| cell.paper);
    let beside = paper.map_or(String::new(), |paper| format!(" / {paper}"));
    ReportCell { text: format!("{mean:.3}{around}{beside}"), short: paper.is_some_and(|paper| mean < paper) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::train::rl::{OraclePlayer, PlayOptions, RandomPlayer};

    fn measured(name: &str, seed: u64, exploration: f64) -> GridReport {
        let options = PlayOptions { exploration, recall: None };
        let random = RandomPlayer { seed };
        let report = if name == "random" {
            GridReport::measure(&random, name, 2, 1, &options, &mut |_| {})
        } else {
            GridReport::measure(&OraclePlayer, name, 2, 1, &options, &mut |_| {})
        };
        GridReport { training_seed: Some(seed), ..report.unwrap() }
    }

    #[test]
    fn seeds_of_one_player_share_a_table_and_rules_do_not() {
        let reports =
            vec![measured("nearest-dot", 0, 0.0), measured("nearest-dot", 1, 0.0), measured("nearest-dot", 0, 0.1)];
        let groups = grouped(reports);
        let found: Vec<_> = groups.iter().map(|group| (group.rule.as_str(), group.reports.len())).collect();
        assert_eq!(found, [("greedy", 2), (".1 random", 1)]);
        assert_eq!(groups[0].summary()[2].text, "1.000 ± 0.000");
        assert_eq!((groups[0].grid().rows.len(), groups[0].grid().header.len()), (6, 6));
    }

    #[test]
    fn what_falls_short_of_the_paper_is_marked() {
        let mut report = measured("random", 3, 0.0);
        report.training_setting.paper = Some(1.1);
        let groups = grouped(vec![GridReport { variant: Some("3 layers".to_owned()), ..report }]);
        assert!(groups[0].summary()[2].short);
        assert_eq!(groups[0].name, "random, 3 layers");
    }
}
