//! The common state of all nodes that have seen nothing but each other.
//!
//! Where messages depend on the sender only, nodes that start alike and whose senders all started alike get the same
//! maximum, whatever their number of edges: the background. Its state is one row. A node leaves when one of its senders
//! is not part of it; what it was until then is copied from the common row.

use rayon::prelude::*;

use super::graph::LargeGraph;
use super::record::same_bits;
use super::storage::{Places, Storage};
use crate::kernels::{LazyOutput, UNTOUCHED};
use crate::memory::Buffer;
use crate::real::Real;

/// Nodes that are looked at to find a state that many share.
const SAMPLES: usize = 9;

/// Fewer common nodes than this share are not worth the bookkeeping.
const LEAST_SHARE: f64 = 0.5;

const OUTSIDE: u8 = 0;
const MEMBER: u8 = 1;
/// Still the common state, but for the last time.
const LEAVING: u8 = 2;

/// A set of nodes with one state.
#[derive(Debug)]
pub(super) struct Background<T> {
    /// `[nodes]`.
    members: Vec<u8>,
    pub(super) count: usize,
    /// `[width]`.
    pub(super) state: Buffer<T>,
    /// `[width]`, and the weight up to which it is complete.
    output: Buffer<T>,
    settled: f64,
    /// `[input]`.
    pub(super) inputs: Vec<T>,
    /// 1 if the last iteration changed the state. Once it rests, it rests for good, since it follows from nothing but
    /// itself.
    pub(super) changed: u8,
    /// Nodes that left in the last iteration (at first, all that are outside).
    fresh: Vec<u32>,
    leaving: Vec<u32>,
    /// Nodes outside that may have senders inside.
    rim: Vec<u32>,
}

/// The rows of the caller that tell nodes apart.
pub(super) struct InitialRows<'a, T> {
    pub(super) hidden: &'a [T],
    pub(super) hidden_width: usize,
    pub(super) inputs: &'a [T],
    pub(super) input_width: usize,
}

impl<'a, T: Real> InitialRows<'a, T> {
    fn row(&self, node: usize) -> (&'a [T], &'a [T]) {
        (
            &self.hidden[node * self.hidden_width..(node + 1) * self.hidden_width],
            &self.inputs[node * self.input_width..(node + 1) * self.input_width],
        )
    }

    /// The state of a node.
    pub(super) fn hidden_row(&self, node: usize) -> &'a [T] {
        self.row(node).0
    }

    fn equal(&self, left: usize, right: usize) -> bool {
        let (left, right) = (self.row(left), self.row(right));
        same_bits(left.0, right.0) && same_bits(left.1, right.1)
    }
}

impl<T: Real> Background<T> {
    /// The largest set of nodes that start alike, if it is large; nodes that nobody sends to are not part of it.
    pub(super) fn find(graph: &LargeGraph, rows: &InitialRows<'_, T>, width: usize) -> Option<Self> {
        let samples: Vec<usize> = (0..SAMPLES).map(|sample| (2 * sample + 1) * graph.nodes / (2 * SAMPLES)).collect();
        let votes = |&node: &usize| samples.iter().filter(|&&other| rows.equal(node, other)).count();
        let common = samples.iter().copied().max_by_key(votes)?;
        let members: Vec<u8> = (0..graph.nodes)
            .into_par_iter()
            .with_min_len(4096)
            .map(|node| u8::from(!graph.incoming(node).is_empty() && rows.equal(node, common)))
            .collect();
        let outside: Vec<u32> = (0..graph.nodes as u32).filter(|&node| members[node as usize] == OUTSIDE).collect();
        let count = graph.nodes - outside.len();
        if (count as f64) < LEAST_SHARE * graph.nodes as f64 {
            return None;
        }
        let (hidden, inputs) = rows.row(common);
        let mut state = Buffer::new(width);
        state.as_mut_slice()[..hidden.len()].copy_from_slice(hidden);
        state.as_mut_slice()[hidden.len()..].fill(T::ZERO);
        Some(Self {
            members,
            count,
            state,
            output: Buffer::new(width),
            settled: UNTOUCHED,
            inputs: inputs.to_vec(),
            changed: 1,
            rim: outside.clone(),
            fresh: outside,
            leaving: Vec::new(),
        })
    }

    /// The nodes outside, as long as no iteration was done.
    pub(super) fn first_outside(&self) -> &[u32] {
        &self.fresh
    }

    /// Whether a node has the common state, be it for the last time.
    pub(super) fn has(&self, node: usize) -> bool {
        self.members[node] != OUTSIDE
    }

    /// Before an iteration: gives the nodes that will see something else states of their own.
    pub(super) fn release(&mut self, graph: &LargeGraph, storage: &mut Storage<T>) {
        self.leaving.clear();
        for &node in &self.fresh {
            for &receiver in graph.outgoing(node as usize) {
                if self.members[receiver as usize] == MEMBER {
                    self.members[receiver as usize] = LEAVING;
                    self.leaving.push(receiver);
                }
            }
        }
        for &node in &self.leaving {
            self.copy_to(storage, node as usize);
        }
    }

    /// Calls `reach` for the nodes outside that a change of the common state reaches.
    pub(super) fn reach_rim(&mut self, graph: &LargeGraph, mut reach: impl FnMut(u32)) {
        if self.changed == 0 {
            self.rim = Vec::new();
            return;
        }
        self.rim.extend_from_slice(&self.leaving);
        let members = &self.members;
        self.rim.retain(|&node| {
            let senders = graph.senders[graph.incoming(node as usize)].iter();
            let most = senders.fold((false, false), |(sends, stays), &sender| {
                let member = members[sender as usize];
                (sends || member != OUTSIDE, stays || member == MEMBER)
            });
            if most.0 {
                reach(node);
            }
            most.1
        });
    }

    /// After an iteration: those that left are outside now.
    pub(super) fn finish(&mut self) {
        for &node in &self.leaving {
            self.members[node as usize] = OUTSIDE;
        }
        self.count -= self.leaving.len();
        std::mem::swap(&mut self.fresh, &mut self.leaving);
    }

    /// The common row as if it were a graph of one node.
    pub(super) fn places(&mut self, all: Places<T>) -> Places<T> {
        let output = if all.output.rows.is_null() {
            LazyOutput::none()
        } else {
            LazyOutput { rows: self.output.as_mut_ptr(), settled: &mut self.settled, ..all.output }
        };
        Places { states: self.state.as_mut_ptr(), changed: &mut self.changed, output }
    }

    /// Ends the common state: every member gets a row of its own.
    pub(super) fn dissolve(self, storage: &mut Storage<T>) {
        for node in 0..self.members.len() {
            if self.has(node) {
                self.copy_to(storage, node);
            }
        }
    }

    /// The common row of the output with the weight up to which it is complete.
    pub(super) fn output_row(&self) -> (&[T], f64) {
        (self.output.as_slice(), self.settled)
    }

    fn copy_to(&self, storage: &mut Storage<T>, node: usize) {
        let width = storage.width;
        storage.state_mut(node).copy_from_slice(&self.state.as_slice()[..width]);
        if let Some(settled) = storage.settled.get_mut(node) {
            *settled = self.settled;
            if self.settled != UNTOUCHED {
                storage.outputs.as_mut_slice()[node * width..(node + 1) * width]
                    .copy_from_slice(&self.output.as_slice()[..width]);
            }
        }
    }
}
