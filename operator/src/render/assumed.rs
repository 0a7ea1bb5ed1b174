//! Owners that are in no manifest and that may stand elsewhere: resource groups above all.
//!
//! What has no owner itself has a place in Azure by its name alone, and that name is in the manifests of what it owns. So
//! these can be rendered all the same; that the name was taken for granted is told as a problem.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::kind::{KindInfo, OwnerRule};
use serde_json::{Value, json};

use super::{Problem, Rendering};
use crate::worlds::manifests::manifest::Document;
use crate::worlds::manifests::problem::Origin;

/// Place of documents that nobody wrote.
const NOWHERE: usize = usize::MAX;

/// Namespace of objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// An object by group, kind, namespace and name.
type Key<'a> = (&'static str, &'static str, &'a str, &'a str);

/// Owners that are taken for granted, each with the first document that names it.
#[derive(Debug, Default)]
pub struct Assumed {
    /// Documents in their place.
    pub documents: Vec<Document>,
    problems: Vec<Problem>,
    titles: BTreeSet<(&'static str, &'static str, String, String)>,
}

impl Assumed {
    /// The owners of these documents that none of them is, as far as their place follows from their name.
    pub fn of(documents: &[Document], kinds: &[&'static KindInfo]) -> Self {
        let there: BTreeSet<Key<'_>> = documents
            .iter()
            .filter_map(|document| {
                let kind = kind_of(&document.value, kinds)?;
                Some((
                    kind.group,
                    kind.kind,
                    namespace(&document.value),
                    name(&document.value)?,
                ))
            })
            .collect();
        // One whose group or kind is mistaken may be meant, which is told of itself.
        let mistaken: BTreeSet<_> = documents
            .iter()
            .filter(|document| {
                let version = document.value["apiVersion"].as_str().unwrap_or_default();
                version.contains('/') && kind_of(&document.value, kinds).is_none()
            })
            .filter_map(|document| Some((namespace(&document.value), name(&document.value)?)))
            .collect();
        let mut owners: BTreeMap<Key<'_>, (&'static KindInfo, &Document)> = BTreeMap::new();
        for document in documents {
            let Some((owner, name)) = owner_of(&document.value, kinds) else {
                continue;
            };
            let key = (owner.group, owner.kind, namespace(&document.value), name);
            if !there.contains(&key) && !mistaken.contains(&(key.2, key.3)) {
                owners.entry(key).or_insert((owner, document));
            }
        }
        let mut assumed = Self::default();
        for ((group, kind, namespace, name), (info, owned)) in owners {
            let mut elsewhere = there.iter();
            let elsewhere =
                elsewhere.find(|other| (other.0, other.1, other.3) == (group, kind, name));
            let elsewhere = elsewhere.map(|other| other.2);
            assumed.add(info, (namespace, name), elsewhere, owned);
            let title = (group, kind, namespace.to_owned(), name.to_owned());
            assumed.titles.insert(title);
        }
        assumed
    }

    /// Takes an owner for granted; `elsewhere` is a namespace that has one of its kind and name.
    fn add(
        &mut self,
        kind: &KindInfo,
        (namespace, name): (&str, &str),
        elsewhere: Option<&str>,
        owned: &Document,
    ) {
        let version = kind.versions.last().map_or("", |version| version.name);
        let document = 1 + self.documents.len();
        self.documents.push(Document {
            origin: Origin {
                order: NOWHERE,
                document,
                ..Origin::default()
            },
            value: json!({
                "apiVersion": format!("{}/{version}", kind.group),
                "kind": kind.kind,
                "metadata": {"name": name, "namespace": namespace},
                "spec": {},
            }),
        });
        let title = kind.kind;
        let elsewhere = elsewhere.map_or_else(String::new, |other| {
            format!(": that of {other} is in another namespace, where owners are not looked for")
        });
        let message = format!(
            "the owner {title} {namespace}/{name} is in no manifest{elsewhere}; it is taken to be `{name}` in Azure. Add \
             its manifest or give its armId"
        );
        let object = self::name(&owned.value).unwrap_or_default();
        let object = format!(
            "{} {namespace}/{object}",
            owned.value["kind"].as_str().unwrap_or_default()
        );
        let problem = Problem::at(&owned.origin, "spec.owner", message);
        self.problems.push(problem.of(object));
    }

    /// The rendering without what was not asked for, and with what was taken for granted.
    pub fn tell(self, mut rendering: Rendering) -> Rendering {
        rendering
            .errors
            .retain(|problem| problem.origin.order != NOWHERE);
        rendering.requests.retain(|request| {
            let (namespace, name) = (request.namespace.clone(), request.name.clone());
            let title = (request.group, request.kind, namespace, name);
            !self.titles.contains(&title)
        });
        rendering.errors.extend(self.problems);
        let place = |problem: &Problem| {
            (
                problem.origin.order,
                problem.origin.document,
                problem.origin.item,
            )
        };
        rendering.errors.sort_by_key(place);
        rendering
    }
}

fn kind_of(value: &Value, kinds: &[&'static KindInfo]) -> Option<&'static KindInfo> {
    let (group, _) = value["apiVersion"].as_str()?.split_once('/')?;
    find(kinds, group, value["kind"].as_str()?)
}

fn find(kinds: &[&'static KindInfo], group: &str, kind: &str) -> Option<&'static KindInfo> {
    let mut kinds = kinds.iter().copied();
    kinds.find(|known| known.group == group && known.kind == kind)
}

/// The kind and name of an owner that has none itself.
fn owner_of<'a>(
    value: &'a Value,
    kinds: &[&'static KindInfo],
) -> Option<(&'static KindInfo, &'a str)> {
    let owner = &value["spec"]["owner"];
    if owner.get("armId").is_some() {
        return None;
    }
    let found = match kind_of(value, kinds)?.owner {
        OwnerRule::Kind { group, kind } => find(kinds, group, kind),
        OwnerRule::Any => find(kinds, owner["group"].as_str()?, owner["kind"].as_str()?),
        OwnerRule::None => None,
    };
    let found = found.filter(|kind| kind.owner == OwnerRule::None)?;
    Some((found, owner["name"].as_str()?))
}

fn namespace(value: &Value) -> &str {
    value["metadata"]["namespace"]
        .as_str()
        .unwrap_or(DEFAULT_NAMESPACE)
}

fn name(value: &Value) -> Option<&str> {
    value["metadata"]["name"].as_str()
}
