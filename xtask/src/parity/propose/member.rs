//! What may settle a difference in one member of an object: which property of ARM is behind it, and which rules to try for
//! that. Whether they do is for the trial to say.

use std::collections::BTreeSet;

use armature_generator::curate::naming;
use armature_generator::curation::Side;
use armature_generator::model::{DecidedBy, LeftOut, Property, TypeRef};
use armature_generator::types::embedded::{ENVELOPE, NAMED_BY_AZURE};
use serde_json::Value as Json;
use toml::{Table, Value};

use super::candidate::{Candidate, statement, word};
use super::site::{Site, property};
use super::world::object;
use crate::parity::schema::{Facts, Paths};

/// An object that both sides have, with what each has of it.
pub struct Place<'a> {
    /// The type.
    pub site: Site<'a>,
    /// Path of the object.
    pub path: &'a str,
    /// Ours.
    pub ours: &'a Paths,
    /// The target's.
    pub target: &'a Paths,
}

/// Candidates, or why there are none.
pub type Verdict = Result<Vec<Candidate>, String>;

/// Members directly below a path.
pub fn members<'a>(paths: &'a Paths, path: &str) -> BTreeSet<&'a str> {
    let start = format!("{path}.");
    let below = paths.range(start.clone()..);
    let below = below.take_while(|(known, _)| known.starts_with(&start));
    let names = below.map(|(known, _)| {
        let rest = &known[start.len()..];
        rest.split(['.', '[', '{']).next().unwrap_or(rest)
    });
    names.collect()
}

impl Place<'_> {
    /// What to try for a member; `brackets` are those behind its name where the difference is in what it holds.
    pub fn look(&self, name: &str, brackets: &str) -> Verdict {
        let path = format!("{}.{name}{brackets}", self.path);
        match (self.ours.get(&path), self.target.get(&path)) {
            (None, Some(_)) if brackets.is_empty() => self.missing(name),
            (Some(_), None) if brackets.is_empty() => self.surplus(name),
            (Some(ours), Some(target)) => self.differing(name, brackets, ours, target),
            (None, _) | (_, None) => match brackets {
                "{}" => self.mapped(name, ""),
                "[]{}" => self.mapped(name, "[]"),
                _ => Err(ABOVE.to_owned()),
            },
        }
    }

    /// What makes a map of an object, or something else of a map: both have one type. `brackets` are those before the map's.
    fn mapped(&self, name: &str, brackets: &str) -> Verdict {
        let path = format!("{}.{name}{brackets}", self.path);
        let sides = (self.ours.get(&path), self.target.get(&path));
        match (sides, self.site.arm_name(name)) {
            ((Some(ours), Some(target)), Some(arm)) => {
                let rule = self.typed(&path, ours, target, !brackets.is_empty())?;
                Ok(vec![self.rule(arm, vec![rule])])
            }
            _ => Err(ABOVE.to_owned()),
        }
    }

    /// What to try where references differ in whether they take a name that Azure knows.
    pub fn well_known(&self, reference: &str) -> Option<Vec<Candidate>> {
        let arm = self.site.arm_name(reference)?;
        Some(vec![
            self.rule(arm, vec![word(self.reference_word(reference))]),
        ])
    }

    fn rule(&self, arm: &str, rules: Vec<Table>) -> Candidate {
        let place = (self.site.side, self.site.api_version.clone());
        Candidate::rule(&self.site.names, arm, rules, place)
    }

    fn is_in_target(&self, name: &str) -> bool {
        self.target.contains_key(&format!("{}.{name}", self.path))
    }

    fn missing(&self, name: &str) -> Verdict {
        let mut found = Vec::new();
        let originals = || self.site.described.properties.iter();
        let base = name.strip_suffix("FromConfig");
        if let Some(original) = base.and_then(|base| self.site.original(base)) {
            let as_word = match self.is_in_target(&original.name) {
                true => "config-map",
                false => "config-map-required",
            };
            found.push(self.rule(&original.name, vec![word(as_word)]));
        }
        let base = name.strip_suffix("FromSecret");
        if let Some(original) = base.and_then(|base| self.site.original(base)) {
            found.push(self.rule(&original.name, vec![word("secret-or-plain")]));
        }
        let refers = |it: &&Property| it.name != name && reference(it) == name;
        for original in originals().filter(refers) {
            found.push(self.rule(&original.name, vec![word(self.reference_word(name))]));
        }
        if let Some(original) = self.site.original(name)
            && !self.site.became(name).contains(&name)
        {
            found.push(self.rule(&original.name, vec![word("plain")]));
        }
        found.extend(self.flattened(name));
        found.extend(self.renamed(name));
        found.extend(self.site.cut_definition().map(|name| part(name, self)));
        found.extend(self.id_of_part(name));
        let mut left_out = self.site.described.left_out.iter();
        match left_out.find(|it| it.name == name) {
            Some(_) if self.site.is_root && ENVELOPE.contains(&name) => {
                let mut kept = self.rule(name, vec![word("plain")]);
                kept.is_deep = true;
                found.push(kept);
            }
            Some(left_out) if found.is_empty() => return Err(why_left_out(left_out)),
            _ => {}
        }
        match found.is_empty() {
            true => Err("no property of that name is in the specs that are read".to_owned()),
            false => Ok(found),
        }
    }

    /// The id of a part, which is there to speak of where the file says that the part stays.
    fn id_of_part(&self, name: &str) -> Option<Candidate> {
        let definition = self.site.described.definition.as_deref()?;
        let mut left_out = self.site.described.left_out.iter();
        let id = left_out.find(|it| {
            let why = it.origin.decisions.last();
            why.is_some_and(|why| why.what == NAMED_BY_AZURE)
        })?;
        if id.name == name {
            return Some(part(definition, self));
        }
        if naming::reference(&id.name, false) != name {
            return None;
        }
        let mut referring = self.rule(&id.name, vec![word(self.reference_word(name))]);
        referring.part = Some(definition.to_owned());
        referring.is_deep = true;
        Some(referring)
    }

    /// How the target refers to a resource.
    fn reference_word(&self, name: &str) -> &'static str {
        let path = format!("{}.{name}", self.path);
        let known = [path.clone(), format!("{path}[]"), format!("{path}{{}}")];
        let mut known = known.iter().map(|path| format!("{path}.{WELL_KNOWN}"));
        match known.any(|path| self.target.contains_key(&path)) {
            true => "well-known-reference",
            false => "reference",
        }
    }

    /// Objects that have a member of the name, and that the target lacks.
    fn flattened(&self, name: &str) -> Vec<Candidate> {
        let properties = self.site.described.properties.iter();
        let holds = |it: &&Property| {
            let inner = match &it.ty {
                TypeRef::Named(id) => object(self.site.version, id),
                _ => None,
            };
            !self.is_in_target(&it.name)
                && inner.is_some_and(|inner| property(inner, name).is_some())
        };
        let holders = properties.filter(holds);
        holders
            .map(|it| self.rule(&it.name, vec![word("flatten")]))
            .collect()
    }

    /// The one surplus member that is the same under another name.
    fn renamed(&self, name: &str) -> Option<Candidate> {
        let is_same = |other: &&str| {
            let [mine, theirs] = [other, &name].map(|name| format!("{}.{name}", self.path));
            let facts = |paths: &Paths, path: &str| paths.get(path).map(|it| it.value_type.clone());
            !self.is_in_target(other)
                && facts(self.ours, &mine) == facts(self.target, &theirs)
                && members(self.ours, &mine) == members(self.target, &theirs)
                && are_alike(other, name)
        };
        let ours = members(self.ours, self.path);
        let mut same = ours.iter().filter(|it| is_same(it));
        let (Some(only), None) = (same.next(), same.next()) else {
            return None;
        };
        let arm = self.site.arm_name(only)?;
        Some(self.rule(arm, vec![statement("rename", name)]))
    }

    fn surplus(&self, name: &str) -> Verdict {
        let Some(arm) = self.site.arm_name(name) else {
            return Err("the operator adds it, whatever a rule says".to_owned());
        };
        let curated = property(self.site.curated, name);
        let is_plain_there = name != arm && self.is_in_target(arm);
        let is_twin = name.ends_with("FromConfig") || name.ends_with("FromSecret");
        if is_twin || is_plain_there {
            return Ok(vec![self.rule(arm, vec![word("plain")])]);
        }
        let mut rules = Vec::new();
        if let Some(TypeRef::Named(_)) = curated.map(|it| &it.ty) {
            let lacking = members(self.target, self.path);
            let ours = members(self.ours, self.path);
            let inner = members(self.ours, &format!("{}.{name}", self.path));
            if inner
                .iter()
                .any(|it| lacking.contains(it) && !ours.contains(it))
            {
                rules.push(word("flatten"));
            }
        }
        if self.site.is_root && self.site.side == Side::Spec && self.site.has_child_type(arm) {
            rules.push(word("child-kind"));
        }
        rules.push(word("remove"));
        Ok(vec![self.rule(arm, rules)])
    }

    fn differing(&self, name: &str, brackets: &str, ours: &Facts, target: &Facts) -> Verdict {
        let Some(arm) = self.site.arm_name(name) else {
            return Err("the operator adds it, whatever a rule says".to_owned());
        };
        let path = format!("{}.{name}{brackets}", self.path);
        let is_item = !brackets.is_empty();
        let mut rule = Table::new();
        if ours.value_type != target.value_type || members(self.target, &path) == FROM_SECRET.into()
        {
            rule = self.typed(&path, ours, target, is_item)?;
        } else if ours.allowed != target.allowed {
            rule = allowed(target, is_item);
        }
        if ours.required != target.required && rule.get("as") != Some(&Value::from("secret")) {
            rule.insert("required".to_owned(), Value::from(target.required));
        }
        Ok(vec![self.rule(arm, vec![rule])])
    }

    /// What gives a value another type.
    fn typed(
        &self,
        path: &str,
        ours: &Facts,
        target: &Facts,
        is_item: bool,
    ) -> Result<Table, String> {
        let theirs = members(self.target, path);
        if theirs == FROM_SECRET.into() {
            return Ok(word("secret"));
        }
        if theirs == BTreeSet::from(["name"]) && !is_item {
            return Ok(word("secret-map"));
        }
        let was = members(self.ours, path);
        if was == FROM_SECRET.into()
            || was == BTreeSet::from(["name"]) && ours.value_type.as_deref() == Some("object")
        {
            return Ok(word("plain"));
        }
        let key = if is_item { "items" } else { "type" };
        let map = self.target.get(&format!("{path}{{}}"));
        match (target.value_type.as_deref(), map) {
            (None, _) => Ok(statement(key, "json")),
            (Some(plain @ ("boolean" | "integer" | "number" | "string")), _) => {
                Ok(statement(key, plain))
            }
            (Some("object"), Some(values)) => match values.value_type.as_deref() {
                Some("string") => Ok(statement(key, "string-map")),
                None => Ok(statement(key, "json-map")),
                Some(_) => Err(NO_TYPE.to_owned()),
            },
            _ => Err(NO_TYPE.to_owned()),
        }
    }
}

/// Why there is nothing to try below something that differs itself.
pub const ABOVE: &str = "it goes with a difference above it";
const NO_TYPE: &str = "curation has no word for the type that the target gives it";
/// Members of what names a key of a Secret.
const FROM_SECRET: [&str; 2] = ["key", "name"];
/// The member by which a reference takes a name that Azure knows.
pub const WELL_KNOWN: &str = "wellKnownName";

/// What a property is called as a reference.
fn reference(property: &Property) -> String {
    naming::reference(&property.name, matches!(property.ty, TypeRef::List(_)))
}

/// Whether one name may be another spelling of the other.
fn are_alike(left: &str, right: &str) -> bool {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', '@', '.', '$'], "");
    let (left, right) = (plain(left), plain(right));
    left == right || left.ends_with(&right) || right.ends_with(&left)
}

/// Values that an enum of the target has, or that it has none.
fn allowed(target: &Facts, is_item: bool) -> Table {
    let values = target.allowed.iter();
    let texts = values.filter_map(|text| serde_json::from_str::<Json>(text).ok());
    let texts: Vec<Value> = texts
        .filter_map(|text| text.as_str().map(Value::from))
        .collect();
    match (texts.is_empty(), is_item) {
        (false, _) => statement("values", texts),
        (true, false) => statement("type", "string"),
        (true, true) => statement("items", "string"),
    }
}

/// A resource inside another one that stays whole.
fn part(name: &str, place: &Place<'_>) -> Candidate {
    let list = Value::Array(vec![Value::from(name)]);
    Candidate {
        tables: vec![String::new()],
        options: vec![vec![("parts".to_owned(), list)]],
        places: BTreeSet::from([(place.site.side, place.site.api_version.clone())]),
        part: None,
        is_deep: true,
    }
}

fn why_left_out(left_out: &LeftOut) -> String {
    let Some(last) = left_out.origin.decisions.last() else {
        return "the generator leaves it out".to_owned();
    };
    match last.by {
        DecidedBy::Spec | DecidedBy::Inherited => format!("the specs leave it out ({})", last.what),
        _ => format!(
            "the generator leaves it out, and no word brings it back ({})",
            last.what
        ),
    }
}
