//! JSON whose objects have each key once: of two values for a field one would be lost.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value of JSON.
pub(super) struct Unique(pub(super) Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any).map(Unique)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Unique(value)) = values.next_element()? {
            all.push(value);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
            let Unique(value) = entries.next_value()?;
            all.insert(key, value);
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> serde_json::Result<Value> {
        serde_json::from_str(text).map(|Unique(value)| value)
    }

    #[test]
    fn it_is_what_serde_json_reads() {
        for text in [
            "{}",
            "[null, true, 1, -1, 18446744073709551615, 1.5, \"\\u00e4\", {\"a\": {\"b\": []}}]",
            "1e400",
            "{\"a\": 1",
            "[1,]",
        ] {
            let wanted: serde_json::Result<Value> = serde_json::from_str(text);
            match (read(text), wanted) {
                (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text}"),
                (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string()),
                (ours, theirs) => panic!("{text}: {ours:?}, {theirs:?}"),
            }
        }
        assert!(read(&"[".repeat(100_000)).is_err(), "no end of the stack");
    }

    #[test]
    fn a_key_is_there_once() {
        let error = read("{\"a\": {\"b\": 1,\n \"b\": 1}}").unwrap_err();
        assert_eq!(error.to_string(), "`b` is there twice at line 2 column 4");
        assert!(read("{\"a\": {\"b\": 1}, \"b\": 2}").is_ok());
    }
}
