//! One iteration over the nodes that changed and the receivers they reach.
//!
//! States only grow. A message whose inputs did not change is contained in its receiver's state already and cannot
//! raise it again; so only edges whose sender changed (or whose receiver did, where messages depend on it) are
//! computed. This is exact.

use super::super::TILE_ROWS;
use super::background::Background;
use super::dense::{StepOutcome, for_blocks};
use super::fold::Edges;
use super::graph::LargeGraph;
use super::rows::{RowMaker, Sources, TileScratch};
use super::storage::{Places, Storage};
use crate::memory::Buffer;
use crate::real::Real;

/// Nodes or receivers that one thread takes at a time.
const BLOCK: usize = 5 * TILE_ROWS;

/// Fewer than this many are not shared between threads: waking another one takes as long.
const LEAST_PARALLEL: usize = 2 * BLOCK;

const NONE: u32 = u32::MAX;

/// Which nodes are active, and the lists that follow from it.
#[derive(Debug)]
pub(super) struct ActiveNodes<T> {
    /// Nodes whose state changed in the iteration before.
    pub(super) nodes: Vec<u32>,
    /// `[nodes]`: 1 for these.
    sends: Vec<u8>,
    /// Nodes that an active edge reaches, and `[nodes]`: 1 for these.
    receivers: Vec<u32>,
    reached: Vec<u8>,
    /// Nodes whose rows are needed, and `[nodes]`: which row.
    needed: Vec<u32>,
    slots: Vec<u32>,
    rows: Buffer<T>,
    scratch: TileScratch<T>,
}

impl<T: Real> ActiveNodes<T> {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            nodes: Vec::new(),
            sends: vec![0; nodes],
            receivers: Vec::new(),
            reached: vec![0; nodes],
            needed: Vec::new(),
            slots: vec![NONE; nodes],
            rows: Buffer::default(),
            scratch: TileScratch::default(),
        }
    }

    fn reach(&mut self, node: u32) {
        if self.reached[node as usize] == 0 {
            self.reached[node as usize] = 1;
            self.receivers.push(node);
        }
    }

    fn need(&mut self, node: u32) {
        if self.slots[node as usize] == NONE {
            self.slots[node as usize] = self.needed.len() as u32;
            self.needed.push(node);
        }
    }

    /// Finds the receivers and the rows an iteration needs.
    fn select(&mut self, graph: &LargeGraph, background: Option<&mut Background<T>>, uses_receiver: bool) {
        self.receivers.clear();
        self.needed.clear();
        let nodes = std::mem::take(&mut self.nodes);
        for &node in &nodes {
            self.sends[node as usize] = 1;
            self.need(node);
            for &receiver in graph.outgoing(node as usize) {
                self.reach(receiver);
            }
            if uses_receiver && !graph.incoming(node as usize).is_empty() {
                self.reach(node);
            }
        }
        self.nodes = nodes;
        if let Some(background) = background {
            background.reach_rim(graph, |node| self.reach(node));
        }
        if uses_receiver {
            let receivers = std::mem::take(&mut self.receivers);
            for &receiver in &receivers {
                self.need(receiver);
                if self.sends[receiver as usize] == 1 {
                    graph.senders[graph.incoming(receiver as usize)].iter().for_each(|&sender| self.need(sender));
                }
            }
            self.receivers = receivers;
        }
    }

    /// Runs an iteration; afterwards [`nodes`](Self::nodes) are those that it changed.
    pub(super) fn step(
        &mut self,
        maker: &RowMaker<'_, T>,
        graph: &LargeGraph,
        inputs: &[T],
        storage: &mut Storage<T>,
        totals: &[f64],
        mut background: Option<&mut Background<T>>,
    ) -> StepOutcome {
        let uses_receiver = maker.job.config.uses_receiver();
        if let Some(background) = background.as_deref_mut() {
            background.release(graph, storage);
        }
        self.select(graph, background.as_deref_mut(), uses_receiver);
        let touched = self.nodes.iter().chain(&self.receivers);
        touched.for_each(|&node| storage.changed[node as usize] = 0);
        self.rows.ensure((self.needed.len() + 1) * maker.width());
        let mut scratch = std::mem::take(&mut self.scratch);
        let parts = Parts {
            maker,
            graph,
            active: self,
            background: background.as_deref(),
            places: storage.places(totals),
            inputs: inputs.as_ptr(),
            rows: self.rows.as_ptr().cast_mut(),
            uses_receiver,
        };
        // SAFETY: the storage is that of the graph, and borrowed for as long as the parts are used.
        let mut outcome = unsafe { parts.compute_rows(&mut scratch).and(parts.fold_all(&mut scratch)) };
        let places = parts.places;
        if let Some(background) = background {
            let row = self.rows.as_ptr().wrapping_add(self.needed.len() * maker.width());
            outcome.finite &= advance(maker, background, row, places, &mut scratch);
        }
        self.scratch = scratch;
        for &node in &self.nodes {
            self.sends[node as usize] = 0;
        }
        self.needed.iter().for_each(|&node| self.slots[node as usize] = NONE);
        self.nodes.clear();
        for &receiver in &self.receivers {
            self.reached[receiver as usize] = 0;
            if storage.changed[receiver as usize] == 1 {
                self.nodes.push(receiver);
            }
        }
        StepOutcome { changed: self.nodes.len(), ..outcome }
    }
}

/// The common state after one more iteration, which sends `row` to itself; returns whether it is finite.
fn advance<T: Real>(
    maker: &RowMaker<'_, T>,
    background: &mut Background<T>,
    row: *const T,
    places: Places<T>,
    scratch: &mut TileScratch<T>,
) -> bool {
    let mut finite = true;
    if background.changed == 1 {
        background.changed = 0;
        let here = [0_u32];
        let edges = Edges {
            count: 1,
            sender_rows: here.as_ptr(),
            receiver_rows: here.as_ptr(),
            numbers: here.as_ptr(),
            receivers: here.as_ptr(),
            messages: None,
        };
        // SAFETY: one row of messages, one state.
        finite = unsafe { maker.fold(edges, row, background.places(places), scratch) };
    }
    background.finish();
    finite
}

/// What the threads of an iteration share.
struct Parts<'a, T: 'static> {
    maker: &'a RowMaker<'a, T>,
    graph: &'a LargeGraph,
    active: &'a ActiveNodes<T>,
    background: Option<&'a Background<T>>,
    places: Places<T>,
    inputs: *const T,
    /// `[needed + 1, row]`, the last for the background.
    rows: *mut T,
    uses_receiver: bool,
}

// SAFETY: blocks write rows of their own, and read states only before any of them changes.
unsafe impl<T: Real> Sync for Parts<'_, T> {}

impl<T: Real> Parts<'_, T> {
    /// # Safety
    /// As [`ActiveNodes::step`] says.
    unsafe fn compute_rows(&self, scratch: &mut TileScratch<T>) -> StepOutcome {
        let needed = &self.active.needed;
        let width = self.maker.width();
        if let Some(background) = self.background.filter(|background| background.changed == 1) {
            let sources = Sources {
                count: 1,
                states: background.state.as_ptr(),
                inputs: background.inputs.as_ptr(),
                list: std::ptr::null(),
            };
            // SAFETY: there is one row more than are needed.
            unsafe {
                let target = self.rows.add(needed.len() * width);
                self.maker.compute(sources, target, std::ptr::null(), scratch);
            }
        }
        for_blocks(needed.len() >= LEAST_PARALLEL, needed.len().div_ceil(BLOCK), scratch, |block, scratch| {
            let first = block * BLOCK;
            let list = &needed[first..needed.len().min(first + BLOCK)];
            let sources =
                Sources { count: list.len(), states: self.places.states, inputs: self.inputs, list: list.as_ptr() };
            // SAFETY: the list holds nodes of the graph; blocks have rows of their own.
            unsafe { self.maker.compute(sources, self.rows.add(first * width), std::ptr::null(), scratch) };
            StepOutcome::NOTHING
        })
    }

    /// # Safety
    /// As [`ActiveNodes::step`] says.
    unsafe fn fold_all(&self, scratch: &mut TileScratch<T>) -> StepOutcome {
        let receivers = &self.active.receivers;
        for_blocks(receivers.len() >= LEAST_PARALLEL, receivers.len().div_ceil(BLOCK), scratch, |block, scratch| {
            let first = block * BLOCK;
            // SAFETY: no receiver is in two blocks.
            unsafe { self.fold_block(&receivers[first..receivers.len().min(first + BLOCK)], scratch) }
        })
    }

    /// # Safety
    /// As [`fold_all`](Self::fold_all), for some of the receivers.
    unsafe fn fold_block(&self, receivers: &[u32], scratch: &mut TileScratch<T>) -> StepOutcome {
        let active = self.active;
        let common = self.background.filter(|background| background.changed == 1);
        let mut tile = EdgeTile::default();
        let mut finite = true;
        for &receiver in receivers {
            let whole = self.uses_receiver && active.sends[receiver as usize] == 1;
            for edge in self.graph.incoming(receiver as usize) {
                let sender = self.graph.senders[edge] as usize;
                let row = if whole || active.sends[sender] == 1 {
                    active.slots[sender]
                } else if common.is_some_and(|background| background.has(sender)) {
                    active.needed.len() as u32
                } else {
                    continue;
                };
                tile.push(row, active.slots[receiver as usize], self.graph.edge_number(edge), receiver);
                if tile.count == TILE_ROWS {
                    // SAFETY: the rows exist, and the receivers are this block's.
                    finite &= unsafe { self.maker.fold(tile.edges(), self.rows, self.places, scratch) };
                    tile.count = 0;
                }
            }
        }
        // SAFETY: as above.
        finite &= unsafe { self.maker.fold(tile.edges(), self.rows, self.places, scratch) };
        StepOutcome { finite, changed: 0 }
    }
}

/// Edges that are computed together.
struct EdgeTile {
    count: usize,
    sender_rows: [u32; TILE_ROWS],
    receiver_rows: [u32; TILE_ROWS],
    numbers: [u32; TILE_ROWS],
    receivers: [u32; TILE_ROWS],
}

impl Default for EdgeTile {
    fn default() -> Self {
        let none = [0; TILE_ROWS];
        Self { count: 0, sender_rows: none, receiver_rows: none, numbers: none, receivers: none }
    }
}

impl EdgeTile {
    fn push(&mut self, sender_row: u32, receiver_row: u32, number: u32, receiver: u32) {
        self.sender_rows[self.count] = sender_row;
        self.receiver_rows[self.count] = receiver_row;
        self.numbers[self.count] = number;
        self.receivers[self.count] = receiver;
        self.count += 1;
    }

    fn edges(&self) -> Edges<'_> {
        Edges {
            count: self.count,
            sender_rows: self.sender_rows.as_ptr(),
            receiver_rows: self.receiver_rows.as_ptr(),
            numbers: self.numbers.as_ptr(),
            receivers: self.receivers.as_ptr(),
            messages: None,
        }
    }
}
