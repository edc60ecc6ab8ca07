//! The first message layer on rows: gather what the nodes prepared, add the edge's part, LeakyReLU; and the way back.

use crate::real::Real;
use crate::simd::Simd;

/// Rows of messages and where their parts lie.
///
/// Row `i` has the input `prepared[senders[i]] + prepared[receivers[i]][receiver_column ..] + features[edges[i]] .
/// edge_weight`.
#[derive(Clone, Copy)]
pub(crate) struct MessageRows<T> {
    pub(crate) senders: *const u32,
    pub(crate) receivers: *const u32,
    pub(crate) edges: *const u32,
    /// `[nodes, prepared_row]`.
    pub(crate) prepared: *const T,
    pub(crate) prepared_row: usize,
    /// Where the receiver's part begins, for layers that have one.
    pub(crate) receiver_column: Option<usize>,
    /// `[edges, feature_width]`.
    pub(crate) features: *const T,
    pub(crate) feature_width: usize,
    /// `[feature_width, width]`.
    pub(crate) edge_weight: *const T,
    /// Padded width of the first message layer.
    pub(crate) width: usize,
}

/// Where the parts of one row lie.
#[derive(Clone, Copy)]
pub(super) struct RowParts<T> {
    sender: *const T,
    /// Null for layers without a receiver's part.
    receiver: *const T,
    features: *const T,
}

impl<T: Real> MessageRows<T> {
    /// The parts of row `row`.
    ///
    /// # Safety
    /// As [`activate`].
    #[inline(always)]
    pub(super) unsafe fn parts(&self, row: usize) -> RowParts<T> {
        // SAFETY: the indices of a row lie within the arrays they point into.
        unsafe {
            let prepared = |node: u32| self.prepared.add(node as usize * self.prepared_row);
            RowParts {
                sender: prepared(*self.senders.add(row)),
                receiver: match self.receiver_column {
                    Some(start) => prepared(*self.receivers.add(row)).add(start),
                    None => std::ptr::null(),
                },
                features: self.features.add(*self.edges.add(row) as usize * self.feature_width),
            }
        }
    }

    /// One vector of the input of a row.
    ///
    /// # Safety
    /// As [`activate`]; `column` plus one vector lies within the width.
    #[inline(always)]
    pub(super) unsafe fn input<S: Simd<Scalar = T>>(&self, parts: RowParts<T>, column: usize) -> S::Vector {
        // SAFETY: the parts are as wide as the row.
        unsafe {
            let mut value = S::load(parts.sender.add(column));
            if !parts.receiver.is_null() {
                value = S::add(value, S::load(parts.receiver.add(column)));
            }
            for feature in 0..self.feature_width {
                let weight = S::load(self.edge_weight.add(feature * self.width + column));
                value = S::mul_add(S::splat(*parts.features.add(feature)), weight, value);
            }
            value
        }
    }
}

/// Computes the first message layer of `count` rows from `first` on into `target`, `[count, width]`.
#[derive(Clone, Copy)]
pub(crate) struct Activate<T> {
    pub(crate) rows: MessageRows<T>,
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) target: *mut T,
}

/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn activate<S: Simd>(args: &Activate<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let slope = S::splat(S::Scalar::LEAKY_SLOPE);
        let width = args.rows.width;
        for row in 0..args.count {
            let target = args.target.add(row * width);
            let parts = args.rows.parts(args.first + row);
            for column in (0..width).step_by(S::LANES) {
                let value = args.rows.input::<S>(parts, column);
                S::store(target.add(column), S::maximum(value, S::mul(value, slope)));
            }
        }
    }
}

/// Sends the gradient of the first layer's output back to the nodes.
#[derive(Clone, Copy)]
pub(crate) struct ActivateBackward<T> {
    pub(crate) rows: MessageRows<T>,
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// The first layer's output, `[count, width]`.
    pub(crate) output: *const T,
    /// Gradient of that output; becomes the gradient of the input.
    pub(crate) gradient: *mut T,
    /// `[nodes, prepared_row]`, added to.
    pub(crate) prepared_gradient: *mut T,
    /// `[count]`: receives the product of output and its gradient; null where not needed.
    pub(crate) products: *mut T,
    /// `[nodes]`: becomes 1 for nodes whose prepared rows got a gradient.
    pub(crate) touched: *mut u8,
}

/// # Safety
/// As [`activate`].
#[inline(always)]
pub(super) unsafe fn activate_backward<S: Simd>(args: &ActivateBackward<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let (zero, slope) = (S::splat(S::Scalar::ZERO), S::splat(S::Scalar::LEAKY_SLOPE));
        let MessageRows { width, prepared_row, receiver_column, .. } = args.rows;
        for row in 0..args.count {
            let sender = *args.rows.senders.add(args.first + row) as usize;
            let to_sender = args.prepared_gradient.add(sender * prepared_row);
            *args.touched.add(sender) = 1;
            if receiver_column.is_some() {
                *args.touched.add(*args.rows.receivers.add(args.first + row) as usize) = 1;
            }
            let (output, gradient) = (args.output.add(row * width), args.gradient.add(row * width));
            let mut product = zero;
            for column in (0..width).step_by(S::LANES) {
                let (value, mut change) = (S::load(output.add(column)), S::load(gradient.add(column)));
                product = S::mul_add(value, change, product);
                change = S::select(S::greater(value, zero), change, S::mul(change, slope));
                S::store(gradient.add(column), change);
                S::store(to_sender.add(column), S::add(S::load(to_sender.add(column)), change));
                if let Some(start) = receiver_column {
                    let receiver = *args.rows.receivers.add(args.first + row) as usize;
                    let target = args.prepared_gradient.add(receiver * prepared_row + start + column);
                    S::store(target, S::add(S::load(target), change));
                }
            }
            if !args.products.is_null() {
                *args.products.add(row) = S::sum(product);
            }
        }
    }
}
