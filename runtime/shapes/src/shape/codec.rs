//! The one codec between JSON and every shaped struct.
//!
//! It reads and writes the Kubernetes form: names of fields as in manifests, no envelope. An explicit `null`
//! means the same as an absent field, as in the Kubernetes API conventions. Values outside an enum's table are
//! kept; [`super::check`] reports them.

use serde_json::{Map, Number, Value};

use super::path::{Path, kind_of};
use super::suggest::nearest;
use super::{Shaped, StructMut, StructRef, ValueRef, ViewMut};

/// What to do with members that the shape does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownFields {
    /// Leave them out: what a server or a newer version wrote is no concern of ours.
    Ignore,
    /// Refuse the document: what a person wrote is probably a misspelling.
    Deny,
}

/// JSON that does not fit the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A value has another JSON type than the field.
    #[error("{path}: expected {expected}, found {found}")]
    Type {
        /// Where, from the decoded struct down; empty for the struct itself.
        path: String,
        /// What the type takes.
        expected: &'static str,
        /// What is there (its JSON type, not its value).
        found: &'static str,
    },
    /// The type has no such field.
    #[error("{path}: no such field{}", did_you_mean(*.suggestion))]
    Unknown {
        /// Where.
        path: String,
        /// The nearest field that exists.
        suggestion: Option<&'static str>,
    },
}

impl DecodeError {
    /// The same error for a document that is itself a member of another: `name` goes in front of the path.
    pub fn below(mut self, name: &str) -> Self {
        let (Self::Type { path, .. } | Self::Unknown { path, .. }) = &mut self;
        let separator = if path.is_empty() || path.starts_with('[') {
            ""
        } else {
            "."
        };
        *path = format!("{name}{separator}{path}");
        self
    }
}

/// The end of an "unknown name" sentence.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

/// Decodes a struct; unknown members are ignored.
///
/// # Errors
/// [`DecodeError::Type`] for the first value whose JSON type is wrong.
pub fn decode<T: Shaped>(value: &Value) -> Result<T, DecodeError> {
    decode_with(value, UnknownFields::Ignore)
}

/// Decodes a struct, with a choice about unknown members.
///
/// # Errors
/// [`DecodeError`] for the first value that does not fit.
pub fn decode_with<T: Shaped>(value: &Value, unknown: UnknownFields) -> Result<T, DecodeError> {
    let mut decoded = T::default();
    let root = Path::Root("");
    let members = value
        .as_object()
        .ok_or_else(|| wrong_type(&root, "an object", value))?;
    decode_struct(StructMut::new(&mut decoded), members, &root, unknown)?;
    Ok(decoded)
}

/// What is left of a document after it went through the Rust type: what typed code sees of it.
///
/// # Errors
/// [`DecodeError`] for the first value that does not fit.
pub fn recode<T: Shaped>(value: &Value, unknown: UnknownFields) -> Result<Value, DecodeError> {
    Ok(encode(&decode_with::<T>(value, unknown)?))
}

fn wrong_type(path: &Path<'_>, expected: &'static str, value: &Value) -> DecodeError {
    DecodeError::Type {
        path: path.to_string(),
        expected,
        found: kind_of(value),
    }
}

fn decode_struct(
    mut target: StructMut<'_>,
    members: &Map<String, Value>,
    path: &Path<'_>,
    unknown: UnknownFields,
) -> Result<(), DecodeError> {
    let fields = target.shape().fields;
    for (name, value) in members {
        if value.is_null() {
            continue;
        }
        let below = path.member(name);
        match fields.iter().position(|field| field.name == name) {
            Some(index) => decode_value(target.put(index).view(), value, &below, unknown)?,
            None if unknown == UnknownFields::Ignore => {}
            None => {
                return Err(DecodeError::Unknown {
                    path: below.to_string(),
                    suggestion: nearest(name, fields.iter().map(|field| field.name)),
                });
            }
        }
    }
    Ok(())
}

fn decode_value(
    target: ViewMut<'_>,
    value: &Value,
    path: &Path<'_>,
    unknown: UnknownFields,
) -> Result<(), DecodeError> {
    let expected = |expected| wrong_type(path, expected, value);
    match target {
        ViewMut::Bool(slot) => *slot = value.as_bool().ok_or_else(|| expected("a boolean"))?,
        ViewMut::Integer(slot) => *slot = integer(value).ok_or_else(|| expected("an integer"))?,
        ViewMut::Number(slot) => *slot = value.as_f64().ok_or_else(|| expected("a number"))?,
        ViewMut::String(slot) => {
            *slot = value
                .as_str()
                .ok_or_else(|| expected("a string"))?
                .to_owned();
        }
        ViewMut::Enum(mut slot) => slot.set(value.as_str().ok_or_else(|| expected("a string"))?),
        ViewMut::Json(slot) => slot.0 = value.clone(),
        ViewMut::Struct(slot) => {
            let members = value.as_object().ok_or_else(|| expected("an object"))?;
            decode_struct(slot, members, path, unknown)?;
        }
        ViewMut::List(mut slot) => {
            let items = value.as_array().ok_or_else(|| expected("a list"))?;
            for (index, item) in items.iter().enumerate() {
                decode_value(slot.push().view(), item, &path.item(index), unknown)?;
            }
        }
        ViewMut::Map(mut slot) => {
            let members = value.as_object().ok_or_else(|| expected("an object"))?;
            for (key, member) in members {
                decode_value(slot.insert(key).view(), member, &path.member(key), unknown)?;
            }
        }
    }
    Ok(())
}

/// A 64-bit integer, also when it is written as `3.0` or `3e2`: some writers have one number type only.
pub fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        // Beyond 2^53 a double no longer tells neighbouring integers apart.
        let exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be an integer below 2^53"
        )]
        exact.then_some(number as i64)
    })
}

/// Encodes a struct; absent fields are left out.
pub fn encode<T: Shaped>(value: &T) -> Value {
    Value::Object(encode_struct(StructRef::new(value)))
}

fn encode_struct(value: StructRef<'_>) -> Map<String, Value> {
    value
        .fields()
        .map(|(field, value)| (field.name.to_owned(), encode_value(value)))
        .filter(|(_, value)| !value.is_null())
        .collect()
}

fn encode_value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Bool(value) => Value::Bool(value),
        ValueRef::Integer(value) => Value::from(value),
        ValueRef::Number(value) => number(value),
        ValueRef::String(value) => Value::from(value),
        ValueRef::Json(value) => value.0.clone(),
        ValueRef::Struct(value) => Value::Object(encode_struct(value)),
        ValueRef::List(value) => value.items().map(encode_value).collect(),
        ValueRef::Map(value) => value
            .entries()
            .into_iter()
            .map(|(key, value)| (key.to_owned(), encode_value(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// A JSON number; whole numbers are written without a fraction, as every other writer of manifests does.
fn number(value: f64) -> Value {
    match integer(&Value::from(value)) {
        Some(whole) => Value::from(whole),
        None => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::everything::{Colour, Everything};

    #[test]
    fn every_type_of_field_goes_both_ways() {
        let document = json!({
            "flag": true, "count": -7, "ratio": 0.25, "text": "a", "anything": {"x": [1, null]},
            "colour": "Red", "child": {"name": "inner"}, "children": [{"name": "a"}, {}],
            "texts": ["x", "y"], "labels": {"k": "v"}, "named": {"one": {"name": "n"}},
            "matrix": [[1, 2], []],
        });
        let decoded: Everything = decode(&document).unwrap();
        assert_eq!(decoded.count, Some(-7));
        assert_eq!(decoded.colour, Some(Colour::RED));
        assert_eq!(encode(&decoded), document);
    }

    #[test]
    fn null_is_absent_and_unknown_enum_members_are_kept() {
        let decoded: Everything =
            decode(&json!({"text": null, "child": null, "colour": "Mauve"})).unwrap();
        assert_eq!(decoded.text, None);
        assert_eq!(encode(&decoded), json!({"colour": "Mauve"}));
    }

    #[test]
    fn whole_floats_are_integers_and_large_integers_stay_exact() {
        let decoded: Everything = decode(&json!({"count": 3.0, "ratio": 4.0})).unwrap();
        assert_eq!(encode(&decoded), json!({"count": 3, "ratio": 4}));
        let decoded: Everything = decode(&json!({"count": i64::MAX})).unwrap();
        assert_eq!(decoded.count, Some(i64::MAX));
        for wrong in [json!(3.5), json!(u64::MAX), json!(1e300), json!("3")] {
            assert!(decode::<Everything>(&json!({"count": wrong})).is_err());
        }
    }

    #[test]
    fn errors_say_where_what_was_expected_and_what_was_found() {
        let message = |document: &Value| decode::<Everything>(document).unwrap_err().to_string();
        assert_eq!(
            message(&json!({"children": [{}, {"name": 3}]})),
            "children[1].name: expected a string, found an integer"
        );
        assert_eq!(
            message(&json!({"named": {"a b": []}})),
            "named[\"a b\"]: expected an object, found a list"
        );
        let strict =
            decode_with::<Everything>(&json!({"child": {"nmae": "x"}}), UnknownFields::Deny);
        assert_eq!(
            strict.unwrap_err().to_string(),
            "child.nmae: no such field, did you mean `name`?"
        );
        assert!(decode::<Everything>(&json!({"other": 1})).is_ok());
    }
}
