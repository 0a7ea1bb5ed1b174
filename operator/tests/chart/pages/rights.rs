//! Which actions in Azure requests need, and the page that has them: `docs/azure-rights.md`.

use std::collections::{BTreeMap, BTreeSet};

use armature_generated::KINDS;
use armature_runtime::kind::SecretSource;
use armature_simulator::LoggedRequest;
use serde_json::Value;

use super::page::path;

const PAGE: &str = "azure-rights.md";
const BEGIN: &str = "<!-- begin actions -->\n";
const END: &str = "<!-- end actions -->";

/// The custom role of the page.
fn role() -> Vec<String> {
    let page = std::fs::read_to_string(path(PAGE)).unwrap();
    let (_, rest) = page.split_once("<!-- tested: role -->\n```json\n").unwrap();
    let role: Value = serde_json::from_str(rest.split("```").next().unwrap()).unwrap();
    let actions = role["Actions"].as_array().unwrap();
    let actions = actions.iter().map(|action| action.as_str().unwrap());
    actions.map(str::to_owned).collect()
}

/// The action that a request needs; none for what everybody may ask who has a token.
fn action(request: &LoggedRequest) -> Option<String> {
    let verb = match request.method.as_str() {
        "GET" => "read",
        "PUT" | "PATCH" => "write",
        "DELETE" => "delete",
        "POST" => "action",
        _ => return None,
    };
    let segments: Vec<&str> = request
        .path
        .split('/')
        .filter(|it| !it.is_empty())
        .collect();
    let provider = segments
        .iter()
        .rposition(|it| it.eq_ignore_ascii_case("providers"));
    let (names, is_group) = match provider {
        Some(at) => (segments.get(at + 1..)?, false),
        None => (segments.get(2..)?, true),
    };
    if is_group {
        let is_groups = names.first()?.eq_ignore_ascii_case("resourceGroups");
        return is_groups
            .then(|| format!("Microsoft.Resources/subscriptions/resourceGroups/{verb}"));
    }
    // After the namespace of the provider types and names take turns; an action is a type without a name.
    let (namespace, rest) = names.split_first()?;
    let types: Vec<&str> = rest.iter().step_by(2).copied().collect();
    Some(format!("{namespace}/{}/{verb}", types.join("/")))
}

/// Whether an action of a role allows this one: `*` stands for anything.
fn allows(of_role: &str, action: &str) -> bool {
    let (of_role, action) = (of_role.to_lowercase(), action.to_lowercase());
    match of_role.split_once('*') {
        Some((before, after)) => {
            let is_long_enough = action.len() >= before.len() + after.len();
            is_long_enough && action.starts_with(before) && action.ends_with(after)
        }
        None => of_role == action,
    }
}

/// Holds the role to what was sent: all of it is allowed, and what is allowed was needed.
pub fn assert_role_fits(requests: &[LoggedRequest]) {
    let needed: BTreeSet<String> = requests.iter().filter_map(action).collect();
    let role = role();
    for action in &needed {
        assert!(
            role.iter().any(|of_role| allows(of_role, action)),
            "the role of {PAGE} lacks {action}"
        );
    }
    for of_role in role.iter().filter(|action| !action.contains('*')) {
        assert!(
            needed.iter().any(|action| allows(of_role, action)),
            "the role of {PAGE} has {of_role}, which nothing needed: {needed:?}"
        );
    }
}

/// The actions that exports of keys need, by kind.
fn exports() -> String {
    let mut rows: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for kind in KINDS {
        for export in kind.secrets {
            let SecretSource::Action { action, .. } = export.source else {
                continue;
            };
            let types = action.split('/').step_by(2).collect::<Vec<_>>();
            let (last, before) = types.split_last().unwrap();
            // A name without a type in front is that of the action itself.
            let below: String = before.iter().map(|it| format!("/{it}")).collect();
            let action = format!("`{}{below}/{last}/action`", kind.remote_type());
            rows.entry((kind.group, kind.kind))
                .or_default()
                .insert(action);
        }
    }
    let mut text = "| kind | action |\n|---|---|\n".to_owned();
    for ((group, kind), actions) in rows {
        let actions: Vec<String> = actions.into_iter().collect();
        let group = group.trim_end_matches(".azure.com");
        text += &format!("| `{kind}` of {group} | {} |\n", actions.join("<br>"));
    }
    text
}

#[test]
fn the_page_has_the_actions_of_every_export() {
    let page = std::fs::read_to_string(path(PAGE)).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{}{END}{after}", exports());
    if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
        std::fs::write(path(PAGE), wanted).unwrap();
    } else {
        assert_eq!(page, wanted, "ARMATURE_WRITE_DOCS=1 writes {PAGE}");
    }
}

#[test]
fn a_role_allows_what_it_names() {
    for (of_role, action, is_allowed) in [
        ("A.B/c/read", "a.b/C/read", true),
        ("A.B/c/read", "A.B/c/write", false),
        (
            "A.B/locations/*/read",
            "A.B/locations/operations/read",
            true,
        ),
        ("A.B/locations/*/read", "A.B/locations/read", false),
        ("A.B/locations/*/read", "A.B/c/read", false),
    ] {
        assert_eq!(allows(of_role, action), is_allowed, "{of_role} {action}");
    }
}
