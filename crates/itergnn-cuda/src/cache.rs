//! Compiled kernels on disk.

use std::fs;
use std::path::PathBuf;

/// Where compiled kernels are kept: `itergnn/kernels` below the user's cache directory; `None` where there is none.
fn directory() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("itergnn").join("kernels"))
}

/// What the compiler made of a source before, if it is on disk.
pub(crate) fn load(key: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(directory()?.join(format!("{key}.cubin"))).ok()?;
    // A cubin is an ELF file; anything else is not ours.
    bytes.starts_with(b"\x7fELF").then_some(bytes)
}

/// Keeps a compiled kernel. It appears complete or not at all; a cache that cannot be written is no failure.
pub(crate) fn store(key: &str, bytes: &[u8]) {
    let Some(directory) = directory() else { return };
    let temporary = directory.join(format!(".{key}.{}.tmp", std::process::id()));
    let written = fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&temporary, bytes))
        .and_then(|()| fs::rename(&temporary, directory.join(format!("{key}.cubin"))));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
}

/// A name for a text: 128 bits of FNV-1a, the same on every platform and in every version.
pub(crate) fn digest(text: &str) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        hash ^= u128::from(byte);
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_fnv() {
        // From the reference tables of FNV-1a with 128 bits.
        assert_eq!(digest(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(digest("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_ne!(digest("sm_90"), digest("sm_80"));
    }
}
