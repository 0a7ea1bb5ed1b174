//! A handwritten struct with every type of field, for the tests of the shape engines.
#![allow(dead_code, reason = "no test needs every member of an enum")]

use std::collections::BTreeMap;

use crate::shape::{FieldOf, Json, Shaped, StructShape};
use crate::{field, string_enum};

string_enum! {
    /// A colour.
    Colour { RED = "Red", GREEN = "Green", DEEP_BLUE = "DeepBlue" }
}

/// The nested struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Child {
    /// A name.
    pub name: Option<String>,
    /// A boxed struct below a nested struct.
    pub child: Option<Box<Leaf>>,
}

impl Shaped for Child {
    const SHAPE: &'static StructShape = {
        static FIELDS: &[FieldOf<Child>] =
            &[field!(Child, name, "name"), field!(Child, child, "child")];
        static SHAPE: StructShape = StructShape::of::<Child>("Child", FIELDS);
        &SHAPE
    };
}

/// The innermost struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaf {
    /// A flag between larger fields, so that offsets are not all alike.
    pub flag: Option<bool>,
    /// A number.
    pub count: Option<i64>,
}

impl Shaped for Leaf {
    const SHAPE: &'static StructShape = {
        static FIELDS: &[FieldOf<Leaf>] =
            &[field!(Leaf, flag, "flag"), field!(Leaf, count, "count")];
        static SHAPE: StructShape = StructShape::of::<Leaf>("Leaf", FIELDS);
        &SHAPE
    };
}

/// One field of each type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Everything {
    /// Boolean.
    pub flag: Option<bool>,
    /// Integer.
    pub count: Option<i64>,
    /// Number.
    pub ratio: Option<f64>,
    /// String.
    pub text: Option<String>,
    /// Any JSON.
    pub anything: Option<Json>,
    /// Enum.
    pub colour: Option<Colour>,
    /// Struct.
    pub child: Option<Box<Child>>,
    /// List of structs.
    pub children: Option<Vec<Child>>,
    /// List of strings.
    pub texts: Option<Vec<String>>,
    /// List of enums.
    pub colours: Option<Vec<Colour>>,
    /// List of lists.
    pub matrix: Option<Vec<Vec<i64>>>,
    /// Map of strings.
    pub labels: Option<BTreeMap<String, String>>,
    /// Map of structs.
    pub named: Option<BTreeMap<String, Child>>,
    /// Map of any JSON.
    pub bag: Option<BTreeMap<String, Json>>,
}

impl Shaped for Everything {
    const SHAPE: &'static StructShape = {
        static FIELDS: &[FieldOf<Everything>] = &[
            field!(Everything, flag, "flag"),
            field!(Everything, count, "count"),
            field!(Everything, ratio, "ratio"),
            field!(Everything, text, "text"),
            field!(Everything, anything, "anything"),
            field!(Everything, colour, "colour"),
            field!(Everything, child, "child"),
            field!(Everything, children, "children"),
            field!(Everything, texts, "texts"),
            field!(Everything, colours, "colours"),
            field!(Everything, matrix, "matrix"),
            field!(Everything, labels, "labels"),
            field!(Everything, named, "named"),
            field!(Everything, bag, "bag"),
        ];
        static SHAPE: StructShape = StructShape::of::<Everything>("Everything", FIELDS);
        &SHAPE
    };
}
