//! What an api-version shows of a resource: nothing that only other api-versions of the type have.

use armature_runtime::kind::VersionInfo;
use armature_runtime::shape::{Semantic, Type};
use serde_json::{Map, Value};

use super::cursor::{Cursor, Step};

/// The body as a version shows it. A member that no version has may be anybody's, and is shown.
pub fn shown(
    version: &VersionInfo,
    all: impl Iterator<Item = &'static VersionInfo>,
    body: &Value,
) -> Value {
    let mut kept = body.clone();
    let Value::Object(members) = &mut kept else {
        return kept;
    };
    let cursor = |shape| Cursor::of(shape, members).0;
    let own = [version.spec, version.status].map(cursor);
    let others: Vec<Cursor> = all.map(|other| cursor(other.spec)).collect();
    prune(&own, &others, members);
    kept
}

fn prune(own: &[Cursor], others: &[Cursor], members: &mut Map<String, Value>) {
    members.retain(|name, value| {
        let steps = |cursors: &[Cursor]| -> Vec<Step> {
            let steps = cursors.iter().map(|cursor| cursor.step(name));
            steps.filter(|it| !matches!(it, Step::Unknown)).collect()
        };
        let (own, others) = (steps(own), steps(others));
        if own.is_empty() {
            return others.is_empty();
        }
        below(views(own), views(others), value);
        true
    });
}

/// What is known of a value.
#[derive(Clone)]
enum View {
    Object(Cursor),
    Type(Type),
    Anything,
}

fn views(steps: Vec<Step>) -> Vec<View> {
    let view = |step| match step {
        Step::Inner(cursor) => vec![View::Object(cursor)],
        Step::Leaf(fields) => fields.iter().map(|field| View::Type(field.ty)).collect(),
        Step::Unknown | Step::Discriminator | Step::Further => vec![View::Anything],
    };
    steps.into_iter().flat_map(view).collect()
}

fn below(own: Vec<View>, others: Vec<View>, value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_map = |view: &View| matches!(view, View::Type(Type::Map(_)));
            if own.iter().any(is_map) {
                for value in members.values_mut() {
                    below(inner(&own), inner(&others), value);
                }
                return;
            }
            let cursors = |views: &[View]| -> Option<Vec<Cursor>> {
                views.iter().map(|view| cursor(view, members)).collect()
            };
            if let (Some(own), Some(others)) = (cursors(&own), cursors(&others)) {
                prune(&own, &others, members);
            }
        }
        Value::Array(items) => {
            for item in items {
                below(inner(&own), inner(&others), item);
            }
        }
        _ => {}
    }
}

/// The fields of an object; nothing where it may have any member.
fn cursor(view: &View, members: &Map<String, Value>) -> Option<Cursor> {
    match view {
        View::Object(cursor) => Some(cursor.clone()),
        View::Type(Type::Struct(shape)) if shape.semantic == Semantic::Plain => {
            Some(Cursor::of(shape, members).0)
        }
        View::Type(_) | View::Anything => None,
    }
}

/// What is known of the items of a list, or the entries of a map.
fn inner(views: &[View]) -> Vec<View> {
    let inner = views.iter().map(|view| match view {
        View::Type(Type::List(list)) => View::Type(list.item),
        View::Type(Type::Map(map)) => View::Type(map.value),
        _ => View::Anything,
    });
    inner.collect()
}

#[cfg(test)]
mod tests {
    use armature_generated::KINDS;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_older_version_shows_nothing_that_came_later() {
        let mut kinds = KINDS.iter();
        let kind = kinds.find(|kind| kind.kind == "LoadBalancer").unwrap();
        let version = |name: &str| {
            let mut versions = kind.versions.iter();
            versions
                .find(|version| version.api_version == name)
                .unwrap()
        };
        let body = json!({"id": "/x", "tags": {"backendAddressPool": "1"}, "properties": {"other": {}, "inboundNatRules": [
            {"name": "a", "properties": {"protocol": "Tcp", "backendAddressPool": {"id": "/p"}}},
        ]}});
        let shown = |name| shown(version(name), kind.versions.iter(), &body);
        assert_eq!(shown("2024-03-01"), body);
        let mut older = body.clone();
        older["properties"]["inboundNatRules"][0]["properties"] = json!({"protocol": "Tcp"});
        assert_eq!(shown("2020-11-01"), older);
    }
}
