//! Aligned memory that is kept and reused between calls.
//!
//! A training step writes some megabytes that the next step writes again; fresh pages would cost as much as a tenth of
//! the step.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Alignment of every buffer: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;

/// Most bytes kept for reuse.
const MOST_KEPT_BYTES: usize = 512 << 20;

/// Types of which every bit pattern is a value.
///
/// # Safety
/// Memory that held any other such type may be read as this one.
pub unsafe trait Plain: Copy + 'static {}
// SAFETY: all bit patterns of these types are values.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}

/// Memory that no buffer uses now, by the logarithm of its size.
struct Kept {
    blocks: [Vec<Block>; usize::BITS as usize],
    bytes: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { blocks: [const { Vec::new() }; usize::BITS as usize], bytes: 0 });

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An allocation of `bytes` bytes, a power of two, all of them initialised.
struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is plain memory with one owner.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGNMENT).expect("a buffer does not exceed the address space")
    }

    fn take(bytes: usize) -> Self {
        let bytes = bytes.max(ALIGNMENT).next_power_of_two();
        let mut kept = kept();
        if let Some(block) = kept.blocks[bytes.trailing_zeros() as usize].pop() {
            kept.bytes -= bytes;
            return block;
        }
        drop(kept);
        let layout = Self::layout(bytes);
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        prefer_large_pages(start.as_ptr(), bytes);
        Self { start, bytes }
    }
}

/// Asks the system for large pages where memory that was not touched yet is large: with a million nodes, faults of
/// small pages cost as much as an iteration.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_large_pages<T>(start: *mut T, bytes: usize) {
    /// MADV_HUGEPAGE of Linux.
    const LARGE_PAGES: i32 = 14;
    /// Two large pages: below that, there may be none in between.
    const WORTH_WHILE: usize = 4 << 20;
    const PAGE: usize = 4096;
    unsafe extern "C" {
        fn madvise(start: *mut std::ffi::c_void, bytes: usize, advice: i32) -> i32;
    }
    if bytes >= WORTH_WHILE {
        let skipped = start.align_offset(PAGE) * size_of::<T>();
        // SAFETY: the range lies within the caller's memory and begins on a page; the advice changes no contents, and
        // may be refused.
        unsafe {
            madvise(start.cast::<u8>().wrapping_add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, LARGE_PAGES)
        };
    }
}

/// Elsewhere the system decides alone.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_large_pages<T>(_start: *mut T, _bytes: usize) {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block was allocated with this layout and has no other owner.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.bytes)) }
    }
}

/// A slice of plain values, aligned to 64 bytes. Its first contents are whatever the memory held before.
pub(crate) struct Buffer<T> {
    block: Option<Block>,
    len: usize,
    values: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// A buffer of `len` values of no particular content.
    pub(crate) fn new(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).expect("a buffer does not exceed the address space");
        let block = (len > 0).then(|| Block::take(bytes));
        Self { block, len, values: PhantomData }
    }

    /// Makes room for at least `len` values; what the buffer held is lost.
    pub(crate) fn ensure(&mut self, len: usize) {
        if self.len < len {
            *self = Self::new(len);
        }
    }

    pub(crate) fn as_ptr(&self) -> *const T {
        self.block.as_ref().map_or(NonNull::dangling().as_ptr(), |block| block.start.as_ptr().cast())
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.block.as_ref().map_or(NonNull::dangling().as_ptr(), |block| block.start.as_ptr().cast())
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: the block holds `len` values, initialised since its allocation, of a type that any bits are values
        // of.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.len) }
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self { block: None, len: 0, values: PhantomData }
    }
}

impl<T> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Buffer").field("len", &self.len).finish()
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            let mut kept = kept();
            if kept.bytes + block.bytes <= MOST_KEPT_BYTES {
                kept.bytes += block.bytes;
                kept.blocks[block.bytes.trailing_zeros() as usize].push(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_sized() {
        let mut buffer = Buffer::<f32>::new(100);
        assert_eq!(buffer.as_ptr() as usize % ALIGNMENT, 0);
        buffer.as_mut_slice().fill(1.0);
        assert_eq!(buffer.as_slice().len(), 100);
        buffer.ensure(50);
        assert_eq!(buffer.as_slice()[99], 1.0);
        buffer.ensure(1000);
        assert_eq!(buffer.as_slice().len(), 1000);
        assert!(Buffer::<u8>::new(0).as_slice().is_empty());
    }
}
