//! Which instruction set to use.

use std::sync::OnceLock;

use crate::error::KernelError;

/// An instruction set the `f32` kernels exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Plain code that every target compiles.
    Portable,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL).
    Avx512,
}

impl Isa {
    /// All instruction sets, from the most general to the widest.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// Whether this processor offers it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The widest instruction set of this processor.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|isa| isa.is_available()).unwrap_or(Self::Portable)
    }

    /// What to use when the caller does not say: the environment variable `ITERGNN_ISA` (`portable`, `avx2` or
    /// `avx512`) if it is set, else [`Isa::best`]. Read once per process.
    ///
    /// # Errors
    /// [`KernelError::IsaUnknown`] or [`KernelError::IsaUnavailable`] when the variable asks for something that cannot
    /// be used.
    pub fn from_environment() -> Result<Self, KernelError> {
        static CHOICE: OnceLock<Result<Isa, KernelError>> = OnceLock::new();
        CHOICE
            .get_or_init(|| match std::env::var("ITERGNN_ISA") {
                Err(_) => Ok(Self::best()),
                Ok(name) => Self::parse(&name),
            })
            .clone()
    }

    fn parse(name: &str) -> Result<Self, KernelError> {
        let isa = match name {
            "portable" => Self::Portable,
            "avx2" => Self::Avx2,
            "avx512" => Self::Avx512,
            _ => return Err(KernelError::IsaUnknown { found: name.to_owned() }),
        };
        if isa.is_available() { Ok(isa) } else { Err(KernelError::IsaUnavailable(isa)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_others_refused() {
        assert_eq!(Isa::parse("portable"), Ok(Isa::Portable));
        assert_eq!(Isa::parse("sse9"), Err(KernelError::IsaUnknown { found: "sse9".to_owned() }));
        assert!(Isa::best().is_available());
    }
}
