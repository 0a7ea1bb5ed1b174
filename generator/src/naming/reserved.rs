//! Names that no type of Azure's gets.

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

/// Type of the operator's settings, after the kind where the kind has some of its own.
pub const OPERATOR_SPEC: &str = "OperatorSpec";

/// What is left of a resource inside another one: its id.
pub const EMBEDDED: &str = "EmbeddedResource";

/// Every name that a kind takes in its modules.
pub fn of_kind(kind: &str) -> impl Iterator<Item = String> {
    const ENDINGS: [&str; 8] = [
        "",
        "Kind",
        "Spec",
        "Status",
        OPERATOR_SPEC,
        "OperatorConfigMaps",
        "OperatorSecrets",
        "AzureName",
    ];
    ENDINGS.iter().map(move |ending| format!("{kind}{ending}"))
}
