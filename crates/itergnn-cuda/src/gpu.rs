//! The card.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, CudaStream};

use crate::CudaError;

/// Compute capability that the kernels need: tensor cores that multiply TF32.
const OLDEST: (i32, i32) = (8, 0);

/// A card, ready for work. Clones speak of the same card.
#[derive(Clone)]
pub struct Gpu {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    name: String,
    capability: (i32, i32),
    limits: Limits,
}

/// What decides how work is laid out on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) multiprocessors: usize,
    /// Most bytes of shared memory.
    pub(crate) shared_per_block: usize,
    pub(crate) shared_per_multiprocessor: usize,
    /// Whether thread blocks can work in clusters.
    pub(crate) clusters: bool,
}

impl Limits {
    /// How many thread blocks, at most, can share each of `graphs` graphs, if the smallest ones may share a cluster.
    pub(crate) fn cluster(&self, graphs: usize, most: usize) -> usize {
        (2..=most).rev().find(|&cluster| cluster * graphs <= self.multiprocessors).unwrap_or(1)
    }

    /// Clusters of so many blocks that find a place at once, a multiprocessor for each block. They must be neighbours:
    /// pairs always are, larger clusters leave some multiprocessors empty.
    pub(crate) fn clusters_at_once(&self, cluster: usize) -> usize {
        let places = if cluster > 2 { self.multiprocessors * 7 / 8 } else { self.multiprocessors };
        places / cluster
    }

    /// Bytes of shared memory for each of `blocks` thread blocks on a multiprocessor.
    pub(crate) fn shared_memory(&self, blocks: usize) -> usize {
        // The driver keeps a kibibyte for itself in every block.
        (self.shared_per_multiprocessor / blocks).saturating_sub(1024).min(self.shared_per_block)
    }
}

impl Gpu {
    /// The first card.
    ///
    /// # Errors
    /// One line each: no driver, no run-time compiler, no card, too old a card.
    pub fn open() -> Result<Self, CudaError> {
        // The bindings panic where a library is missing, so ask first.
        // SAFETY: loading the vendor's libraries runs their initialisers, which is what using them means.
        if !unsafe { cudarc::driver::sys::is_culib_present() } {
            return Err(CudaError::NoDriver);
        }
        // SAFETY: as above.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(CudaError::NoCompiler);
        }
        let none = |error: cudarc::driver::DriverError| CudaError::NoCard { why: error.to_string() };
        let context = CudaContext::new(0).map_err(none)?;
        let name = context.name()?;
        let capability = context.compute_capability()?;
        if capability < OLDEST {
            return Err(CudaError::TooOld { name, major: capability.0, minor: capability.1 });
        }
        // SAFETY: everything that belongs together goes through one stream, which is in order by itself.
        unsafe { context.disable_event_tracking() };
        keep_freed_memory(&context)?;
        let attribute = |which| context.attribute(which).map(|value| value.max(0) as usize);
        let limits = Limits {
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_per_multiprocessor: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            clusters: capability >= (9, 0),
        };
        Ok(Self { stream: context.default_stream(), context, name, capability, limits })
    }

    /// The same card for work that goes on beside this one's.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn beside(&self) -> Result<Self, CudaError> {
        Ok(Self { stream: self.context.new_stream()?, ..self.clone() })
    }

    /// What the card calls itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> usize {
        self.limits.multiprocessors
    }

    /// Bytes of the card's memory that are free now.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn free_memory(&self) -> Result<u64, CudaError> {
        Ok(self.context.mem_get_info()?.0 as u64)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The architecture's name for the compiler.
    pub(crate) fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }

    /// Refuses what does not fit into the card's free memory.
    pub(crate) fn check_memory(&self, bytes: u64) -> Result<(), CudaError> {
        let free = self.free_memory()?;
        if bytes > free {
            return Err(CudaError::Memory { needed: bytes.div_ceil(1 << 20), free: free >> 20 });
        }
        Ok(())
    }
}

/// Has the driver keep freed memory for the next allocation: mapping it anew takes longer than many a launch.
fn keep_freed_memory(context: &CudaContext) -> Result<(), CudaError> {
    if !context.has_async_alloc() {
        return Ok(());
    }
    let mut pool = std::ptr::null_mut();
    let mut most = u64::MAX;
    // SAFETY: the pool belongs to the device of a live context, and the attribute is a 64-bit number.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()).result()?;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        sys::cuMemPoolSetAttribute(pool, threshold, std::ptr::from_mut(&mut most).cast()).result()?;
    }
    Ok(())
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Gpu").field("name", &self.name).field("capability", &self.capability).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_as_large_as_find_a_multiprocessor_for_every_block() {
        let limits = Limits {
            multiprocessors: 132,
            shared_per_block: 227 << 10,
            shared_per_multiprocessor: 228 << 10,
            clusters: true,
        };
        assert_eq!([1, 32, 33, 34, 64, 128, 512].map(|graphs| limits.cluster(graphs, 4)), [4, 4, 4, 3, 2, 1, 1]);
        assert_eq!([2, 3, 4].map(|cluster| limits.clusters_at_once(cluster)), [66, 38, 28]);
    }
}
