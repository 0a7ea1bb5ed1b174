//! Names, of which nothing else makes any: the words for types ([`identities`]) and what these are called in the end
//! ([`names`]), their endings ([`endings`]), what makes them distinct ([`claims`]) and what is taken ([`reserved`]); the
//! cases of words ([`words`]), and what Rust takes for fields and constants ([`rust`]). Not here: which schema a word is
//! for (`types::words`).

mod claims;
pub mod endings;
pub mod identities;
mod names;
mod reserved;
mod rust;
mod words;

pub use claims::Claims;
pub use identities::Stem;
pub use names::{Named, Names, TypeNames};
pub use reserved::{EMBEDDED, is_taken, of_kind};
pub use rust::{constant, distinct, snake};
pub use words::{lower_camel, pascal, singular};
