//! What follows training: directions, regions and maps made exact.

use super::experts::Evidence;
use super::features::Observed;
use super::model::WaveModel;
use super::tree::Tree;
use crate::aligned::Refit;
use crate::aligned::parameter::{host, replaced};
use crate::{Error, GraphTensors};

/// How much worse the fit may be with waves along axes.
const AXIS_PRICE: f64 = 1.1;

struct Fitted {
    start: Vec<f64>,
    tree: Tree,
    error: f64,
    slack: f64,
}

/// See [`WaveModel::finish`].
pub(super) fn finish(model: WaveModel, graph: &GraphTensors, targets: &[f64]) -> Result<(WaveModel, Refit), Error> {
    let trained = host(&model.start);
    let straight = along_axes(&trained, model.config.local_width());
    let mut fitted = fit(&model, straight.clone(), graph, targets)?;
    if fitted.error > fitted.slack && straight != trained {
        let other = fit(&model, trained, graph, targets)?;
        if fitted.error > AXIS_PRICE * other.error {
            fitted = other;
        }
    }
    let terms = |map: &Vec<f64>| {
        map.chunks_exact(model.config.output_width)
            .filter(|weights| weights.iter().any(|&weight| weight != 0.0))
            .count()
    };
    let refit = Refit {
        error_before: error_before(&model, graph, targets)?,
        error_after: Some(fitted.error),
        terms: fitted.tree.maps.iter().map(terms).collect(),
        snapped: fitted.start == straight,
        settled_stop: false,
    };
    let (_, gain) = model.stage();
    let mut model = model.with_stage(true, gain);
    model.start = replaced(model.start, fitted.start);
    model.tests = replaced(model.tests, fitted.tree.tests.concat());
    model.maps = replaced(model.maps, fitted.tree.maps.concat());
    Ok((model, refit))
}

/// Every row as the axis of its largest entry.
fn along_axes(start: &[f64], width: usize) -> Vec<f64> {
    let axis = |row: &[f64]| {
        let largest = (0..width).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs())).unwrap_or(0);
        (0..width).map(|at| if at == largest { row[at].signum() } else { 0.0 }).collect::<Vec<f64>>()
    };
    start.chunks_exact(width).flat_map(axis).collect()
}

/// The best head for waves of these directions.
fn fit(model: &WaveModel, start: Vec<f64>, graph: &GraphTensors, targets: &[f64]) -> Result<Fitted, Error> {
    let (config, (_, gain), trained) = (&model.config, model.stage(), model.tree());
    let evidence = evidence(model, &start, graph, targets)?;
    let label = |(features, origins): (&Vec<f64>, &Vec<f64>)| {
        let shares = trained.shares(features, origins, gain).into_iter().enumerate();
        shares.max_by(|left, right| left.1.total_cmp(&right.1)).map_or(0, |(leaf, _)| leaf)
    };
    let labels = evidence.rows.features.iter().zip(&evidence.rows.origins).map(label).collect();
    let division = evidence.divide(labels, config.leaves());
    let tree = evidence.grow(&division, config.depth).polished(&evidence);
    let error = evidence.error_of(&tree);
    Ok(Fitted { start, tree, error, slack: evidence.slack })
}

fn evidence(model: &WaveModel, start: &[f64], graph: &GraphTensors, targets: &[f64]) -> Result<Evidence, Error> {
    let config = &model.config;
    let rows = Observed::new(config, start, graph, None, false).rows(config, start, graph);
    let evidence = Evidence::new(rows, targets, config.output_width)?;
    if evidence.len() == 0 {
        return Err(Error::Graph("no row has a target".to_owned()));
    }
    Ok(evidence)
}

fn error_before(model: &WaveModel, graph: &GraphTensors, targets: &[f64]) -> Result<f64, Error> {
    let evidence = evidence(model, &host(&model.start), graph, targets)?;
    let (tree, (_, gain)) = (model.tree(), model.stage());
    let rows = evidence.rows.features.iter().zip(&evidence.rows.origins).zip(&evidence.targets);
    let squares: f64 = rows
        .flat_map(|((features, origins), target)| {
            let values = tree.predict_softly(features, origins, gain);
            values.into_iter().zip(target).map(|(value, target)| (value - target).powi(2))
        })
        .sum();
    Ok((squares / (evidence.len() * evidence.outputs) as f64).sqrt())
}
