//! Whether deleting a resource would take along one that must not be deleted. What is in what follows from ARM ids, so that it
//! holds over namespaces and for owners that are no objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use armature_reconcile::annotations::is_protected;
use armature_reconcile::claim;
use armature_reconcile::port::Protection;
use armature_shapes::resource::{Object, ObjectKey};

use super::cache::ObjectCache;
use super::namespace::NamespaceCache;

/// Whether the resource of an object other than `except` is one of these or below one of them, and must not be deleted.
pub(super) fn protection_below(
    cache: &ObjectCache,
    namespaces: &NamespaceCache,
    ids: &[String],
    except: &ObjectKey,
) -> Protection {
    if let Some(what) = cache.not_known(|name| namespaces.may_exist(name)) {
        return Protection::Unknown(what);
    }
    let none = BTreeMap::new();
    let ids: Vec<String> = ids.iter().map(|id| id.to_ascii_lowercase()).collect();
    let is_one = |object: &Arc<Object>| {
        let own = object.metadata.annotations.as_ref().unwrap_or(&none);
        let key = object.key();
        key != *except
            && claim::resource_id(object).is_some_and(|id| is_below(id, &ids))
            && is_protected(own, &namespaces.get(&key.namespace).unwrap_or_default())
    };
    let mut candidates = cache.protecting(&namespaces.protecting());
    let found = candidates.find(is_one);
    found.map_or(Protection::None, |object| {
        Protection::Of(object.key().to_string())
    })
}

/// Whether an ARM id is one of these or below one of them, which are in lower case.
fn is_below(id: &str, ids: &[String]) -> bool {
    let id = id.to_ascii_lowercase();
    ids.iter().any(|above| {
        let rest = id.strip_prefix(above.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use armature_shapes::names::{FINALIZER, PROTECT, RESOURCE_ID};
    use armature_shapes::resource::Kind;
    use armature_shapes::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;
    use crate::StoredObject;

    const GROUP: &str = "/subscriptions/s/resourceGroups/g";

    fn object(namespace: &str, id: &str, protect: Option<&str>) -> Object {
        let mut json = json!({
            "metadata": {
                "name": "child", "namespace": namespace, "uid": "u", "resourceVersion": "1",
                "annotations": {RESOURCE_ID: id}, "finalizers": [FINALIZER],
            },
            "spec": {},
        });
        if let Some(text) = protect {
            json["metadata"]["annotations"][PROTECT] = json!(text);
        }
        serde_json::from_str::<StoredObject>(&json.to_string())
            .unwrap()
            .into_object(Kind(&MODEL))
    }

    fn known() -> ObjectCache {
        let cache = ObjectCache::default();
        cache.mark_kinds_known();
        cache
    }

    fn own() -> ObjectKey {
        ObjectKey {
            kind: Kind(&MODEL),
            namespace: "team".to_owned(),
            name: "group".to_owned(),
        }
    }

    #[test]
    fn what_would_go_along_is_found_by_its_id() {
        let below = "/subscriptions/S/resourcegroups/G/providers/Microsoft.Toys/gadgets/a";
        for (case, id, protect, of_namespace, expected) in [
            ("below", below, Some("delete"), None, true),
            ("not protected", below, None, None, false),
            ("by its namespace", below, None, Some("delete"), true),
            (
                "against its namespace",
                below,
                Some("none"),
                Some("delete"),
                false,
            ),
            ("a word that means nothing", below, Some("x"), None, true),
            ("the same resource", GROUP, Some("delete"), None, true),
            (
                "a name that begins alike",
                "/subscriptions/s/resourceGroups/g2",
                Some("delete"),
                None,
                false,
            ),
            (
                "what it is in",
                "/subscriptions/s",
                Some("delete"),
                None,
                false,
            ),
        ] {
            let (cache, namespaces) = (known(), NamespaceCache::default());
            if let Some(text) = of_namespace {
                let annotations = [(PROTECT.to_owned(), text.to_owned())].into();
                namespaces.insert("other".to_owned(), annotations);
            }
            cache.apply(object("other", id, protect));
            let found = protection_below(&cache, &namespaces, &[GROUP.to_owned()], &own());
            let expected = match expected {
                true => Protection::Of("Gadget other/child".to_owned()),
                false => Protection::None,
            };
            assert_eq!(found, expected, "{case}");
        }
    }

    #[test]
    fn an_object_does_not_stand_in_its_own_way() {
        let (cache, namespaces) = (known(), NamespaceCache::default());
        let protected = object("team", GROUP, Some("delete"));
        let key = protected.key();
        cache.apply(protected);
        let found = protection_below(&cache, &namespaces, &[GROUP.to_owned()], &key);
        assert_eq!(found, Protection::None);
        cache.remove(&key);
        let found = protection_below(&cache, &namespaces, &[GROUP.to_owned()], &own());
        assert_eq!(found, Protection::None, "gone");
    }

    #[test]
    fn while_objects_are_listed_nobody_knows() {
        let cache = ObjectCache::default();
        let ids = [GROUP.to_owned()];
        let found = protection_below(&cache, &NamespaceCache::default(), &ids, &own());
        assert!(matches!(found, Protection::Unknown(_)), "{found:?}");
    }
}
