//! The objects that are the operator's.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::names;
use armature_runtime::resource::Object;

/// The objects of an operator, and what is told of the others.
#[derive(Debug, Default)]
pub struct Left {
    /// Its objects.
    pub objects: Vec<Object>,
    /// Of which operators there are others, and how many nobody manages: they are looked at apart, so that a check can come out well.
    pub notes: Vec<String>,
}

/// The objects without those of operators in other namespaces, which have settings of their own, and without those outside of the
/// namespaces that this one manages, where it manages not all.
pub fn left(objects: Vec<Object>, operator: &str, targets: &BTreeSet<String>) -> Left {
    let mut left = Left::default();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let mut unmanaged = 0;
    for object in objects {
        let annotations = object.metadata.annotations.as_ref();
        let of = annotations.and_then(|entries| entries.get(names::OPERATOR_NAMESPACE));
        // Without a word it is for whoever comes first.
        match of.filter(|of| !of.is_empty() && *of != operator) {
            Some(other) => *others.entry(other.clone()).or_default() += 1,
            None if targets.is_empty() || targets.contains(&object.key().namespace) => {
                left.objects.push(object);
            }
            None => unmanaged += 1,
        }
    }
    let told = others.into_iter().map(|(namespace, count)| {
        format!(
            "{count} objects of the operator in namespace {namespace} were left out: look at them with --operator-namespace {namespace}"
        )
    });
    left.notes.extend(told);
    if unmanaged > 0 {
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        left.notes.push(format!(
            "{unmanaged} objects were left out, since the operator manages namespaces {} only",
            targets.join(", ")
        ));
    }
    left
}

#[cfg(test)]
mod tests {
    use armature_runtime::kind::KindInfo;
    use armature_runtime::resource::Kind;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;

    fn object(namespace: &str, of: Option<&str>) -> Object {
        let kind: &'static KindInfo = armature_generated::KINDS[0];
        let of = of.map(|of| (names::OPERATOR_NAMESPACE.to_owned(), of.to_owned()));
        Object {
            kind: Kind(kind),
            metadata: ObjectMeta {
                name: Some("a".to_owned()),
                namespace: Some(namespace.to_owned()),
                annotations: of.map(|of| [of].into()),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        }
    }

    #[test]
    fn what_is_another_operators_is_told_and_left_out() {
        let targets = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (managed, kept, notes) in [
            (&[][..], vec!["shop", "team", "team"], 1),
            (&["team"], vec!["team", "team"], 2),
            (&["none"], vec![], 2),
        ] {
            let objects = vec![
                object("shop", None),
                object("team", Some("")),
                object("team", Some("here")),
                object("team", Some("there")),
                object("shop", Some("there")),
            ];
            let left = left(objects, "here", &targets(managed));
            let mut namespaces: Vec<_> = left.objects.iter().map(|it| it.key().namespace).collect();
            namespaces.sort();
            assert_eq!(namespaces, kept, "{managed:?}");
            assert_eq!(left.notes.len(), notes, "{:?}", left.notes);
            assert!(left.notes[0].starts_with("2 objects of the operator in namespace there"));
        }
    }
}
