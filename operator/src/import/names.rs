//! Names in Kubernetes: from names in Azure, safe, and the same for the same resources whatever their order.

use std::collections::{BTreeMap, HashMap};

use armature_runtime::digest::short_digest;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule};
use serde_json::Value;

/// Longest name that leaves room for an ending; Kubernetes takes 253 letters.
const LONGEST: usize = 240;
/// Letters of an ending.
const ENDING: usize = 6;

/// The name of an object in its namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Name.
    pub name: String,
}

/// A name for each resource. Where resources of a kind would be called alike, all but the one whose id comes first get an
/// ending that their ids decide.
pub fn names<'r>(
    resources: impl IntoIterator<Item = (&'static KindInfo, &'r ResourceId)>,
) -> HashMap<ResourceId, Name> {
    let mut alike: BTreeMap<Name, Vec<&ResourceId>> = BTreeMap::new();
    for (kind, id) in resources {
        let name = Name {
            group: kind.group,
            kind: kind.kind,
            name: plain(kind, id),
        };
        alike.entry(name).or_default().push(id);
    }
    let mut names = HashMap::new();
    for (name, mut ids) in alike {
        ids.sort_by_key(|id| id.as_str().to_lowercase());
        ids.dedup();
        for (position, id) in ids.into_iter().enumerate() {
            let mut own = name.clone();
            if position > 0 {
                own.name = format!("{}-{}", name.name, ending(id));
            }
            names.insert(id.clone(), own);
        }
    }
    names
}

/// The name without an ending: Azure's, and where that says nothing because all are called so, with that of the owner.
fn plain(kind: &KindInfo, id: &ResourceId) -> String {
    let own = safe(id.name());
    let above = id.as_str().rsplit('/').nth(2).map(safe);
    let name = match (kind.name, above) {
        (NameRule::Fixed(_) | NameRule::OneOf(_), Some(above)) if !above.is_empty() => {
            format!("{above}-{own}")
        }
        _ => own,
    };
    match name.get(..LONGEST).unwrap_or(&name).trim_matches('-') {
        "" => kind.kind.to_lowercase(),
        name => name.to_owned(),
    }
}

/// What Kubernetes takes of a text as part of a name.
fn safe(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
        _ => '-',
    });
    letters.collect::<String>().trim_matches('-').to_owned()
}

fn ending(id: &ResourceId) -> String {
    let digest = short_digest(&Value::from(id.as_str().to_lowercase()));
    digest.chars().take(ENDING).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> &'static KindInfo {
        let mut kinds = armature_generated::KINDS.iter();
        kinds.find(|kind| kind.kind == name).unwrap()
    }

    fn named(resources: &[(&str, &str)]) -> Vec<String> {
        let ids: Vec<ResourceId> = resources
            .iter()
            .map(|(_, id)| {
                ResourceId::parse(&format!("/subscriptions/s/resourceGroups/{id}")).unwrap()
            })
            .collect();
        let kinds = resources.iter().map(|(name, _)| kind(name));
        let names = names(kinds.zip(&ids));
        ids.iter().map(|id| names[id].name.clone()).collect()
    }

    #[test]
    fn names_are_safe_and_say_whose_the_only_one_of_a_kind_is() {
        let account = "g/providers/Microsoft.Storage/storageAccounts/shop";
        assert_eq!(
            named(&[
                ("ResourceGroup", "My_Group.1"),
                ("StorageAccount", account),
                (
                    "StorageAccountsBlobService",
                    &format!("{account}/blobServices/default")
                ),
                ("ResourceGroup", "__"),
            ]),
            ["my-group-1", "shop", "shop-default", "resourcegroup"]
        );
        let long = "x".repeat(300);
        assert_eq!(named(&[("ResourceGroup", &long)])[0].len(), LONGEST);
    }

    #[test]
    fn endings_tell_alike_names_apart_whatever_the_order() {
        let container = |account: &str| {
            format!(
                "g/providers/Microsoft.Storage/storageAccounts/{account}/blobServices/default/containers/logs"
            )
        };
        let (a, b) = (container("a"), container("b"));
        const KIND: &str = "StorageAccountsBlobServicesContainer";
        let found = named(&[(KIND, &a), (KIND, &b)]);
        assert_eq!(found[0], "logs");
        assert!(
            found[1].starts_with("logs-") && found[1].len() == 11,
            "{found:?}"
        );
        let turned = named(&[(KIND, &b), (KIND, &a)]);
        assert_eq!([&turned[1], &turned[0]], [&found[0], &found[1]]);
    }
}
