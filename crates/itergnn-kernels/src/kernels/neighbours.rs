//! Sums over neighbours, without a row for every edge.

use crate::simd::Simd;

/// Sums of rows over the neighbours of nodes.
#[derive(Clone, Copy)]
pub(crate) struct NeighbourSum<T> {
    pub(crate) nodes: usize,
    pub(crate) width: usize,
    /// `[nodes + 1]`.
    pub(crate) offsets: *const u32,
    /// `[edges]`.
    pub(crate) senders: *const u32,
    pub(crate) source: *const T,
    pub(crate) target: *mut T,
}

/// `target[v] = source[v] + sum of source[s] over the senders s of edges into v`.
///
/// # Safety
/// The instruction set is available; pointers are valid for the shapes, senders are nodes, and `target` does not
/// overlap `source`.
#[inline(always)]
pub(super) unsafe fn gather_sum<S: Simd>(args: &NeighbourSum<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for node in 0..args.nodes {
            let (first, last) = (*args.offsets.add(node) as usize, *args.offsets.add(node + 1) as usize);
            for column in (0..args.width).step_by(S::LANES) {
                let mut sum = S::load(args.source.add(node * args.width + column));
                for edge in first..last {
                    let sender = *args.senders.add(edge) as usize;
                    sum = S::add(sum, S::load(args.source.add(sender * args.width + column)));
                }
                S::store(args.target.add(node * args.width + column), sum);
            }
        }
    }
}

/// The transpose of [`gather_sum`]: `target[v] = source[v] + sum of source[r] over the receivers r of edges from v`.
///
/// # Safety
/// The instruction set is available; pointers are valid for the shapes, senders are nodes, and `target` does not
/// overlap `source`.
#[inline(always)]
pub(super) unsafe fn scatter_sum<S: Simd>(args: &NeighbourSum<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        std::ptr::copy_nonoverlapping(args.source, args.target, args.nodes * args.width);
        for node in 0..args.nodes {
            let (first, last) = (*args.offsets.add(node) as usize, *args.offsets.add(node + 1) as usize);
            for column in (0..args.width).step_by(S::LANES) {
                let value = S::load(args.source.add(node * args.width + column));
                for edge in first..last {
                    let target = args.target.add(*args.senders.add(edge) as usize * args.width + column);
                    S::store(target, S::add(S::load(target), value));
                }
            }
        }
    }
}
