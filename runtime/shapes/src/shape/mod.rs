//! The schema as data: one static table ("shape") per generated type, and the engines' view of it.
//!
//! A shape says everything an engine needs to know about a type: the JSON name of each field, where the
//! value sits in ARM's JSON, its type, its constraints and its meaning. Decoding, encoding, validation,
//! ARM payloads, conversion, CRDs and drift all read the same tables; none of them is generated code.
//!
//! What does not live here: anything about kinds (see [`crate::kind`]) and anything that does I/O.

mod access;
pub mod arm_json;
pub mod arm_tree;
mod check;
mod codec;
mod field;
mod name;
pub mod path;
mod problem;
mod rules;
mod slot;
mod suggest;
mod table;

pub use access::{
    EnumMut, ListMut, ListRef, MapMut, MapRef, StructMut, StructRef, ValueMut, ValueRef, ViewMut,
};
pub use check::{check, warnings};
pub use codec::{DecodeError, UnknownFields, decode, decode_with, encode, integer, recode};
pub use field::{EnumText, FieldOf, FieldValue, ItemValue, Json, Shaped, StringEnum};
pub use name::{check_name, misleading_name};
pub use path::{Path, kind_of};
pub use problem::{Problem, ProblemKind};
pub use rules::check_rules;
pub use slot::{Access, AccessOf, EnumAccess, StructAccess};
pub use suggest::nearest;
pub use table::{
    ArmPlace, EnumShape, Field, Flags, IntegerFormat, ListShape, MapShape, OneOf, Rules, Semantic,
    StructShape, Type, Variant,
};
