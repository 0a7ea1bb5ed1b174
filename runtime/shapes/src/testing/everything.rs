//! A struct with every type of field, for the tests of the shape engines.
#![allow(dead_code, reason = "no test needs every member of an enum")]

use std::collections::BTreeMap;

use crate::shape::Json;
use crate::{shaped, string_enum};

string_enum! {
    /// A colour.
    Colour { RED = "Red", GREEN = "Green", DEEP_BLUE = "DeepBlue" }
}

shaped! {
    /// The nested struct.
    Child {
        /// A name.
        name: String = "name";
        /// A boxed struct below a nested struct.
        child: Box<Leaf> = "child";
    }
}

shaped! {
    /// The innermost struct.
    Leaf {
        /// A flag between larger fields, so that offsets are not all alike.
        flag: bool = "flag";
        /// A number.
        count: i64 = "count";
    }
}

shaped! {
    /// One field of each type.
    Everything {
        /// Boolean.
        flag: bool = "flag";
        /// Integer.
        count: i64 = "count";
        /// Number.
        ratio: f64 = "ratio";
        /// String.
        text: String = "text";
        /// Any JSON.
        anything: Json = "anything";
        /// Enum.
        colour: Colour = "colour";
        /// Struct.
        child: Box<Child> = "child";
        /// List of structs.
        children: Vec<Child> = "children";
        /// List of strings.
        texts: Vec<String> = "texts";
        /// List of enums.
        colours: Vec<Colour> = "colours";
        /// List of lists.
        matrix: Vec<Vec<i64>> = "matrix";
        /// Map of strings.
        labels: BTreeMap<String, String> = "labels";
        /// Map of structs.
        named: BTreeMap<String, Child> = "named";
        /// Map of any JSON.
        bag: BTreeMap<String, Json> = "bag";
    }
}
