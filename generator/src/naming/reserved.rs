//! Names that no type of Azure's gets.

use super::endings::{of_part, of_root};
use crate::model::{OperatorPart, Side};

/// What generated Rust needs for itself: what is in scope everywhere, and what fields are made of.
const RUST: [&str; 25] = [
    "AsMut",
    "AsRef",
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Drop",
    "Eq",
    "Err",
    "Fn",
    "From",
    "Into",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "Self",
    "Some",
    "String",
    "Value",
    "Vec",
];

/// Whether generated Rust needs this name for itself.
pub fn is_taken(name: &str) -> bool {
    RUST.contains(&name)
}

/// What is left of a resource inside another one: its id.
pub const EMBEDDED: &str = "EmbeddedResource";

/// Every name that a kind takes in its modules.
pub fn of_kind(kind: &str) -> impl Iterator<Item = String> {
    let parts = [
        OperatorPart::Spec,
        OperatorPart::ConfigMaps,
        OperatorPart::Secrets,
        OperatorPart::AzureName,
        OperatorPart::NamingConvention,
    ];
    let endings = ["", "Kind"].into_iter();
    let endings = endings.chain([Side::Spec, Side::Status].map(of_root));
    let endings = endings.chain(parts.map(of_part));
    endings.map(move |ending| format!("{kind}{ending}"))
}
