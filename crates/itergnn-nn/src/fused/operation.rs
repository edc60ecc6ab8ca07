//! The block as an operation of the tensor framework: Flex runs the kernels, autodiff records the way back.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{Tensor, TensorData};
use itergnn_kernels::block::Wanted;

use super::call::{BlockCall, Numbers};
use crate::ops::{FlexElement, with_float};

/// The one fused operation; implemented for Flex and for autodiff over it.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait FusedBackend: Backend {
    /// Runs the block that `call` describes; `[state values + unspent probabilities]`.
    fn fused_block(
        input: FloatTensor<Self>,
        hidden: FloatTensor<Self>,
        edges: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        call: BlockCall,
    ) -> FloatTensor<Self>;
}

/// The way back of [`FusedBackend`]; a trait of its own because the recorded step is generic over the backend below
/// autodiff.
pub(crate) trait FusedGradient: FusedBackend {
    /// The gradients of [`fused_block`](FusedBackend::fused_block) with respect to its tensors, in their order; those
    /// of input and edges only where the run was told that they are wanted.
    fn fused_block_backward(
        tensors: [FloatTensor<Self>; 4],
        gradient: FloatTensor<Self>,
        call: BlockCall,
    ) -> [Option<FloatTensor<Self>>; 4];
}

/// Runs a block on tensors.
///
/// # Shapes
/// - input: `[nodes, input width]`
/// - hidden: `[nodes, hidden width]`
/// - edges: `[edges, edge width]`
/// - parameters: `[parameters]`
/// - output: `[nodes * hidden width]`, with `settle` followed by one unspent probability a graph (or node)
pub(super) fn fused_block(
    input: Tensor<2>,
    hidden: Tensor<2>,
    edges: Tensor<2>,
    parameters: Tensor<1>,
    call: BlockCall,
) -> Tensor<1> {
    Tensor::from_dispatch(Dispatch::fused_block(
        input.into_dispatch(),
        hidden.into_dispatch(),
        edges.into_dispatch(),
        parameters.into_dispatch(),
        call,
    ))
}

fn numbers<T: FlexElement>(tensors: &[FloatTensor<Flex>; 4]) -> Numbers<'_, T> {
    let [input, hidden, edges, parameters] = tensors.each_ref().map(T::elements);
    Numbers { input, hidden, edges, parameters }
}

fn forward<T: FlexElement>(tensors: &[FloatTensor<Flex>; 4], call: &BlockCall) -> FloatTensor<Flex> {
    let values = call.forward(numbers::<T>(tensors));
    let length = values.len();
    FloatTensor::<Flex>::from_data(TensorData::new(values, [length]))
}

fn backward<T: FlexElement>(
    tensors: &[FloatTensor<Flex>; 4],
    gradient: &FloatTensor<Flex>,
    call: &BlockCall,
) -> [Option<FloatTensor<Flex>>; 4] {
    let gradients = call.backward(numbers::<T>(tensors), T::elements(gradient));
    let parts = [gradients.node_inputs, gradients.hidden, gradients.edge_features, gradients.parameters];
    let mut tensors = tensors.iter();
    parts.map(|values| {
        let shape = tensors.next()?.shape();
        // Gradients that are not wanted come back empty.
        (values.len() == shape.num_elements()).then(|| FloatTensor::<Flex>::from_data(TensorData::new(values, shape)))
    })
}

impl FusedBackend for Flex {
    fn fused_block(
        input: FloatTensor<Self>,
        hidden: FloatTensor<Self>,
        edges: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        call: BlockCall,
    ) -> FloatTensor<Self> {
        let tensors = [input, hidden, edges, parameters].map(|tensor| tensor.to_contiguous());
        with_float!(tensors[1], F => forward::<F>(&tensors, &call))
    }
}

impl FusedGradient for Flex {
    fn fused_block_backward(
        tensors: [FloatTensor<Self>; 4],
        gradient: FloatTensor<Self>,
        call: BlockCall,
    ) -> [Option<FloatTensor<Self>>; 4] {
        let tensors = tensors.map(|tensor| tensor.to_contiguous());
        let gradient = gradient.to_contiguous();
        with_float!(gradient, F => backward::<F>(&tensors, &gradient, &call))
    }
}

/// The recorded way back of [`FusedBackend::fused_block`].
#[derive(Debug)]
struct FusedBlockStep;

impl<B: FusedGradient> Backward<B, 4> for FusedBlockStep {
    type State = ([FloatTensor<B>; 4], BlockCall);

    fn backward(self, ops: Ops<Self::State, 4>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (tensors, call) = ops.state;
        let gradient = grads.consume::<B>(&ops.node);
        let gradients = B::fused_block_backward(tensors, gradient, call);
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some((parent, gradient)) = parent.zip(gradient) {
                grads.register::<B>(parent.id, gradient);
            }
        }
    }
}

impl<B: FusedGradient, C: CheckpointStrategy> FusedBackend for Autodiff<B, C> {
    fn fused_block(
        input: FloatTensor<Self>,
        hidden: FloatTensor<Self>,
        edges: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        call: BlockCall,
    ) -> FloatTensor<Self> {
        let wanted = Wanted { node_inputs: input.is_tracked(), edge_features: edges.is_tracked() };
        let nodes = [input.node(), hidden.node(), edges.node(), parameters.node()];
        let tensors = [input, hidden, edges, parameters].map(|tensor| tensor.into_primitive());
        let [input, hidden, edges, parameters] = tensors.clone();
        match FusedBlockStep.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(step) => {
                let call = call.recording(wanted);
                let output = B::fused_block(input, hidden, edges, parameters, call.clone());
                step.finish((tensors, call), output)
            }
            OpsKind::UnTracked(step) => step.finish(B::fused_block(input, hidden, edges, parameters, call)),
        }
    }
}
