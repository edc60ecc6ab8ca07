//! Where and how a command computes: device, engine, threads, and for how long.

use std::time::Duration;

use clap::{Args, ValueEnum};
use itergnn::{
    nn::{Device, Engine, GnnModel},
    train::{
        CardPredictor,
        evaluation::{ModelPredictor, Predictor},
    },
};

use crate::{commands::train::failure, failure::Failure, output};

/// Where a command computes and with how many threads; results do not depend on the threads.
#[derive(Debug, Args)]
pub(crate) struct ComputeChoice {
    /// cuda: the first NVIDIA card, for training from samples and for predictions of the networks it covers.
    #[arg(long, default_value_t = DeviceName::Cpu, value_enum)]
    pub(crate) device: DeviceName,
    /// Threads to use; all cores unless told. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
}

/// Which implementation runs the blocks of a model.
#[derive(Debug, Args)]
pub(crate) struct EngineChoice {
    /// auto (fused where it can), fused (an error where it cannot) or plain (tensor operations). They agree to
    /// rounding.
    #[arg(long, default_value_t = Engine::Auto, value_name = "auto|fused|plain")]
    pub(crate) engine: Engine,
}

/// How long a command may take.
#[derive(Debug, Args)]
pub(crate) struct TimeLimit {
    /// Give up after this long, with exit code 1.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,
}

/// A device by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceName {
    Cpu,
    Cuda,
}

impl ComputeChoice {
    /// Starts the threads and gives the device of a command that computes on the CPU only.
    pub(crate) fn start(&self) -> Result<Device, Failure> {
        self.refuse_card()?;
        self.start_anywhere()
    }

    /// Refuses a card where only the CPU computes.
    pub(crate) fn refuse_card(&self) -> Result<(), Failure> {
        match self.device {
            DeviceName::Cpu => Ok(()),
            DeviceName::Cuda => {
                Err(Failure::bad_input("--device cuda: this computes on the CPU only; leave the flag out"))
            }
        }
    }

    /// Starts the threads and gives the device of what is computed on the CPU.
    pub(crate) fn start_anywhere(&self) -> Result<Device, Failure> {
        if let Some(threads) = self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build_global().map_err(|error| Failure::failed(format!("--threads {threads}: {error}")))?;
        }
        Ok(Device::flex())
    }

    /// What predicts with a model: the CPU, or the card where it was asked for.
    pub(crate) fn predictor(&self, model: &GnnModel, device: &Device) -> Result<Box<dyn Predictor>, Failure> {
        Ok(match self.device {
            DeviceName::Cpu => Box::new(ModelPredictor::new(model, device)),
            DeviceName::Cuda => Box::new(CardPredictor::new(model).map_err(failure)?),
        })
    }
}

impl TimeLimit {
    /// Ends the program when the time is over, whatever it does then.
    pub(crate) fn start(&self) {
        let Some(limit) = self.timeout else { return };
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            let why = format!("gave up after {} s, as --timeout says", limit.as_secs_f64());
            std::process::exit(i32::from(output::conclude(Err(Failure::failed(why)))));
        });
    }
}

/// The most threads that a command takes: more than cores only helps where threads wait, and thousands only wait for
/// each other.
fn most_threads() -> usize {
    (8 * std::thread::available_parallelism().map_or(1, usize::from)).max(64)
}

/// A number of threads that can be started.
pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    let threads: usize = text.parse().map_err(|_| "not a number of threads".to_owned())?;
    match threads {
        0 => Err("at least one is needed".to_owned()),
        _ if threads > most_threads() => Err(format!("at most {} make sense on this machine", most_threads())),
        _ => Ok(threads),
    }
}

/// A positive time in seconds.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| "not a number of seconds above 0".to_owned())?;
    if duration.is_zero() { Err("not a number of seconds above 0".to_owned()) } else { Ok(duration) }
}
