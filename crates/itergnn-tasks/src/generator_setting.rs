//! Generators in settings files: by name, or with parameters.
//!
//! For `#[serde(with = "crate::generator_setting")]`: reads `"lobster"` as well as `{ lobster = { p1 = 0.1, p2 = 0.3 }
//! }`, and writes the name alone where the parameters are the paper's.

use itergnn_graph::generators::Generator;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum Setting {
    Name(String),
    Full(Generator),
}

pub(crate) fn serialize<S: Serializer>(generator: &Generator, serializer: S) -> Result<S::Ok, S::Error> {
    if Generator::ALL.contains(generator) {
        serializer.serialize_str(generator.name())
    } else {
        generator.serialize(serializer)
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Generator, D::Error> {
    match Setting::deserialize(deserializer)? {
        Setting::Name(name) => name.parse().map_err(D::Error::custom),
        Setting::Full(generator) => Ok(generator),
    }
}

/// Whether both directions of an edge are always there and are one thing, to be weighted once.
pub(crate) fn is_undirected(generator: &Generator) -> bool {
    !matches!(generator, Generator::Er { directed: true, .. } | Generator::Knn { .. } | Generator::Mixed)
}

/// Roughly how many nodes and edges a graph of this size has; of a mixture, the largest.
pub(crate) fn magnitude(generator: &Generator, size: usize) -> usize {
    match *generator {
        Generator::Mixed => magnitude(&Generator::ER, size),
        Generator::LobsterOrLine => magnitude(&Generator::Line, size.saturating_mul(Generator::STRETCH)),
        Generator::Er { p, .. } => size.saturating_add((size.saturating_mul(size) as f64 * p) as usize),
        Generator::Complete => size.saturating_mul(size),
        Generator::Grid => size.saturating_mul(size).saturating_mul(5),
        Generator::Knn { k, .. } => size.saturating_mul(k.saturating_add(1)),
        Generator::Regular { degree } => size.saturating_mul(degree.saturating_add(1)),
        Generator::Planar => size.saturating_mul(7),
        Generator::Lobster { .. } => size.saturating_mul(4),
        Generator::Line | Generator::Cycle | Generator::Tree => size.saturating_mul(3),
    }
}

/// Roughly how many of these are nodes.
pub(crate) fn nodes(generator: &Generator, size: usize) -> usize {
    match *generator {
        Generator::Grid => size.saturating_mul(size),
        Generator::LobsterOrLine => size.saturating_mul(Generator::STRETCH),
        // A tree has an edge both ways for every node but one.
        Generator::Lobster { .. } => magnitude(generator, size) / 3,
        _ => size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::rng;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Settings {
        #[serde(with = "super")]
        generator: Generator,
    }

    #[test]
    fn names_and_parameters_round_trip() {
        for text in [
            r#"{"generator":"planar"}"#,
            r#"{"generator":"lobster"}"#,
            r#"{"generator":{"lobster":{"p1":0.1,"p2":0.3}}}"#,
        ] {
            let settings: Settings = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&settings).unwrap(), text);
        }
        assert!(serde_json::from_str::<Settings>(r#"{"generator":"crab"}"#).is_err());
    }

    #[test]
    fn undirected_generators_give_both_directions() {
        let undirected_er = Generator::Er { p: 0.5, directed: false };
        for generator in Generator::ALL.into_iter().chain([undirected_er]).filter(is_undirected) {
            assert!(generator.generate(12, &mut rng::seeded(3)).unwrap().is_symmetric(), "{generator}");
        }
    }

    #[test]
    fn magnitudes_are_within_a_factor_of_two() {
        // Of a mixture the largest kind is told, and any may be drawn.
        let mixtures = [Generator::Mixed, Generator::LobsterOrLine];
        for generator in Generator::ALL.into_iter().filter(|generator| !mixtures.contains(generator)) {
            let graph = generator.generate(40, &mut rng::seeded(3)).unwrap();
            let (told, real) = (magnitude(&generator, 40), graph.nodes() + graph.edges());
            assert!(told <= 2 * real && real <= 2 * told, "{generator}: {told} told, {real} real");
            let (told, real) = (nodes(&generator, 40), graph.nodes());
            assert!(told <= 2 * real && real <= 2 * told, "{generator}: {told} nodes told, {real} real");
        }
    }
}
