//! Iter-Homo-Path for unit weights: weights, one iteration, inference, files.
//!
//! With unit weights a message of path-sim depends on its sender alone, so both layers of the message run once per node.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde_json::{Value, json};

use crate::graphs::TimedGraph;
use crate::matrix::{View, add_product};

/// Width of a state.
pub(crate) const STATE: usize = 64;
/// Width of the message's hidden layer, 66, and of the embedding's, 33, filled with zeros to a multiple of 16.
pub(crate) const HIDDEN: usize = 80;
pub(crate) const EMBEDDED: usize = 48;
/// Rows of the first layer of a message: the role of the sender, its state, the weight of the edge.
pub(crate) const ROLES: usize = 3;
const WEIGHT_ROW: usize = ROLES + STATE;
const LEAK: f32 = 0.01;
/// A loop ends when less than this is left (the paper's epsilon).
const EPSILON: f64 = 1e-7;
const DECAY: f64 = 0.9999;
const METADATA: &str = "itergnn";

/// A tensor of a model file and its place among the weights.
struct Part {
    name: &'static str,
    /// As in the file.
    rows: usize,
    columns: usize,
    /// Where it begins, and how long a row is, with the zeros that fill it.
    start: usize,
    width: usize,
}

const EMBEDDING_1: Part = part("network.embedding.layers.0.weight", 3, 33, 0, EMBEDDED);
const EMBEDDING_2: Part = part("network.embedding.layers.1.weight", 33, 64, EMBEDDING_1.start + 3 * EMBEDDED, STATE);
const MESSAGE_1: Part =
    part("network.blocks.0.layer.message.layers.0.weight", 68, 66, EMBEDDING_2.start + EMBEDDED * STATE, HIDDEN);
const MESSAGE_2: Part =
    part("network.blocks.0.layer.message.layers.1.weight", 66, 64, MESSAGE_1.start + 68 * HIDDEN, STATE);
const CONFIDENCE: Part = part("network.blocks.0.confidence.linear.weight", 64, 1, MESSAGE_2.start + HIDDEN * STATE, 1);
const HEAD: Part = part("network.head.layers.0.weight", 64, 1, CONFIDENCE.start + STATE, 1);
const PARTS: [&Part; 6] = [&EMBEDDING_1, &EMBEDDING_2, &MESSAGE_1, &MESSAGE_2, &CONFIDENCE, &HEAD];
/// How many weights there are, with the zeros that fill rows.
pub(crate) const WEIGHTS: usize = HEAD.start + STATE;

/// Where the parts begin among the weights.
pub(crate) const EMBEDDING_1_AT: usize = EMBEDDING_1.start;
pub(crate) const EMBEDDING_2_AT: usize = EMBEDDING_2.start;
pub(crate) const MESSAGE_1_AT: usize = MESSAGE_1.start;
pub(crate) const MESSAGE_1_STATE_AT: usize = MESSAGE_1.start + ROLES * HIDDEN;
pub(crate) const MESSAGE_1_WEIGHT_AT: usize = MESSAGE_1.start + WEIGHT_ROW * HIDDEN;
pub(crate) const MESSAGE_2_AT: usize = MESSAGE_2.start;
pub(crate) const CONFIDENCE_AT: usize = CONFIDENCE.start;
pub(crate) const HEAD_AT: usize = HEAD.start;

const fn part(name: &'static str, rows: usize, columns: usize, start: usize, width: usize) -> Part {
    Part { name, rows, columns, start, width }
}

/// LeakyReLU.
pub(crate) fn leaky(x: f32) -> f32 {
    if x > 0.0 { x } else { LEAK * x }
}

/// Multiplies a gradient by the slope of LeakyReLU where it had the result `activated`.
pub(crate) fn through_leaky(gradients: &mut [f32], activated: &[f32]) {
    for (gradient, activated) in gradients.iter_mut().zip(activated) {
        if *activated <= 0.0 {
            *gradient *= LEAK;
        }
    }
}

/// The largest value of each channel over the nodes.
pub(crate) fn pool(states: &[f32]) -> [f32; STATE] {
    let mut pooled = [f32::NEG_INFINITY; STATE];
    for state in states.chunks_exact(STATE) {
        for (best, value) in pooled.iter_mut().zip(state) {
            *best = if value > best { *value } else { *best };
        }
    }
    pooled
}

/// Sum of products.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The network, with what follows from its weights once per step.
pub(crate) struct Network {
    pub(crate) weights: Vec<f32>,
    /// By role: the embedding, and its hidden layer.
    pub(crate) embedded: Vec<f32>,
    pub(crate) embedded_hidden: Vec<f32>,
    /// By role: what role and edge weight add to the message's hidden layer.
    from_role: Vec<f32>,
    /// The message's layers transposed, for the way back.
    pub(crate) message_1_back: Vec<f32>,
    pub(crate) message_2_back: Vec<f32>,
}

impl Network {
    pub(crate) fn new(weights: Vec<f32>) -> Self {
        assert_eq!(weights.len(), WEIGHTS, "weights of another network");
        let mut network = Self {
            weights,
            embedded: vec![0.0; ROLES * STATE],
            embedded_hidden: vec![0.0; ROLES * EMBEDDED],
            from_role: vec![0.0; ROLES * HIDDEN],
            message_1_back: vec![0.0; HIDDEN * STATE],
            message_2_back: vec![0.0; STATE * HIDDEN],
        };
        network.follow_weights();
        network
    }

    /// To be called when weights have changed.
    pub(crate) fn follow_weights(&mut self) {
        let weights = &self.weights;
        for (value, weight) in self.embedded_hidden.iter_mut().zip(&weights[EMBEDDING_1_AT..]) {
            *value = leaky(*weight);
        }
        self.embedded.fill(0.0);
        let hidden = View::rows(&self.embedded_hidden, EMBEDDED);
        add_product(ROLES, EMBEDDED, STATE, hidden, &weights[EMBEDDING_2_AT..], &mut self.embedded);
        self.embedded.iter_mut().for_each(|value| *value = leaky(*value));
        for (role, values) in self.from_role.chunks_exact_mut(HIDDEN).enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                *value = weights[MESSAGE_1_AT + role * HIDDEN + column] + weights[MESSAGE_1_WEIGHT_AT + column];
            }
        }
        for state in 0..STATE {
            for hidden in 0..HIDDEN {
                self.message_1_back[hidden * STATE + state] = weights[MESSAGE_1_STATE_AT + state * HIDDEN + hidden];
                self.message_2_back[state * HIDDEN + hidden] = weights[MESSAGE_2_AT + hidden * STATE + state];
            }
        }
    }

    pub(crate) fn confidence(&self) -> &[f32] {
        &self.weights[CONFIDENCE_AT..CONFIDENCE_AT + STATE]
    }

    pub(crate) fn head(&self) -> &[f32] {
        &self.weights[HEAD_AT..HEAD_AT + STATE]
    }

    /// States before the first iteration.
    pub(crate) fn first_states(&self, graph: &TimedGraph) -> Vec<f32> {
        graph.roles.iter().flat_map(|role| &self.embedded[role * STATE..(role + 1) * STATE]).copied().collect()
    }

    /// The message of every node: its hidden layer and the message itself, both activated.
    pub(crate) fn messages(&self, graph: &TimedGraph, states: &[f32], hidden: &mut [f32], messages: &mut [f32]) {
        let nodes = graph.nodes();
        for (values, role) in hidden.chunks_exact_mut(HIDDEN).zip(&graph.roles) {
            values.copy_from_slice(&self.from_role[role * HIDDEN..(role + 1) * HIDDEN]);
        }
        add_product(nodes, STATE, HIDDEN, View::rows(states, STATE), &self.weights[MESSAGE_1_STATE_AT..], hidden);
        hidden.iter_mut().for_each(|value| *value = leaky(*value));
        messages.fill(0.0);
        add_product(nodes, HIDDEN, STATE, View::rows(hidden, HIDDEN), &self.weights[MESSAGE_2_AT..], messages);
        messages.iter_mut().for_each(|value| *value = leaky(*value));
    }

    /// One iteration: h' = max(h, messages over edges that are open), without a record.
    pub(crate) fn iterate(&self, graph: &TimedGraph, iteration: usize, states: &mut [f32], buffers: &mut Buffers) {
        let (hidden, messages) = buffers.of(graph.nodes());
        self.messages(graph, states, hidden, messages);
        for (node, state) in states.chunks_exact_mut(STATE).enumerate() {
            for edge in graph.offsets[node]..graph.offsets[node + 1] {
                if iteration > graph.opens[edge] {
                    let sender = graph.senders[edge];
                    for (value, message) in state.iter_mut().zip(&messages[sender * STATE..(sender + 1) * STATE]) {
                        *value = if message > value { *message } else { *value };
                    }
                }
            }
        }
    }

    /// The answer and the iterations it took, at most `cap`.
    pub(crate) fn predict(&self, graph: &TimedGraph, cap: usize) -> (f32, usize) {
        let (mut states, mut buffers) = (self.first_states(graph), Buffers::default());
        let mut answer = vec![0.0; states.len()];
        let (mut left, mut spent, mut iteration) = (1.0, 0.0, 0);
        while left > EPSILON && iteration < cap {
            iteration += 1;
            self.iterate(graph, iteration, &mut states, &mut buffers);
            let confidence = sigmoid(dot(&pool(&states), self.confidence()));
            let share = left * confidence;
            for (sum, value) in answer.iter_mut().zip(&states) {
                *sum += share as f32 * value;
            }
            spent += share;
            left *= (1.0 - confidence) * DECAY;
        }
        (dot(&pool(&answer), self.head()) / spent as f32, iteration)
    }
}

pub(crate) fn sigmoid(logit: f32) -> f64 {
    1.0 / (1.0 + f64::from(-logit).exp())
}

/// Memory that iterations without a record share.
#[derive(Default)]
pub(crate) struct Buffers {
    hidden: Vec<f32>,
    messages: Vec<f32>,
}

impl Buffers {
    fn of(&mut self, nodes: usize) -> (&mut [f32], &mut [f32]) {
        self.hidden.resize(nodes * HIDDEN, 0.0);
        self.messages.resize(nodes * STATE, 0.0);
        (&mut self.hidden, &mut self.messages)
    }
}

/// A model file of this network: its weights, and what it says about itself.
pub(crate) struct ModelFile {
    pub(crate) weights: Vec<f32>,
    about: Value,
}

impl ModelFile {
    /// # Errors
    /// If the file is no Iter-Homo-Path-settle of unit weights.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let (_, header) = SafeTensors::read_metadata(&bytes).with_context(|| format!("{}", path.display()))?;
        let about = header.metadata().as_ref().and_then(|map| map.get(METADATA)).context("not a model of itergnn")?;
        let about: Value = serde_json::from_str(about).context("the model's settings are no JSON")?;
        let name = about["card"]["name"].as_str().unwrap_or("without a name");
        ensure!(name == "iter-homo-path-settle", "a model {name}; this program trains iter-homo-path-settle");
        let tensors = SafeTensors::deserialize(&bytes)?;
        let mut weights = vec![0.0; WEIGHTS];
        for part in PARTS {
            let tensor = tensors.tensor(part.name)?;
            if tensor.dtype() != Dtype::F32 || tensor.shape() != [part.rows, part.columns] {
                bail!("{} is {:?}, expected {} x {}", part.name, tensor.shape(), part.rows, part.columns);
            }
            for (i, value) in tensor.data().chunks_exact(4).enumerate() {
                let at = part.start + i / part.columns * part.width + i % part.columns;
                weights[at] = f32::from_le_bytes(value.try_into().expect("four bytes"));
            }
        }
        Ok(Self { weights, about })
    }

    /// Writes the weights with the settings of this file, and `record` of how they were trained beside them.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, weights: &[f32], record: Value, path: &Path) -> Result<()> {
        let mut about = self.about.clone();
        let training = &mut about["card"]["training"];
        match training["late_bridges"].as_array_mut() {
            Some(records) => records.push(record),
            None => training["late_bridges"] = json!([record]),
        }
        let data: Vec<Vec<u8>> = PARTS
            .iter()
            .map(|part| {
                let rows = (0..part.rows).map(|row| part.start + row * part.width);
                rows.flat_map(|at| &weights[at..at + part.columns]).flat_map(|value| value.to_le_bytes()).collect()
            })
            .collect();
        let mut views = Vec::new();
        for (part, data) in PARTS.iter().zip(&data) {
            views.push((part.name, TensorView::new(Dtype::F32, vec![part.rows, part.columns], data)?));
        }
        let metadata = [(METADATA.to_string(), about.to_string())].into();
        let bytes = safetensors::serialize(views, Some(metadata))?;
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }
}
