//! Memory: what there is, and a refusal before it runs out.

use crate::failure::Failure;

/// Bytes of a gibibyte.
const GIB: f64 = (1_u64 << 30) as f64;

/// A size given in gibibytes as bytes.
pub(crate) fn from_gib(gib: f64) -> Result<u64, Failure> {
    let fine = gib.is_finite() && gib > 0.0;
    if fine { Ok((gib * GIB) as u64) } else { Err(Failure::bad_input(format!("--memory {gib}: not a number of GiB"))) }
}

/// Refuses work that needs more bytes than `limit`, or than are free where no limit is given, and says what it needs.
pub(crate) fn check(what: &str, needed: u64, limit: Option<u64>) -> Result<(), Failure> {
    let (available, why) = match (limit, available()) {
        (Some(limit), _) => (limit, "are allowed by --memory"),
        (None, Some(free)) => (free, "are free"),
        (None, None) => return Ok(()),
    };
    if needed <= available {
        return Ok(());
    }
    let (needed, available) = (needed as f64 / GIB, available as f64 / GIB);
    Err(Failure::failed(format!("{what} needs about {needed:.3} GiB of memory, and {available:.3} GiB {why}")))
}

/// Bytes that can still be had, where the system tells.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kibibytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_needed_and_what_there_is() {
        let limit = from_gib(0.5).unwrap();
        assert!(check("a graph", limit, Some(limit)).is_ok());
        let Err(Failure::Failed(message)) = check("a graph of 9 nodes", 3 * limit, Some(limit)) else { panic!() };
        let expected = "a graph of 9 nodes needs about 1.500 GiB of memory, and 0.500 GiB are allowed by --memory";
        assert_eq!(message, expected);
        assert!(from_gib(f64::NAN).is_err() && from_gib(-1.0).is_err());
    }
}
