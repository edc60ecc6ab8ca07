//! Kernels: their source, compiled for a card and a network.

use std::ffi::{CStr, CString, c_char};

use cudarc::driver::{CudaFunction, sys::CUfunction_attribute_enum as Attribute};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};

use crate::cache;
use crate::{CudaError, Gpu};

/// The parts of the source, in order.
const PARTS: [&str; 8] = [
    include_str!("kernels/types.cu"),
    include_str!("kernels/tiles.cu"),
    include_str!("kernels/pack.cu"),
    include_str!("kernels/maximum.cu"),
    include_str!("kernels/controller.cu"),
    include_str!("kernels/perceptron.cu"),
    include_str!("kernels/step.cu"),
    include_str!("kernels/optimiser.cu"),
];

/// The kernels of one network shape on one card.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) graph_step: CudaFunction,
    pub(crate) sum_gradients: CudaFunction,
    pub(crate) adam: CudaFunction,
    pub(crate) note_faults: CudaFunction,
}

impl Program {
    /// Compiles the kernels with the given settings, or takes them from the cache; `shared` is the dynamic shared memory of a step.
    pub(crate) fn load(gpu: &Gpu, settings: &[(&str, usize)], shared: usize) -> Result<Self, CudaError> {
        let mut options = vec![format!("--gpu-architecture={}", gpu.architecture()), "--std=c++17".to_owned()];
        options.extend(settings.iter().map(|(name, value)| format!("-D{name}={value}")));
        let source = PARTS.concat();
        let key = cache::digest(&format!("{}\n{source}", options.join(" ")));
        let binary = match cache::load(&key) {
            Some(binary) => binary,
            None => {
                let binary = compile(&source, &options)?;
                cache::store(&key, &binary);
                binary
            }
        };
        let module = gpu.context.load_module(Ptx::from_binary(binary))?;
        let graph_step = module.load_function("graph_step")?;
        let bytes = i32::try_from(shared).map_err(|_| CudaError::Input("too much shared memory".to_owned()))?;
        graph_step.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
        // All of the carve-out for shared memory; what the kernels read of global memory they read once.
        graph_step.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100)?;
        Ok(Self {
            graph_step,
            sum_gradients: module.load_function("sum_gradients")?,
            adam: module.load_function("adam")?,
            note_faults: module.load_function("note_faults")?,
        })
    }
}

/// The machine code of a source.
fn compile(source: &str, options: &[String]) -> Result<Vec<u8>, CudaError> {
    let failed = |what: &str| CudaError::Compile(what.to_owned());
    let source = CString::new(source).map_err(|_| failed("the source has a zero byte"))?;
    let program = nvrtc::create_program(&source, None).map_err(|error| failed(&error.to_string()))?;
    // SAFETY: the program was created above and is destroyed below, once.
    let result = unsafe { compile_created(program, options) };
    // SAFETY: as above. A program that cannot be destroyed leaks, which changes nothing.
    let _ = unsafe { nvrtc::destroy_program(program) };
    result
}

/// # Safety
/// `program` must be live.
unsafe fn compile_created(program: sys::nvrtcProgram, options: &[String]) -> Result<Vec<u8>, CudaError> {
    // SAFETY: the program is live by contract, and the buffer has the size that NVRTC asked for.
    unsafe {
        if nvrtc::compile_program(program, options).is_err() {
            let log = nvrtc::get_program_log(program).unwrap_or_default();
            return Err(CudaError::Compile(text(&log)));
        }
        let failed = |error: nvrtc::NvrtcError| CudaError::Compile(error.to_string());
        let mut size = 0;
        sys::nvrtcGetCUBINSize(program, &mut size).result().map_err(failed)?;
        let mut binary: Vec<u8> = vec![0; size];
        sys::nvrtcGetCUBIN(program, binary.as_mut_ptr().cast::<c_char>()).result().map_err(failed)?;
        Ok(binary)
    }
}

fn text(log: &[c_char]) -> String {
    let bytes: Vec<u8> = log.iter().map(|&letter| letter as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_define_every_kernel_once() {
        let source = PARTS.concat();
        for name in ["graph_step", "sum_gradients", "adam", "note_faults"] {
            assert_eq!(
                source.matches(&format!(") {name}(")).count() + source.matches(&format!("void {name}(")).count(),
                1,
                "{name}"
            );
        }
    }
}
