//! Texts of annotations that are right, for texts that are nearly right.

use std::collections::BTreeMap;

use super::annotations::NOTES;
use super::mutation::Mutations;

/// What users write.
pub const TEXTS: [&str; 19] = [
    "manage",
    "skip",
    "detach-on-delete",
    "true",
    "false",
    "2030-01-31T18:00:00Z",
    "2030-01-31T20:00:00+02:00",
    "never",
    "15m",
    "1h30m",
    "P1DT2H",
    "366d",
    "always",
    "if-equal",
    "delete",
    "none",
    "/subscriptions/s/resourceGroups/g",
    "",
    "1",
];

/// What the operator notes.
pub const NOTED: [&str; 16] = [
    "armature-system",
    "GenericResource",
    "Armature.Post",
    r#"{"type":"GenericResource","token":{"asyncURL":"https://management.azure.com/subscriptions/s-1/operations/1","locURL":"","origURL":"","method":"PUT","finalState":"","state":"InProgress"}}"#,
    r#"{"type":"GenericResource","token":{"type":"loc","pollURL":"/subscriptions/s-1/operationresults/1","state":"InProgress"}}"#,
    r#"{"type":"GenericDeleteResponse","token":{"type":"body","pollURL":"/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s","state":"InProgress"}}"#,
    "7",
    "9223372036854775807",
    "2026-01-01T00:00:00Z",
    "-009999-01-02T01:59:59Z",
    "3/1/false/2026-01-01T00:00:00Z",
    "made",
    "namespace",
    "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s",
    "v3:AAAA:BBBB:CCCC",
    r#"{"v":3,"spec":{"a":1}}"#,
];

/// Notes of a claimed object, some of them nearly right.
pub fn notes(mutations: &mut Mutations) -> BTreeMap<String, String> {
    let count = 1 + mutations.below(NOTES.len());
    let notes = (0..count).map(|_| {
        let name = mutations.one(&NOTES).to_owned();
        (name, mutations.text(&NOTED))
    });
    notes.collect()
}
