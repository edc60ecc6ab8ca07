//! What a server may be asked to do.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// Where a server listens and what it shows.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The address to listen on. One that is not a loopback address needs a token.
    pub host: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// What every request must carry, if anything.
    pub token: Option<String>,
    /// A folder of `.safetensors` files; `None` for the models inside the binary.
    pub models: Option<PathBuf>,
    /// A folder of run directories.
    pub runs: Option<PathBuf>,
    /// What a request may take.
    pub limits: Limits,
}

/// What a request may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest body.
    pub body_bytes: usize,
    /// Time in which the head of a request must arrive, and then its body.
    pub body_time: Duration,
    /// Time in which an answer must be computed, waiting included.
    pub answer_time: Duration,
    /// Threads that compute.
    pub workers: usize,
    /// Requests that may wait for one of them.
    pub queue: usize,
    /// Connections at a time; more wait in the system's queue.
    pub connections: usize,
    /// Of these, at most so many that watch a run.
    pub watchers: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 7878,
            token: None,
            models: None,
            runs: None,
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 << 20,
            body_time: Duration::from_secs(15),
            answer_time: Duration::from_secs(60),
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            queue: 128,
            connections: 256,
            watchers: 32,
        }
    }
}
