//! Edges as JSON lists them: pairs of numbers, or objects as networkx's node-link form has them.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::exact_decimals;

/// Edge attributes of different names that are kept.
const ATTRIBUTE_LIMIT: usize = 256;

/// Edges of a JSON document.
#[derive(Debug, Default)]
pub(crate) struct JsonEdges {
    /// `[sender, receiver]`: numbers of nodes, or for objects places in `names`.
    pub(crate) pairs: Vec<[u32; 2]>,
    /// What objects call their ends, in order of appearance; empty where edges are pairs of numbers.
    pub(crate) names: Vec<String>,
    places: HashMap<String, u32>,
    /// Numbers beside the ends of objects: edge and value by name.
    pub(crate) attributes: BTreeMap<String, Vec<(usize, f64)>>,
}

impl JsonEdges {
    /// Edges that are pairs of numbers.
    pub(crate) fn from_pairs(pairs: Vec<[u32; 2]>) -> Self {
        Self { pairs, ..Self::default() }
    }

    fn place(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        *self.places.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}

impl<'de> Deserialize<'de> for JsonEdges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut edges = Self::default();
        deserializer.deserialize_seq(EdgesVisitor(&mut edges))?;
        Ok(edges)
    }
}

struct EdgesVisitor<'a>(&'a mut JsonEdges);

impl<'de> Visitor<'de> for EdgesVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of edges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut edges: A) -> Result<(), A::Error> {
        while edges.next_element_seed(OneEdge(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// One edge, appended.
struct OneEdge<'a>(&'a mut JsonEdges);

impl<'de> DeserializeSeed<'de> for OneEdge<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneEdge<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an edge, [sender, receiver] or {\"source\": .., \"target\": ..}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<(), A::Error> {
        let mut end = |place| ends.next_element::<u32>()?.ok_or_else(|| de::Error::invalid_length(place, &"two ends"));
        let pair = [end(0)?, end(1)?];
        if ends.next_element::<IgnoredAny>()?.is_some() {
            let why = "an edge has two ends; weights stand in \"weights\" or \"edge_attributes\"";
            return Err(de::Error::custom(why));
        }
        if !self.0.names.is_empty() {
            return Err(de::Error::custom("some edges are objects and some are pairs"));
        }
        self.0.pairs.push(pair);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        if self.0.names.is_empty() && !self.0.pairs.is_empty() {
            return Err(de::Error::custom("some edges are objects and some are pairs"));
        }
        let edge = self.0.pairs.len();
        let (mut source, mut target) = (None, None);
        while let Some(name) = members.next_key::<String>()? {
            match (name.as_str(), members.next_value::<Scalar>()?) {
                ("source", Scalar::Name(end)) => source = Some(end),
                ("target", Scalar::Name(end)) => target = Some(end),
                (_, Scalar::Number(value, text)) => match name.as_str() {
                    "source" => source = Some(text),
                    "target" => target = Some(text),
                    _ => {
                        if self.0.attributes.len() >= ATTRIBUTE_LIMIT && !self.0.attributes.contains_key(&name) {
                            return Err(de::Error::custom("edges have attributes of too many different names"));
                        }
                        self.0.attributes.entry(name).or_default().push((edge, value));
                    }
                },
                _ => {}
            }
        }
        let source = source.ok_or_else(|| de::Error::missing_field("source"))?;
        let target = target.ok_or_else(|| de::Error::missing_field("target"))?;
        let pair = [self.0.place(source), self.0.place(target)];
        self.0.pairs.push(pair);
        Ok(())
    }
}

/// A value of an object: a name, a number with its text, or something that does not matter here.
enum Scalar {
    Name(String),
    Number(f64, String),
    Other,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name or a number")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(match exact_decimals::number(value) {
            Some(number) => Scalar::Number(number, number.to_string()),
            None => Scalar::Name(value.to_owned()),
        })
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64, value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64, value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value, value.to_string()))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Scalar, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Scalar, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// The member `nodes`: how many, or a list of objects with an `id`.
pub(crate) enum JsonNodes {
    Count(Option<usize>),
    Names(Vec<String>),
}

impl<'de> Deserialize<'de> for JsonNodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodesVisitor)
    }
}

struct NodesVisitor;

impl<'de> Visitor<'de> for NodesVisitor {
    type Value = JsonNodes;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of nodes, or a list of objects with an id")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<JsonNodes, E> {
        let count = usize::try_from(value).map_err(|_| E::custom("too many nodes"))?;
        Ok(JsonNodes::Count(Some(count)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<JsonNodes, E> {
        Ok(JsonNodes::Count(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut nodes: A) -> Result<JsonNodes, A::Error> {
        let mut names = Vec::new();
        while let Some(NodeObject(name)) = nodes.next_element()? {
            names.push(name);
        }
        Ok(JsonNodes::Names(names))
    }
}

/// One node of a list: its `id`.
struct NodeObject(String);

impl<'de> Deserialize<'de> for NodeObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = NodeObject;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with an id")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<NodeObject, A::Error> {
        let mut id = None;
        while let Some(name) = members.next_key::<String>()? {
            match (name.as_str(), members.next_value::<Scalar>()?) {
                ("id", Scalar::Name(name) | Scalar::Number(_, name)) => id = Some(name),
                ("id", Scalar::Other) => return Err(de::Error::custom("the id of a node is a name or a number")),
                _ => {}
            }
        }
        id.map(NodeObject).ok_or_else(|| de::Error::missing_field("id"))
    }
}
