//! The custom operations as a Burn backend extension: Flex runs the kernels, Autodiff records their backward.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, TensorMetadata, backend_extension};
use burn::tensor::{Shape, TensorData};
use itergnn_kernels::Real;
use itergnn_kernels::segments::{self as kernels, Extreme, Segments};

/// An operation on one `[rows, width]` tensor.
#[derive(Clone, Debug)]
pub enum UnaryOperation {
    /// Sum of the rows of each segment.
    Sum(Segments),
    /// Mean of the rows of each segment.
    Mean(Segments),
    /// Extreme of the rows of each segment.
    Extreme(Segments, Extreme),
    /// Softmax within each segment.
    Softmax(Segments),
    /// Scores with their scale removed, within each segment.
    RangeNormalise(Segments),
    /// Sparsemax within each segment.
    Sparsemax(Segments),
    /// LeakyReLU with the given slope, element by element.
    LeakyRelu(f64),
    /// The mean cross entropy of the class of every row, one number; the rows have this width.
    CrossEntropy(Arc<[u32]>, usize),
}

impl UnaryOperation {
    /// The shape of the result for an input of `[rows, width]`.
    fn output_shape(&self, [rows, width]: [usize; 2]) -> Shape {
        match self {
            Self::Sum(segments) | Self::Mean(segments) | Self::Extreme(segments, _) => [segments.len(), width].into(),
            Self::CrossEntropy(..) => [1].into(),
            _ => [rows, width].into(),
        }
    }

    /// The shape of the input, given that of the result.
    fn input_shape(&self, output: &Shape) -> [usize; 2] {
        match self {
            Self::Sum(segments) | Self::Mean(segments) | Self::Extreme(segments, _) => [segments.rows(), output[1]],
            Self::CrossEntropy(classes, width) => [classes.len(), *width],
            _ => output.dims(),
        }
    }

    /// Whether the backward pass reads the input.
    fn keeps_input(&self) -> bool {
        matches!(self, Self::Extreme(..) | Self::RangeNormalise(_) | Self::LeakyRelu(_) | Self::CrossEntropy(..))
    }

    /// Whether the backward pass reads the output.
    fn keeps_output(&self) -> bool {
        matches!(self, Self::Extreme(..) | Self::Softmax(_) | Self::RangeNormalise(_) | Self::Sparsemax(_))
    }

    fn forward<F: Real>(&self, input: &[F], width: usize) -> Vec<F> {
        match self {
            Self::Sum(segments) => kernels::sum(input, segments, width),
            Self::Mean(segments) => kernels::mean(input, segments, width),
            Self::Extreme(segments, which) => kernels::extreme(input, segments, width, *which),
            Self::Softmax(segments) => kernels::softmax(input, segments, width),
            Self::RangeNormalise(segments) => kernels::range_normalise(input, segments, width),
            Self::Sparsemax(segments) => kernels::sparsemax(input, segments, width),
            Self::LeakyRelu(slope) => kernels::leaky_relu(input, F::from_f64(*slope)),
            Self::CrossEntropy(classes, width) => vec![kernels::cross_entropy(input, classes, *width)],
        }
    }

    fn backward<F: Real>(&self, input: &[F], output: &[F], gradient: &[F], width: usize) -> Vec<F> {
        match self {
            Self::Sum(segments) => kernels::broadcast(gradient, segments, width, |_| F::ONE),
            Self::Mean(segments) => {
                kernels::broadcast(gradient, segments, width, |length| F::ONE / F::from_f64(length as f64))
            }
            Self::Extreme(segments, _) => kernels::extreme_backward(input, output, gradient, segments, width),
            Self::Softmax(segments) => kernels::softmax_backward(output, gradient, segments, width),
            Self::RangeNormalise(segments) => {
                kernels::range_normalise_backward(input, output, gradient, segments, width)
            }
            Self::Sparsemax(segments) => kernels::sparsemax_backward(output, gradient, segments, width),
            Self::LeakyRelu(slope) => kernels::leaky_relu_backward(input, gradient, F::from_f64(*slope)),
            Self::CrossEntropy(classes, width) => kernels::cross_entropy_backward(input, classes, gradient[0], *width),
        }
    }
}

/// The custom operations of this crate; implemented for Flex and for autodiff over it.
#[backend_extension(Flex, Autodiff)]
pub trait GraphBackend: Backend {
    /// Runs `operation` on a `[rows, width]` tensor.
    fn unary(input: FloatTensor<Self>, operation: UnaryOperation) -> FloatTensor<Self>;

    /// `max(kept, candidate)` where the segment has rows, `kept` elsewhere.
    fn keep_max(kept: FloatTensor<Self>, candidate: FloatTensor<Self>, segments: Segments) -> FloatTensor<Self>;
}

/// The backward kernels of [`GraphBackend`].
///
/// A trait of its own, because the recorded step is generic over the backend it runs on, while autodiff itself, which
/// differentiates once, has no use for them.
pub trait GraphGradient: GraphBackend {
    /// The gradient of [`unary`](GraphBackend::unary) with respect to its input; `input` and `output` where the
    /// operation keeps them.
    fn unary_backward(
        input: Option<FloatTensor<Self>>,
        output: Option<FloatTensor<Self>>,
        gradient: FloatTensor<Self>,
        operation: UnaryOperation,
    ) -> FloatTensor<Self>;

    /// The gradients of [`keep_max`](GraphBackend::keep_max) with respect to `kept` and `candidate`.
    fn keep_max_backward(
        kept: FloatTensor<Self>,
        candidate: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        segments: Segments,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// An element type the kernels run on.
pub(crate) trait FlexElement: Real + burn::tensor::Element {
    /// The elements of a contiguous tensor of this type.
    fn elements(tensor: &FloatTensor<Flex>) -> &[Self];
}

macro_rules! flex_element {
    ($float:ty) => {
        impl FlexElement for $float {
            fn elements(tensor: &FloatTensor<Flex>) -> &[Self] {
                tensor
                    .as_slice()
                    .expect("the tensor is contiguous and all tensors of an operation share one float type")
            }
        }
    };
}
flex_element!(f32);
flex_element!(f64);

/// Runs `$body` with `$float` standing for the element type of `$tensor`.
macro_rules! with_float {
    ($tensor:expr, $float:ident => $body:expr) => {
        match $tensor.dtype() {
            burn::tensor::DType::F32 => {
                type $float = f32;
                $body
            }
            burn::tensor::DType::F64 => {
                type $float = f64;
                $body
            }
            other => panic!("graph operations support f32 and f64 tensors, found {other:?}"),
        }
    };
}

pub(crate) use with_float;

fn tensor<F: FlexElement>(values: Vec<F>, shape: impl Into<Shape>) -> FloatTensor<Flex> {
    FloatTensor::<Flex>::from_data(TensorData::new(values, shape.into()))
}

impl GraphBackend for Flex {
    fn unary(input: FloatTensor<Self>, operation: UnaryOperation) -> FloatTensor<Self> {
        let input = input.to_contiguous();
        let shape: [usize; 2] = input.shape().dims();
        with_float!(input, F => {
            tensor(operation.forward(F::elements(&input), shape[1]), operation.output_shape(shape))
        })
    }

    fn keep_max(kept: FloatTensor<Self>, candidate: FloatTensor<Self>, segments: Segments) -> FloatTensor<Self> {
        let (kept, candidate) = (kept.to_contiguous(), candidate.to_contiguous());
        let [rows, width] = kept.shape().dims();
        with_float!(kept, F => {
            tensor(kernels::keep_max(F::elements(&kept), F::elements(&candidate), &segments, width), [rows, width])
        })
    }
}

impl GraphGradient for Flex {
    fn unary_backward(
        input: Option<FloatTensor<Self>>,
        output: Option<FloatTensor<Self>>,
        gradient: FloatTensor<Self>,
        operation: UnaryOperation,
    ) -> FloatTensor<Self> {
        let gradient = gradient.to_contiguous();
        let (input, output) = (input.map(|tensor| tensor.to_contiguous()), output.map(|tensor| tensor.to_contiguous()));
        let shape = operation.input_shape(&gradient.shape());
        with_float!(gradient, F => {
            let input = input.as_ref().map_or(&[][..], F::elements);
            let output = output.as_ref().map_or(&[][..], F::elements);
            tensor(operation.backward(input, output, F::elements(&gradient), shape[1]), shape)
        })
    }

    fn keep_max_backward(
        kept: FloatTensor<Self>,
        candidate: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        segments: Segments,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (kept, candidate, gradient) = (kept.to_contiguous(), candidate.to_contiguous(), gradient.to_contiguous());
        let [rows, width] = kept.shape().dims();
        with_float!(kept, F => {
            let (kept, candidate, gradient) = (F::elements(&kept), F::elements(&candidate), F::elements(&gradient));
            let (to_kept, to_candidate) = kernels::keep_max_backward(kept, candidate, gradient, &segments, width);
            (tensor(to_kept, [rows, width]), tensor(to_candidate, [rows, width]))
        })
    }
}

/// The recorded backward step of [`GraphBackend::unary`].
#[derive(Debug)]
struct UnaryStep;

impl<B: GraphGradient> Backward<B, 1> for UnaryStep {
    type State = (Option<FloatTensor<B>>, Option<FloatTensor<B>>, UnaryOperation);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (input, output, operation) = ops.state;
        let gradient = grads.consume::<B>(&ops.node);
        let [parent] = ops.parents;
        if let Some(parent) = parent {
            grads.register::<B>(parent.id, B::unary_backward(input, output, gradient, operation));
        }
    }
}

/// The recorded backward step of [`GraphBackend::keep_max`].
#[derive(Debug)]
struct KeepMaxStep;

impl<B: GraphGradient> Backward<B, 2> for KeepMaxStep {
    type State = (FloatTensor<B>, FloatTensor<B>, Segments);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (kept, candidate, segments) = ops.state;
        let gradient = grads.consume::<B>(&ops.node);
        let (to_kept, to_candidate) = B::keep_max_backward(kept, candidate, gradient, segments);
        let [kept, candidate] = ops.parents;
        if let Some(parent) = kept {
            grads.register::<B>(parent.id, to_kept);
        }
        if let Some(parent) = candidate {
            grads.register::<B>(parent.id, to_candidate);
        }
    }
}

impl<B: GraphGradient, C: CheckpointStrategy> GraphBackend for Autodiff<B, C> {
    fn unary(input: FloatTensor<Self>, operation: UnaryOperation) -> FloatTensor<Self> {
        match UnaryStep.prepare::<C>([input.node()]).compute_bound().stateful() {
            OpsKind::Tracked(step) => {
                let input = input.into_primitive();
                let kept_input = operation.keeps_input().then(|| input.clone());
                let output = B::unary(input, operation.clone());
                let kept_output = operation.keeps_output().then(|| output.clone());
                step.finish((kept_input, kept_output, operation), output)
            }
            OpsKind::UnTracked(step) => step.finish(B::unary(input.into_primitive(), operation)),
        }
    }

    fn keep_max(kept: FloatTensor<Self>, candidate: FloatTensor<Self>, segments: Segments) -> FloatTensor<Self> {
        match KeepMaxStep.prepare::<C>([kept.node(), candidate.node()]).compute_bound().stateful() {
            OpsKind::Tracked(step) => {
                let (kept, candidate) = (kept.into_primitive(), candidate.into_primitive());
                let output = B::keep_max(kept.clone(), candidate.clone(), segments.clone());
                step.finish((kept, candidate, segments), output)
            }
            OpsKind::UnTracked(step) => {
                step.finish(B::keep_max(kept.into_primitive(), candidate.into_primitive(), segments))
            }
        }
    }
}
