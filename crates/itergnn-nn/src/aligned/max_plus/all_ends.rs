//! Lengths between many pairs of nodes of one graph: from one node to all others in one pass, or pair by pair.

use super::MaxPlusModel;
use super::inference::{Ground, Waves};
use super::model::ABSENT;
use super::rule::Rule;
use crate::controllers::RunOptions;
use crate::{GraphTensors, ReadoutKind};

/// The end of a path that stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedEnd {
    /// Paths from this node to every node.
    Source(usize),
    /// Paths from every node to this one.
    Target(usize),
}

/// What a model predicts for every node as the other end of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct AllLengths {
    /// One prediction per node; 0 for the fixed end itself.
    pub values: Vec<f64>,
    /// Steps until nothing changed.
    pub iterations: usize,
}

/// A model on one graph, which says what it predicts for one pair of ends after the other without preparing the graph
/// anew.
pub struct PairLengths {
    rule: Rule,
    ground: Ground,
    nodes: usize,
    /// Whether nodes without a mark begin with nothing that could reach another node.
    others_are_silent: bool,
}

/// What a model predicts for a pair of ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairLength {
    /// The prediction.
    pub value: f64,
    /// Steps until it stopped.
    pub iterations: usize,
    /// Whether a cap, rather than the model, ended the loop.
    pub capped: bool,
}

impl PairLengths {
    /// `None` for models that predict something else than one number of a graph with three classes of nodes.
    pub(super) fn new(model: &MaxPlusModel, graph: &GraphTensors) -> Option<Self> {
        let rule = Rule::read(model);
        let is_length = rule.outputs == 1 && rule.classes == 3 && rule.readout != ReadoutKind::Node;
        (is_length && graph.graphs() == 1).then(|| {
            let ground = Ground::new(&rule, graph);
            let others_are_silent = Ways::of(graph).not_negative && rule.others_are_silent();
            Self { rule, ground, nodes: graph.nodes(), others_are_silent }
        })
    }

    /// The prediction for a source and a target, to the bit that of a graph in which they are marked.
    ///
    /// # Panics
    /// If one of them does not exist, or both are the same.
    pub fn between(&self, source: usize, target: usize, options: &RunOptions) -> PairLength {
        assert!(source != target && source.max(target) < self.nodes, "two nodes of {}", self.nodes);
        let marked = [(source, SOURCE as u32), (target, TARGET as u32)];
        let state = self.ground.start_between(&self.rule, OTHER, marked);
        let waves = match self.others_are_silent {
            true => Waves::from_two(self.nodes, source, target),
            false => Waves::new(self.nodes),
        };
        let ended = self.ground.run_from(state, waves, &self.rule, 0, 0..self.nodes, options);
        let value = self.rule.predict(&ended.state).first().copied().unwrap_or(f64::NAN);
        PairLength { value, iterations: ended.steps, capped: ended.capped }
    }
}

/// Classes of nodes, by the place of their mark.
const SOURCE: usize = 0;
const TARGET: usize = 1;
const OTHER: u32 = 2;

/// Slopes that differ by less than this share are equal: they are sums of a few products of f32 numbers.
const EQUAL: f64 = 1e-12;

/// What the model predicts for every node in turn as the other end, from the waves of the fixed end alone; `None` where
/// that is not what it predicts.
///
/// With waves of the source (`a` per unit of distance, over all channels a head reads) and of the target (`b`), a head
/// is
/// ```text
/// max over v of  -a d(s, v) - b d(v, t)  =  -min(a, b) d(s, t)
/// ```
/// once the waves have settled: by the triangle inequality the largest is at the end with the steeper wave, where the
/// other one is the distance.
///
/// A model that stops as soon as the waves meet, after k steps, has seen the paths of at most 2 k edges, for every way
/// of cutting one into halves of at most k: with `a = b` a head is the least length of these times `-a`. The waves meet
/// when half the fewest edges between the ends, rounded up, are behind them, so that one wave from the fixed end,
/// looked at after the right number of steps for every node, tells it. On trees and where all weights are equal the
/// first path is the shortest, and the model need not stop at once.
///
/// The graph is one graph whose node attributes end in marks (source, target, other); only their size is read.
pub(super) fn lengths_to_all(model: &MaxPlusModel, graph: &GraphTensors, fixed: FixedEnd) -> Option<AllLengths> {
    let rule = Rule::read(model);
    let (node, class) = match fixed {
        FixedEnd::Source(node) => (node, SOURCE),
        FixedEnd::Target(node) => (node, TARGET),
    };
    let is_one_number = rule.outputs == 1 && rule.classes == 3 && rule.readout == ReadoutKind::Max;
    if !is_one_number || !rule.hard || graph.graphs() != 1 || node >= graph.nodes() {
        return None;
    }
    let ways = Ways::of(graph);
    let used = (0..rule.head.len()).filter(|&head| rule.head[head] != 0.0);
    let heads: Vec<Slopes> = used.map(|head| Slopes::of(&rule, head, class, ways.symmetric)).collect::<Option<_>>()?;
    if !ways.not_negative {
        return None;
    }
    let meets = heads.iter().all(Slopes::are_equal) && rule.stops_when_waves_meet();
    let (state, iterations) = if rule.waits_for_rest() || (meets && ways.first_is_shortest) {
        settled(&rule, graph, node, class)
    } else if meets {
        let first = heads.first()?;
        let is_one_way = heads.iter().all(|head| head.forward == first.forward);
        let (channel, _) = first.ruler.filter(|_| is_one_way && rule.stops_at_once(first.forward))?;
        met(&rule, graph, node, class, channel)
    } else {
        return None;
    };
    let lengths = |state: &[f64]| -> f64 { heads.iter().map(|head| head.weight * head.read(state)).sum() };
    let values = state.chunks_exact(rule.channels.max(1)).map(lengths).collect();
    Some(AllLengths { values, iterations })
}

/// The graph with the fixed end marked, and its states before the first step.
fn one_end(rule: &Rule, graph: &GraphTensors, node: usize, class: usize) -> (Ground, Vec<f64>) {
    let mut ground = Ground::new(rule, graph);
    ground.mark_all(OTHER);
    ground.mark(node, class as u32);
    let state = ground.start(rule, 0, 0..graph.nodes());
    (ground, state)
}

/// The wave of one end as every node sees it that was reached after h steps: after h of them, or one more if h is odd.
fn met(rule: &Rule, graph: &GraphTensors, node: usize, class: usize, ruler: usize) -> (Vec<f64>, usize) {
    let (ground, mut state) = one_end(rule, graph, node, class);
    let (mut seen, mut waves, width) = (state.clone(), Waves::new(graph.nodes()), rule.channels);
    let mut is_reached = vec![false; graph.nodes()];
    is_reached[node] = true;
    let mut steps = 0;
    loop {
        let mut reached = Vec::new();
        for _ in 0..2 {
            waves.step(rule, &ground, 0, &mut state);
            let arrived = |at: usize| state[at * width + ruler] > ABSENT / 2.0;
            let new = waves.changed().iter().map(|&at| at as usize).filter(|&at| !is_reached[at] && arrived(at));
            let before = reached.len();
            reached.extend(new);
            reached[before..].iter().for_each(|&at| is_reached[at] = true);
        }
        if reached.is_empty() {
            return (seen, steps);
        }
        steps += 2;
        for at in reached {
            seen[at * width..(at + 1) * width].copy_from_slice(&state[at * width..(at + 1) * width]);
        }
    }
}

/// The waves of one end at rest, `[nodes, channels]`, and the steps they took.
fn settled(rule: &Rule, graph: &GraphTensors, node: usize, class: usize) -> (Vec<f64>, usize) {
    let (ground, mut state) = one_end(rule, graph, node, class);
    let mut waves = Waves::new(graph.nodes());
    let mut steps = 0;
    while !waves.is_at_rest() && steps <= graph.nodes() {
        waves.step(rule, &ground, 0, &mut state);
        steps += 1;
    }
    (state, steps)
}

/// What a head reads, seen from the fixed end.
struct Slopes {
    /// Of the head in the prediction.
    weight: f64,
    /// Channels from the fixed end, with their weights.
    fixed: Vec<(usize, f64)>,
    /// What a unit of distance takes from the head by waves of the fixed and of the other end.
    slopes: [f64; 2],
    /// A channel from the fixed end that tells the distance, and what it loses per unit.
    ruler: Option<(usize, f64)>,
    /// What the head is where no way leads.
    nowhere: f64,
    /// In a directed graph, whether the distances are those of paths from source to target, rather than back.
    forward: Option<bool>,
}

impl Slopes {
    /// `None` if the head reads more than distances from source and target, or in a directed graph distances that do
    /// not all belong to paths of one direction.
    fn of(rule: &Rule, head: usize, class: usize, symmetric: bool) -> Option<Self> {
        let mut found = Self {
            weight: rule.head[head],
            fixed: Vec::new(),
            slopes: [0.0; 2],
            ruler: None,
            nowhere: 0.0,
            forward: None,
        };
        let row = &rule.read[head * rule.channels..(head + 1) * rule.channels];
        for (channel, &weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let from = match rule.starts(channel)? {
                [true, false, false] => SOURCE,
                [false, true, false] => TARGET,
                _ => return None,
            };
            let forward = rule.is_forward(channel, from);
            if !symmetric && found.forward.replace(forward).is_some_and(|before| before != forward) {
                return None;
            }
            let slope = -rule.rates[channel];
            found.slopes[usize::from(from != class)] += weight * slope;
            if from == class {
                found.fixed.push((channel, weight));
                found.ruler = found.ruler.or((slope > 0.0).then_some((channel, slope)));
            } else {
                found.nowhere += weight * ABSENT;
            }
        }
        Some(found)
    }

    fn are_equal(&self) -> bool {
        let [fixed, other] = self.slopes;
        (fixed - other).abs() <= EQUAL * fixed.max(other)
    }

    /// The head for a node as the other end, from the waves that reached it.
    fn read(&self, state: &[f64]) -> f64 {
        let [fixed, other] = self.slopes;
        match self.ruler {
            // At the fixed end, where the other wave arrives with the distance.
            Some((channel, slope)) if fixed > other => {
                if state[channel] <= ABSENT / 2.0 {
                    self.nowhere
                } else {
                    other * state[channel] / slope
                }
            }
            // At the other end itself.
            _ => self.fixed.iter().map(|&(channel, weight)| weight * state[channel]).sum(),
        }
    }
}

impl Rule {
    /// In which classes of nodes a channel starts; `None` if it starts with less than all in one of them.
    fn starts(&self, channel: usize) -> Option<[bool; 3]> {
        let mut starts = [false; 3];
        for (class, starts) in starts.iter_mut().enumerate() {
            let value = self.start[class * self.channels + channel];
            *starts = value == 0.0;
            if value != 0.0 && value > ABSENT / 2.0 {
                return None;
            }
        }
        Some(starts)
    }

    /// Whether the wave of an end tells distances of paths from source to target: those of the source along the edges,
    /// those of the target against them.
    fn is_forward(&self, channel: usize, from: usize) -> bool {
        (channel < self.first_against) == (from == SOURCE)
    }

    /// Whether a node without a mark begins with at most what every node begins with, and edges only take from it.
    fn others_are_silent(&self) -> bool {
        let row = |class: usize| &self.start[class * self.channels..(class + 1) * self.channels];
        let least = |class: usize| row(OTHER as usize).iter().zip(row(class)).all(|(other, marked)| other <= marked);
        least(SOURCE) && least(TARGET) && self.rates.iter().all(|&rate| rate <= 0.0)
    }

    /// Whether the model takes steps as long as anything changes, whatever the features, which are at most 0.
    fn waits_for_rest(&self) -> bool {
        let most_sure_while_changing = self.confidence(&vec![0.0; self.confidence_weight.len()], 1.0, true);
        self.changed != 0.0 && most_sure_while_changing == 0.0
    }

    /// Whether no step ends the model before some node was reached from both ends.
    fn stops_when_waves_meet(&self) -> bool {
        let only_at = |channel: usize, class: usize| {
            let is_only = |starts: [bool; 3]| (0..3).all(|other| starts[other] == (other == class));
            self.starts(channel).is_some_and(is_only)
        };
        let rows = self.confidence_read.chunks_exact(self.channels.max(1)).zip(&self.confidence_weight);
        rows.filter(|(_, weight)| **weight > 0.0).any(|(row, _)| {
            let reads =
                |class| row.iter().enumerate().any(|(channel, &weight)| weight > 0.0 && only_at(channel, class));
            reads(SOURCE) && reads(TARGET)
        })
    }

    /// Whether no step before the waves meet has any confidence, and the step at which they do has all of it; in a
    /// directed graph waves of paths in one direction.
    fn stops_at_once(&self, forward: Option<bool>) -> bool {
        let rows: Vec<&[f64]> = self.confidence_read.chunks_exact(self.channels.max(1)).collect();
        let met = vec![0.0; rows.len()];
        let apart = |row: usize| {
            let mut features = met.clone();
            // Where the wave of one end has arrived, and none of the other's.
            features[row] = self.sums_by_end(rows[row], forward)?.into_iter().fold(f64::INFINITY, f64::min) * ABSENT;
            Some(self.confidence(&features, 1.0, false))
        };
        let known: Option<Vec<f64>> =
            (0..rows.len()).filter(|&row| self.confidence_weight[row] > 0.0).map(apart).collect();
        // A row that reads one end only is met from the beginning: its least sum is 0, and so is its feature.
        let met = self.confidence(&met, 1.0, true);
        self.gate.is_none()
            && met == 1.0
            && known.is_some_and(|known| known.iter().all(|&one| one == 0.0 || one == 1.0))
    }

    /// What a row of the confidence reads of the waves of each end; `None` where it reads anything else, or waves that
    /// travel the wrong way.
    fn sums_by_end(&self, row: &[f64], forward: Option<bool>) -> Option<[f64; 2]> {
        let mut sums = [0.0; 2];
        for (channel, &weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let class = match self.starts(channel)? {
                [true, false, false] => SOURCE,
                [false, true, false] => TARGET,
                [true, true, true] => continue,
                _ => return None,
            };
            let is_other_way = forward.is_some_and(|forward| forward != self.is_forward(channel, class));
            if self.rates[channel] != 0.0 || is_other_way {
                return None;
            }
            sums[class] += weight;
        }
        Some(sums)
    }
}

/// What is known about the ways of a graph.
struct Ways {
    /// Every edge has its opposite with the same weight.
    symmetric: bool,
    not_negative: bool,
    /// The path with the fewest edges is the shortest: the graph has no cycles, or all weights are equal.
    first_is_shortest: bool,
}

impl Ways {
    fn of(graph: &GraphTensors) -> Self {
        let attributes = graph.edge_attributes();
        let width = attributes.dims()[1].max(1);
        let numbers: Vec<f64> = attributes.detach().try_into_vec_as().expect("the device gives its tensors back");
        let weights: Vec<f64> = numbers.into_iter().step_by(width).collect();
        let (senders, receivers) = (graph.structure().senders(), graph.incoming().ids());
        let mut along: Vec<(u32, u32, f64)> =
            senders.iter().zip(receivers).zip(&weights).map(|((&from, to), &weight)| (from, to, weight)).collect();
        let mut against: Vec<(u32, u32, f64)> = along.iter().map(|&(from, to, weight)| (to, from, weight)).collect();
        let order = |left: &(u32, u32, f64), right: &(u32, u32, f64)| {
            (left.0, left.1).cmp(&(right.0, right.1)).then(left.2.total_cmp(&right.2))
        };
        along.sort_by(order);
        against.sort_by(order);
        let symmetric = along == against;
        let equal = weights.windows(2).all(|pair| pair[0] == pair[1]);
        Self {
            symmetric,
            not_negative: weights.iter().all(|&weight| weight >= 0.0),
            first_is_shortest: symmetric && (equal || is_forest(graph.nodes(), &along)),
        }
    }
}

/// Whether a symmetric graph has no cycles: then every edge joins two parts that were apart.
fn is_forest(nodes: usize, edges: &[(u32, u32, f64)]) -> bool {
    let mut parent: Vec<u32> = (0..nodes as u32).collect();
    let mut root = |mut node: u32, new: Option<u32>| {
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        parent[node as usize] = new.unwrap_or(node);
        node
    };
    edges.iter().filter(|(from, to, _)| from <= to).all(|&(from, to, _)| {
        let (part, other) = (root(from, None), root(to, None));
        root(part, Some(other));
        part != other
    })
}
