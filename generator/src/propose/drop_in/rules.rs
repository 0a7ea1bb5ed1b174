//! What the CRDs to replace make of properties: where one has `fooReference`, `fooFromConfig` or a key of a Secret in place
//! of a plain value, a rule says so; where it has the plain value, nothing has to.

use std::collections::{BTreeMap, BTreeSet};

use super::target::{Target, TargetSchema};
use crate::curate::naming::{from_config, reference};
use crate::model::{Group, Meaning, Property, TypeDef, TypeId, TypeRef, Version};
use crate::propose::suspect::{Suspicion, quoted};

/// What the CRDs say about one property of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::propose) struct Verdict {
    /// Words of the rules that give what they have.
    pub words: BTreeSet<&'static str>,
    /// Whether they have somewhere what comes without a rule.
    pub is_kept: bool,
}

/// Name that rules use for a type, and name of the property in ARM.
pub(in crate::propose) type PropertyKey = (String, String);

/// Verdicts on the properties of specs, as far as the CRDs have them.
pub(in crate::propose) fn verdicts(
    group: &Group,
    target: &Target,
) -> BTreeMap<PropertyKey, Verdict> {
    let mut found = BTreeMap::new();
    for version in group.versions.values() {
        for resource in &version.resources {
            let kind = target.kinds.get(&resource.kind);
            let schema = kind.and_then(|kind| kind.schema(&version.api_version));
            let Some(schema) = schema else { continue };
            let mut walk = Walk {
                version,
                schema,
                found: &mut found,
                root: (&resource.spec, &resource.kind),
            };
            walk.object(&resource.spec, "spec");
        }
    }
    found
}

/// Suspicions in the light of verdicts: what the CRDs have is a line, what they have as it is no suspicion, and what they
/// have in several ways a remark.
pub(in crate::propose) fn judged(
    suspicions: Vec<Suspicion>,
    verdicts: BTreeMap<PropertyKey, Verdict>,
) -> Vec<Suspicion> {
    let key = |it: &Suspicion| (it.type_name.clone(), it.property.clone());
    let mut judged = suspicions;
    judged.retain(|suspicion| !verdicts.contains_key(&key(suspicion)));
    for ((type_name, property), verdict) in verdicts {
        let is_likely = verdict.words.len() == 1 && !verdict.is_kept;
        let why = if is_likely {
            "as in Azure Service Operator"
        } else {
            "in some places of Azure Service Operator"
        };
        judged.extend(verdict.words.into_iter().map(|word| Suspicion {
            type_name: type_name.clone(),
            property: property.clone(),
            says: quoted(word),
            why: why.into(),
            is_likely,
        }));
    }
    judged.sort();
    judged
}

/// Rules that give members of ARM another name than one that the operator has for itself, as the CRDs do: `conditions` of a
/// rule are `ruleconditions`.
pub(in crate::propose) fn renamed(
    kind: &str,
    members: &BTreeSet<String>,
    names: &BTreeSet<&str>,
) -> Vec<Suspicion> {
    const OWN: [&str; 5] = [
        "azureName",
        "conditions",
        "operatorSpec",
        "originalVersion",
        "owner",
    ];
    let of = |own: &str| {
        let own = own.to_lowercase();
        let is_it = |name: &&&str| name.to_lowercase().ends_with(&own) && name.len() > own.len();
        names.iter().find(is_it)
    };
    let clashes = OWN.iter().filter(|own| members.contains(**own));
    let rules = clashes.filter_map(|own| {
        let name = of(own)?;
        Some(Suspicion {
            type_name: kind.to_owned(),
            property: (*own).to_owned(),
            says: format!("{{ rename = {} }}", quoted(name)),
            why: "as in Azure Service Operator".into(),
            is_likely: true,
        })
    });
    rules.collect()
}

struct Walk<'w> {
    version: &'w Version,
    schema: &'w TargetSchema,
    found: &'w mut BTreeMap<PropertyKey, Verdict>,
    /// Root type, with the name that rules use for it.
    root: (&'w TypeId, &'w str),
}

impl Walk<'_> {
    /// Ends with the paths of the CRD.
    fn object(&mut self, ty: &TypeId, path: &str) {
        let Some(TypeDef::Object(object)) = self.version.types.get(ty) else {
            return;
        };
        let name = if ty == self.root.0 {
            self.root.1
        } else {
            ty.word()
        };
        for property in &object.properties {
            if let (Some(verdict), Some(arm)) = (
                verdict(self.schema, path, property),
                property.place.path().last(),
            ) {
                let key = (name.to_owned(), arm.clone());
                let known = self.found.entry(key).or_default();
                match verdict {
                    Some(word) => drop(known.words.insert(word)),
                    None => known.is_kept = true,
                }
            }
            let below = format!("{path}.{}", property.name);
            self.value(&property.ty, below);
        }
    }

    fn value(&mut self, ty: &TypeRef, path: String) {
        if !self.schema.contains_key(&path) {
            return;
        }
        match ty {
            TypeRef::Named(ty) => self.object(ty, &path),
            TypeRef::List(item) => self.value(item, format!("{path}[]")),
            TypeRef::Map(item) => self.value(item, format!("{path}{{}}")),
            _ => {}
        }
    }
}

/// The word of a rule, or none if the CRD has what comes without one; nothing where it has neither.
fn verdict(schema: &TargetSchema, path: &str, property: &Property) -> Option<Option<&'static str>> {
    let has = |path: &str| schema.contains_key(path);
    let at = |name: &str| format!("{path}.{name}");
    let ours = at(&property.name);
    let (is_list, core) = core(&property.ty);
    match core {
        TypeRef::String if property.meaning == Meaning::Plain => {
            let refers = at(&reference(&property.name, is_list));
            let item = if is_list { "[]" } else { "" };
            if has(&refers) && !has(&ours) {
                let is_known = has(&format!("{refers}{item}.wellKnownName"));
                return Some(Some(if is_known {
                    "well-known-reference"
                } else {
                    "reference"
                }));
            }
            if has(&at(&from_config(&property.name))) {
                return Some(Some(if has(&ours) {
                    "config-map"
                } else {
                    "config-map-required"
                }));
            }
            if has(&format!("{ours}{item}.key")) && has(&format!("{ours}{item}.name")) {
                return Some(Some("secret"));
            }
            has(&ours).then_some(None)
        }
        TypeRef::Reference | TypeRef::WellKnownReference | TypeRef::Secret => {
            // Where both have it, a rule for other places does no harm.
            if has(&ours) && !is_text(schema, &ours) {
                return None;
            }
            let arm = at(property.place.path().last()?);
            is_text(schema, &arm).then_some(Some("plain"))
        }
        TypeRef::List(_) | TypeRef::Map(_) | TypeRef::Named(_) => has(&ours).then_some(None),
        _ => None,
    }
}

fn is_text(schema: &TargetSchema, path: &str) -> bool {
    let ty = |path: &str| schema.get(path).and_then(Option::as_deref);
    ty(path) == Some("string") || ty(&format!("{path}[]")) == Some("string")
}

/// The type within a list, and whether there is one.
fn core(ty: &TypeRef) -> (bool, &TypeRef) {
    match ty {
        TypeRef::List(item) => (true, item),
        other => (false, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crds_tell_what_a_property_is() {
        let paths = [
            ("spec.zoneReference", "object"),
            ("spec.roleReference", "object"),
            ("spec.roleReference.wellKnownName", "string"),
            ("spec.subnetReferences", "array"),
            ("spec.tenantId", "string"),
            ("spec.tenantIdFromConfig", "object"),
            ("spec.regionFromConfig", "object"),
            ("spec.password", "object"),
            ("spec.password.key", "string"),
            ("spec.password.name", "string"),
            ("spec.accountId", "string"),
        ];
        let paths = paths.map(|(path, ty)| (path.to_owned(), Some(ty.to_owned())));
        let schema = TargetSchema::from(paths);
        let list = || TypeRef::List(Box::new(TypeRef::String));
        for (name, arm, ty, expected) in [
            ("zoneId", "zoneId", TypeRef::String, Some(Some("reference"))),
            (
                "roleId",
                "roleId",
                TypeRef::String,
                Some(Some("well-known-reference")),
            ),
            ("subnetIds", "subnetIds", list(), Some(Some("reference"))),
            (
                "tenantId",
                "tenantId",
                TypeRef::String,
                Some(Some("config-map")),
            ),
            (
                "region",
                "region",
                TypeRef::String,
                Some(Some("config-map-required")),
            ),
            (
                "password",
                "password",
                TypeRef::String,
                Some(Some("secret")),
            ),
            ("accountId", "accountId", TypeRef::String, Some(None)),
            ("other", "other", TypeRef::String, None),
            (
                "accountReference",
                "accountId",
                TypeRef::Reference,
                Some(Some("plain")),
            ),
            ("zoneReference", "zoneId", TypeRef::Reference, None),
        ] {
            let property = Property::new(name, &["properties", arm], ty);
            assert_eq!(verdict(&schema, "spec", &property), expected, "{name}");
        }
    }
}
