//! What a command would need, estimated before it begins: refused with the number that would fit, or said where it is
//! much.

use itergnn::tasks::{SizeRange, TaskSpec, algorithms::AlgorithmSpec};

use crate::{failure::Failure, output::note};

/// Bytes of a gibibyte.
const GIB: f64 = (1_u64 << 30) as f64;

/// From here on an estimate is worth a line.
const WORTH_SAYING: u64 = 1 << 30;

/// Bytes of a sample for each of its nodes and edges: attributes, ends, offsets, and the same once more while it is
/// drawn.
const SAMPLE_BYTES: u64 = 64;

/// Bytes that a list of results holds for each: numbers, names and a few short lists.
pub(crate) const RECORD_BYTES: u64 = 256;

/// Addresses that a thread sets aside for what it allocates and for its stack, used or not.
const THREAD_SPACE: u64 = 72 << 20;

/// What the predictions of a search may take, at least.
const LEAST_SHARE: u64 = 1 << 30;

/// Iterations that a record often has.
const RECORDED: u64 = 32;

/// What a command may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    /// `None` where the system does not tell.
    bytes: Option<u64>,
    /// Whether the user said it.
    is_given: bool,
}

impl Allowance {
    /// What `--memory` allows, in GiB; what is free, unless it is given.
    pub(crate) fn of(gib: Option<f64>) -> Result<Self, Failure> {
        match gib {
            Some(gib) if gib.is_finite() && gib > 0.0 => Ok(Self { bytes: Some((gib * GIB) as u64), is_given: true }),
            Some(gib) => Err(Failure::bad_input(format!("--memory {gib}: not a number of GiB"))),
            None => Ok(Self::free()),
        }
    }

    /// What is free.
    pub(crate) fn free() -> Self {
        Self { bytes: available(), is_given: false }
    }

    /// What the predictions of a search may take together: what `--memory` allows, or a quarter of what is free.
    pub(crate) fn for_predictions(&self) -> u64 {
        self.limit().unwrap_or_else(|| self.bytes.map_or(LEAST_SHARE, |free| (free / 4).max(LEAST_SHARE)))
    }

    /// What `--memory` allows, if it was given.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.bytes.filter(|_| self.is_given)
    }

    /// Bytes that may be taken; as many as one can say where the system does not tell.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.unwrap_or(u64::MAX)
    }

    fn holds(&self, bytes: u64) -> bool {
        self.bytes.is_none_or(|allowed| bytes <= allowed)
    }

    fn refusal(&self, what: &str, needed: u64, fits: Option<String>) -> Failure {
        let (needed, allowed) = (needed as f64 / GIB, self.bytes.unwrap_or(0) as f64 / GIB);
        let why = if self.is_given { "are allowed by --memory" } else { "are free" };
        let fits = fits.map_or(String::new(), |fits| format!("; {fits}"));
        Failure::bad_input(format!("{what} needs about {needed:.3} GiB of memory, and {allowed:.3} GiB {why}{fits}"))
    }

    /// Refuses work that needs more bytes than there are.
    pub(crate) fn check(&self, what: &str, needed: u64) -> Result<(), Failure> {
        if !self.holds(needed) {
            return Err(self.refusal(what, needed, None));
        }
        say_if_much(what, needed);
        Ok(())
    }

    /// The same for a search that also records the iterations of its graph, of which each takes so many bytes at most.
    pub(crate) fn check_search(&self, what: &str, needed: u64, of_iteration: Option<u64>) -> Result<(), Failure> {
        if !self.holds(needed) {
            return Err(self.refusal(what, needed, None));
        }
        if let Some(told) = search_estimate(what, needed, of_iteration, self.for_predictions()) {
            note(&told);
        }
        Ok(())
    }

    /// Refuses a number of things of which each takes some bytes, and says how many would fit.
    pub(crate) fn check_count(&self, flag: &str, count: u64, bytes_each: u64) -> Result<(), Failure> {
        let needed = count.saturating_mul(bytes_each);
        if self.holds(needed) {
            return Ok(());
        }
        let fits = format!("at most {} fit", self.bytes.unwrap_or(0) / bytes_each.max(1));
        Err(self.refusal(&format!("{flag} {count}"), needed, Some(fits)))
    }

    /// Refuses samples of which as many as are drawn at a time, and what is computed for them, do not fit, and says
    /// which size would.
    ///
    /// `count` is how many samples there are, `bytes_of` what is computed for so many nodes and edges of a sample.
    pub(crate) fn check_samples(
        &self,
        spec: &TaskSpec,
        count: u64,
        bytes_of: impl Fn(usize, usize) -> u64,
    ) -> Result<(), Failure> {
        let needs = |spec: &TaskSpec| -> Result<(usize, u64), Failure> {
            let sampler = spec.sampler().map_err(Failure::bad_input)?;
            let (elements, nodes) = (sampler.largest(), sampler.largest_nodes());
            let held = (elements as u64).saturating_mul(count.min(sampler.chunk() as u64));
            let computed = bytes_of(nodes, elements.saturating_sub(nodes));
            Ok((elements, SAMPLE_BYTES.saturating_mul(held).saturating_add(computed)))
        };
        let (elements, needed) = needs(spec)?;
        let what = format!("samples of up to {elements} nodes and edges");
        if self.holds(needed) {
            say_if_much(&what, needed);
            return Ok(());
        }
        let fits = |size: u32| {
            let mut spec = spec.clone();
            let set = SizeRange::exactly(size).ok().is_some_and(|size| spec.set_size(size).is_ok());
            // A size that is too small for the task is not too large for the memory.
            set && needs(&spec).map_or(true, |(_, needed)| self.holds(needed))
        };
        let (mut low, mut high) = (0_u32, u32::MAX);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        let fits = (low > 0).then(|| format!("sizes up to about {low} fit"));
        Err(self.refusal(&what, needed, fits))
    }

    /// Refuses samples of an algorithm of which one alone, and what is computed for it, does not fit, and says which
    /// size would; `bytes_of` as in [`Allowance::check_samples`].
    pub(crate) fn check_algorithm(
        &self,
        spec: &AlgorithmSpec,
        bytes_of: impl Fn(usize, usize) -> u64,
    ) -> Result<(), Failure> {
        let needed = |spec: &AlgorithmSpec| {
            let (elements, nodes) = (spec.largest(), spec.sizes.iter().copied().max().unwrap_or(0));
            let computed = bytes_of(nodes as usize, elements.saturating_sub(u64::from(nodes)) as usize);
            SAMPLE_BYTES.saturating_mul(elements).saturating_add(computed)
        };
        let what = format!("a sample of up to {} nodes and edges", spec.largest());
        if self.holds(needed(spec)) {
            say_if_much(&what, needed(spec));
            return Ok(());
        }
        let fits = |size: &u32| self.holds(needed(&AlgorithmSpec { sizes: vec![*size], ..spec.clone() }));
        let largest = (0..32).map(|power| 1 << power).take_while(fits).last().unwrap_or(0);
        Err(self.refusal(&what, needed(spec), Some(format!("sizes up to about {largest} fit"))))
    }
}

fn say_if_much(what: &str, needed: u64) {
    if needed >= WORTH_SAYING {
        note(&format!("{what} needs about {:.1} GiB of memory", needed as f64 / GIB));
    }
}

/// What a search needs, if it is much: a prediction, and its record of at most `most` bytes.
fn search_estimate(what: &str, needed: u64, of_iteration: Option<u64>, most: u64) -> Option<String> {
    let record = of_iteration.map_or(0, |bytes| bytes.saturating_mul(RECORDED).min(most));
    if needed.saturating_add(record) < WORTH_SAYING {
        return None;
    }
    let gib = |bytes: u64| bytes as f64 / GIB;
    let record = of_iteration.map_or_else(String::new, |bytes| {
        let (each, most) = (gib(bytes), gib(most));
        format!(", and up to {each:.2} GiB for each iteration that is recorded, {most:.1} GiB at most (--memory)")
    });
    Some(format!("{what} needs about {:.1} GiB of memory{record}", gib(needed)))
}

/// Bytes that can still be had, where the system tells: free memory, what the container leaves, what the shell allows.
fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let number = |text: &str| text.split_whitespace().find_map(|word| word.parse::<u64>().ok());
    let field = |path: &str, name: &str| {
        let text = read(path)?;
        let line = text.lines().find(|line| line.starts_with(name))?.to_owned();
        number(line.strip_prefix(name)?)
    };
    let free = field("/proc/meminfo", "MemAvailable:").map(|kibibytes| 1024 * kibibytes);
    let container = || {
        let most = number(&read("/sys/fs/cgroup/memory.max")?)?;
        Some(most.saturating_sub(number(&read("/sys/fs/cgroup/memory.current")?)?))
    };
    let shell = || {
        let most = field("/proc/self/limits", "Max address space")?;
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64 + 1;
        Some(most.saturating_sub(1024 * field("/proc/self/status", "VmSize:")? + threads * THREAD_SPACE))
    };
    [free, container(), shell()].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn::tasks::Task;

    fn message(refused: Result<(), Failure>) -> String {
        let Err(Failure::BadInput(message)) = refused else { panic!("{refused:?}") };
        message
    }

    #[test]
    fn a_refusal_says_what_is_needed_and_what_there_is() {
        let allowed = Allowance::of(Some(0.5)).unwrap();
        let half = allowed.limit().unwrap();
        assert!(allowed.check("a graph", half).is_ok());
        let expected = "a graph of 9 nodes needs about 1.500 GiB of memory, and 0.500 GiB are allowed by --memory";
        assert_eq!(message(allowed.check("a graph of 9 nodes", 3 * half)), expected);
        assert!(Allowance::of(Some(f64::NAN)).is_err() && Allowance::of(Some(-1.0)).is_err());
        assert_eq!(Allowance::free().limit(), None);
    }

    #[test]
    fn an_estimate_of_a_search_tells_prediction_and_record() {
        let (gib, mib) = (1 << 30, 1 << 20);
        assert_eq!(search_estimate("a graph", gib - 1, None, 4 * gib), None);
        assert_eq!(search_estimate("a graph", 100 * mib, Some(mib), 4 * gib), None);
        assert_eq!(search_estimate("a graph", 2 * gib, None, gib).unwrap(), "a graph needs about 2.0 GiB of memory");
        let told = search_estimate("a graph", 512 * mib, Some(64 * mib), 4 * gib).unwrap();
        let record = "and up to 0.06 GiB for each iteration that is recorded, 4.0 GiB at most (--memory)";
        assert_eq!(told, format!("a graph needs about 0.5 GiB of memory, {record}"));
    }

    #[test]
    fn a_refusal_says_the_number_that_would_fit() {
        let allowed = Allowance::of(Some(1.0)).unwrap();
        assert!(allowed.check_count("--pairs", 1 << 22, 256).is_ok());
        assert!(message(allowed.check_count("--pairs", u64::MAX, 256)).ends_with("at most 4194304 fit"));
        let mut spec = TaskSpec::paper(Task::ShortestPath);
        spec.set_size(SizeRange::exactly(1_000_000_000).unwrap()).unwrap();
        let told = message(allowed.check_samples(&spec, 1, |_, _| 0));
        let size: u32 = told.split_whitespace().rev().nth(1).unwrap().parse().unwrap();
        spec.set_size(SizeRange::exactly(size).unwrap()).unwrap();
        assert!(allowed.check_samples(&spec, 1, |_, _| 0).is_ok());
        spec.set_size(SizeRange::exactly(size + size / 2).unwrap()).unwrap();
        assert!(allowed.check_samples(&spec, 1, |_, _| 0).is_err());
    }
}
