//! Names in Azure that are UUIDs: Azure Service Operator's recipe, so that both operators give an object the same name (ASO
//! behaviour §2.3). The order of its parts is not regular, and stays as it is: a resource in Azure cannot be renamed.

use armature_shapes::kind::UuidText;
use uuid::{Uuid, uuid};

/// The namespace of all such UUIDs (RFC 9562 §5.5).
const NAMESPACE: Uuid = uuid!("9a329043-7ad7-4b1c-812f-9c7a93d6392a");

/// An object in Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// API group.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Its own name.
    pub name: &'a str,
}

/// The owner, as a spec names it.
#[derive(Clone, Copy, Debug)]
pub enum Owner<'a> {
    /// By its ARM id.
    ArmId(&'a str),
    /// As an object of the same namespace.
    Named(Named<'a>),
}

/// The text that a stable UUID is made of.
pub fn stable_text(
    text: UuidText,
    namespace: &str,
    object: Named<'_>,
    owner: Option<Owner<'_>>,
) -> String {
    let Named { group, kind, name } = object;
    let own = format!("{kind}/{group}:{namespace}/{name}");
    let owner = match (owner, text) {
        (None, _) => return own,
        (Some(Owner::ArmId(id)), UuidText::WithOwnerId) => return format!("{id}:{own}"),
        (Some(Owner::ArmId(_)), UuidText::WithoutOwnerId) => Named {
            group: "",
            kind: "",
            name: "",
        },
        (Some(Owner::Named(owner)), _) => owner,
    };
    let Named { group, kind, name } = owner;
    format!("{group}/{kind}:{namespace}/{name}:{own}")
}

/// The name of an object whose user gives none and asks for a stable one. A name that is a UUID already is the name.
pub fn stable(name: &str, text: &str) -> String {
    if Uuid::parse_str(name).is_ok() {
        return name.to_owned();
    }
    Uuid::new_v5(&NAMESPACE, text.as_bytes()).to_string()
}

/// A name that nobody else has, whatever the text.
pub fn random(_: &str) -> String {
    Uuid::new_v4().to_string()
}

/// In place of [`random`] where the same input has to give the same output: a name that is neither stable nor anybody else's.
pub fn pretended(text: &str) -> String {
    Uuid::new_v5(&NAMESPACE, format!("random:{text}").as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Owner<'static> = Owner::Named(Named {
        group: "resources.azure.com",
        kind: "ResourceGroup",
        name: "group",
    });

    fn assignment(name: &str) -> Named<'_> {
        Named {
            group: "authorization.azure.com",
            kind: "RoleAssignment",
            name,
        }
    }

    #[test]
    fn what_a_name_is_made_of() {
        let id = Owner::ArmId("/subscriptions/s/resourceGroups/g");
        let (with, without) = (UuidText::WithOwnerId, UuidText::WithoutOwnerId);
        let own = "RoleAssignment/authorization.azure.com:team/a";
        let of_group = format!("resources.azure.com/ResourceGroup:team/group:{own}");
        let of_id = format!("/subscriptions/s/resourceGroups/g:{own}");
        for (case, text, owner, expected) in [
            ("named", with, Some(GROUP), of_group.clone()),
            ("named, the other text", without, Some(GROUP), of_group),
            ("by id", with, Some(id), of_id),
            (
                "by id, the other text",
                without,
                Some(id),
                format!("/:team/:{own}"),
            ),
            ("none", with, None, own.to_owned()),
            ("none, the other text", without, None, own.to_owned()),
        ] {
            let found = stable_text(text, "team", assignment("a"), owner);
            assert_eq!(found, expected, "{case}");
        }
    }

    /// Names in recorded requests of Azure Service Operator, whose tests name a namespace after the test.
    #[test]
    fn names_are_those_that_azure_service_operator_gave() {
        let test = "aso-test-samples-creationanddeletion-test-authorization-v";
        let definition = Named {
            kind: "RoleDefinition",
            ..assignment("aso-sample-roledef")
        };
        for (object, of_test, group, expected) in [
            (
                assignment("aso-sample-contributor"),
                "20b1e",
                "asotest-rg-heuqmq",
                "1749c72a-4884-5cd2-9d25-c87e505c9b8b",
            ),
            (
                assignment("aso-sample-contributor"),
                "57fde",
                "asotest-rg-yomsyg",
                "ba0996d4-366e-50f8-b729-29e0171d18f4",
            ),
            (
                definition,
                "57fde",
                "asotest-rg-yomsyg",
                "293cdceb-2ebc-5434-ab6b-97255f060ed3",
            ),
        ] {
            let owner = Owner::Named(Named {
                group: "resources.azure.com",
                kind: "ResourceGroup",
                name: group,
            });
            let namespace = format!("{test}-{of_test}");
            let text = stable_text(UuidText::WithOwnerId, &namespace, object, Some(owner));
            assert_eq!(stable(object.name, &text), expected);
        }
    }

    #[test]
    fn a_name_that_is_a_uuid_stays() {
        let name = "0b2e0a07-8b3a-4c8e-9d0e-6d1d4f1a7c55";
        assert_eq!(stable(name, "text"), name);
        assert_ne!(stable("a", "text"), stable("a", "another text"));
    }
}
