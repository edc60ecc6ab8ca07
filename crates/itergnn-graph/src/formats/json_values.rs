//! Pieces of JSON, read straight into flat memory and never beyond a bound.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess, Unexpected, Visitor},
};
use serde_json::{Map, Value};

use super::exact_decimals::{Decimal, number};
use crate::Attributes;

/// A list of equally long rows of numbers, without a vector for each row.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) attributes: Attributes,
    /// How many rows there are, also where they are empty.
    pub(crate) count: usize,
    /// The first number of each row as the text has it, if that was asked for.
    pub(crate) first: Vec<f64>,
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor { keep_first: false })
    }
}

/// Rows that keep their first numbers in double precision: the weights of edges.
#[derive(Debug, Default)]
pub(crate) struct WeightRows(pub(crate) Rows);

impl<'de> Deserialize<'de> for WeightRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor { keep_first: true }).map(Self)
    }
}

struct RowsVisitor {
    keep_first: bool,
}

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = Rows;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of rows of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Rows, A::Error> {
        let (mut values, mut width, mut count, mut firsts) = (Vec::new(), 0, 0_usize, Vec::new());
        loop {
            let (before, mut first) = (values.len(), None);
            if rows.next_element_seed(AppendNumbers { values: &mut values, first: &mut first })?.is_none() {
                break;
            }
            firsts.extend(first.filter(|_| self.keep_first));
            let found = values.len() - before;
            if count == 0 {
                width = found;
            } else if found != width {
                let message = format_args!("row {count} has {found} values, expected {width}");
                return Err(de::Error::custom(message));
            }
            count += 1;
        }
        Ok(Rows { attributes: Attributes::new(width, values), count, first: firsts })
    }
}

/// A list of numbers, or of equally long rows of numbers, which are joined; a bare number stands for a list of one,
/// null for an empty one.
#[derive(Debug, Default)]
pub(crate) struct NumberList(pub(crate) Vec<f32>);

impl<'de> Deserialize<'de> for NumberList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = NumberList;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a list of numbers or a list of rows of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<NumberList, A::Error> {
        let rows = RowsVisitor { keep_first: false }.visit_seq(rows)?;
        Ok(NumberList(rows.attributes.values().to_vec()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<NumberList, E> {
        let mut values = Vec::new();
        NumbersVisitor { values: &mut values, first: &mut None }.push(value)?;
        Ok(NumberList(values))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<NumberList, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<NumberList, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<NumberList, E> {
        match number(text) {
            Some(value) => self.visit_f64(value),
            None => Err(E::invalid_type(Unexpected::Str(text), &self)),
        }
    }

    fn visit_unit<E: de::Error>(self) -> Result<NumberList, E> {
        Ok(NumberList::default())
    }
}

/// Appends a row: the numbers of a list, or a bare number. Also says the first of them as the text has it.
struct AppendNumbers<'a> {
    values: &'a mut Vec<f32>,
    first: &'a mut Option<f64>,
}

impl<'de> DeserializeSeed<'de> for AppendNumbers<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(NumbersVisitor { values: self.values, first: self.first })
    }
}

struct NumbersVisitor<'a> {
    values: &'a mut Vec<f32>,
    first: &'a mut Option<f64>,
}

impl NumbersVisitor<'_> {
    fn push<E: de::Error>(&mut self, value: f64) -> Result<(), E> {
        let stored = value as f32;
        if !stored.is_finite() {
            return Err(E::custom(format_args!("{value:e} does not fit f32")));
        }
        self.values.push(stored);
        self.first.get_or_insert(value);
        Ok(())
    }
}

impl<'de> Visitor<'de> for NumbersVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number or a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut numbers: A) -> Result<(), A::Error> {
        while let Some(Decimal(value)) = numbers.next_element()? {
            self.push(value)?;
        }
        Ok(())
    }

    fn visit_f64<E: de::Error>(mut self, value: f64) -> Result<(), E> {
        self.push(value)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        match number(text) {
            Some(value) => self.visit_f64(value),
            None => Err(E::invalid_type(Unexpected::Str(text), &self)),
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }
}

/// Any JSON value, as long as the budget of values lasts.
pub(crate) struct BoundedValue<'a>(pub(crate) &'a mut usize);

impl BoundedValue<'_> {
    fn spend<E: de::Error>(&mut self) -> Result<(), E> {
        match self.0.checked_sub(1) {
            Some(left) => *self.0 = left,
            None => return Err(E::custom("more than about a million values beside the graph")),
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.spend()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(number(value).map_or_else(|| value.into(), Value::from))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element_seed(BoundedValue(&mut *self.0))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            members.insert(name, map.next_value_seed(BoundedValue(&mut *self.0))?);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_values_are_the_same_values() {
        let text = r#"{"a":[1,-2,3.5,null,true,"x",{"b":[]}]}"#;
        let mut budget = 10;
        let value = BoundedValue(&mut budget).deserialize(&mut serde_json::Deserializer::from_str(text)).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(budget, 0);
        let mut short = 9;
        assert!(BoundedValue(&mut short).deserialize(&mut serde_json::Deserializer::from_str(text)).is_err());
    }

    #[test]
    fn a_target_may_be_bare_or_have_rows() {
        let list = |text: &str| serde_json::from_str::<NumberList>(text).map(|list| list.0);
        assert_eq!(list("2").unwrap(), [2.0]);
        assert_eq!(list("-2.5").unwrap(), [-2.5]);
        assert_eq!(list("[1,2]").unwrap(), [1.0, 2.0]);
        assert!(list("null").unwrap().is_empty());
        assert_eq!(list("[[1,2],[3,4]]").unwrap(), [1.0, 2.0, 3.0, 4.0]);
        assert!(list("\"x\"").is_err() && list("[[1],[2,3]]").is_err() && list("[[[1]]]").is_err());
    }
}
