//! Decimals of JSON, to the last bit.
//!
//! The JSON parser rounds decimals quickly, and may miss the last bit of a double. Decimals for which it might are
//! turned into strings with a mark before the text is parsed, and the readers of numbers take such strings: what they
//! hold is rounded exactly by the standard library.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned, Unexpected, Visitor},
};

/// Begins a string that stands for a decimal: a character that is reserved for use inside a program.
const MARK: char = '\u{FDD0}';

/// Parses JSON with exact decimals, as far as its type takes them; an error is that of the text as it is.
pub(super) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    match marked(text) {
        Cow::Borrowed(text) => serde_json::from_str(text),
        Cow::Owned(marked) => serde_json::from_str(&marked).or_else(|_| serde_json::from_str(text)),
    }
}

/// The number of a marked string.
pub(super) fn number(text: &str) -> Option<f64> {
    text.strip_prefix(MARK)?.parse().ok()
}

/// A number, marked or not.
pub(super) struct Decimal(pub(super) f64);

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecimalVisitor)
    }
}

struct DecimalVisitor;

impl Visitor<'_> for DecimalVisitor {
    type Value = Decimal;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("f64")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Decimal, E> {
        Ok(Decimal(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Decimal, E> {
        Ok(Decimal(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Decimal, E> {
        Ok(Decimal(value as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
        number(text).map(Decimal).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }
}

/// Digits of a decimal without an exponent up to which the parser is exact: it divides the digits, as a whole number,
/// by a power of ten. Both are doubles without rounding (ten to the 22nd still is), and one division is rounded
/// correctly.
const EXACT_DIGITS: usize = 15;

/// The text with every long decimal as a marked string; the parser reads whole numbers and short decimals exactly.
fn marked(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut changed, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let end = at + bytes[at..].iter().take_while(is_part).count();
                if !is_short(&bytes[at..end]) && is_decimal(&text[at..end]) {
                    changed.push_str(&text[copied..at]);
                    changed.extend(['"', MARK]);
                    changed.push_str(&text[at..end]);
                    changed.push('"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    changed.push_str(&text[copied..]);
    Cow::Owned(changed)
}

/// The place behind the string that begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether a token has too few digits, and no exponent, for the parser to miss a bit.
fn is_short(token: &[u8]) -> bool {
    token.len() <= EXACT_DIGITS && !token.iter().any(|byte| matches!(byte, b'e' | b'E'))
}

/// Whether a token is a number as JSON writes it, with a fraction or an exponent, and finite.
fn is_decimal(token: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) =
        token.split_once(['e', 'E']).map_or((token, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    (fraction.is_some() || exponent.is_some())
        && digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
        && token.parse().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn only_long_decimals_outside_strings_are_marked() {
        let text = r#"{"a 1e5": "2e5 \" 3e5", "b": [1.0000000000000001, -2, 0.25e-3, 1E5, 0.25]}"#;
        let value: Value = serde_json::from_str(&marked(text)).unwrap();
        assert_eq!(value["a 1e5"], "2e5 \" 3e5");
        let numbers: Vec<Option<f64>> = value["b"].as_array().unwrap().iter().map(|n| number(n.as_str()?)).collect();
        assert_eq!(numbers, [Some(1.0), None, Some(0.25e-3), Some(1e5), None]);
        for kept in [
            "[1, -2, 30]",
            "[-1234567.654321]",
            "\"1e5",
            "[01e5]",
            "[1.e5]",
            "[.5]",
            "[1e]",
            "[1e999]",
            "[--1e5]",
            "{\"a\\",
        ] {
            assert!(matches!(marked(kept), Cow::Borrowed(_)), "{kept}");
        }
    }

    #[test]
    fn every_decimal_is_rounded_as_the_standard_library_rounds() {
        // Decimals half-way between two doubles and next to them, which a quick parser gets wrong, and many others.
        let mut state = 1_u64;
        for round in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let text = match round % 5 {
                0 => format!("{}.{}", state >> 40, state & 0xffff_ffff),
                1 => format!("0.{state}"),
                2 => format!("-{}.{:06}", state >> 40, state & 0xf_ffff),
                3 => format!("0.{:013}", state >> 24),
                _ => format!("{}e-{}", state, state % 60),
            };
            let Decimal(read) = from_str(&text).unwrap();
            assert_eq!(read.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }
}
