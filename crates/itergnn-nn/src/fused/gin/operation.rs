//! The classifier as an operation of the tensor framework: Flex runs the kernels, autodiff records the way back.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend, Flex, TensorMetadata, backend_extension};
use burn::tensor::{Shape, TensorData};
use itergnn_kernels::gin::GinWanted;

use super::call::{GinCall, Numbers};
use super::tensors::Tensors;
use crate::ops::{FlexElement, with_float};

/// Most tensors that autodiff follows through the operation. The framework wants their number at compile time; places
/// that stay empty cost next to nothing. Enough for six blocks of GIN, or five of Iter-GIN.
pub(super) const MOST_FOLLOWED: usize = 64;

/// The operation; implemented for Flex and for autodiff over it.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait GinBackend: Backend {
    /// Runs the classifier that `call` describes: `[graphs, classes]`.
    ///
    /// `followed` are the node attributes `[nodes, node width]`, where blocks are iterated the states that the first
    /// one reads `[nodes, hidden width]`, and then any number of tensors, at most [`MOST_FOLLOWED`] in all, that flat
    /// and one after the other are the kernels' parameters. `statistics` are in the same way the running statistics.
    fn fused_gin(
        #[extension_type] followed: Tensors<Self>,
        #[extension_type] statistics: Tensors<Self>,
        call: GinCall,
    ) -> FloatTensor<Self>;
}

/// The way back of [`GinBackend`].
pub(crate) trait GinGradient: GinBackend {
    /// The gradients of the followed tensors, which have these shapes; those of attributes and states where they are
    /// wanted.
    fn fused_gin_backward(
        shapes: Vec<Shape>,
        gradient: FloatTensor<Self>,
        call: GinCall,
        wanted: GinWanted,
    ) -> Vec<Option<FloatTensor<Self>>>;
}

fn forward<T: FlexElement>(
    followed: &[FloatTensor<Flex>],
    statistics: &[FloatTensor<Flex>],
    call: &GinCall,
) -> FloatTensor<Flex> {
    let join = |tensors: &[FloatTensor<Flex>]| {
        let mut joined = Vec::with_capacity(tensors.iter().map(|tensor| tensor.shape().num_elements()).sum());
        tensors.iter().for_each(|tensor| joined.extend_from_slice(T::elements(tensor)));
        joined
    };
    let (inputs, parameters) = followed.split_at(call.inputs());
    let numbers = Numbers {
        attributes: T::elements(&inputs[0]),
        states: inputs.get(1).map(T::elements),
        parameters: join(parameters),
        statistics: join(statistics),
    };
    FloatTensor::<Flex>::from_data(TensorData::new(call.forward(numbers), call.score_shape()))
}

fn backward<T: FlexElement>(
    shapes: Vec<Shape>,
    gradient: &FloatTensor<Flex>,
    call: &GinCall,
    wanted: GinWanted,
) -> Vec<Option<FloatTensor<Flex>>> {
    let gradients = call.backward(T::elements(gradient), wanted);
    let tensor = |values: Vec<T>, shape| FloatTensor::<Flex>::from_data(TensorData::new(values, shape));
    let Some(gradients) = gradients else {
        // What no optimiser will mistake for numbers.
        let undefined = |shape: Shape| tensor(vec![T::from_f64(f64::NAN); shape.num_elements()], shape);
        return shapes.into_iter().map(|shape| Some(undefined(shape))).collect();
    };
    let mut inputs = [gradients.attributes, gradients.states].into_iter();
    let mut parameters = gradients.parameters.as_slice();
    let mut part = |(place, shape): (usize, Shape)| {
        if place < call.inputs() {
            let values = inputs.next().unwrap_or_default();
            // Gradients that are not wanted come back empty.
            return (!values.is_empty()).then(|| tensor(values, shape));
        }
        let (own, rest) = parameters.split_at(shape.num_elements());
        parameters = rest;
        Some(tensor(own.to_vec(), shape))
    };
    shapes.into_iter().enumerate().map(&mut part).collect()
}

impl GinBackend for Flex {
    fn fused_gin(followed: Tensors<Self>, statistics: Tensors<Self>, call: GinCall) -> FloatTensor<Self> {
        let contiguous =
            |tensors: Tensors<Self>| -> Vec<_> { tensors.0.iter().map(FloatTensor::<Self>::to_contiguous).collect() };
        let (followed, statistics) = (contiguous(followed), contiguous(statistics));
        with_float!(followed[0], F => forward::<F>(&followed, &statistics, &call))
    }
}

impl GinGradient for Flex {
    fn fused_gin_backward(
        shapes: Vec<Shape>,
        gradient: FloatTensor<Self>,
        call: GinCall,
        wanted: GinWanted,
    ) -> Vec<Option<FloatTensor<Self>>> {
        let gradient = gradient.to_contiguous();
        with_float!(gradient, F => backward::<F>(shapes, &gradient, &call, wanted))
    }
}

/// The recorded way back of [`GinBackend::fused_gin`].
#[derive(Debug)]
struct FusedGinStep;

impl<B: GinGradient> Backward<B, MOST_FOLLOWED> for FusedGinStep {
    type State = (Vec<Shape>, GinCall, GinWanted);

    fn backward(self, ops: Ops<Self::State, MOST_FOLLOWED>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (shapes, call, wanted) = ops.state;
        let gradient = grads.consume::<B>(&ops.node);
        let gradients = B::fused_gin_backward(shapes, gradient, call, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some((parent, gradient)) = parent.zip(gradient) {
                grads.register::<B>(parent.id, gradient);
            }
        }
    }
}

impl<B: GinGradient, C: CheckpointStrategy> GinBackend for Autodiff<B, C> {
    fn fused_gin(followed: Tensors<Self>, statistics: Tensors<Self>, call: GinCall) -> FloatTensor<Self> {
        let followed = followed.0;
        assert!(followed.len() <= MOST_FOLLOWED, "no more tensors than there are places");
        let is_tracked = |place: usize| place < call.inputs() && followed[place].is_tracked();
        let wanted = GinWanted { attributes: is_tracked(0), states: is_tracked(1) };
        let nothing = Self::from_inner(followed[0].primitive().clone());
        let nodes = std::array::from_fn(|place| followed.get(place).unwrap_or(&nothing).node());
        let inner = |tensors: Vec<FloatTensor<Self>>| {
            Tensors::<B>(tensors.into_iter().map(FloatTensor::<Self>::into_primitive).collect())
        };
        let (followed, statistics) = (inner(followed), inner(statistics.0));
        match FusedGinStep.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(step) => {
                let shapes = followed.0.iter().map(TensorMetadata::shape).collect();
                let output = B::fused_gin(followed, statistics, call.clone());
                step.finish((shapes, call, wanted), output)
            }
            OpsKind::UnTracked(step) => step.finish(B::fused_gin(followed, statistics, call)),
        }
    }
}
