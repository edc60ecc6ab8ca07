//! The graph network block, GIN with batch normalisation and the grid CNN against PyTorch and PyG.
//!
//! The values are made by `reference/nn/make_golden_blocks.py`. The other layers are compared in `tests/golden_f64.rs`.

use burn::module::{Module, Param};
use burn::nn::{BatchNormConfig, Linear};
use burn::tensor::{Tensor, TensorData};
use itergnn_graph::{Graph, GraphBatch};
use itergnn_nn::layers::{Aggregation, GinConv, GnBlockConfig, GnState, GridCnnConfig};
use itergnn_nn::{Activation, GraphTensors, InitRng, MlpConfig};
use serde_json::Value;

use crate::fixtures::{assert_close, device, values};

/// Both sides compute in `f64`; sums of at most a hundred terms differ in the last digits.
const TOLERANCE: f64 = 1e-11;

const GOLDEN: &str = include_str!("../../../../reference/nn/golden-blocks.json");

fn golden() -> Value {
    serde_json::from_str(GOLDEN).expect("the golden file is JSON")
}

fn integers(value: &Value) -> Vec<usize> {
    serde_json::from_value(value.clone()).expect("a list of integers")
}

fn floats(value: &Value) -> Vec<f64> {
    serde_json::from_value(value["values"].clone()).expect("a list of numbers")
}

fn tensor<const D: usize>(value: &Value) -> Tensor<D> {
    Tensor::from_data(TensorData::new(floats(value), integers(&value["shape"])), &device())
}

fn linear(value: &Value) -> Linear {
    Linear {
        weight: Param::from_tensor(tensor(&value["weight"])),
        bias: Some(Param::from_tensor(tensor(&value["bias"]))),
    }
}

/// `linspace(-1, 1)` over all elements: the weights of the outputs in the loss.
fn probe<const D: usize>(output: Tensor<D>) -> Tensor<1> {
    let shape = output.shape();
    let last = (shape.num_elements() - 1) as f64;
    let weights: Vec<f64> = (0..shape.num_elements()).map(|index| 2.0 * index as f64 / last - 1.0).collect();
    (output * Tensor::from_data(TensorData::new(weights, shape), &device())).sum()
}

fn assert_tensor<const D: usize>(found: Tensor<D>, expected: &Value, what: &str) {
    assert_eq!(found.dims().to_vec(), integers(&expected["shape"]), "{what}");
    assert_close(&values(found), &floats(expected), TOLERANCE, what);
}

/// Compares the gradients of weight and bias.
fn assert_gradients<const D: usize>(
    weight: &Param<Tensor<D>>,
    bias: &Option<Param<Tensor<1>>>,
    gradients: &burn::tensor::Gradients,
    expected: &Value,
    what: &str,
) {
    let bias = bias.as_ref().expect("the reference has biases");
    assert_tensor(weight.val().grad(gradients).expect("used"), &expected["weight"], what);
    assert_tensor(bias.val().grad(gradients).expect("used"), &expected["bias"], what);
}

fn batch(golden: &Value) -> GraphTensors {
    let edges: Vec<[u32; 2]> = serde_json::from_value(golden["edges"].clone()).expect("pairs");
    let mut first = 0;
    let mut graphs = Vec::new();
    for size in integers(&golden["graph_sizes"]) {
        let inside = |&&[_, receiver]: &&[u32; 2]| (first..first + size as u32).contains(&receiver);
        let edges: Vec<[u32; 2]> = edges.iter().filter(inside).map(|&[s, r]| [s - first, r - first]).collect();
        graphs.push(Graph::new(size, &edges).expect("edges stay inside their graph"));
        first += size as u32;
    }
    GraphTensors::from_batch(&GraphBatch::new(&graphs).expect("graphs without attributes"), &device())
}

#[test]
fn the_block_agrees_with_the_meta_layer_of_pyg() {
    let golden = golden();
    let case = &golden["block"];
    let config = GnBlockConfig {
        edge_to_node: Aggregation::Mean,
        node_to_global: Aggregation::Max,
        ..GnBlockConfig::new([3, 2, 2], [5, 4, 3])
    };
    let mut block = config.init(&device(), &mut InitRng::new(0));
    let maps = |name: &str| case["maps"][name].as_array().unwrap().iter().map(linear).collect::<Vec<_>>();
    block.edge.layers = maps("edge");
    block.node.as_mut().unwrap().layers = maps("node");
    block.global.as_mut().unwrap().update.layers = maps("global");

    let input = |name: &str| tensor::<2>(&case["inputs"][name]).require_grad();
    let (nodes, edges, globals) = (input("nodes"), input("edges"), input("globals"));
    let state = GnState { nodes: nodes.clone(), edges: edges.clone(), globals: Some(globals.clone()) };
    let output = block.step(&batch(&golden), state);
    let new_globals = output.globals.unwrap();
    assert_tensor(output.nodes.clone(), &case["outputs"]["nodes"], "nodes");
    assert_tensor(output.edges.clone(), &case["outputs"]["edges"], "edges");
    assert_tensor(new_globals.clone(), &case["outputs"]["globals"], "globals");

    let gradients = (probe(output.nodes) + probe(output.edges) + probe(new_globals)).backward();
    for (name, input) in [("nodes", nodes), ("edges", edges), ("globals", globals)] {
        assert_tensor(input.grad(&gradients).unwrap(), &case["input_gradients"][name], name);
    }
    let functions = [
        ("edge", &block.edge),
        ("node", block.node.as_ref().unwrap()),
        ("global", &block.global.as_ref().unwrap().update),
    ];
    for (name, mlp) in functions {
        for (map, expected) in mlp.layers.iter().zip(case["map_gradients"][name].as_array().unwrap()) {
            assert_gradients(&map.weight, &map.bias, &gradients, expected, name);
        }
    }
}

#[test]
fn batch_normalised_gin_agrees_with_pyg() {
    let golden = golden();
    let case = &golden["gin"];
    let mlp = MlpConfig::new(3, 5, 2).with_activation(Activation::Relu);
    assert_eq!(mlp.widths(), [3, 4, 5]);
    let mut layer = GinConv {
        norms: mlp.widths()[1..].iter().map(|&width| BatchNormConfig::new(width).init(&device())).collect(),
        mlp: mlp.init(&device(), &mut InitRng::new(0)),
        later_statistics: Vec::new(),
        learned_eps: None,
        eps: case["eps"].as_f64().unwrap(),
    };
    layer.mlp.layers = case["maps"].as_array().unwrap().iter().map(linear).collect();
    for (norm, given) in layer.norms.iter_mut().zip(case["norms"].as_array().unwrap()) {
        norm.gamma = Param::from_tensor(tensor(&given["gamma"]));
        norm.beta = Param::from_tensor(tensor(&given["beta"]));
    }
    let graph = batch(&golden);
    let input = tensor::<2>(&case["input"]).require_grad();
    let output = layer.convolve(&graph, input.clone());
    assert_tensor(output.clone(), &case["training_output"], "output in training");
    let gradients = probe(output).backward();
    assert_tensor(input.grad(&gradients).unwrap(), &case["input_gradient"], "input");
    for (map, expected) in layer.mlp.layers.iter().zip(case["map_gradients"].as_array().unwrap()) {
        assert_gradients(&map.weight, &map.bias, &gradients, expected, "map");
    }
    for (index, norm) in layer.norms.iter().enumerate() {
        let expected = &case["norm_gradients"][index];
        assert_tensor(norm.gamma.val().grad(&gradients).unwrap(), &expected["gamma"], "gamma");
        assert_tensor(norm.beta.val().grad(&gradients).unwrap(), &expected["beta"], "beta");
        assert_tensor(norm.running_mean.value_sync(), &case["running_mean"][index], "running mean");
    }
    let inference = device().without_autodiff();
    let graph = graph.to_device(&inference);
    let output = layer.valid().convolve(&graph, input.inner());
    assert_tensor(output, &case["inference_output"], "output at inference");
}

#[test]
fn the_grid_network_agrees_with_torch() {
    for case in golden()["cnn"].as_array().unwrap() {
        let (kernel, depth) = (case["kernel"].as_u64().unwrap() as usize, case["depth"].as_u64().unwrap() as usize);
        let mut network = GridCnnConfig::new(2, 3, kernel, depth).init(&device(), &mut InitRng::new(0)).unwrap();
        for (convolution, given) in network.convolutions.iter_mut().zip(case["maps"].as_array().unwrap()) {
            convolution.weight = Param::from_tensor(tensor(&given["weight"]));
            convolution.bias = Some(Param::from_tensor(tensor(&given["bias"])));
        }
        let image = tensor::<4>(&case["image"]).require_grad();
        let output = network.forward(image.clone());
        assert_tensor(output.clone(), &case["output"], "output");
        let gradients = probe(output).backward();
        assert_tensor(image.grad(&gradients).unwrap(), &case["image_gradient"], "image");
        for (convolution, expected) in network.convolutions.iter().zip(case["map_gradients"].as_array().unwrap()) {
            assert_gradients(&convolution.weight, &convolution.bias, &gradients, expected, "convolution");
        }
    }
}
