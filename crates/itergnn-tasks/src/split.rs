//! Fixed, named splits.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantArray};

use crate::TaskError;

/// A part of a task's data with a random stream of its own.
///
/// A user's seed gives each split its own seed, and sample `i` of a split is drawn from stream `i` of that seed
/// ([`itergnn_graph::rng::sample`]). So the splits of one seed share no stream, any sample can be made alone, and
/// asking for more samples never changes the earlier ones.
///
/// # Example
/// ```
/// use itergnn_tasks::Split;
/// assert_ne!(Split::Train.seed(0), Split::Test.seed(0));
/// assert_eq!(Split::Validation.samples(), 1_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = TaskError, parse_err_fn = unknown)]
pub enum Split {
    /// What a model learns from.
    Train,
    /// What choices (epoch, layer variant) are made on.
    Validation,
    /// What is reported.
    Test,
}

impl Split {
    /// How many samples the paper draws: 10,000 for training, 1,000 for each of the others.
    pub fn samples(self) -> u64 {
        match self {
            Self::Train => 10_000,
            Self::Validation | Self::Test => 1_000,
        }
    }

    /// The split's seed under a user's seed.
    ///
    /// The user's seed and the split's number are mixed by the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a
    /// bijection: for one split different user seeds give different split seeds.
    pub fn seed(self, user_seed: u64) -> u64 {
        let number = match self {
            Self::Train => 1,
            Self::Validation => 2,
            Self::Test => 3,
        };
        mix(mix(user_seed).wrapping_add(number))
    }
}

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// What is said about a name that no split has.
fn unknown(text: &str) -> TaskError {
    TaskError::Parse { what: "split", text: text.to_owned(), expected: "train, validation or test" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_between_splits_and_between_user_seeds() {
        let mut seeds: Vec<u64> =
            (0..500).flat_map(|user| Split::VARIANTS.iter().map(move |split| split.seed(user))).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 1_500);
    }

    #[test]
    fn the_mixer_is_splitmix64() {
        // The first output of SplitMix64 started at 0, as published with the reference implementation.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn names_parse() {
        for &split in Split::VARIANTS {
            assert_eq!(split.to_string().parse::<Split>().unwrap(), split);
        }
        assert!("dev".parse::<Split>().is_err());
    }
}
