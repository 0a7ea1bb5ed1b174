//! A resource side by side with itself: what is true of it beside its types.

use super::{Change, What};
use crate::model::{
    AnswerStep, NameRule, Owner, Resource, Retirement, Scope, SecretSource, UuidText, Verbs,
};

/// What changed of a resource beside its types.
pub(super) fn compare(old: &Resource, new: &Resource) -> Vec<Change> {
    let before = words(old, new);
    let after = words(new, old);
    let both = before.into_iter().zip(after);
    let changed = both.filter(|((_, before), (_, after))| before != after);
    changed
        .map(|((what, before), (_, after))| effect(what, old, new).saying(before, after))
        .collect()
}

/// Each fact about a resource in words, as far as the `other` side can have it as well. Destructured, so that a new fact
/// is not forgotten.
fn words(resource: &Resource, other: &Resource) -> [(What, String); 12] {
    let Resource {
        kind: _,
        plural,
        arm_type,
        path,
        source: _,
        inherited_from: _,
        scope,
        owner,
        name,
        verbs,
        spec: _,
        status: _,
        version_names: _,
        is_on_request: _,
        retirement,
        secrets,
        config_maps,
        child_lists,
        keep_unknown,
    } = resource;
    [
        (What::Plural, plural.clone()),
        (What::ArmType, arm_type.to_lowercase()),
        (What::ArmPath, fixed_parts(path)),
        (What::Scope, scope_words(*scope)),
        (What::Owner, owner_words(owner)),
        (What::Name, fixed_name(name)),
        (What::Verbs, offered(*verbs)),
        (What::LongRunning, long_running(*verbs)),
        (What::Exports, exports(secrets, config_maps, other)),
        (What::ChildLists, lists(child_lists)),
        (What::KeepUnknown, lists(keep_unknown)),
        (What::Retirement, end(retirement.as_ref())),
    ]
}

/// What another value of a fact does to users.
fn effect(what: What, old: &Resource, new: &Resource) -> Change {
    match what {
        What::Plural => Change::breaking(what, "the CRD gets another name: its objects must move"),
        What::ArmType | What::Scope | What::Name => {
            Change::breaking(what, "existing objects stand for another resource in Azure")
        }
        What::Owner => Change::breaking(what, "manifests must name another owner"),
        What::Verbs if old.verbs.delete && !new.verbs.delete => {
            Change::breaking(what, "deleting an object leaves the resource in Azure")
        }
        What::ArmPath => Change::compatible(what, "manifests stay as they are"),
        What::Exports => Change::compatible(what, "the same keys are written, from elsewhere"),
        What::ChildLists => Change::compatible(what, "what Azure has in them is kept by a PUT"),
        What::KeepUnknown => Change::compatible(what, "what others add there is kept by a PUT"),
        _ => Change::compatible(what, ""),
    }
}

/// When Azure retires the api-version, and what is used then.
fn end(retirement: Option<&Retirement>) -> String {
    let words = |it: &Retirement| format!("{}, then `{}`", it.date, it.successor);
    retirement.map_or_else(|| "none".to_owned(), words)
}

/// The path without the names of its parameters, which no user sees.
fn fixed_parts(path: &str) -> String {
    let part = |part: &str| {
        if part.starts_with('{') {
            "{}".to_owned()
        } else {
            part.to_owned()
        }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn scope_words(scope: Scope) -> String {
    let words = match scope {
        Scope::ResourceGroup => "a resource group",
        Scope::Subscription => "a subscription",
        Scope::Tenant => "the tenant",
        Scope::Extension => "any resource",
    };
    words.to_owned()
}

fn owner_words(owner: &Owner) -> String {
    match owner {
        Owner::None => "nothing".to_owned(),
        Owner::ResourceGroup => "a resource group".to_owned(),
        Owner::Parent(arm_type) => arm_type.to_lowercase(),
        Owner::Any => "any resource".to_owned(),
    }
}

/// The name that the operator gives; what users choose is in `spec.azureName`.
fn fixed_name(rule: &NameRule) -> String {
    match rule {
        NameRule::Uuid { text, .. } => match text {
            UuidText::WithOwnerId => "a UUID by default".to_owned(),
            UuidText::WithoutOwnerId => "a UUID without the owner's ARM id by default".to_owned(),
        },
        NameRule::Fixed(name) => format!("`{name}`"),
        NameRule::Free(_) | NameRule::OneOf(_) => String::new(),
    }
}

fn offered(verbs: Verbs) -> String {
    let all = [
        (verbs.get, "GET"),
        (verbs.head, "HEAD"),
        (verbs.put, "PUT"),
        (verbs.patch, "PATCH"),
        (verbs.delete, "DELETE"),
    ];
    let offered = all.into_iter().filter(|(is_offered, _)| *is_offered);
    offered.map(|(_, verb)| verb).collect::<Vec<_>>().join(" ")
}

fn long_running(verbs: Verbs) -> String {
    let all = [
        (verbs.put_long_running, "PUT"),
        (verbs.delete_long_running, "DELETE"),
    ];
    let long = all.into_iter().filter(|(is_long, _)| *is_long);
    long.map(|(_, verb)| verb).collect::<Vec<_>>().join(" ")
}

/// Where exported values come from, of the keys that the other side has as well: keys that come and go are
/// properties of `operatorSpec`.
fn exports(
    secrets: &[(String, SecretSource)],
    config_maps: &[(String, Vec<String>)],
    other: &Resource,
) -> String {
    let secrets = secrets
        .iter()
        .filter(|(key, _)| other.secrets.iter().any(|(known, _)| known == key))
        .map(|(key, source)| format!("secret `{key}`: {}", source_words(source)));
    let config_maps = config_maps
        .iter()
        .filter(|(key, _)| other.config_maps.iter().any(|(known, _)| known == key))
        .map(|(key, path)| format!("config map `{key}`: {}", status_words(path)));
    secrets.chain(config_maps).collect::<Vec<_>>().join(", ")
}

fn source_words(source: &SecretSource) -> String {
    match source {
        SecretSource::Status(path) => status_words(path),
        SecretSource::Subscription => "the subscription".to_owned(),
        SecretSource::Action { action, value } => {
            let steps = value.iter().map(|step| match step {
                AnswerStep::Member(name) => name.clone(),
                AnswerStep::First => "[first]".to_owned(),
                AnswerStep::Base64 => "from Base64".to_owned(),
                AnswerStep::Item { member, is } => format!("[{member}={is}]"),
            });
            format!("{action} {}", steps.collect::<Vec<_>>().join("."))
        }
        SecretSource::Extension => "handwritten".to_owned(),
    }
}

fn status_words(path: &[String]) -> String {
    if path.is_empty() {
        return "handwritten".to_owned();
    }
    format!("status.{}", path.join("."))
}

fn lists(lists: &[Vec<String>]) -> String {
    let lists = lists.iter().map(|path| format!("`{}`", path.join(".")));
    lists.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Rules, SourceFile, TypeId};

    type Edit = fn(&mut Resource);

    fn resource() -> Resource {
        Resource {
            kind: "Shop".to_owned(),
            plural: "shops".to_owned(),
            arm_type: "Microsoft.Shop/shops".to_owned(),
            path: "/a/{shop}".to_owned(),
            source: (SourceFile("shop.json".to_owned()), "/paths/x".to_owned()),
            inherited_from: None,
            scope: Scope::ResourceGroup,
            owner: Owner::ResourceGroup,
            name: NameRule::Free(Rules::default()),
            verbs: Verbs {
                get: true,
                put: true,
                delete: true,
                ..Verbs::default()
            },
            spec: TypeId::of_schema("ShopSpec"),
            status: TypeId::of_schema("ShopStatus"),
            version_names: vec!["v20240101".to_owned()],
            is_on_request: false,
            retirement: None,
            secrets: vec![("key".to_owned(), SecretSource::Extension)],
            config_maps: Vec::new(),
            child_lists: Vec::new(),
            keep_unknown: Vec::new(),
        }
    }

    #[test]
    fn what_is_true_beside_the_types() {
        let table: [(Edit, &str); 12] = [
            (|_| {}, ""),
            (|it| it.arm_type = "microsoft.shop/Shops".to_owned(), ""),
            (|it| it.path = "/a/{name}".to_owned(), ""),
            (
                |it| it.path = "/b/{shop}".to_owned(),
                "the path in ARM is now /b/{}, was /a/{}",
            ),
            (
                |it| it.plural = "shopes".to_owned(),
                "!the plural is now shopes, was shops",
            ),
            (
                |it| it.scope = Scope::Tenant,
                "!the scope is now the tenant, was a resource group",
            ),
            (
                |it| it.owner = Owner::Any,
                "!the owner is now any resource, was a resource group",
            ),
            (
                |it| it.name = NameRule::Fixed("default".to_owned()),
                "!the only name is now `default`",
            ),
            (
                |it| it.verbs.delete = false,
                "!the list of verbs is now GET PUT, was GET PUT DELETE",
            ),
            (
                |it| it.verbs.put_long_running = true,
                "long-running is now PUT",
            ),
            (
                |it| it.secrets[0].1 = SecretSource::Subscription,
                "the source of an export is now secret `key`: the subscription, was secret `key`: handwritten",
            ),
            // A key that comes or goes is a property of operatorSpec.
            (|it| it.secrets.clear(), ""),
        ];
        for (edit, expected) in table {
            let mut edited = resource();
            edit(&mut edited);
            let changes = compare(&resource(), &edited);
            let words = changes.iter().map(|change| {
                let mark = if change.breaking { "!" } else { "" };
                format!("{mark}{}", change.words())
            });
            assert_eq!(words.collect::<Vec<_>>().join("; "), expected);
        }
    }
}
