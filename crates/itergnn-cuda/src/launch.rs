//! Launches that begin while those before them still run.

use std::ffi::c_void;

use cudarc::driver::{CudaFunction, DeviceRepr, LaunchConfig, sys};

use crate::{CudaError, Gpu};

/// Orders a kernel that may begin as soon as all thread blocks of the one before it have begun, on cards that can: the
/// kernel itself waits for what it needs of it (`wait_for_launches_before` in `kernels/vectors.cu`). On others it
/// begins behind it.
///
/// # Safety
/// The kernel takes one argument of the type and layout of `argument`, in which every address points to a buffer as
/// large as the kernel expects, that lives until the stream has used it.
pub(crate) unsafe fn launch_early<T: DeviceRepr>(
    gpu: &Gpu,
    function: &CudaFunction,
    shape: LaunchConfig,
    argument: &T,
) -> Result<(), CudaError> {
    gpu.context.bind_to_thread()?;
    let mut early = sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: Default::default(),
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    };
    let config = sys::CUlaunchConfig {
        gridDimX: shape.grid_dim.0,
        gridDimY: shape.grid_dim.1,
        gridDimZ: shape.grid_dim.2,
        blockDimX: shape.block_dim.0,
        blockDimY: shape.block_dim.1,
        blockDimZ: shape.block_dim.2,
        sharedMemBytes: shape.shared_mem_bytes,
        hStream: gpu.stream.cu_stream(),
        attrs: &mut early,
        // Cards that have clusters can do this too.
        numAttrs: u32::from(gpu.limits().clusters),
    };
    let mut arguments = [std::ptr::from_ref(argument).cast_mut().cast::<c_void>()];
    // SAFETY: the driver copies arguments and attributes before it returns; the rest is the caller's.
    unsafe {
        sys::cuLaunchKernelEx(&config, function.cu_function(), arguments.as_mut_ptr(), std::ptr::null_mut())
            .result()?;
    }
    Ok(())
}
