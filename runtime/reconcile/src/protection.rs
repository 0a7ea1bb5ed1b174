//! Whether the deletion of a resource would take along one that must not be deleted. What is in what follows from ARM ids, so that
//! it holds over namespaces and for owners that are no objects.

use armature_shapes::id::ResourceId;
use armature_shapes::names;
use armature_shapes::resource::{Object, ObjectKey};

use crate::allowed_scopes::AllowedScopes;
use crate::annotations::{Annotations, is_protected};
use crate::claim;

/// A deletion that is about to be asked for.
#[derive(Clone, Debug)]
pub struct Deletion<'a> {
    ids: Vec<String>,
    of: &'a ObjectKey,
    default_scopes: Option<&'a AllowedScopes>,
}

impl<'a> Deletion<'a> {
    /// That of these ARM ids, for this object. `default_scopes` are those of namespaces that name none.
    pub fn new(
        ids: impl IntoIterator<Item = String>,
        of: &'a ObjectKey,
        default_scopes: Option<&'a AllowedScopes>,
    ) -> Self {
        let ids = ids.into_iter().map(|id| id.to_ascii_lowercase());
        Self {
            ids: ids.collect(),
            of,
            default_scopes,
        }
    }

    /// Whether the resource of this object would go along, and must not be deleted. An object says so of its own resource only:
    /// an id of another type, or outside of what its namespace may use, is one that somebody wrote into it, and no claim. Whether
    /// it is signed is not asked: an object that comes from a backup is to be kept as well, and where in doubt nothing is deleted.
    pub fn is_refused_by(&self, object: &Object, namespace: &Annotations) -> bool {
        let none = Annotations::new();
        let own = object.metadata.annotations.as_ref().unwrap_or(&none);
        let id = claim::resource_id(object).filter(|id| self.takes_along(id));
        id.is_some_and(|id| {
            is_protected(own, namespace)
                && object.key() != *self.of
                && self.may_be_its_own(object, id, namespace)
        })
    }

    /// Whether an ARM id is one of these or below one of them.
    fn takes_along(&self, id: &str) -> bool {
        let id = id.to_ascii_lowercase();
        self.ids.iter().any(|above| {
            let rest = id.strip_prefix(above.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn may_be_its_own(&self, object: &Object, id: &str, namespace: &Annotations) -> bool {
        let kind = object.kind.0;
        if !ResourceId::parse(id).is_ok_and(|id| id.has_type(kind.remote_type())) {
            return false;
        }
        match namespace
            .get(names::ALLOWED_SCOPES)
            .map(|text| AllowedScopes::parse(text))
        {
            Some(Ok(scopes)) => scopes.allow(id),
            // A word that means nothing takes no protection away.
            Some(Err(_)) => true,
            None => self.default_scopes.is_none_or(|scopes| scopes.allow(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::names::{ALLOWED_SCOPES, FINALIZER, PROTECT, RESOURCE_ID};
    use armature_shapes::resource::Kind;
    use armature_shapes::testing::kinds::{GROUP, STORE};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;

    const ABOVE: &str = "/subscriptions/s/resourceGroups/g";
    const BELOW: &str = "/subscriptions/S/resourcegroups/G/providers/Microsoft.Toys/stores/a";

    fn store(id: &str, protect: Option<&str>) -> Object {
        let protect = protect.map(|text| (PROTECT.to_owned(), text.to_owned()));
        let id = [(RESOURCE_ID.to_owned(), id.to_owned())];
        Object {
            kind: Kind(&STORE),
            metadata: ObjectMeta {
                name: Some("child".to_owned()),
                namespace: Some("other".to_owned()),
                annotations: Some(id.into_iter().chain(protect).collect()),
                finalizers: Some(vec![FINALIZER.to_owned()]),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        }
    }

    fn key() -> ObjectKey {
        ObjectKey {
            kind: Kind(&GROUP),
            namespace: "team".to_owned(),
            name: "group".to_owned(),
        }
    }

    fn one(name: &str, text: &str) -> Annotations {
        [(name.to_owned(), text.to_owned())].into()
    }

    #[test]
    fn what_would_go_along_is_found_by_its_id() {
        let of = key();
        let deletion = Deletion::new([ABOVE.to_owned()], &of, None);
        let none = Annotations::new();
        let by_namespace = one(PROTECT, "delete");
        let alike = "/subscriptions/s/resourceGroups/g2/providers/Microsoft.Toys/stores/a";
        for (case, id, protect, namespace, expected) in [
            ("below", BELOW, Some("delete"), &none, true),
            ("not protected", BELOW, None, &none, false),
            ("by its namespace", BELOW, None, &by_namespace, true),
            (
                "against its namespace",
                BELOW,
                Some("none"),
                &by_namespace,
                false,
            ),
            ("a word that means nothing", BELOW, Some("x"), &none, true),
            (
                "a name that begins alike",
                alike,
                Some("delete"),
                &none,
                false,
            ),
        ] {
            let found = deletion.is_refused_by(&store(id, protect), namespace);
            assert_eq!(found, expected, "{case}");
        }
        let own = store(BELOW, Some("delete"));
        let of = own.key();
        let deletion = Deletion::new([BELOW.to_owned()], &of, None);
        assert!(
            !deletion.is_refused_by(&own, &none),
            "it is the object itself"
        );
    }

    /// Both the finalizer and the id are the tenant's to write.
    #[test]
    fn an_id_that_the_object_cannot_stand_for_protects_nothing() {
        let of = key();
        let elsewhere = AllowedScopes::parse("/subscriptions/s/resourceGroups/mine").unwrap();
        let here = one(ALLOWED_SCOPES, ABOVE);
        let there = one(ALLOWED_SCOPES, "/subscriptions/s/resourceGroups/mine");
        let none = Annotations::new();
        let other_type = format!("{ABOVE}/providers/Microsoft.Anything/things/x");
        let no_id = format!("{ABOVE}/providers");
        for (case, id, namespace, default, expected) in [
            ("free", BELOW, &none, None, true),
            ("allowed", BELOW, &here, None, true),
            ("outside", BELOW, &there, None, false),
            (
                "outside of the default",
                BELOW,
                &none,
                Some(&elsewhere),
                false,
            ),
            (
                "its namespace's word counts",
                BELOW,
                &here,
                Some(&elsewhere),
                true,
            ),
            (
                "scopes that mean nothing",
                BELOW,
                &one(ALLOWED_SCOPES, "x"),
                None,
                true,
            ),
            ("another type", &*other_type, &none, None, false),
            ("no id", &*no_id, &none, None, false),
        ] {
            let deletion = Deletion::new([ABOVE.to_owned()], &of, default);
            let found = deletion.is_refused_by(&store(id, Some("delete")), namespace);
            assert_eq!(found, expected, "{case}");
        }
    }
}
