//! Reads `reference/nn/golden-*.safetensors` and compares every case with the crate.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::layers::{Layer, LayerConfig, MessagePassing};
use itergnn_nn::{Engine, GnnConfig, GraphTensors, InitRng, NamedTensor, RunOptions, named_tensors, replace_tensors};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// One case as `make_golden.py` lists it.
#[derive(Deserialize)]
struct Case {
    name: String,
    kind: String,
    config: serde_json::Value,
    #[serde(default)]
    mode: String,
    #[serde(default)]
    steps: Vec<Vec<usize>>,
}

/// The golden file of one float type.
pub(crate) struct Golden {
    tensors: BTreeMap<String, NamedTensor>,
    cases: Vec<Case>,
    device: Device,
    tolerance: f64,
}

impl Golden {
    /// `tolerance` is relative to the largest entry of the tensor compared.
    pub(crate) fn new(bytes: &'static [u8], device: Device, tolerance: f64) -> Self {
        let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
        let metadata = header.metadata().clone().unwrap();
        let cases = serde_json::from_str(&metadata["cases"]).unwrap();
        let file = SafeTensors::deserialize(bytes).unwrap();
        let tensors = file.iter().map(|(name, view)| (name.to_owned(), numbers(&view))).collect();
        Self { tensors, cases, device, tolerance }
    }

    /// Runs every case of a kind and returns how many there were.
    pub(crate) fn check(&self, kind: &str) -> usize {
        let chosen: Vec<&Case> = self.cases.iter().filter(|case| case.kind == kind).collect();
        for case in &chosen {
            match kind {
                "layer" => self.check_layer(case),
                "model" => self.check_model(case),
                _ => self.check_grid(case),
            }
        }
        chosen.len()
    }

    fn check_layer(&self, case: &Case) {
        let config: LayerConfig = serde_json::from_value(case.config.clone()).unwrap();
        let layer = Layer::new(&config, &self.device, &mut InitRng::new(0)).unwrap();
        let layer = replace_tensors(layer, &self.parameters(case, &layer_names(&config, &self.device)));
        let (graph, nodes, edges) = self.graph(config.edge_width);
        let hidden = self.tensor(&format!("{}/hidden", case.name)).require_grad();
        let output = layer.forward(&graph, nodes.clone(), hidden.clone());
        self.compare(case, "output", output.clone());
        let gradients = self.backward(case, output, None);
        self.compare_gradient(case, "gradient/node_attributes", &nodes, &gradients);
        self.compare_gradient(case, "gradient/edge_attributes", &edges, &gradients);
        self.compare_gradient(case, "gradient/hidden", &hidden, &gradients);
        self.compare_parameter_gradients(case, &layer, &gradients);
    }

    /// The plain path, which is the specification, and whatever is chosen by default.
    fn check_model(&self, case: &Case) {
        for engine in [Engine::Plain, Engine::Auto] {
            self.check_model_on(case, engine);
        }
    }

    fn check_model_on(&self, case: &Case, engine: Engine) {
        let config: GnnConfig = serde_json::from_value(case.config.clone()).unwrap();
        let model = config.init(&self.device, &mut InitRng::new(0)).unwrap();
        let names = learned_names(&model);
        let model = replace_tensors(model, &self.parameters(case, &names));
        let edge_width = config.widths().edge_width;
        let (graph, nodes, edges) = self.graph(if edge_width == 0 { 2 } else { edge_width });
        let options = if case.mode == "training" { RunOptions::training() } else { RunOptions::inference() };
        let output = model.forward(&graph, &options.with_engine(engine)).unwrap();
        self.compare(case, "output", output.values.clone());
        let steps: Vec<Vec<usize>> = output.blocks.iter().map(|block| block.stops.steps.clone()).collect();
        assert_eq!(steps, case.steps, "{}: steps", case.name);
        match &output.auxiliary_loss {
            Some(loss) if self.has(&format!("{}/auxiliary", case.name)) => {
                self.compare(case, "auxiliary", loss.clone().reshape([1, 1]));
            }
            // A controller that charges nothing may say zero or nothing.
            Some(loss) => assert_eq!(loss.clone().into_scalar::<f64>(), 0.0, "{}: auxiliary", case.name),
            None => assert!(self.all_zero(&format!("{}/auxiliary", case.name)), "{}: auxiliary", case.name),
        }
        let gradients = self.backward(case, output.values, output.auxiliary_loss);
        self.compare_gradient(case, "gradient/node_attributes", &nodes, &gradients);
        if edge_width > 0 {
            self.compare_gradient(case, "gradient/edge_attributes", &edges, &gradients);
        }
        self.compare_parameter_gradients(case, &model, &gradients);
    }

    fn check_grid(&self, case: &Case) {
        let config: GnnConfig = serde_json::from_value(case.config.clone()).unwrap();
        let model = config.init(&self.device, &mut InitRng::new(0)).unwrap();
        let model = replace_tensors(model.clone(), &self.parameters(case, &learned_names(&model)));
        let name = format!("{}/images", case.name);
        let images = self.tensor_of::<4>(&name).require_grad();
        let output = model.forward_images(images.clone()).unwrap();
        self.compare(case, "output", output.clone());
        let gradients = self.backward(case, output, None);
        let found = images.grad(&gradients).unwrap().reshape([1, -1]);
        self.compare(case, "gradient/images", found);
        self.compare_parameter_gradients(case, &model, &gradients);
    }

    fn backward(&self, case: &Case, output: Tensor<2>, auxiliary: Option<Tensor<1>>) -> Gradients {
        let probe = self.tensor(&format!("{}/probe", case.name));
        let loss = (output * probe).sum();
        auxiliary.map_or_else(|| loss.clone(), |extra| loss.clone() + extra).backward()
    }

    /// The batch of corner cases, and its attributes as leaves of the gradient.
    fn graph(&self, edge_width: usize) -> (GraphTensors, Tensor<2>, Tensor<2>) {
        let prefix = format!("graph-{edge_width}");
        let (senders, receivers) =
            (self.indices(&format!("{prefix}/senders")), self.indices(&format!("{prefix}/receivers")));
        let offsets = self.indices(&format!("{prefix}/node_offsets"));
        let graphs: Vec<Graph> = offsets
            .windows(2)
            .map(|range| {
                let inside = |node: &u32| (range[0]..range[1]).contains(node);
                let edges = senders.iter().zip(&receivers).filter(|(sender, _)| inside(sender));
                let edges: Vec<[u32; 2]> = edges.map(|(&s, &r)| [s - range[0], r - range[0]]).collect();
                let zeros = Attributes::new(1, vec![0.0; (range[1] - range[0]) as usize]);
                Graph::new((range[1] - range[0]) as usize, &edges).unwrap().with_node_attributes(zeros).unwrap()
            })
            .collect();
        let batch = GraphTensors::from_batch(&GraphBatch::new(&graphs).unwrap(), &self.device);
        let nodes = self.tensor(&format!("{prefix}/node_attributes")).require_grad();
        let edges = self.tensor(&format!("{prefix}/edge_attributes")).require_grad();
        (batch.with_node_attributes(nodes.clone()).with_edge_attributes(edges.clone()), nodes, edges)
    }

    fn parameters(&self, case: &Case, names: &[String]) -> BTreeMap<String, NamedTensor> {
        let prefix = format!("{}/parameter/", case.name);
        let given: BTreeMap<String, NamedTensor> = self
            .tensors
            .iter()
            .filter_map(|(name, tensor)| Some((name.strip_prefix(&prefix)?.to_owned(), tensor.clone())))
            .collect();
        assert_eq!(given.keys().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>(), "{}: parameters", case.name);
        given
    }

    fn compare_parameter_gradients<M: Module>(&self, case: &Case, module: &M, gradients: &Gradients) {
        let mut collector = GradientCollector { path: Vec::new(), gradients, found: BTreeMap::new() };
        module.visit(&mut collector);
        for (name, found) in collector.found {
            let golden = format!("{}/parameter-gradient/{name}", case.name);
            if self.has(&golden) {
                let (_, expected) = self.values(&golden);
                self.compare_values(&golden, &found, &expected);
            }
        }
    }

    fn compare_gradient(&self, case: &Case, what: &str, leaf: &Tensor<2>, gradients: &Gradients) {
        let found = leaf.grad(gradients).unwrap_or_else(|| leaf.clone().inner().zeros_like());
        self.compare(case, what, found);
    }

    fn compare(&self, case: &Case, what: &str, found: Tensor<2>) {
        let name = format!("{}/{what}", case.name);
        let (_, expected) = self.values(&name);
        let found = found.try_into_vec_as::<f64>().unwrap();
        self.compare_values(&name, &found, &expected);
    }

    fn compare_values(&self, name: &str, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{name}: length");
        let scale = expected.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).abs();
            assert!(error <= self.tolerance * scale, "{name}[{position}]: {found} instead of {expected}");
        }
    }

    fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn all_zero(&self, name: &str) -> bool {
        !self.has(name) || self.values(name).1.iter().all(|&value| value == 0.0)
    }

    fn tensor(&self, name: &str) -> Tensor<2> {
        self.tensor_of::<2>(name)
    }

    fn tensor_of<const D: usize>(&self, name: &str) -> Tensor<D> {
        let (shape, values) = self.values(name);
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }

    fn values(&self, name: &str) -> (Vec<usize>, Vec<f64>) {
        let tensor = self.tensors.get(name).unwrap_or_else(|| panic!("{name} is in the golden file"));
        (tensor.shape.clone(), tensor.values.clone())
    }

    fn indices(&self, name: &str) -> Vec<u32> {
        self.values(name).1.into_iter().map(|index| index as u32).collect()
    }
}

fn numbers(view: &TensorView<'_>) -> NamedTensor {
    let quads = || view.data().as_chunks::<4>().0.iter();
    let values = match view.dtype() {
        Dtype::F32 => quads().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect(),
        Dtype::I32 => quads().map(|bytes| f64::from(i32::from_le_bytes(*bytes))).collect(),
        Dtype::F64 => view.data().as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        other => panic!("type {other:?}"),
    };
    NamedTensor { shape: view.shape().to_vec(), values }
}

/// Names of the parameters that are learned; running statistics start as they are in both implementations.
fn learned_names<M: Module>(module: &M) -> Vec<String> {
    named_tensors(module).into_keys().filter(|name| !name.contains("running_")).collect()
}

fn layer_names(config: &LayerConfig, device: &Device) -> Vec<String> {
    learned_names(&Layer::new(config, device, &mut InitRng::new(0)).unwrap())
}

struct GradientCollector<'a> {
    path: Vec<String>,
    gradients: &'a Gradients,
    found: BTreeMap<String, Vec<f64>>,
}

impl ModuleVisitor for GradientCollector<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let fields = self.path.iter().filter(|segment| !segment.starts_with(char::is_uppercase));
        let name = fields.map(String::as_str).collect::<Vec<_>>().join(".");
        let gradient = param.val().grad(self.gradients);
        let values = gradient.map(|gradient| gradient.try_into_vec_as::<f64>().unwrap());
        self.found.insert(name, values.unwrap_or_else(|| vec![0.0; param.shape().num_elements()]));
    }
}
