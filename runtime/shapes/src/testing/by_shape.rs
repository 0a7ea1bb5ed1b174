//! Rust types by their shapes. Shapes are data and do not name the types, so that a program holds code of those alone that it
//! uses; tests that go through all kinds use all of them.

use std::collections::HashMap;

use serde_json::Value;

use crate::kind::TypedKind;
use crate::shape::{DecodeError, Shaped, StructShape, UnknownFields, recode};

type Recode = fn(&Value, UnknownFields) -> Result<Value, DecodeError>;

/// Types of specs and statuses.
#[derive(Debug, Default)]
pub struct TypesByShape(HashMap<usize, Recode>);

impl TypesByShape {
    /// Adds those of a kind in a version.
    pub fn add<K: TypedKind>(&mut self) {
        self.add_type::<K::Spec>();
        self.add_type::<K::Status>();
    }

    fn add_type<T: Shaped>(&mut self) {
        self.0.insert(key(T::SHAPE), recode::<T>);
    }

    /// What is left of a document after it went through the type of this shape.
    ///
    /// # Errors
    /// [`DecodeError`] for the first value that does not fit.
    ///
    /// # Panics
    /// If no type of this shape was added.
    #[expect(clippy::expect_used, reason = "a test that lacks a type fails")]
    pub fn recode(
        &self,
        shape: &'static StructShape,
        value: &Value,
        unknown: UnknownFields,
    ) -> Result<Value, DecodeError> {
        let recode = self.0.get(&key(shape)).expect(shape.name);
        recode(value, unknown)
    }
}

fn key(shape: &'static StructShape) -> usize {
    std::ptr::from_ref(shape).addr()
}
