//! Depth-first search over required and forbidden edges, closed by the 1-tree bound.

use super::TspOptions;
use super::ascent::{Ascent, Goal, NO_TOUR, Relaxation, Schedule};
use super::candidate_graph::{CandidateGraph, Fate};
use super::one_tree::OneTree;
use super::propagation::Propagation;
use super::reduction::Reduction;

/// Ascent of a subproblem taken up for search: starts near the optimum of its parent, so short.
const NODE_ASCENT: Schedule = Schedule { trees: 80, first_factor: 1024, patience: 5, shrink: 700, last_factor: 16 };

/// Ascent after a trial decided an edge of the subproblem at hand.
const REPAIR_ASCENT: Schedule = Schedule { trees: 30, ..NODE_ASCENT };

/// Ascent of a trial: long enough to tell good branching edges from bad. Of 5, 10 and 20 trees 20 gave the least total
/// time on 30 uniform instances of 100 cities; 15 and 30 are within a tenth of it.
const TRIAL_ASCENT: Schedule = Schedule { trees: 20, first_factor: 700, patience: 3, shrink: 700, last_factor: 16 };

/// Edges tried before one is chosen to branch on; 12 took 13 percent longer on 30 uniform instances of 100 cities.
const TRIALS: usize = 8;

/// Weight of the smaller rise of the bound against the larger when branching edges are compared.
const SMALLER_RISE_WEIGHT: i64 = 10;

/// Rounds of ascent and reduction on one subproblem.
const ROUNDS: usize = 3;

/// The best tour known while searching.
pub(super) struct Incumbent {
    pub(super) tour: Vec<u32>,
    /// Length in units of distance.
    pub(super) length: i64,
    /// Bound units per unit of distance.
    pub(super) precision: i64,
}

impl Incumbent {
    /// Only tours shorter by a whole unit matter, so a bound above `length - 1` closes a subproblem.
    pub(super) fn goal(&self) -> Goal {
        Goal { target: self.length * self.precision, closed_above: (self.length - 1) * self.precision }
    }
}

/// A set of tours given by decisions about edges, with the best multipliers known for it.
#[derive(Debug, Clone)]
pub(super) struct Subproblem {
    pub(super) fates: Vec<Fate>,
    pub(super) multipliers: Vec<i64>,
    /// Proven bound in bound units.
    pub(super) bound: i64,
}

/// The search over one candidate graph.
pub(super) struct BranchAndBound<'g> {
    graph: &'g CandidateGraph,
    tree: OneTree<'g>,
    ascent: Ascent,
    propagation: Propagation,
    reduction: Reduction,
    /// Subproblems examined.
    pub(super) nodes: u64,
}

impl<'g> BranchAndBound<'g> {
    pub(super) fn new(graph: &'g CandidateGraph, multiplier_limit: i64) -> Self {
        let cities = graph.cities();
        Self {
            graph,
            tree: OneTree::new(graph),
            ascent: Ascent::new(cities, multiplier_limit),
            propagation: Propagation::new(cities),
            reduction: Reduction::new(graph),
            nodes: 0,
        }
    }

    /// Searches until every subproblem is closed; when stopped before, returns the bound the open ones leave.
    pub(super) fn search(
        &mut self,
        root: Subproblem,
        incumbent: &mut Incumbent,
        options: &TspOptions<'_>,
    ) -> Option<i64> {
        // Kept here instead of on the call stack, whose depth would grow with the number of cities.
        let mut stack = vec![root];
        while let Some(mut subproblem) = stack.pop() {
            if subproblem.bound > incumbent.goal().closed_above {
                continue;
            }
            if options.node_limit.is_some_and(|limit| self.nodes >= limit) || options.should_stop() {
                return stack.iter().map(|open| open.bound).chain([subproblem.bound]).min();
            }
            self.nodes += 1;
            if self.settle(&mut subproblem, incumbent, NODE_ASCENT)
                && let Some((promising, other)) = self.branch(subproblem, incumbent)
            {
                stack.push(other);
                stack.push(promising);
            }
        }
        None
    }

    /// Tightens a subproblem until little more follows; `false` when it holds no tour shorter than the incumbent.
    pub(super) fn settle(
        &mut self,
        subproblem: &mut Subproblem,
        incumbent: &mut Incumbent,
        schedule: Schedule,
    ) -> bool {
        for _ in 0..ROUNDS {
            let bound = self.bound_after_decisions(subproblem, incumbent.goal(), schedule);
            if bound > incumbent.goal().closed_above {
                return false;
            }
            // The tree of the best multipliers once more: the ascent has moved on from it.
            let bound = self.tree.evaluate(&subproblem.multipliers);
            if self.tree.is_tour() {
                // The multipliers cancel on a tour, so its bound is its length; nothing here is shorter.
                incumbent.length = bound / incumbent.precision;
                incumbent.tour = self.tree.tour();
                return false;
            }
            let closed_above = incumbent.goal().closed_above;
            let fates = &mut subproblem.fates;
            if self.reduction.run(self.graph, &self.tree, fates, &subproblem.multipliers, bound, closed_above) == 0 {
                break;
            }
        }
        true
    }

    /// Draws conclusions from the decisions and ascends; returns the bound, also kept in the subproblem.
    fn bound_after_decisions(&mut self, subproblem: &mut Subproblem, goal: Goal, schedule: Schedule) -> i64 {
        let bound = if self.propagation.run(self.graph, &mut subproblem.fates) {
            self.tree.load(&subproblem.fates, &subproblem.multipliers);
            self.ascent.run(&mut self.tree, &mut subproblem.multipliers, goal, schedule)
        } else {
            NO_TOUR
        };
        subproblem.bound = subproblem.bound.max(bound);
        bound
    }

    /// Splits a settled subproblem on one edge, the more promising half first; `None` when trials close it.
    ///
    /// Tries several edges both ways. When one way is closed the other is no branch but a fact, and the choice starts
    /// over; else the edge wins whose two bounds rise the most.
    fn branch(&mut self, mut subproblem: Subproblem, incumbent: &mut Incumbent) -> Option<(Subproblem, Subproblem)> {
        'decided: loop {
            let goal = incumbent.goal();
            let mut best: Option<(i64, Subproblem, Subproblem)> = None;
            for edge in self.doubtful_edges(&subproblem) {
                let mut with = subproblem.clone();
                with.fates[edge as usize] = Fate::Required;
                let mut without = subproblem.clone();
                without.fates[edge as usize] = Fate::Forbidden;
                let closed_with = self.bound_after_decisions(&mut with, goal, TRIAL_ASCENT) > goal.closed_above;
                let closed_without =
                    !closed_with && self.bound_after_decisions(&mut without, goal, TRIAL_ASCENT) > goal.closed_above;
                if closed_with || closed_without {
                    subproblem.fates[edge as usize] = if closed_with { Fate::Forbidden } else { Fate::Required };
                    if !self.settle(&mut subproblem, incumbent, REPAIR_ASCENT) {
                        return None;
                    }
                    continue 'decided;
                }
                let (one, other) = (with.bound - subproblem.bound, without.bound - subproblem.bound);
                let score = one.min(other).saturating_mul(SMALLER_RISE_WEIGHT).saturating_add(one.max(other));
                if best.as_ref().is_none_or(|(highest, ..)| score > *highest) {
                    best = Some((score, with, without));
                }
            }
            if let Some((_, with, without)) = best {
                return Some(if with.bound <= without.bound { (with, without) } else { (without, with) });
            }
            // Nothing is open: settling again finds the one tour left, or that there is none.
            let open = self.settle(&mut subproblem, incumbent, REPAIR_ASCENT);
            assert!(!open, "a subproblem without open edges holds at most one tour");
            return None;
        }
    }

    /// The open edges that about half of the last ascent's trees used, most doubtful first.
    fn doubtful_edges(&self, subproblem: &Subproblem) -> Vec<u32> {
        let usage = self.tree.usage();
        // Every tree has as many edges as there are cities.
        let trees = usage.iter().map(|&count| i64::from(count)).sum::<i64>() / self.graph.cities() as i64;
        let mut open: Vec<(i64, u32)> = (0..subproblem.fates.len() as u32)
            .filter(|&edge| subproblem.fates[edge as usize] == Fate::Open)
            .map(|edge| ((2 * i64::from(usage[edge as usize]) - trees).abs(), edge))
            .collect();
        open.sort_unstable();
        open.into_iter().take(TRIALS).map(|(_, edge)| edge).collect()
    }
}
