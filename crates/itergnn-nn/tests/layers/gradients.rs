//! Gradients of whole layers against finite differences, with respect to states, inputs, edges and weights.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;
use itergnn_nn::Layer;
use itergnn_nn::layers::MessagePassing;

use crate::fixtures::{assert_gradient, corner_graph, device, loss, tensors, values};
use crate::zoo;

#[test]
fn layers_agree_with_finite_differences_in_states_and_edges() {
    let (graph, hidden) = zoo::with_state(tensors(&corner_graph()), 21);
    for config in zoo::configs() {
        for homogeneous in [false, true] {
            let config = config.with_homogeneous(homogeneous);
            let layer = zoo::layer(&config);
            let name = format!("{config:?}");
            let input = zoo::input(&config, &graph);
            let of_hidden = |hidden| layer.forward(&graph, input.clone(), hidden);
            assert_gradient(&hidden, of_hidden, &format!("hidden of {name}"));
            let reads_edges = !matches!(layer, Layer::Gcn(_) | Layer::Gin(_) | Layer::PointNet(_))
                && (!matches!(layer, Layer::Gat(_)) || config.use_edge_attributes);
            if reads_edges {
                let of_edges =
                    |edges| layer.forward(&graph.clone().with_edge_attributes(edges), input.clone(), hidden.clone());
                assert_gradient(&graph.edge_attributes(), of_edges, &format!("edges of {name}"));
            }
        }
    }
}

/// Counts the weights and adds up the entries of their gradients.
struct Visit<'a> {
    gradients: &'a burn::tensor::Gradients,
    total: f64,
    weights: usize,
}

impl ModuleVisitor for Visit<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.weights += 1;
        if let Some(gradient) = param.val().grad(self.gradients) {
            self.total += values(gradient).iter().sum::<f64>();
        }
    }
}

/// Adds a number to every weight.
struct Shift(f64);

impl ModuleMapper for Shift {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|weight| (weight + self.0).detach().require_grad())
    }
}

/// Central differences along the direction that moves all weights at once.
#[test]
fn weights_agree_with_finite_differences() {
    const STEP: f64 = 1e-6;
    // Sums over all weights of a layer: a hundred times the terms of the tests by element.
    const TOLERANCE: f64 = 1e-5;
    let (graph, hidden) = zoo::with_state(tensors(&corner_graph()), 33);
    for config in zoo::configs() {
        // Biases that start at 0 would put nodes that hear nobody on the kink of an activation.
        let layer = zoo::layer(&config).map(&mut Shift(0.05));
        let forward = |layer: &Layer| loss(layer.forward(&graph, zoo::input(&config, &graph), hidden.clone()));
        let gradients = forward(&layer).backward();
        let mut visit = Visit { gradients: &gradients, total: 0.0, weights: 0 };
        layer.visit(&mut visit);
        assert!(visit.weights > 0, "{config:?} has weights");
        let shifted = |step: f64| values(forward(&layer.clone().map(&mut Shift(step))))[0];
        let difference = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
        let error = (visit.total - difference).abs();
        assert!(error < TOLERANCE * (1.0 + difference.abs()), "{config:?}: {} against {difference}", visit.total);
    }
}

#[test]
fn weights_do_not_depend_on_the_device_but_on_the_seed() {
    let weights = |seed: u64| {
        let config = zoo::configs().remove(0);
        let layer = itergnn_nn::Layer::new(&config, &device(), &mut itergnn_nn::InitRng::new(seed)).unwrap();
        let Layer::Path(layer) = layer else { panic!("the first layer is mpnn-max") };
        values(layer.message.layers[0].weight.val())
    };
    assert_eq!(weights(1), weights(1));
    assert_ne!(weights(1), weights(2));
}
