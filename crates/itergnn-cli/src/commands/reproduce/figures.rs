//! Figures of a reproduction.

use itergnn::{
    tasks::TaskError,
    train::reproduction::{Cell, Column, ExperimentResult, Section, Spread},
};

use crate::{
    drawing::{Plot, Series, Style},
    property_figures::{PropertyFigure, property_figures},
    report::{Figure, ReportSection},
};

/// How wrong the length is by size, one curve per row: the chosen seed of each.
pub(super) fn error_by_size(section: &Section, results: &[ExperimentResult]) -> Option<Figure> {
    let table = &section.table;
    let mut series = Vec::new();
    for row in &table.rows {
        let point = |(cell, column): (&Option<Cell>, &Column)| {
            let size: f64 = column.label.strip_prefix("relative loss at ")?.parse().ok()?;
            Some((size, Spread::of(cell.as_ref()?, column.quantity, results.iter()).chosen?))
        };
        let points: Vec<(f64, f64)> = row.cells.iter().zip(&table.columns).filter_map(point).collect();
        if !points.is_empty() {
            series.push(Series { name: row.label.clone(), points, style: Style::Curve });
        }
    }
    if series.is_empty() {
        return None;
    }
    let plot = Plot {
        title: "Trained on lobsters of 4 to 33, asked about larger ones".to_owned(),
        x_label: "size of the lobster".to_owned(),
        y_label: "relative error of the distance".to_owned(),
        logarithmic: true,
        series,
    };
    let caption = "Relative error of the distance by size of the graph, the chosen seed of each network";
    Some(Figure { name: "error-by-size".to_owned(), caption: caption.to_owned(), svg: plot.drawing().svg() })
}

/// Distances that share a point of a curve.
const BIN: f64 = 20.0;

/// Iterations against distance, one curve per model, for tables whose evaluations kept every graph.
pub(super) fn iterations_by_distance(section: &Section, results: &[ExperimentResult]) -> Vec<Figure> {
    let mut series = Vec::new();
    for row in &section.table.rows {
        let Some(cell) = row.cells.first().and_then(Option::as_ref) else { continue };
        let of_row = results.iter().filter(|result| result.id == cell.experiment);
        let measured = of_row.filter_map(|result| result.measured.get(&cell.evaluation));
        let records: Vec<(f32, usize)> = measured.flat_map(|measured| measured.records.iter().copied()).collect();
        if !records.is_empty() {
            series.push(Series { name: row.label.clone(), points: binned(&records), style: Style::Curve });
        }
    }
    if series.is_empty() {
        return Vec::new();
    }
    let farthest = series.iter().flat_map(|series| &series.points).map(|point| point.0).fold(0.0, f64::max);
    series.push(Series {
        name: "distance / 2".to_owned(),
        points: vec![(0.0, 0.0), (farthest, farthest / 2.0)],
        style: Style::Line,
    });
    let plot = Plot {
        title: "Iterations by distance".to_owned(),
        x_label: "distance between source and target".to_owned(),
        y_label: "iterations".to_owned(),
        logarithmic: false,
        series,
    };
    let caption =
        "Iterations against distance, means over graphs of similar distance; distance / 2 is the least that can know";
    vec![Figure { name: "iterations".to_owned(), caption: caption.to_owned(), svg: plot.drawing().svg() }]
}

/// Means over bins of the distance.
fn binned(records: &[(f32, usize)]) -> Vec<(f64, f64)> {
    let mut bins: std::collections::BTreeMap<u64, (f64, f64, f64)> = std::collections::BTreeMap::new();
    for &(distance, iterations) in records {
        let bin = bins.entry((f64::from(distance) / BIN) as u64).or_default();
        bin.0 += f64::from(distance);
        bin.1 += iterations as f64;
        bin.2 += 1.0;
    }
    bins.values().map(|&(distance, iterations, count)| (distance / count, iterations / count)).collect()
}

/// The paper's figures about its data.
pub(super) fn properties(quick: bool) -> Result<ReportSection, TaskError> {
    let count = if quick { 20 } else { 200 };
    let figures = property_figures(0, count)?;
    let medians = PropertyFigure::medians(&figures).drawing().svg();
    let mut drawn: Vec<Figure> = figures
        .iter()
        .map(|figure| Figure {
            name: format!("properties-{}", figure.name),
            caption: format!("Distances by size: {}", figure.name),
            svg: figure.svg(),
        })
        .collect();
    let caption = "Median distances by size".to_owned();
    drawn.push(Figure { name: "properties-medians".to_owned(), caption, svg: medians });
    Ok(ReportSection {
        title: "The data: distances by size".to_owned(),
        command: format!("itergnn properties --count {count} --out figures"),
        tables: Vec::new(),
        figures: drawn,
        notes: vec![format!("{count} graphs per size, one random connected pair in each.")],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_means_of_their_bin() {
        assert_eq!(binned(&[(1.0, 2), (3.0, 4), (25.0, 13)]), [(2.0, 3.0), (25.0, 13.0)]);
    }
}
