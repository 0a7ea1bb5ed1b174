//! What is special about a kind, as far as its curation file says so: for each fact a row.

use crate::model::{ErrorClass, ErrorRule, Group, NameRule, Resource, UuidText};

/// What errors of Azure mean for a kind: code, a part of the message, and what is done.
pub type ErrorRow = (String, String, &'static str);

/// What a PUT of the kind carries beside its spec, and what makes its name.
pub fn facts(group: &Group, resource: &Resource) -> Vec<String> {
    let children = resource.child_lists.iter().map(|path| {
        format!(
            "`{}` of ARM is left out: its items are kinds of their own, and a PUT carries what Azure has",
            path.join(".")
        )
    });
    let kept = resource.keep_unknown.iter().map(|path| {
        format!(
            "A PUT carries what ARM has in `{}` and the spec never named, which may be a kind of its own",
            path.join(".")
        )
    });
    let values = group.values.get(&resource.kind);
    let owned = values.into_iter().flat_map(|values| &values.azure_owned);
    let owned = owned.map(|rule| format!("Azure moves `{rule}`"));
    let edits = values.into_iter().flat_map(|values| &values.edits);
    let edits = edits.map(|rule| format!("Of an edit the plan says `{rule}`"));
    let name = match &resource.name {
        NameRule::Uuid { text, .. } => Some(match text {
            UuidText::WithOwnerId => {
                "Without `azureName` its name is a UUID, made of what the object and its owner are called or, by \
                 `operatorSpec.namingConvention`, a random one"
            }
            UuidText::WithoutOwnerId => {
                "Without `azureName` its name is a UUID, made of what the object and its owner are called"
            }
        }),
        _ => None,
    };
    let name = name.into_iter().map(str::to_owned);
    let facts = name.chain(children).chain(kept).chain(owned);
    facts.chain(edits).collect()
}

/// What errors of Azure mean for a kind in particular, or with `None` for each of the group, in the order in which the
/// rules are asked.
pub fn errors(group: &Group, kind: Option<&str>) -> Vec<ErrorRow> {
    let is_for = |rule: &&ErrorRule| match kind {
        Some(kind) => rule.kinds.iter().any(|it| it == kind),
        None => rule.kinds.is_empty(),
    };
    let row = |rule: &ErrorRule| {
        let message = rule
            .message
            .as_deref()
            .map(|text| format!("with \"{text}\""));
        let done = match rule.class {
            ErrorClass::Fatal => "wait for a change of the object",
            ErrorClass::RetryFast => "try again within seconds",
            ErrorClass::RetrySlow => "try again within minutes",
            ErrorClass::RetryVerySlow => "try again after the sync period",
        };
        let message = message.unwrap_or_default().replace('|', "\\|");
        (rule.code.clone(), message, done)
    };
    group.errors.iter().filter(is_for).map(row).collect()
}
