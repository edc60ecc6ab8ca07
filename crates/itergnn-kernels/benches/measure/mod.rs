//! What the benches share: random numbers and the clock of a thread.

#![allow(dead_code, unsafe_code)]

use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// Time this thread spent on the processor.
#[cfg(target_os = "linux")]
pub(crate) fn thread_time() -> Duration {
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        safe fn clock_gettime(clock: i32, time: &mut TimeSpec) -> i32;
    }
    /// CLOCK_THREAD_CPUTIME_ID of Linux.
    const THREAD_CLOCK: i32 = 3;
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    clock_gettime(THREAD_CLOCK, &mut time);
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_time() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Most bytes of memory the process has used so far; 0 where the system does not tell.
pub(crate) fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) << 10
}
