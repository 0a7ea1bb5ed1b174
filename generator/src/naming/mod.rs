//! Names: the cases of words ([`words`]), what Rust takes for fields and constants ([`rust`]), and what is taken
//! ([`reserved`]). Which type gets which name is said by `types::names`, of a spec's schemas, whoever uses them.

mod reserved;
mod rust;
mod words;

pub use reserved::{EMBEDDED, OPERATOR_SPEC, is_taken, of_kind};
pub use rust::{constant, distinct, snake};
pub use words::{lower_camel, pascal, singular};
