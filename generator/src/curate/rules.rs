//! Finding the rule for a property, and whether every rule was of use.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::config::{PropertyRule, Side};
use super::error::hint;
use super::{CurateError, GroupConfig};
use crate::model::{ApiVersion, Group, ObjectType, TypeDef, TypeName};

/// Suffix that tells a status type from the spec type of the same schema.
pub(super) const STATUS_SUFFIX: &str = "Status";

/// Rules of a file, with a note of those that matched.
pub(super) struct RuleBook<'a> {
    config: &'a GroupConfig,
    used: RefCell<BTreeSet<(String, String)>>,
    used_parts: RefCell<BTreeSet<String>>,
}

/// The names under which rules may speak of a type: its own, that of the spec side, that of the definition it was
/// read from, and the kind's.
pub(super) fn rule_names<'a>(
    name: &'a TypeName,
    object: &'a ObjectType,
    side: Side,
    kind: Option<&'a str>,
) -> Vec<&'a str> {
    let name = name.as_str();
    let mut names = vec![name];
    if side == Side::Status {
        names.extend(name.strip_suffix(STATUS_SUFFIX));
    }
    let definition = object.source.rsplit_once("/definitions/");
    names.extend(definition.map(|(_, definition)| definition));
    names.extend(kind);
    names
}

impl<'a> RuleBook<'a> {
    pub(super) fn new(config: &'a GroupConfig) -> Self {
        Self {
            config,
            used: RefCell::default(),
            used_parts: RefCell::default(),
        }
    }

    /// Notes that a type exists which the file calls a part.
    pub(super) fn note_part(&self, names: &[&str]) {
        let parts = self.config.rules.parts.iter().map(Spanned::get_ref);
        let found = parts.filter(|part| names.contains(&part.as_str()));
        self.used_parts.borrow_mut().extend(found.cloned());
    }

    /// The rule for a property (name in ARM) of a type.
    pub(super) fn find(
        &self,
        names: &[&str],
        property: &str,
        side: Side,
        version: &ApiVersion,
    ) -> Option<&'a PropertyRule> {
        let mut types = self.config.rules.types.iter();
        let (type_name, properties) = types.find(|(name, rules)| {
            names.contains(&name.get_ref().as_str())
                && rules.keys().any(|key| key.get_ref() == property)
        })?;
        let (_, rule) = properties
            .iter()
            .find(|(name, _)| name.get_ref() == property)?;
        let is_for_version = rule.versions.as_ref().is_none_or(|versions| {
            let mut versions = versions.iter();
            versions.any(|candidate| candidate == version.as_str())
        });
        if !is_for_version || rule.side.is_some_and(|only| only != side) {
            return None;
        }
        self.used
            .borrow_mut()
            .insert((type_name.get_ref().clone(), property.to_owned()));
        Some(rule)
    }

    /// Fails for the first rule that matched nothing. `before` is the group as it was before curation.
    pub(super) fn check_used(&self, before: &Group) -> Result<(), Box<CurateError>> {
        let known = known_properties(before);
        for part in &self.config.rules.parts {
            if !self.used_parts.borrow().contains(part.get_ref()) {
                let types = known.keys().map(String::as_str);
                return Err(self.no_match(self.config.line(part), "type", part.get_ref(), types));
            }
        }
        for (type_name, properties) in &self.config.rules.types {
            let Some(known_here) = known.get(type_name.get_ref()) else {
                let line = self.config.line(type_name);
                let types = known.keys().map(String::as_str);
                return Err(self.no_match(line, "type", type_name.get_ref(), types));
            };
            for (name, rule) in properties {
                if let Some(was) = &rule.was
                    && !known_here.contains(was)
                {
                    let what = format!("property of `{}` named", type_name.get_ref());
                    let known_here = known_here.iter().map(String::as_str);
                    return Err(self.no_match(self.config.line(name), &what, was, known_here));
                }
                let key = (type_name.get_ref().clone(), name.get_ref().clone());
                if !self.used.borrow().contains(&key) {
                    let what = format!("exported property of `{}` named", type_name.get_ref());
                    let known_here = known_here.iter().map(String::as_str);
                    let line = self.config.line(name);
                    return Err(self.no_match(line, &what, name.get_ref(), known_here));
                }
            }
        }
        Ok(())
    }

    fn no_match<'b>(
        &self,
        line: usize,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'b str>,
    ) -> Box<CurateError> {
        Box::new(CurateError::NoMatch {
            path: self.config.path.clone(),
            line,
            what: what.to_owned(),
            name: name.to_owned(),
            hint: hint(name, known),
        })
    }
}

/// Property names per name that rules may use for a type.
fn known_properties(group: &Group) -> BTreeMap<String, BTreeSet<String>> {
    let mut known = BTreeMap::<String, BTreeSet<String>>::new();
    for version in group.versions.values() {
        let mut add = |name: &str, type_name: &TypeName| {
            if let Some(TypeDef::Object(object)) = version.types.get(type_name) {
                let properties = object.properties.iter();
                let names = properties.map(|property| property.name.clone());
                known.entry(name.to_owned()).or_default().extend(names);
            }
        };
        for (name, definition) in &version.types {
            let TypeDef::Object(object) = definition else {
                continue;
            };
            for alias in rule_names(name, object, Side::Status, None) {
                add(alias, name);
            }
        }
        for resource in &version.resources {
            add(&resource.kind, &resource.spec);
            add(&resource.kind, &resource.status);
        }
    }
    known
}
