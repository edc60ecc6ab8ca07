//! A graph cut into chunks of receivers that threads take one at a time.
//!
//! A chunk works on rows (what its senders prepared, or their messages) in a buffer of its own that stays in the
//! second-level cache: first the rows of its own nodes, then those of the senders it has elsewhere. Nodes that send
//! beyond their chunk are *exported*: their rows are computed before any state changes, and copied to the chunks that
//! need them. So every row is computed once, and chunks may overwrite their states in any order.

use std::ops::Range;
use std::sync::OnceLock;

use super::CHUNK_NODES;
use super::graph::LargeGraph;
use super::kinds::MessageList;

/// Which rows each chunk computes, copies and reads.
#[derive(Debug)]
pub(super) struct Chunks {
    /// The nodes that send beyond their chunk.
    pub(super) exported: Vec<u32>,
    /// `[chunks + 1]` into `computed`, and into `copied`.
    computed_offsets: Vec<u32>,
    copied_offsets: Vec<u32>,
    /// Own nodes that are not exported, counted from the chunk's first.
    computed: Vec<u32>,
    /// Exported row and place in the chunk's buffer.
    copied: Vec<(u32, u32)>,
    /// `[edges]`: where in its chunk's buffer the row of each edge's sender is.
    pub(super) sender_rows: Vec<u32>,
    /// `[chunks]`: rows of the buffer.
    rows: Vec<u32>,
    /// `[chunks]`: which messages are equal, where edges are of few kinds.
    pub(super) messages: Vec<OnceLock<MessageList>>,
}

const NONE: u32 = u32::MAX;

impl Chunks {
    /// # Complexity
    /// `O(nodes + edges)`.
    pub(super) fn new(graph: &LargeGraph) -> Self {
        let mut export_rows = vec![NONE; graph.nodes];
        let mut exported = Vec::new();
        for (&sender, &receiver) in graph.senders.iter().zip(&graph.receivers) {
            let row = &mut export_rows[sender as usize];
            if sender as usize / CHUNK_NODES != receiver as usize / CHUNK_NODES && *row == NONE {
                *row = exported.len() as u32;
                exported.push(sender);
            }
        }
        let mut chunks = Self {
            exported,
            computed_offsets: vec![0],
            copied_offsets: vec![0],
            computed: Vec::with_capacity(graph.nodes),
            copied: Vec::new(),
            sender_rows: Vec::with_capacity(graph.senders.len()),
            rows: Vec::new(),
            messages: Vec::new(),
        };
        // Where a foreign sender's row is, and in which chunk that was noted.
        let mut noted = vec![(NONE, 0_u32); graph.nodes];
        for start in (0..graph.nodes).step_by(CHUNK_NODES) {
            let nodes = start..graph.nodes.min(start + CHUNK_NODES);
            let chunk = (start / CHUNK_NODES) as u32;
            for node in nodes.clone() {
                let local = (node - start) as u32;
                match export_rows[node] {
                    NONE => chunks.computed.push(local),
                    row => chunks.copied.push((row, local)),
                }
            }
            let mut rows = nodes.len() as u32;
            for &sender in &graph.senders[graph.offsets[nodes.start] as usize..graph.offsets[nodes.end] as usize] {
                let sender = sender as usize;
                if nodes.contains(&sender) {
                    chunks.sender_rows.push((sender - start) as u32);
                    continue;
                }
                if noted[sender].0 != chunk {
                    noted[sender] = (chunk, rows);
                    chunks.copied.push((export_rows[sender], rows));
                    rows += 1;
                }
                chunks.sender_rows.push(noted[sender].1);
            }
            chunks.rows.push(rows);
            chunks.computed_offsets.push(chunks.computed.len() as u32);
            chunks.copied_offsets.push(chunks.copied.len() as u32);
        }
        chunks.messages.resize_with(chunks.rows.len(), OnceLock::new);
        chunks
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn nodes(&self, chunk: usize, graph: &LargeGraph) -> Range<usize> {
        chunk * CHUNK_NODES..graph.nodes.min((chunk + 1) * CHUNK_NODES)
    }

    /// Rows of a chunk's buffer.
    pub(super) fn rows(&self, chunk: usize) -> usize {
        self.rows[chunk] as usize
    }

    /// Own nodes whose rows the chunk computes, counted from its first.
    pub(super) fn computed(&self, chunk: usize) -> &[u32] {
        &self.computed[self.computed_offsets[chunk] as usize..self.computed_offsets[chunk + 1] as usize]
    }

    /// Exported rows that the chunk copies, and where to.
    pub(super) fn copied(&self, chunk: usize) -> &[(u32, u32)] {
        &self.copied[self.copied_offsets[chunk] as usize..self.copied_offsets[chunk + 1] as usize]
    }
}
