//! The edges of many graphs.

/// Edges of graphs side by side; all lists of a graph count from its own first node and edge.
#[derive(Debug, Clone)]
pub(crate) struct Edges {
    /// `[graphs + 1]`: where the edges of each graph begin.
    pub(crate) offsets: Vec<u32>,
    /// `[nodes + graphs]`: where the edges of each node begin, by receiver and by sender.
    pub(crate) incoming: Vec<u32>,
    pub(crate) outgoing: Vec<u32>,
    pub(crate) senders: Vec<u32>,
    /// Positions of the edges in the order of their senders.
    pub(crate) departures: Vec<u32>,
    pub(crate) features: Vec<f32>,
}

impl Default for Edges {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            incoming: Vec::new(),
            outgoing: Vec::new(),
            senders: Vec::new(),
            departures: Vec::new(),
            features: Vec::new(),
        }
    }
}

impl Edges {
    /// Adds the edges of a graph, sorted by receiver.
    pub(crate) fn push(&mut self, incoming: &[u32], senders: &[u32], features: &[f32]) {
        let count = incoming.len() - 1;
        let mut departures: Vec<u32> = (0..senders.len() as u32).collect();
        departures.sort_by_key(|&edge| senders[edge as usize]);
        let mut outgoing = vec![0_u32; count + 1];
        senders.iter().for_each(|&sender| outgoing[sender as usize + 1] += 1);
        (0..count).for_each(|node| outgoing[node + 1] += outgoing[node]);
        self.incoming.extend_from_slice(incoming);
        self.outgoing.extend(outgoing);
        self.senders.extend_from_slice(senders);
        self.departures.extend(departures);
        self.features.extend_from_slice(features);
        self.offsets.push(self.senders.len() as u32);
    }

    /// Adds all graphs of others.
    pub(crate) fn append(&mut self, others: Self) {
        append_offsets(&mut self.offsets, &others.offsets);
        self.incoming.extend(others.incoming);
        self.outgoing.extend(others.outgoing);
        self.senders.extend(others.senders);
        self.departures.extend(others.departures);
        self.features.extend(others.features);
    }

    /// Bytes of the lists.
    pub(crate) fn bytes(&self) -> u64 {
        let integers = [&self.offsets, &self.incoming, &self.outgoing, &self.senders, &self.departures];
        4 * (integers.iter().map(|list| list.len()).sum::<usize>() + self.features.len()) as u64
    }

    /// Edges of a graph.
    pub(crate) fn count(&self, sample: usize) -> usize {
        (self.offsets[sample + 1] - self.offsets[sample]) as usize
    }

    /// The edges of a graph among those of all.
    pub(crate) fn range(&self, sample: usize) -> std::ops::Range<usize> {
        self.offsets[sample] as usize..self.offsets[sample + 1] as usize
    }
}

/// Adds where others begin, behind those that are there.
pub(crate) fn append_offsets(own: &mut Vec<u32>, others: &[u32]) {
    let last = own.last().copied().unwrap_or(0);
    own.extend(others[1..].iter().map(|offset| offset + last));
}
