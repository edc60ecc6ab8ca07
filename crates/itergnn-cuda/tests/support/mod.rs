//! A whole network around the kernels' reference block, in double precision, and random graphs to compare on.
#![allow(dead_code, unreachable_pub)]

use itergnn_cuda::{Gpu, Loss, Network, Perceptron, Readout, SampleView, Samples};
use itergnn_kernels::block::{BatchView, BlockInputs, OutputGradients, ParameterLayout, reference};

/// How far numbers are from others, relative to their norm.
pub fn distance(found: &[f32], expected: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let difference = norm(&mut found.iter().zip(expected).map(|(&found, expected)| f64::from(found) - expected));
    difference / norm(&mut expected.iter().copied()).max(1e-9)
}

/// The card, or a line that says why there is none.
pub fn gpu(test: &str) -> Option<Gpu> {
    match Gpu::open() {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            println!("{test}: skipped, {error}");
            None
        }
    }
}

/// Numbers that look random, the same in every run.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn symmetric(&mut self) -> f32 {
        (2.0 * self.unit() - 1.0) as f32
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }
}

/// A graph with targets.
#[derive(Debug, Clone)]
pub struct Sample {
    pub nodes: Vec<f32>,
    pub incoming: Vec<u32>,
    pub senders: Vec<u32>,
    pub edges: Vec<f32>,
    pub targets: Vec<f32>,
    pub target_rows: Vec<u32>,
}

impl Sample {
    pub fn random(numbers: &mut Numbers, count: usize, density: f64, node: usize, edge: usize) -> Self {
        let (mut incoming, mut senders) = (vec![0], Vec::new());
        for receiver in 0..count {
            for sender in 0..count {
                // A line keeps the graph together; node 0 may have no incoming edge at all.
                if sender + 1 == receiver || (sender != receiver && numbers.unit() < density) {
                    senders.push(sender as u32);
                }
            }
            incoming.push(senders.len() as u32);
        }
        let nodes = (0..count * node).map(|_| numbers.symmetric()).collect();
        let edges = (0..senders.len() * edge).map(|_| 1.0 + 0.5 * numbers.symmetric()).collect();
        Self { nodes, incoming, senders, edges, targets: Vec::new(), target_rows: Vec::new() }
    }

    pub fn count(&self) -> usize {
        self.incoming.len() - 1
    }

    /// With random targets for a readout; where those of nodes are numbers, the first and the last node have some.
    pub fn label(&mut self, numbers: &mut Numbers, readout: Readout, loss: Loss, outputs: usize) {
        let count = self.count() as u32;
        let is_class = loss == Loss::CrossEntropy;
        if readout == Readout::Node {
            self.target_rows = if is_class { (0..count).collect() } else { vec![0, count - 1] };
        }
        let rows = match readout {
            Readout::Node => self.target_rows.len(),
            Readout::Edge => self.senders.len(),
            Readout::Pointer => {
                let choices = self.incoming.windows(2).map(|pair| (pair[1] - pair[0]) as usize + 1);
                self.targets = choices.map(|choices| numbers.below(choices) as f32).collect();
                return;
            }
            _ => 1,
        };
        self.targets = if is_class {
            (0..rows).map(|_| numbers.below(outputs) as f32).collect()
        } else {
            (0..rows * outputs).map(|_| 2.0 + numbers.symmetric()).collect()
        };
    }

    pub fn view(&self) -> SampleView<'_> {
        SampleView {
            nodes: &self.nodes,
            incoming: &self.incoming,
            senders: &self.senders,
            edges: &self.edges,
            targets: &self.targets,
            target_rows: &self.target_rows,
        }
    }
}

/// The maps in front of the head that a readout needs.
pub fn ends(readout: Readout, hidden: usize, edge: usize, biased: bool) -> Vec<Perceptron> {
    let net = |inputs: usize| Perceptron {
        widths: vec![inputs, (inputs + hidden) / 2, hidden],
        biased,
        final_activation: true,
    };
    match readout {
        Readout::Edge => vec![net(2 * hidden + edge)],
        Readout::Pointer => vec![net(2 * hidden + edge), net(hidden)],
        _ => Vec::new(),
    }
}

pub fn all_of(samples: &[Sample], node: usize, edge: usize) -> Samples {
    let mut all = Samples::new(node, edge);
    samples.iter().for_each(|sample| {
        all.push(&sample.view()).unwrap();
    });
    all
}

fn leaky(value: f64) -> f64 {
    if value > 0.0 { value } else { 0.01 * value }
}

/// The rows after every map, the input first.
fn perceptron(net: &Perceptron, parameters: &[f64], input: Vec<f64>) -> Vec<Vec<f64>> {
    let mut rows = vec![input];
    let mut at = 0;
    for (layer, pair) in net.widths.windows(2).enumerate() {
        let (inputs, outputs) = (pair[0], pair[1]);
        let active = layer + 2 < net.widths.len() || net.final_activation;
        let last = rows.last().unwrap();
        let next = last
            .chunks(inputs)
            .flat_map(|row| {
                (0..outputs).map(move |column| {
                    let bias = if net.biased { parameters[at + inputs * outputs + column] } else { 0.0 };
                    let sum = row
                        .iter()
                        .enumerate()
                        .fold(bias, |sum, (k, value)| sum + value * parameters[at + k * outputs + column]);
                    if active { leaky(sum) } else { sum }
                })
            })
            .collect();
        rows.push(next);
        at += (inputs + usize::from(net.biased)) * outputs;
    }
    rows
}

/// The gradient of the input; adds those of the parameters.
fn perceptron_back(
    net: &Perceptron,
    parameters: &[f64],
    rows: &[Vec<f64>],
    mut gradient: Vec<f64>,
    target: &mut [f64],
) -> Vec<f64> {
    let mut at = net.parameters();
    for layer in (0..net.widths.len() - 1).rev() {
        let (inputs, outputs) = (net.widths[layer], net.widths[layer + 1]);
        at -= (inputs + usize::from(net.biased)) * outputs;
        if layer + 2 < net.widths.len() || net.final_activation {
            gradient
                .iter_mut()
                .zip(&rows[layer + 1])
                .for_each(|(gradient, &value)| *gradient *= if value > 0.0 { 1.0 } else { 0.01 });
        }
        let mut before = vec![0.0; rows[layer].len()];
        for (row, (input, gradient)) in rows[layer].chunks(inputs).zip(gradient.chunks(outputs)).enumerate() {
            for column in 0..outputs {
                for k in 0..inputs {
                    target[at + k * outputs + column] += input[k] * gradient[column];
                    before[row * inputs + k] += parameters[at + k * outputs + column] * gradient[column];
                }
                if net.biased {
                    target[at + inputs * outputs + column] += gradient[column];
                }
            }
        }
        gradient = before;
    }
    gradient
}

/// What the reference computes for a batch.
pub struct Truth {
    pub predictions: Vec<f64>,
    pub loss: f64,
    pub auxiliary_loss: f64,
    pub iterations: f64,
    pub capped: f64,
    pub gradient: Vec<f64>,
}

/// The network on a batch, and back.
pub fn truth(network: &Network, parameters: &[f32], batch: &[&Sample], loss: Loss, price: f64) -> Truth {
    let parameters: Vec<f64> = parameters.iter().map(|&value| f64::from(value)).collect();
    let (mut node_offsets, mut edge_offsets, mut senders, mut receiver_offsets) =
        (vec![0_u32], vec![0_u32], Vec::new(), vec![0_u32]);
    let (mut inputs, mut features) = (Vec::new(), Vec::new());
    for sample in batch {
        let (first, edge) = (*node_offsets.last().unwrap(), *edge_offsets.last().unwrap());
        senders.extend(sample.senders.iter().map(|sender| sender + first));
        receiver_offsets.extend(sample.incoming[1..].iter().map(|offset| offset + edge));
        node_offsets.push(first + sample.count() as u32);
        edge_offsets.push(edge + sample.senders.len() as u32);
        inputs.extend(sample.nodes.iter().map(|&value| f64::from(value)));
        features.extend(sample.edges.iter().map(|&value| f64::from(value)));
    }
    let view = BatchView::new(&node_offsets, &edge_offsets, &senders, &receiver_offsets);
    let block = &network.blocks[0];
    let hidden = block.hidden_width();
    let embedded = perceptron(&network.embedding, &parameters, inputs.clone());
    let size = ParameterLayout::new(block).len();
    let at = |index: usize| network.embedding.parameters() + index * size;
    let node_inputs: &[f64] = if block.input_width() == 0 { &[] } else { &inputs };
    let edge_features: &[f64] = if block.edge_width() == 0 { &[] } else { &features };
    let mut states = embedded.last().unwrap().clone();
    let (mut starts, mut tapes, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut iterations, mut capped, mut auxiliary) = (vec![0.0; batch.len()], vec![false; batch.len()], 0.0);
    let node_wise = block.node_wise();
    let settles = block.iterative().is_some_and(|iterative| iterative.settle.is_some());
    let units = if node_wise { view.nodes() } else { batch.len() };
    for index in 0..network.blocks.len() {
        let given = BlockInputs {
            batch: view,
            node_inputs,
            hidden: &states,
            edge_features,
            parameters: &parameters[at(index)..at(index + 1)],
        };
        let (output, tape) = reference::forward(block, &given).unwrap();
        for graph in 0..batch.len() {
            let of_graph = if node_wise { view.node_range(graph) } else { graph..graph + 1 };
            iterations[graph] += output.stops.steps[of_graph.clone()].iter().copied().max().unwrap() as f64;
            capped[graph] |= output.stops.capped[of_graph].contains(&true);
        }
        if settles {
            auxiliary += price / units as f64 * output.stops.unspent.iter().sum::<f64>();
        }
        starts.push(std::mem::replace(&mut states, output.output.clone()));
        tapes.push(tape);
        outputs.push(output);
    }
    let (pooled, sources) = pool(network.readout, &states, &view, (&senders, &features), hidden);
    let (mut maps, mut ends_at) = (Vec::new(), at(network.blocks.len()));
    // The vectors of edges, then of nodes that point at themselves.
    let mut read = if network.ends.is_empty() { pooled.clone() } else { Vec::new() };
    for (net, input) in network.ends.iter().zip([&pooled, &states]) {
        let rows = perceptron(net, &parameters[ends_at..], input.clone());
        read.extend(rows.last().unwrap());
        maps.push((net, ends_at, rows));
        ends_at += net.parameters();
    }
    let head_at = ends_at;
    let answers = perceptron(&network.head, &parameters[head_at..], read);
    let mut predictions = answers.last().unwrap().clone();
    let width = *network.head.widths.last().unwrap();
    let total: usize = batch.iter().map(|sample| sample.targets.len()).sum();
    let mut back = vec![0.0; predictions.len()];
    let mut sum = 0.0;
    for (graph, sample) in batch.iter().enumerate() {
        let (first_node, first_edge) = (node_offsets[graph] as usize, edge_offsets[graph] as usize);
        let is_class = network.readout == Readout::Pointer || loss == Loss::CrossEntropy;
        let numbers = if is_class { 1 } else { width };
        for (index, targets) in sample.targets.chunks(numbers).enumerate() {
            let row = match network.readout {
                Readout::Node | Readout::HeadTail => first_node + sample.target_rows[index] as usize,
                Readout::Edge => first_edge + index,
                _ => graph,
            };
            if is_class {
                let places: Vec<usize> = match network.readout {
                    Readout::Pointer => {
                        let node = first_node + index;
                        view.incoming(node).chain([view.edges() + node]).collect()
                    }
                    _ => (row * width..(row + 1) * width).collect(),
                };
                let powers: f64 = places.iter().map(|&place| predictions[place].exp()).sum();
                for (choice, &place) in places.iter().enumerate() {
                    let right = choice == targets[0] as usize;
                    sum -= if right { predictions[place] - powers.ln() } else { 0.0 };
                    back[place] = (predictions[place].exp() / powers - f64::from(u8::from(right))) / total as f64;
                }
                continue;
            }
            for (column, &target) in targets.iter().enumerate() {
                let place = row * width + column;
                let unit = if loss == Loss::Relative { 1.0 / f64::from(target) } else { 1.0 };
                let difference = (predictions[place] - f64::from(target)) * unit;
                sum += difference * difference;
                back[place] = 2.0 * difference * unit / total as f64;
            }
        }
    }
    if network.readout == Readout::Pointer {
        // The choices of a node lie together.
        predictions = (0..view.nodes())
            .flat_map(|node| view.incoming(node).chain([view.edges() + node]))
            .map(|row| predictions[row])
            .collect();
    }
    let mut gradient = vec![0.0; parameters.len()];
    let mut read = perceptron_back(&network.head, &parameters[head_at..], &answers, back, &mut gradient[head_at..]);
    let mut back = vec![0.0; states.len()];
    for (index, (net, at, rows)) in maps.iter().enumerate().rev() {
        let own = read.split_off(if index == 0 { 0 } else { view.edges() * hidden });
        let input = perceptron_back(net, &parameters[*at..], rows, own, &mut gradient[*at..]);
        if index == 0 {
            read = input;
        } else {
            back.iter_mut().zip(input).for_each(|(back, value)| *back += value);
        }
    }
    for (place, (source, share)) in
        sources.iter().flat_map(|(place, list)| list.iter().map(move |entry| (place, entry)))
    {
        back[*source] += share * read[*place];
    }
    for index in (0..network.blocks.len()).rev() {
        let given = BlockInputs {
            batch: view,
            node_inputs,
            hidden: &starts[index],
            edge_features,
            parameters: &parameters[at(index)..at(index + 1)],
        };
        let unspent = vec![price / units as f64; units];
        let wanted = OutputGradients { output: &back, unspent: settles.then_some(&unspent[..]) };
        let gradients = reference::backward(block, &given, &tapes[index], &wanted).unwrap();
        gradient[at(index)..at(index + 1)].copy_from_slice(&gradients.parameters);
        back = gradients.hidden;
    }
    perceptron_back(&network.embedding, &parameters, &embedded, back, &mut gradient);
    let mean = |total: f64| total / batch.len() as f64;
    Truth {
        predictions,
        loss: sum / total as f64,
        auxiliary_loss: auxiliary,
        iterations: mean(iterations.iter().sum()),
        capped: mean(capped.iter().filter(|&&capped| capped).count() as f64),
        gradient,
    }
}

/// What the head reads, and for each number of it the states it was made of.
#[allow(clippy::type_complexity)]
fn pool(
    readout: Readout,
    states: &[f64],
    view: &BatchView<'_>,
    (senders, features): (&[u32], &[f64]),
    width: usize,
) -> (Vec<f64>, Vec<(usize, Vec<(usize, f64)>)>) {
    if matches!(readout, Readout::Node | Readout::HeadTail) {
        return (states.to_vec(), (0..states.len()).map(|place| (place, vec![(place, 1.0)])).collect());
    }
    let (mut values, mut sources) = (Vec::new(), Vec::new());
    if matches!(readout, Readout::Edge | Readout::Pointer) {
        let edge_width = features.len() / view.edges().max(1);
        for receiver in 0..view.nodes() {
            for edge in view.incoming(receiver) {
                for node in [senders[edge] as usize, receiver] {
                    let places = node * width..(node + 1) * width;
                    sources.extend(places.clone().zip(values.len()..).map(|(place, at)| (at, vec![(place, 1.0)])));
                    values.extend_from_slice(&states[places]);
                }
                values.extend(&features[edge * edge_width..(edge + 1) * edge_width]);
            }
        }
        return (values, sources);
    }
    for graph in 0..view.graphs() {
        for channel in 0..width {
            let all: Vec<usize> = view.node_range(graph).map(|node| node * width + channel).collect();
            let best = |better: fn(f64, f64) -> bool| {
                all.iter()
                    .copied()
                    .reduce(|best, other| if better(states[other], states[best]) { other } else { best })
                    .unwrap()
            };
            let chosen: Vec<(usize, f64)> = match readout {
                Readout::Max => vec![(best(|new, old| new > old), 1.0)],
                Readout::Min => vec![(best(|new, old| new < old), 1.0)],
                Readout::Mean => all.iter().map(|&place| (place, 1.0 / all.len() as f64)).collect(),
                Readout::Sum => all.iter().map(|&place| (place, 1.0)).collect(),
                _ => vec![(all[0], 1.0)],
            };
            values.push(chosen.iter().map(|&(place, share)| share * states[place]).sum());
            sources.push((values.len() - 1, chosen));
        }
    }
    (values, sources)
}
