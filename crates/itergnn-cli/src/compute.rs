//! Where and how a command computes: device, engine, threads.

use std::{fmt, str::FromStr};

use clap::Args;
use itergnn::nn::{Device, Engine};

use crate::failure::Failure;

/// Where a command computes and with how many threads; results do not depend on the threads.
#[derive(Debug, Args)]
pub(crate) struct ComputeChoice {
    /// cpu or cuda; this build computes on the CPU.
    #[arg(long, default_value_t = DeviceName::Cpu, value_name = "cpu|cuda")]
    pub(crate) device: DeviceName,
    /// Threads to use; all cores unless told. Results do not depend on it.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// Which implementation runs the blocks of a model.
#[derive(Debug, Args)]
pub(crate) struct EngineChoice {
    /// auto (fused where it can), fused (an error where it cannot) or plain (tensor operations). They agree to rounding.
    #[arg(long, default_value_t = Engine::Auto, value_name = "auto|fused|plain")]
    pub(crate) engine: Engine,
}

/// A device by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceName {
    Cpu,
    Cuda,
}

impl fmt::Display for DeviceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        })
    }
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            _ => Err(format!("there is no device '{name}', only cpu and cuda")),
        }
    }
}

impl ComputeChoice {
    /// Starts the threads and gives the device.
    pub(crate) fn start(&self) -> Result<Device, Failure> {
        if self.device == DeviceName::Cuda {
            return Err(Failure::bad_input("--device cuda: this build computes on the CPU only; leave the flag out"));
        }
        if self.threads == Some(0) {
            return Err(Failure::bad_input("--threads 0: at least one is needed"));
        }
        if let Some(threads) = self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build_global().map_err(|error| Failure::failed(format!("--threads {threads}: {error}")))?;
        }
        Ok(Device::flex())
    }
}
