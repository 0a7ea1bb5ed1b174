//! The codec over every type of every kind: documents go through the Rust types without loss.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use armature_conformance::properties::{for_all, normal, same, shapes, types};
use armature_runtime::shape::UnknownFields;
use armature_runtime::testing::arbitrary::Arbitrary;
use serde_json::Value;

/// Values per type.
const CASES: u32 = 24;

#[test]
fn documents_of_the_right_types_are_kept_as_they_are() {
    let types = types();
    for shape in shapes() {
        for_all(shape.name, CASES, |seed, size| {
            let document = Arbitrary::typed(seed, size).object(shape);
            let recoded = types.recode(shape, &document, UnknownFields::Deny);
            same(&document, &recoded.map_err(|error| error.to_string())?)
        });
    }
}

#[test]
fn nulls_unknown_members_and_fractions_of_zero_are_all_that_is_left_out() {
    let types = types();
    for shape in shapes() {
        for_all(shape.name, CASES, |seed, size| {
            let document = Arbitrary::loose(seed, size).object(shape);
            let recoded = types.recode(shape, &document, UnknownFields::Ignore);
            let recoded = recoded.map_err(|error| error.to_string())?;
            same(&normal(shape, &document), &recoded)?;
            let again = types.recode(shape, &recoded, UnknownFields::Deny);
            same(&recoded, &again.map_err(|error| error.to_string())?)
        });
    }
}

#[test]
fn text_says_the_same_as_the_document() {
    for shape in shapes() {
        for_all(shape.name, CASES, |seed, size| {
            let document = Arbitrary::loose(seed, size).object(shape);
            let read: Value = serde_json::from_str(&document.to_string()).unwrap();
            same(&document, &read)
        });
    }
}
