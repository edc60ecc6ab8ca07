//! Edges that are alike.
//!
//! Where messages do not depend on the receiver and edges have few different features, as on maps with straight and
//! diagonal steps, a sender's messages are as many as there are kinds of edges, not as many as it has edges.

use std::sync::Arc;

use super::super::forward::Job;
use super::graph::LargeGraph;
use crate::real::Real;
use crate::settings::LayerKind;

/// With more kinds than this, few edges of a sender share one.
const MOST_KINDS: usize = 4;

/// Messages per edge from which on looking for equal ones does not pay.
const WORTH_WHILE: f64 = 0.8;

const NONE: u32 = u32::MAX;

/// Which messages of a graph are equal.
#[derive(Debug, Clone)]
pub(super) enum Sharing {
    /// No two that one could know of.
    Nothing,
    /// All of a sender: all edges are alike.
    Senders,
    /// Those of a sender along edges of one kind.
    Kinds(Arc<Kinds>),
}

/// The kind of every edge, in the caller's order.
#[derive(Debug)]
pub(super) struct Kinds {
    count: usize,
    of_edges: Vec<u8>,
}

impl Sharing {
    /// What is equal in a graph, by its layer and the features of its edges.
    pub(super) fn of<T: Real>(job: &Job<'_, T>, graph: &LargeGraph) -> Self {
        let width = job.weights.shapes.edge;
        let edges = graph.senders.len();
        if job.config.layer.kind != LayerKind::PathSim || edges == 0 {
            return Self::Nothing;
        }
        let features = &job.inputs.edge_features[graph.first_edge * width..(graph.first_edge + edges) * width];
        if features.iter().skip(width).zip(features).all(|(next, value)| next == value) {
            return Self::Senders;
        }
        let mut kinds: Vec<&[T]> = Vec::new();
        let mut of_edges = Vec::with_capacity(edges);
        for feature in features.chunks_exact(width.max(1)) {
            let kind = kinds.iter().position(|&kind| kind == feature).unwrap_or_else(|| {
                kinds.push(feature);
                kinds.len() - 1
            });
            if kind >= MOST_KINDS {
                return Self::Nothing;
            }
            of_edges.push(kind as u8);
        }
        let count = kinds.len();
        if (count * graph.nodes) as f64 > WORTH_WHILE * edges as f64 {
            return Self::Nothing;
        }
        Self::Kinds(Arc::new(Kinds { count, of_edges }))
    }
}

/// The different messages of some edges.
#[derive(Debug, Default)]
pub(super) struct MessageList {
    /// Per message, the row of its sender and an edge it goes along.
    pub(super) sender_rows: Vec<u32>,
    pub(super) numbers: Vec<u32>,
    /// Per edge, its message.
    pub(super) of_edges: Vec<u32>,
    /// `[sender rows, kinds]`: the message, where it was met already.
    places: Vec<u32>,
}

impl MessageList {
    /// Lists the messages of edges, given by the row of the sender and their number.
    pub(super) fn fill(&mut self, kinds: &Kinds, sender_rows: &[u32], numbers: &[u32]) {
        self.sender_rows.clear();
        self.numbers.clear();
        self.of_edges.clear();
        for (&row, &number) in sender_rows.iter().zip(numbers) {
            let key = kinds.place(row, number);
            if key >= self.places.len() {
                self.places.resize((key + 1).next_power_of_two(), NONE);
            }
            if self.places[key] == NONE {
                self.places[key] = self.numbers.len() as u32;
                self.sender_rows.push(row);
                self.numbers.push(number);
            }
            self.of_edges.push(self.places[key]);
        }
        for (&row, &number) in self.sender_rows.iter().zip(&self.numbers) {
            self.places[kinds.place(row, number)] = NONE;
        }
    }

    /// The same for edges of which the messages are asked again and again.
    pub(super) fn lasting(kinds: &Kinds, sender_rows: &[u32], numbers: &[u32]) -> Self {
        let mut list = Self::default();
        list.fill(kinds, sender_rows, numbers);
        list.places = Vec::new();
        list
    }
}

impl Kinds {
    fn place(&self, row: u32, number: u32) -> usize {
        row as usize * self.count + usize::from(self.of_edges[number as usize])
    }
}
