//! What follows training: absent becomes minus infinity, terms that do nothing go, the head is fitted.

use super::MaxPlusModel;
use super::inference::{Ground, largest};
use super::model::ABSENT;
use super::rule::Rule;
use crate::aligned::Refit;
use crate::aligned::least_squares::least_squares;
use crate::aligned::parameter::{host, replaced};
use crate::{Error, GraphTensors, ReadoutKind, RunOptions};

/// Errors below this share of the mean label count as equal.
const SLACK: f64 = 1e-4;

/// A prediction below this contains an absent value and is none.
const UNDEFINED: f64 = ABSENT / 1e6;

/// How much worse the fit may get when a head is removed.
const HEAD_PRICE: f64 = 1.1;

/// Blended states of training graphs, and what should be predicted.
struct Evidence {
    channels: usize,
    /// One per graph (or node), `[rows, channels]`.
    states: Vec<Vec<f64>>,
    /// One per target number, in the order of rows.
    targets: Vec<Vec<f64>>,
    slack: f64,
}

/// How badly a set of heads fits: samples without a prediction first, then the error.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct Misfit(usize, f64);

impl MaxPlusModel {
    /// The model at the end of its training, cleaned with training samples: a batch of graphs and their targets, row by
    /// row.
    ///
    /// 1. A gate becomes a step, at the simplest number where most samples have their smallest error. Absent entries
    ///    become as good as minus infinity.
    /// 2. In every head terms are removed, smallest first, if the head alone fits no worse without.
    /// 3. Heads are removed while the fit gets worse by at most a tenth.
    /// 4. The weights of the heads are the least-squares fit.
    /// 5. If what a unit of distance adds is near a whole number for every wave, it becomes whole: proportional
    ///    channels are merged, and gates go whose removal changes neither error nor steps. Kept only if errors and
    ///    steps on the samples do not grow.
    /// 6. Otherwise, if the stop has learned to wait while anything changes, it becomes exactly that, under the same
    ///    condition.
    ///
    /// # Errors
    /// [`Error::Graph`] if there is not one target for each number of each prediction.
    ///
    /// # Complexity
    /// Time `heads * channels * nodes * channels`, far below that of an epoch.
    pub(super) fn refitted(self, graph: &GraphTensors, targets: &[f64]) -> Result<(Self, Refit), Error> {
        let mut model = self.with_threshold(graph, targets).hardened();
        let evidence = Evidence::new(&model, graph, targets)?;
        let channels = model.config.channels;
        let mut read: Vec<Vec<f64>> =
            host(&model.read).chunks_exact(channels).map(|row| row.iter().map(|u| u.max(0.0)).collect()).collect();
        let head = host(&model.head);
        let outputs = model.config.output_width;
        let before: Vec<Vec<f64>> =
            (0..outputs).map(|output| head.iter().skip(output).step_by(outputs).copied().collect()).collect();
        let all: Vec<Vec<f64>> = read.iter().map(|row| evidence.pooled(row)).collect();
        let error_before = evidence.error(&all, &before);
        for row in &mut read {
            evidence.prune_terms(row);
        }
        let pooled: Vec<Vec<f64>> = read.iter().map(|row| evidence.pooled(row)).collect();
        let heads = evidence.prune_heads(&pooled);
        let terms = read.iter().map(|row| row.iter().filter(|&&weight| weight > 0.0).count()).collect();
        if heads.is_empty() {
            return Ok((model, Refit { error_before, error_after: None, terms, snapped: false, settled_stop: false }));
        }
        let kept: Vec<Vec<f64>> = heads.iter().map(|&head| pooled[head].clone()).collect();
        let fitted = evidence.fit(&kept);
        let error_after = Some(evidence.error(&kept, &fitted));
        let mut head = vec![0.0; head.len()];
        for (output, coefficients) in fitted.iter().enumerate() {
            heads.iter().zip(coefficients).for_each(|(&row, &weight)| head[row * outputs + output] = weight);
        }
        model.read = replaced(model.read, read.concat());
        model.head = replaced(model.head, head);
        let whole = model.snapped(graph, targets);
        let snapped = whole.is_some();
        let model = whole.unwrap_or(model);
        let waiting = if snapped { None } else { model.with_settled_stop(graph, targets) };
        let settled_stop = waiting.is_some();
        let refit = Refit { error_before, error_after, terms, snapped, settled_stop };
        Ok((waiting.unwrap_or(model), refit))
    }
}

impl Evidence {
    fn new(model: &MaxPlusModel, graph: &GraphTensors, targets: &[f64]) -> Result<Self, Error> {
        let (rule, config) = (Rule::whole(model), &model.config);
        let ground = Ground::new(&rule, graph);
        let segments = graph.node_segments().iter().enumerate();
        let options = RunOptions::inference().with_cap(config.training_cap);
        let mut states: Vec<Vec<f64>> =
            segments.map(|(index, nodes)| ground.run(&rule, index, nodes, &options).state).collect();
        if config.readout == ReadoutKind::Node {
            states = states.iter().flat_map(|state| state.chunks_exact(config.channels)).map(<[f64]>::to_vec).collect();
        }
        let outputs = config.output_width;
        if targets.len() != states.len() * outputs {
            let (found, rows) = (targets.len(), states.len());
            return Err(Error::Graph(format!("{found} targets for {rows} predictions of width {outputs}")));
        }
        let mean = targets.iter().map(|target| target.abs()).sum::<f64>() / targets.len().max(1) as f64;
        let targets =
            (0..outputs).map(|output| targets.iter().skip(output).step_by(outputs).copied().collect()).collect();
        Ok(Self { channels: config.channels, states, targets, slack: SLACK * mean })
    }

    /// `z` of a head with these weights, for every row.
    fn pooled(&self, weights: &[f64]) -> Vec<f64> {
        debug_assert_eq!(weights.len(), self.channels, "one weight per channel");
        self.states.iter().map(|state| largest(weights, state)).collect()
    }

    /// The best coefficients of these heads for every output.
    fn fit(&self, pooled: &[Vec<f64>]) -> Vec<Vec<f64>> {
        self.targets.iter().map(|target| least_squares(pooled, target)).collect()
    }

    /// Root of the mean squared error with given coefficients.
    fn error(&self, pooled: &[Vec<f64>], coefficients: &[Vec<f64>]) -> f64 {
        let mut squares = 0.0;
        for (target, coefficients) in self.targets.iter().zip(coefficients) {
            for (row, target) in target.iter().enumerate() {
                let prediction: f64 = pooled.iter().zip(coefficients).map(|(z, weight)| z[row] * weight).sum();
                squares += (prediction - target).powi(2);
            }
        }
        (squares / (self.states.len() * self.targets.len()).max(1) as f64).sqrt()
    }

    fn misfit(&self, pooled: &[Vec<f64>]) -> Misfit {
        let undefined = (0..self.states.len()).filter(|&row| pooled.iter().any(|z| z[row] < UNDEFINED)).count();
        if undefined > 0 {
            return Misfit(undefined, f64::INFINITY);
        }
        Misfit(0, self.error(pooled, &self.fit(pooled)).max(self.slack))
    }

    /// Removes terms, smallest first, whose removal does the head alone no harm.
    fn prune_terms(&self, head: &mut [f64]) {
        let mut misfit = self.misfit(&[self.pooled(head)]);
        let mut order: Vec<usize> = (0..head.len()).filter(|&channel| head[channel] > 0.0).collect();
        order.sort_by(|&left, &right| head[left].total_cmp(&head[right]));
        for channel in order {
            let weight = std::mem::replace(&mut head[channel], 0.0);
            let without = self.misfit(&[self.pooled(head)]);
            if without <= misfit {
                misfit = without;
            } else {
                head[channel] = weight;
            }
        }
    }

    /// The heads to keep: defined everywhere, and worth having.
    fn prune_heads(&self, pooled: &[Vec<f64>]) -> Vec<usize> {
        let of = |heads: &[usize]| -> Misfit {
            self.misfit(&heads.iter().map(|&head| pooled[head].clone()).collect::<Vec<_>>())
        };
        let is_defined = |&head: &usize| pooled[head].iter().all(|&z| z > UNDEFINED);
        let mut kept: Vec<usize> = (0..pooled.len()).filter(is_defined).collect();
        let limit = HEAD_PRICE * of(&kept).1;
        while kept.len() > 1 {
            let without = |&head: &usize| kept.iter().copied().filter(|&other| other != head).collect::<Vec<_>>();
            let candidates = kept.iter().map(without).map(|heads| (of(&heads).1, heads));
            match candidates.min_by(|left, right| left.0.total_cmp(&right.0)) {
                Some((error, heads)) if error <= limit => kept = heads,
                _ => break,
            }
        }
        kept
    }
}
