//! Looks for objects that a deletion must not take along, among those that are known.

use armature_reconcile::port::Protection;
use armature_reconcile::protection::Deletion;

use super::namespace::NamespaceCache;
use crate::cache::objects::ObjectCache;

/// Whether an object stands against the deletion.
pub(super) fn protection_below(
    cache: &ObjectCache,
    namespaces: &NamespaceCache,
    deletion: &Deletion<'_>,
) -> Protection {
    if let Some(what) = cache.not_known(|name| namespaces.may_exist(name)) {
        return Protection::Unknown(what);
    }
    let mut candidates = cache.protecting(&namespaces.protecting());
    let found = candidates.find(|object| {
        let namespace = namespaces.get(&object.key().namespace);
        deletion.is_refused_by(object, &namespace.unwrap_or_default())
    });
    found.map_or(Protection::None, |object| {
        Protection::Of(object.key().to_string())
    })
}

#[cfg(test)]
mod tests {
    use armature_shapes::names::{FINALIZER, PROTECT, RESOURCE_ID};
    use armature_shapes::resource::{Kind, Object, ObjectKey};
    use armature_shapes::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;
    use crate::StoredObject;

    const GROUP: &str = "/subscriptions/s/resourceGroups/g";

    fn object(protect: Option<&str>) -> Object {
        let mut json = json!({
            "metadata": {
                "name": "child", "namespace": "other", "uid": "u", "resourceVersion": "1", "finalizers": [FINALIZER],
                "annotations": {RESOURCE_ID: format!("{GROUP}/providers/Microsoft.Toys/gadgets/a")},
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

    fn found(cache: &ObjectCache, namespaces: &NamespaceCache) -> Protection {
        let own = ObjectKey {
            kind: Kind(&MODEL),
            namespace: "team".to_owned(),
            name: "group".to_owned(),
        };
        let deletion = Deletion::new([GROUP.to_owned()], &own, None);
        protection_below(cache, namespaces, &deletion)
    }

    #[test]
    fn a_word_counts_on_the_object_and_on_its_namespace() {
        for (own, of_namespace, expected) in [
            (Some("delete"), None, true),
            (None, Some("delete"), true),
            (None, None, false),
        ] {
            let (cache, namespaces) = (ObjectCache::default(), NamespaceCache::default());
            cache.mark_kinds_known();
            if let Some(text) = of_namespace {
                let annotations = [(PROTECT.to_owned(), str::to_owned(text))].into();
                namespaces.insert("other".to_owned(), annotations);
            }
            let protected = object(own);
            let key = protected.key();
            cache.apply(protected);
            let expected = match expected {
                true => Protection::Of("Gadget other/child".to_owned()),
                false => Protection::None,
            };
            assert_eq!(found(&cache, &namespaces), expected);
            cache.remove(&key);
            assert_eq!(found(&cache, &namespaces), Protection::None, "gone");
        }
    }

    #[test]
    fn while_objects_are_listed_nobody_knows() {
        let found = found(&ObjectCache::default(), &NamespaceCache::default());
        assert!(matches!(found, Protection::Unknown(_)), "{found:?}");
    }
}
