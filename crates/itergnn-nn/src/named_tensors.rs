//! The parameters of a module by name.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};

/// The numbers of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor {
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// The numbers in row-major order; `f64` holds those of an `f32` parameter exactly.
    pub values: Vec<f64>,
}

/// The float parameters (and running statistics) of a module, by the path of field names that leads to them.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_nn::{InitRng, MlpConfig, named_tensors};
/// let mlp = MlpConfig::new(3, 2, 1).init(&Device::flex(), &mut InitRng::new(7));
/// let names: Vec<_> = named_tensors(&mlp).into_keys().collect();
/// assert_eq!(names, ["layers.0.bias", "layers.0.weight"]);
/// ```
pub fn named_tensors<M: Module>(module: &M) -> BTreeMap<String, NamedTensor> {
    let mut collector = Collector { path: Vec::new(), tensors: BTreeMap::new() };
    module.visit(&mut collector);
    collector.tensors
}

/// The module with its parameters replaced by the tensors of the same names; parameters without one keep their numbers.
///
/// # Panics
/// If a tensor does not have the shape of its parameter.
pub fn replace_tensors<M: Module>(module: M, tensors: &BTreeMap<String, NamedTensor>) -> M {
    module.map(&mut Replacer { path: Vec::new(), tensors })
}

/// Field names joined by dots. The visitor also enters the variants of enums; a name does not need them, since the
/// configuration says which it is.
fn parameter_name(path: &[String]) -> String {
    let fields = path.iter().filter(|segment| !segment.starts_with(|letter: char| letter.is_ascii_uppercase()));
    fields.map(String::as_str).collect::<Vec<_>>().join(".")
}

struct Collector {
    path: Vec<String>,
    tensors: BTreeMap<String, NamedTensor>,
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = tensor.try_into_vec_as::<f64>().expect("the device gives its tensors back");
        self.tensors.insert(parameter_name(&self.path), NamedTensor { shape, values });
    }
}

struct Replacer<'a> {
    path: Vec<String>,
    tensors: &'a BTreeMap<String, NamedTensor>,
}

impl ModuleMapper for Replacer<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = parameter_name(&self.path);
        let Some(tensor) = self.tensors.get(&name) else { return param };
        assert_eq!(tensor.shape, param.dims(), "shape of {name}");
        let (device, dtype, id) = (param.device(), param.dtype(), param.id);
        let data = TensorData::new(tensor.values.clone(), tensor.shape.clone()).convert_dtype(dtype);
        param.transform_for_load(Tensor::from_data(data, (&device, dtype)), id)
    }
}
