//! Kernels: their source, compiled for a card and a network.

use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, sys::CUfunction_attribute_enum as Attribute};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};

use crate::cache;
use crate::{CudaError, Gpu, Network};

/// The parts of the source, in order.
pub(crate) const PARTS: [&str; 19] = [
    include_str!("kernels/types.cu"),
    include_str!("kernels/vectors.cu"),
    include_str!("kernels/products.cu"),
    include_str!("kernels/cluster.cu"),
    include_str!("kernels/pack.cu"),
    include_str!("kernels/layer.cu"),
    include_str!("kernels/score.cu"),
    include_str!("kernels/messages.cu"),
    include_str!("kernels/maximum.cu"),
    include_str!("kernels/attention.cu"),
    include_str!("kernels/convolution.cu"),
    include_str!("kernels/controller.cu"),
    include_str!("kernels/controller_back.cu"),
    include_str!("kernels/perceptron.cu"),
    include_str!("kernels/readout.cu"),
    include_str!("kernels/ends.cu"),
    include_str!("kernels/step.cu"),
    include_str!("kernels/kernel.cu"),
    include_str!("kernels/optimiser.cu"),
];

/// The source of the kernels for large graphs.
const LARGE_PARTS: [&str; 4] = [
    include_str!("kernels/types.cu"),
    include_str!("kernels/vectors.cu"),
    include_str!("kernels/tiles.cu"),
    include_str!("kernels/large.cu"),
];

/// Nodes or edges of a tile of the kernels for large graphs.
pub(crate) const TILE: usize = 64;

/// The kernels of one network shape on one card.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) graph_step: CudaFunction,
    pub(crate) sum_gradients: CudaFunction,
    pub(crate) adam: CudaFunction,
}

impl Program {
    /// Loads the kernels with the given settings; `shared` is the dynamic shared memory of a step.
    pub(crate) fn load(gpu: &Gpu, settings: &[(&str, usize)], shared: usize) -> Result<Self, CudaError> {
        let module = module(gpu, &PARTS.concat(), settings)?;
        let graph_step = module.load_function("graph_step")?;
        allow_shared(&graph_step, shared)?;
        Ok(Self {
            graph_step,
            sum_gradients: module.load_function("sum_gradients")?,
            adam: module.load_function("adam")?,
        })
    }
}

/// The kernels for large graphs.
pub(crate) struct LargeProgram {
    pub(crate) map: CudaFunction,
    pub(crate) products: CudaFunction,
    pub(crate) messages: CudaFunction,
    pub(crate) confide: CudaFunction,
    pub(crate) finish: CudaFunction,
    pub(crate) read: CudaFunction,
    pub(crate) gather: CudaFunction,
    /// Threads, dynamic shared memory and blocks per multiprocessor of the passes over nodes and over edges.
    pub(crate) node_threads: u32,
    pub(crate) node_bytes: usize,
    pub(crate) node_blocks: usize,
    pub(crate) edge_threads: u32,
    pub(crate) edge_bytes: usize,
    pub(crate) edge_blocks: usize,
}

impl LargeProgram {
    /// Loads the kernels for a network.
    pub(crate) fn load(gpu: &Gpu, network: &Network) -> Result<Self, CudaError> {
        let module = module(gpu, &LARGE_PARTS.concat(), &large_settings(network))?;
        let block = network.block();
        let pad = |width: usize| width.next_multiple_of(4);
        let (hidden, message) = (pad(block.hidden_width()), pad(block.message_width()));
        let vector = pad(block.input_width() + usize::from(block.biased())) + hidden;
        let product = message * (1 + usize::from(block.uses_receiver()));
        let node_bytes = 4 * (vector * product + TILE * vector);
        let edge_bytes = 4 * (message * hidden + network.edge_width() * message + hidden + TILE * (message + hidden));
        let (products, messages) = (module.load_function("large_products")?, module.load_function("large_messages")?);
        let most = gpu.limits().shared_memory(1);
        if node_bytes.max(edge_bytes) > most {
            return Err(CudaError::Unsupported(format!("a hidden width of {} on large graphs", block.hidden_width())));
        }
        allow_shared(&products, node_bytes)?;
        allow_shared(&messages, edge_bytes)?;
        let (node_threads, edge_threads) = (288, 256);
        let blocks = |function: &CudaFunction, threads: u32, bytes: usize| {
            function
                .occupancy_max_active_blocks_per_multiprocessor(threads, bytes, None)
                .map(|count| count.max(1) as usize)
        };
        Ok(Self {
            node_blocks: blocks(&products, node_threads, node_bytes)?,
            edge_blocks: blocks(&messages, edge_threads, edge_bytes)?,
            products,
            messages,
            map: module.load_function("large_map")?,
            confide: module.load_function("large_confide")?,
            finish: module.load_function("large_finish")?,
            read: module.load_function("large_read")?,
            gather: module.load_function("large_gather")?,
            node_threads,
            node_bytes,
            edge_threads,
            edge_bytes,
        })
    }
}

/// What distinguishes the kernels for large graphs of a network from those of others.
fn large_settings(network: &Network) -> Vec<(&'static str, usize)> {
    let mut settings = network.settings();
    settings.extend([
        ("THREADS", 256),
        ("GRAPHS", 1),
        ("WIDE_WINNERS", 0),
        ("LARGE", 1),
        ("TRAIN", 0),
        ("PADDING", 4),
        ("CLUSTER", 1),
    ]);
    settings
}

/// Lets a kernel have that much dynamic shared memory, and all of the carve-out: what it reads of global memory it
/// reads once.
fn allow_shared(function: &CudaFunction, bytes: usize) -> Result<(), CudaError> {
    let bytes = i32::try_from(bytes).map_err(|_| CudaError::Input("too much shared memory".to_owned()))?;
    function.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
    function.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100)?;
    Ok(())
}

/// Compiles a source with the given settings, or takes what was made of it before from the cache.
fn module(gpu: &Gpu, source: &str, settings: &[(&str, usize)]) -> Result<Arc<CudaModule>, CudaError> {
    let options = options(&gpu.architecture(), settings);
    let key = cache::digest(&format!("{}\n{source}", options.join(" ")));
    let binary = match cache::load(&key) {
        Some(binary) => binary,
        None => {
            let binary = compile(source, &options)?;
            cache::store(&key, &binary);
            binary
        }
    };
    Ok(gpu.context.load_module(Ptx::from_binary(binary))?)
}

fn options(architecture: &str, settings: &[(&str, usize)]) -> Vec<String> {
    let mut options = vec![format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()];
    options.push("--device-as-default-execution-space".to_owned());
    options.extend(settings.iter().map(|(name, value)| format!("-D{name}={value}")));
    options
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
    use itergnn_kernels::block::BlockConfig;
    use itergnn_kernels::settings::{Aggregation, ControllerConfig, LayerConfig, LayerKind, Scope};

    use super::*;
    use crate::{Perceptron, Readout};

    #[test]
    fn parts_define_every_kernel_once() {
        let source = PARTS.concat();
        for name in ["graph_step", "sum_gradients", "adam"] {
            assert_eq!(
                source.matches(&format!(") {name}(")).count() + source.matches(&format!("void {name}(")).count(),
                1,
                "{name}"
            );
        }
    }

    fn network(kind: LayerKind, aggregation: Aggregation, controller: ControllerConfig) -> Network {
        let layer = LayerConfig::new(kind, 3, 8, 1).with_aggregation(aggregation);
        let perceptron = |widths: Vec<usize>| Perceptron { widths, biased: true, final_activation: false };
        Network {
            embedding: perceptron(vec![3, 8]),
            blocks: vec![BlockConfig { layer: LayerConfig { use_edge_attributes: true, ..layer }, controller }],
            readout: Readout::Max,
            ends: Vec::new(),
            head: perceptron(vec![8, 1]),
        }
    }

    /// The compiler needs no card. It comes with CUDA, or as the Python package nvidia-cuda-nvrtc whose folder `lib` is
    /// put into LD_LIBRARY_PATH.
    #[test]
    fn kernels_compile_where_there_is_a_compiler() {
        // SAFETY: as in `Gpu::open`.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return println!("skipped: {}", CudaError::NoCompiler);
        }
        let nodes = ControllerConfig::iter().with_iter(|options| options.scope = Scope::Node);
        let with_ends = |readout, count: usize, kind| {
            let net = |inputs| Perceptron { widths: vec![inputs, 8], biased: true, final_activation: true };
            let ends = [17, 8].into_iter().take(count).map(net).collect();
            Network { readout, ends, ..network(kind, Aggregation::Max, ControllerConfig::shared(2)) }
        };
        let cases = [
            network(LayerKind::PathSim, Aggregation::Max, nodes),
            network(LayerKind::Path, Aggregation::Attention, ControllerConfig::iter_decay()),
            network(LayerKind::Gcn, Aggregation::Max, ControllerConfig::stack(2)),
            network(LayerKind::Gat, Aggregation::Max, ControllerConfig::shared(2)),
            network(LayerKind::PathSim, Aggregation::Max, ControllerConfig::iter()),
            with_ends(Readout::Edge, 1, LayerKind::Gcn),
            with_ends(Readout::Pointer, 2, LayerKind::PathSim),
        ];
        for (index, network) in cases.iter().enumerate() {
            let mut settings = network.settings();
            settings.extend([("THREADS", 64), ("GRAPHS", 2), ("BLOCKS_PER_SM", 1), ("WIDE_WINNERS", 0)]);
            let cluster = if index == 4 { 4 } else { 1 };
            settings.extend([
                ("LARGE", index % 2),
                ("TRAIN", usize::from(index != 6)),
                ("PADDING", 8),
                ("CLUSTER", cluster),
            ]);
            let architecture = if index == 0 { "sm_80" } else { "sm_90" };
            let binary = compile(&PARTS.concat(), &options(architecture, &settings)).unwrap();
            assert!(binary.starts_with(b"\x7fELF"), "{} for {architecture}", network.block().layer.kind);
        }
        let settings = large_settings(&network(LayerKind::Path, Aggregation::Max, ControllerConfig::iter()));
        compile(&LARGE_PARTS.concat(), &options("sm_90", &settings)).unwrap();
    }
}
