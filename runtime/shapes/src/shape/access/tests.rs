//! The table's view of a struct against Rust's own view of it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::shape::{IntegerFormat, Rules, Type, decode, encode};
use crate::testing::arbitrary::Arbitrary;
use crate::testing::everything::{Child, Colour, Everything, Leaf};

/// What the codec must write for the struct, without any table.
fn by_hand(value: &Everything) -> Value {
    let mut out = json!({});
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            out[name] = value;
        }
    };
    set("flag", value.flag.map(Value::from));
    set("count", value.count.map(Value::from));
    set("ratio", value.ratio.map(whole));
    set("text", value.text.clone().map(Value::from));
    set("anything", value.anything.clone().map(|json| json.0));
    set("colour", value.colour.as_ref().map(colour));
    set("child", value.child.as_deref().map(child));
    set(
        "children",
        value
            .children
            .as_ref()
            .map(|list| list.iter().map(child).collect()),
    );
    set("texts", value.texts.clone().map(Value::from));
    set(
        "colours",
        value
            .colours
            .as_ref()
            .map(|list| list.iter().map(colour).collect()),
    );
    set("matrix", value.matrix.clone().map(Value::from));
    set(
        "labels",
        value
            .labels
            .as_ref()
            .map(|map| map_of(map, |text| Value::from(text.as_str()))),
    );
    set("named", value.named.as_ref().map(|map| map_of(map, child)));
    set(
        "bag",
        value
            .bag
            .as_ref()
            .map(|map| map_of(map, |json| json.0.clone())),
    );
    out
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be a whole number below 2^53"
)]
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

fn colour(colour: &Colour) -> Value {
    Value::from(colour.as_str())
}

fn child(value: &Child) -> Value {
    let mut out = json!({});
    if let Some(name) = &value.name {
        out["name"] = json!(name);
    }
    if let Some(below) = &value.child {
        out["child"] = leaf(below);
    }
    out
}

fn leaf(value: &Leaf) -> Value {
    let mut out = json!({});
    if let Some(flag) = value.flag {
        out["flag"] = json!(flag);
    }
    if let Some(count) = value.count {
        out["count"] = json!(count);
    }
    out
}

fn map_of<T>(map: &BTreeMap<String, T>, item: impl Fn(&T) -> Value) -> Value {
    let entries = map.iter().map(|(key, value)| (key.clone(), item(value)));
    Value::Object(entries.collect())
}

proptest! {
    #[test]
    fn the_table_reads_what_rust_wrote_and_writes_what_rust_reads(seed: u64, size in 0..60_usize) {
        let document = Arbitrary::typed(seed, size).object(Everything::SHAPE);
        let decoded: Everything = decode(&document).unwrap();
        prop_assert_eq!(&by_hand(&decoded), &document);
        prop_assert_eq!(&encode(&decoded), &document);
        // Overwriting a value that is there drops the old one and leaves its neighbours alone.
        let mut overwritten = decoded.clone();
        for index in 0..Everything::SHAPE.fields.len() {
            StructMut::new(&mut overwritten).put(index);
        }
        prop_assert_eq!(overwritten.text, Some(String::new()));
        prop_assert_eq!(overwritten.count, Some(0));
        prop_assert_eq!(overwritten.child, Some(Box::default()));
        prop_assert_eq!(overwritten.named, Some(BTreeMap::new()));
    }
}

#[test]
fn a_fresh_struct_is_empty() {
    assert_eq!(StructRef::new(&Everything::default()).fields().count(), 0);
    let mut one = Leaf::default();
    if let ViewMut::Integer(slot) = StructMut::new(&mut one).put(1).view() {
        *slot = 7;
    }
    let fields: Vec<_> = StructRef::new(&one)
        .fields()
        .map(|(field, _)| field.name)
        .collect();
    assert_eq!(fields, ["count"]);
}

crate::shaped! {
    /// Integers, as generated code says it and in full.
    Numbers {
        /// In short.
        short: i64 = "short".at(&["short"]).int32();
        /// The same in full.
        full: i64 = "full".at(&["full"]).integer(IntegerFormat::Int32)
            .rules(&Rules { format: Some("int32"), ..Rules::NONE });
        /// Other constraints stand for themselves.
        port: i64 = "port".at(&["port"]).int32().rules(&Rules { maximum: Some(65535.0), ..Rules::NONE });
        /// Of 64 bits.
        long: i64 = "long".at(&["long"]).int64();
    }
}

#[test]
fn widths_in_short_are_those_in_full() {
    let [short, full, port, long] = Numbers::SHAPE.fields else {
        panic!("four fields");
    };
    assert_eq!(format!("{:?}", short.ty), format!("{:?}", full.ty));
    assert_eq!(short.rules, full.rules);
    assert!(matches!(port.ty, Type::Integer(IntegerFormat::Int32)));
    let of_port = (port.rules.format, port.rules.maximum);
    assert_eq!(of_port, (None, Some(65535.0)));
    assert!(matches!(long.ty, Type::Integer(IntegerFormat::Int64)));
    assert_eq!(long.rules.format, Some("int64"));
}
