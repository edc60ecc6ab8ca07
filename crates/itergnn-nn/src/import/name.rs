//! The authors' model strings.

use std::str::FromStr;

use super::ImportError;
use crate::config::Prior;
use crate::readout::ReadoutKind;

/// How the authors' code composes layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorsArchitecture {
    /// A stack.
    Deep,
    /// One layer repeated.
    SharedDeep,
    /// The iterative module without decay.
    Iter,
    /// The iterative module with decay.
    DecIter,
    /// One confidence per node, without decay.
    IterNode,
    /// One confidence per node, with decay.
    DecIterNode,
}

/// The layers of the authors' code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorsLayer {
    /// PathConv.
    Path,
    /// PathSimConv.
    PathSim,
    /// MPNNMaxConv.
    MpnnMax,
    /// GCNConv.
    Gcn,
    /// GATConv.
    Gat,
    /// GINConv.
    Gin,
}

/// A parsed model string.
///
/// # Example
/// ```
/// use itergnn_nn::import::{AuthorsArchitecture, AuthorsName};
/// let name: AuthorsName = "DecIterGNN30-HomoPathSimConv-Max".parse()?;
/// assert_eq!(name.architecture, AuthorsArchitecture::DecIter);
/// assert_eq!((name.iterations, name.modules), (30, 1));
/// # Ok::<(), itergnn_nn::import::ImportError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorsName {
    /// How layers are composed.
    pub architecture: AuthorsArchitecture,
    /// Layers of a stack, or most steps of a loop; 50 if the string does not say.
    pub iterations: usize,
    /// `Homo` is the full prior, `SHomo` the core one.
    pub prior: Prior,
    /// The layer.
    pub layer: AuthorsLayer,
    /// The readout; the maximum if the string does not say.
    pub readout: ReadoutKind,
    /// Number of controller blocks.
    pub modules: usize,
}

/// What the authors' code assumes when the string has no number.
const DEFAULT_ITERATIONS: usize = 50;

/// Most layers, steps and blocks that are believed.
const MOST: usize = 1_000_000;

impl FromStr for AuthorsName {
    type Err = ImportError;

    fn from_str(name: &str) -> Result<Self, ImportError> {
        let wrong = |why: String| ImportError::Name { name: name.to_owned(), why };
        let parts: Vec<&str> = name.trim().split('-').collect();
        if !(2..=4).contains(&parts.len()) {
            return Err(wrong(format!("{} parts", parts.len())));
        }
        let architecture_name = parts[0].trim_end_matches(|letter: char| letter.is_ascii_digit());
        let digits = &parts[0][architecture_name.len()..];
        let number = |what: &str, text: &str| match text.parse::<usize>() {
            Ok(value) if (1..=MOST).contains(&value) => Ok(value),
            _ => Err(wrong(format!("{what} `{text}` is not a number between 1 and {MOST}"))),
        };
        let iterations = if digits.is_empty() { DEFAULT_ITERATIONS } else { number("iterations", digits)? };
        let (prior, layer_name) = if let Some(layer) = parts[1].strip_prefix("SHomo") {
            (Prior::Core, layer)
        } else if let Some(layer) = parts[1].strip_prefix("Homo") {
            (Prior::Full, layer)
        } else {
            (Prior::None, parts[1])
        };
        let architecture = architecture(architecture_name)
            .ok_or_else(|| wrong(format!("architecture `{architecture_name}` is unknown")))?;
        let layer = layer(layer_name).ok_or_else(|| wrong(format!("layer `{layer_name}` is unknown")))?;
        let readout = match parts.get(2) {
            Some(text) => readout(text).ok_or_else(|| wrong(format!("readout `{text}` is unknown")))?,
            None => ReadoutKind::Max,
        };
        let modules = parts.get(3).map_or(Ok(1), |text| number("modules", text))?;
        Ok(Self { architecture, iterations, prior, layer, readout, modules })
    }
}

fn architecture(name: &str) -> Option<AuthorsArchitecture> {
    Some(match name {
        "DeepGNN" => AuthorsArchitecture::Deep,
        "SharedDeepGNN" => AuthorsArchitecture::SharedDeep,
        "IterGNN" => AuthorsArchitecture::Iter,
        "DecIterGNN" => AuthorsArchitecture::DecIter,
        "IterNodeGNN" => AuthorsArchitecture::IterNode,
        "DecIterNodeGNN" => AuthorsArchitecture::DecIterNode,
        _ => return None,
    })
}

fn layer(name: &str) -> Option<AuthorsLayer> {
    Some(match name {
        "PathConv" => AuthorsLayer::Path,
        "PathSimConv" => AuthorsLayer::PathSim,
        "MPNNMaxConv" => AuthorsLayer::MpnnMax,
        "GCNConv" => AuthorsLayer::Gcn,
        "GATConv" => AuthorsLayer::Gat,
        "GINConv" => AuthorsLayer::Gin,
        _ => return None,
    })
}

fn readout(name: &str) -> Option<ReadoutKind> {
    Some(match name {
        "Max" => ReadoutKind::Max,
        "Min" => ReadoutKind::Min,
        "Mean" => ReadoutKind::Mean,
        "Sum" => ReadoutKind::Sum,
        "Attention" => ReadoutKind::Attention,
        "HeadTail" => ReadoutKind::HeadTail,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_authors() {
        let name: AuthorsName = "IterGNN-PathConv".parse().unwrap();
        assert_eq!((name.iterations, name.readout, name.modules), (50, ReadoutKind::Max, 1));
        assert_eq!(name.prior, Prior::None);
    }

    #[test]
    fn every_part_is_read() {
        let name: AuthorsName = "DecIterNodeGNN20-SHomoMPNNMaxConv-Sum-2".parse().unwrap();
        assert_eq!(name.architecture, AuthorsArchitecture::DecIterNode);
        assert_eq!((name.iterations, name.modules), (20, 2));
        assert_eq!((name.prior, name.layer, name.readout), (Prior::Core, AuthorsLayer::MpnnMax, ReadoutKind::Sum));
    }

    #[test]
    fn mistakes_are_named() {
        for (name, why) in [
            ("DecIterGNN30", "1 parts"),
            ("IterGNM30-PathConv", "architecture `IterGNM` is unknown"),
            ("IterGNN30-HomoPath", "layer `Path` is unknown"),
            ("IterGNN30-PathConv-Maximum", "readout `Maximum` is unknown"),
            ("IterGNN0-PathConv", "iterations `0` is not a number"),
            ("IterGNN30-PathConv-Max-two", "modules `two` is not a number"),
        ] {
            let error = name.parse::<AuthorsName>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
