//! Whether everything that a file says about kinds fits the group: before they are selected, against what the specs
//! have, and after curation, against the finished types.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::{azure_names, naming, path};
use crate::curation::{GroupConfig, KindRules, Problem, hint, version_named};
use crate::model::{
    ApiVersion, Group, NameRule, Resource, SecretSource, TypeDef, TypeId, TypeTable,
};
use crate::naming::is_taken;

/// Checks names, ARM types and api-versions. `group` has all resources of the specs.
pub(super) fn check(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut check = Check {
        group,
        config,
        problems: Vec::new(),
    };
    let mut arm_types = BTreeMap::<String, &str>::new();
    let mut plurals = BTreeMap::<String, &str>::new();
    for (kind, rules) in &config.rules.kinds {
        let name = kind.get_ref().as_str();
        if !is_kind(name) {
            let message = format!(
                "`{name}` is no name for a kind; expected a capital letter, then letters and digits"
            );
            check.report(kind, message);
        }
        if let Some(other) = plurals.insert(naming::plural_of(name, rules), name) {
            let message = format!(
                "`{other}` and `{name}` have one plural, which Kubernetes tells kinds by; rename one"
            );
            check.report(kind, message);
        }
        if let Some(plural) = &rules.plural {
            check.plural(name, plural);
        }
        if is_taken(name) {
            let message =
                format!("generated code uses the name `{name}` itself; choose another kind");
            check.report(kind, message);
        }
        let arm_type = rules.arm_type.get_ref().to_lowercase();
        if let Some(other) = arm_types.insert(arm_type, name) {
            let message = format!("`{other}` exports this ARM type already; remove one of the two");
            check.report(&rules.arm_type, message);
        }
        if rules.versions.as_ref().is_some_and(Vec::is_empty) {
            let message =
                format!("`versions` of `{name}` lists none; remove it to export from all");
            check.report(kind, message);
        }
        check.kind(name, rules);
    }
    check.problems.extend(azure_names::check(group, config));
    // A wrong name above would be told here a second time.
    if check.problems.is_empty() {
        check.versions();
    }
    check.problems
}

fn is_kind(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric())
}

struct Check<'c> {
    group: &'c Group,
    config: &'c GroupConfig,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn report<T>(&mut self, place: &Spanned<T>, message: String) {
        self.problems.push(self.config.problem(place, message));
    }

    fn kind(&mut self, kind: &str, rules: &KindRules) {
        let arm_type = rules.arm_type.get_ref();
        let (group, config) = (self.group, self.config);
        let versions = group.versions.iter();
        let having: Vec<&ApiVersion> = versions
            .filter(|(_, found)| !rules.candidates(&found.arm_types).is_empty())
            .map(|(version, _)| version)
            .collect();
        if let Some(source) = &rules.source {
            self.source(kind, rules, source);
        }
        if having.is_empty() {
            self.no_version(rules);
            return;
        }
        self.one_source(rules);
        let names = || having.iter().map(|version| version.as_str());
        for version in rules.versions.iter().flatten() {
            if !names().any(|name| name == version_named(version.get_ref())) {
                let message = format!(
                    "api-version `{}` has no `{arm_type}`; {}",
                    version.get_ref(),
                    hint(version.get_ref(), names())
                );
                self.report(version, message);
            }
        }
        let mut listed = rules.versions.iter().flatten();
        if let Some(first) = listed.next()
            && having.iter().all(|version| config.exports(rules, version))
        {
            let message = format!(
                "`versions` of `{kind}` has no effect: it lists every api-version that has the kind; remove it"
            );
            self.report(first, message);
        }
        let exported: Vec<&str> = having
            .iter()
            .filter(|version| config.exports(rules, version))
            .map(|version| version.as_str())
            .collect();
        let (first, last) = (exported.first().copied(), exported.last().copied());
        for (key, bound, end) in [
            ("secrets-from", &rules.secrets_from, first),
            ("secrets-until", &rules.secrets_until, last),
            ("config-maps-from", &rules.config_maps_from, first),
            ("config-maps-until", &rules.config_maps_until, last),
        ] {
            let bound = bound.as_ref().map(|bound| Bound { key, bound, end });
            let problem = bound.and_then(|bound| bound.problem(config, kind, &exported));
            self.problems.extend(problem);
        }
        self.one_path(kind, rules);
        self.name_from_config(kind, rules);
        self.name_by_default(kind, rules);
    }

    /// A name that Azure fixes comes from nowhere.
    fn name_from_config(&mut self, kind: &str, rules: &KindRules) {
        let Some(flag) = &rules.azure_name_from_config else {
            return;
        };
        let is_fixed = |name: &NameRule| matches!(name, NameRule::Fixed(_));
        let why = if !flag.get_ref() {
            "it is so without it".to_owned()
        } else if self.names(rules).all(is_fixed) {
            format!("the name of `{kind}` is always the same")
        } else {
            return;
        };
        let message = format!("`azure-name-from-config` has no effect: {why}; remove it");
        self.report(flag, message);
    }

    /// Where Azure takes only some names, none of them is made.
    fn name_by_default(&mut self, kind: &str, rules: &KindRules) {
        let Some(word) = &rules.azure_name else {
            return;
        };
        let is_free = |name: &NameRule| matches!(name, NameRule::Free(_) | NameRule::Uuid { .. });
        if !self.names(rules).any(is_free) {
            let message = format!(
                "`azure-name` has no effect: Azure takes only some names of `{kind}`; remove it"
            );
            self.report(word, message);
        }
    }

    /// How the kind's name is chosen in each api-version that exports it.
    fn names(&self, rules: &KindRules) -> impl Iterator<Item = &NameRule> {
        let versions = self.group.versions.iter();
        let exported = versions.filter(|(version, _)| self.config.exports(rules, version));
        exported
            .flat_map(|(_, version)| &version.resources)
            .filter(|it| rules.is_among(std::slice::from_ref(&it.arm_type)))
            .map(|it| &it.name)
    }

    /// A plural is part of URLs, and stands in the file only where it is not found without it.
    fn plural(&mut self, kind: &str, plural: &Spanned<String>) {
        let given = plural.get_ref();
        let is_plural = given.starts_with(|first: char| first.is_ascii_lowercase())
            && given
                .chars()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
        if !is_plural {
            let message = format!(
                "`{given}` is no plural; expected a small letter, then small letters and digits"
            );
            self.report(plural, message);
        } else if naming::plural(kind) == *given {
            let message =
                format!("`plural` has no effect: that of `{kind}` is `{given}` anyway; remove it");
            self.report(plural, message);
        }
    }

    /// No api-version of the group, or of the source that the kind names, has its ARM type.
    fn no_version(&mut self, rules: &KindRules) {
        let arm_type = rules.arm_type.get_ref();
        let named = rules.source.as_ref().map(|source| source.get_ref());
        let versions = self.group.versions.values();
        let known = versions
            .flat_map(|version| &version.arm_types)
            .filter(|(source, _)| named.is_none_or(|named| named == *source))
            .flat_map(|(_, arm_types)| arm_types)
            .map(String::as_str);
        let hint = hint(arm_type, known);
        let of = named.map_or("the group".to_owned(), |name| format!("source `{name}`"));
        let message = format!("no ARM type `{arm_type}` in any api-version of {of}; {hint}");
        self.report(&rules.arm_type, message);
    }

    /// A kind names its source only to choose between several.
    fn source(&mut self, kind: &str, rules: &KindRules, source: &Spanned<String>) {
        let versions = self.group.versions.values();
        let mut others = versions
            .flat_map(|version| &version.arm_types)
            .filter(|(name, _)| *name != source.get_ref());
        if !others.any(|(_, arm_types)| rules.is_among(arm_types)) {
            let message = format!(
                "`source` of `{kind}` has no effect: no other source has `{}`; remove it",
                rules.arm_type.get_ref()
            );
            self.report(source, message);
        }
    }

    /// Where two sources have the ARM type in one api-version, the kind says which one is meant.
    fn one_source(&mut self, rules: &KindRules) {
        for (version, found) in &self.group.versions {
            let candidates = rules.candidates(&found.arm_types);
            if let [first, .., last] = candidates.as_slice()
                && self.config.exports(rules, version)
            {
                let message = format!(
                    "sources `{}` have `{}` in api-version `{version}`; say which one is meant: `source = \"{first}\"` \
                     or `source = \"{last}\"`",
                    candidates.join("` and `"),
                    rules.arm_type.get_ref()
                );
                self.report(&rules.arm_type, message);
                return;
            }
        }
    }

    /// An ARM type is a kind by its path. Some types have several: one for each scope, or for each of a few names.
    fn one_path(&mut self, kind: &str, rules: &KindRules) {
        let arm_type = rules.arm_type.get_ref();
        let is_it = |resource: &&Resource| resource.arm_type.eq_ignore_ascii_case(arm_type);
        for (api_version, version) in &self.group.versions {
            let found: Vec<&Resource> = version.resources.iter().filter(is_it).collect();
            if let [first, second, ..] = found.as_slice()
                && self.config.exports(rules, api_version)
            {
                let message = format!(
                    "`{kind}` would be two resources in api-version `{api_version}`, `{}` and `{}`; list an ARM type \
                     that has one path, or leave the api-version out of `versions`",
                    first.path, second.path
                );
                self.report(&rules.arm_type, message);
                return;
            }
        }
    }

    /// An api-version that no kind is exported from is listed for nothing.
    fn versions(&mut self) {
        for (source, rules) in &self.config.rules.sources {
            for version in rules.versions.keys() {
                let api_version = ApiVersion::new(version.get_ref());
                let found = self.group.versions.get(&api_version);
                let is_used = found.is_some_and(|found| {
                    let is_read = |resource: &Resource| {
                        let (arm_type, arm_types) = (&resource.arm_type, &found.arm_types);
                        let config = self.config;
                        config.reads(arm_type, &api_version, source.get_ref(), arm_types)
                    };
                    found.resources.iter().any(is_read)
                });
                if !is_used {
                    let message = format!(
                        "no kind is exported from api-version `{api_version}` of source `{}`; remove the line, or let a \
                         kind name it in `versions`",
                        source.get_ref()
                    );
                    self.report(version, message);
                }
            }
        }
    }
}

/// A key that says from or until which api-version of a kind something is there.
struct Bound<'b> {
    key: &'static str,
    bound: &'b Spanned<String>,
    /// The first api-version of the kind, or the last one: a bound there divides nothing.
    end: Option<&'b str>,
}

impl Bound<'_> {
    /// What it names must be an api-version that divides those of the kind, oldest first in `exported`.
    fn problem(&self, config: &GroupConfig, kind: &str, exported: &[&str]) -> Option<Problem> {
        let (key, version) = (self.key, self.bound.get_ref().as_str());
        let message = if !exported.contains(&version) {
            let hint = hint(version, exported.iter().copied());
            format!("`{kind}` is not exported from api-version `{version}`; {hint}")
        } else if self.end == Some(version) {
            let which = if key.ends_with("-from") {
                "first"
            } else {
                "last"
            };
            format!(
                "`{key}` has no effect: `{version}` is the {which} api-version of `{kind}`; remove it"
            )
        } else {
            return None;
        };
        Some(config.problem(self.bound, message))
    }
}

/// Most properties of a kind, written out as a tree, which is how a CRD has them. Azure's largest kind has 33,000.
const MOST_PROPERTIES: usize = 250_000;

/// Checks the size of each kind. `group` is curated.
pub(super) fn check_sizes(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for version in group.versions.values() {
        let mut sizes = BTreeMap::new();
        for resource in &version.resources {
            let Some((kind, _)) = config.rules.kinds.get_key_value(resource.kind.as_str()) else {
                continue;
            };
            for (side, root) in [("spec", &resource.spec), ("status", &resource.status)] {
                if size(&version.types, root, &mut sizes) > MOST_PROPERTIES {
                    let message = format!(
                        "`{}.{side}` of api-version `{}` has more than {MOST_PROPERTIES} properties when each object \
                         is written out where it stands, which no CRD can hold; `remove` some",
                        resource.kind, version.api_version
                    );
                    problems.push(config.problem(kind, message));
                }
            }
        }
    }
    problems
}

/// Number of properties of a type and all below it, each counted as often as it is reached.
fn size<'t>(types: &'t TypeTable, id: &TypeId, sizes: &mut BTreeMap<&'t TypeId, usize>) -> usize {
    let Some((id, TypeDef::Object(object))) = types.get_key_value(id) else {
        return 0;
    };
    if let Some(known) = sizes.get(id) {
        return *known;
    }
    // For a type within itself, which `types` does not make.
    sizes.insert(id, 0);
    let total = object.properties.iter().fold(0usize, |total, property| {
        let below = property.ty.named();
        let below = below.map_or(0, |below| size(types, below, sizes));
        total.saturating_add(1).saturating_add(below)
    });
    sizes.insert(id, total);
    total
}

/// Checks that status paths lead somewhere. `group` is curated.
pub(super) fn check_status_paths(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        let mut check = |place: &Spanned<String>, path: &[&str]| {
            if let Some(message) = dead_end(group, kind.get_ref(), path) {
                problems.push(config.problem(place, message));
            }
        };
        for (key, source) in &rules.secrets {
            if let SecretSource::Status(path) = &source.0 {
                check(key, &path.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
        for (key, path) in &rules.config_maps {
            if !path.is_empty() {
                check(key, &path.split('.').collect::<Vec<_>>());
            }
        }
    }
    problems
}

/// Checks that rules for errors name kinds of the file and can match: the first that matches hides later ones.
pub(super) fn check_errors(config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    let names = || {
        config
            .rules
            .kinds
            .keys()
            .map(|kind| kind.get_ref().as_str())
    };
    let mut hidden = BTreeSet::new();
    for rule in &config.rules.errors {
        for kind in &rule.kinds {
            let name = kind.get_ref().as_str();
            if !names().any(|known| known == name) {
                let message = format!("no kind is named `{name}`; {}", hint(name, names()));
                problems.push(config.problem(kind, message));
            }
        }
        let all: Vec<&str> = match rule.kinds.as_slice() {
            [] => names().collect(),
            kinds => kinds.iter().map(|kind| kind.get_ref().as_str()).collect(),
        };
        let code = rule.code.get_ref().as_str();
        if all.iter().all(|kind| hidden.contains(&(*kind, code))) {
            let message =
                format!("a rule above holds for every `{code}` already; remove one of the two");
            problems.push(config.problem(&rule.code, message));
        }
        if rule.message.is_none() {
            hidden.extend(all.into_iter().map(|kind| (kind, code)));
        }
    }
    problems
}

/// What is wrong with a status path, unless an api-version of the kind has it.
fn dead_end(group: &Group, kind: &str, path: &[&str]) -> Option<String> {
    let mut fault = None;
    for version in group.versions.values() {
        let mut resources = version.resources.iter();
        if let Some(resource) = resources.find(|resource| resource.kind == kind) {
            match path::walk(version, &resource.status, path) {
                Ok(_) => return None,
                Err(end) => {
                    fault = Some(format!("the status of `{kind}` {end}"));
                }
            }
        }
    }
    fault
}
