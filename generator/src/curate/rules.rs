//! Finding the rules for a property, and judging whether every rule was of use.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::stages::Outcome;
use crate::curation::{
    Aspect, GroupConfig, Problem, PropertyRule, Side, Treatment, covers, hint, version_named,
};
use crate::model::{ApiVersion, Decision, Group, ObjectType, TypeDef, TypeId};
use crate::naming::endings::STATUS;
use crate::types::embedded::{DERIVED, NAMED_BY_AZURE};

/// Rules of a file, with a note of what each did.
pub(super) struct RuleBook<'a> {
    config: &'a GroupConfig,
    notes: RefCell<Notes<'a>>,
}

#[derive(Default)]
struct Notes<'a> {
    uses: BTreeMap<Key<'a>, Use>,
    problems: Vec<Problem>,
}

/// A rule by name of type and property.
type Key<'a> = (&'a str, &'a str);

/// What a rule did so far.
#[derive(Default)]
struct Use {
    /// Where properties stand that the rule names.
    sites: BTreeSet<(Side, ApiVersion)>,
    /// Statements that changed something.
    effective: BTreeSet<Aspect>,
    /// Rules of other names that speak of the same property.
    rivals: BTreeSet<(String, String)>,
}

/// One rule of the file with its places in it.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub type_name: &'a Spanned<String>,
    pub property: &'a Spanned<String>,
    pub rule: &'a PropertyRule,
}

impl<'a> Entry<'a> {
    fn key(&self) -> Key<'a> {
        (self.type_name.get_ref(), self.property.get_ref())
    }

    /// Whether the rule is for a side and an api-version.
    fn is_for(&self, side: Side, version: &ApiVersion) -> bool {
        let versions = self.rule.versions.as_ref();
        self.rule.side.is_none_or(|only| only == side)
            && versions.is_none_or(|versions| covers(versions, version))
    }
}

/// The names under which rules may speak of a type: its word, that of the spec side, that of the definition it was
/// read from, and the kind's.
pub(super) fn rule_names<'a>(
    id: &'a TypeId,
    object: &'a ObjectType,
    side: Side,
    kind: Option<&'a str>,
) -> Vec<&'a str> {
    let word = id.word();
    let mut names = vec![word];
    if side == Side::Status {
        names.extend(word.strip_suffix(STATUS));
    }
    names.extend(object.definition.as_deref());
    names.extend(kind);
    names
}

impl<'a> RuleBook<'a> {
    pub(super) fn new(config: &'a GroupConfig) -> Self {
        Self {
            config,
            notes: RefCell::default(),
        }
    }

    /// The rules that speak of a type under any of its names.
    pub(super) fn entries(&self, names: &[&str]) -> Vec<Entry<'a>> {
        let types = self.config.rules.types.iter();
        let named = types.filter(|(name, _)| names.contains(&name.get_ref().as_str()));
        named
            .flat_map(|(type_name, properties)| {
                properties.iter().map(move |(property, rule)| Entry {
                    type_name,
                    property,
                    rule,
                })
            })
            .collect()
    }

    /// Whether a rule says of a property that it is nothing special.
    pub(super) fn calls_plain(
        &self,
        names: &[&str],
        property: &str,
        (side, version): (Side, &ApiVersion),
    ) -> bool {
        let mut entries = self.entries(names).into_iter();
        entries.any(|entry| {
            entry.property.get_ref() == property
                && entry.is_for(side, version)
                && entry.rule.treatment == Some(Treatment::Plain)
        })
    }

    /// The rule to apply to a property (name in ARM) and its outcome, with a note of what each of `entries` does to it.
    /// `outcome` is what a rule makes of the property.
    pub(super) fn find(
        &self,
        entries: &[Entry<'a>],
        property: &str,
        (side, version): (Side, &ApiVersion),
        outcome: impl Fn(&PropertyRule) -> Outcome,
    ) -> Option<(Entry<'a>, Outcome)> {
        let mut chosen = None::<(Entry<'a>, Outcome)>;
        let named = |entry: &&Entry<'a>| entry.property.get_ref() == property;
        for entry in entries.iter().filter(named) {
            let mut notes = self.notes.borrow_mut();
            let noted = notes.uses.entry(entry.key()).or_default();
            noted.sites.insert((side, version.clone()));
            let outcome = outcome(entry.rule);
            if entry.is_for(side, version) {
                noted.effective.extend(&outcome.effects);
                if let Some((first, _)) = &chosen {
                    let (type_name, property) = first.key();
                    let rival = (type_name.to_owned(), property.to_owned());
                    noted.rivals.insert(rival);
                } else {
                    chosen = Some((*entry, outcome));
                }
            } else if outcome.is_ruled() {
                noted.effective.insert(withheld(entry, side));
            }
        }
        chosen
    }

    /// Notes that a rule does not fit where it matches.
    pub(super) fn misfit(&self, entry: &Entry<'a>, message: String) {
        self.report(entry.property, message);
    }

    /// Notes that something is wrong at a place of the file.
    pub(super) fn report(&self, place: &Spanned<String>, message: String) {
        let problem = self.config.problem(place, message);
        self.notes.borrow_mut().problems.push(problem);
    }

    /// Notes that two properties have one name, because of a rule where one is given.
    pub(super) fn clash(&self, entry: Option<&Entry<'a>>, message: String) {
        let problem = match entry {
            Some(entry) => self.config.problem(entry.property, message),
            None => Problem {
                line: 1,
                column: 1,
                message,
            },
        };
        self.notes.borrow_mut().problems.push(problem);
    }

    /// Everything that is wrong with the rules. `before` is the group as it was before curation.
    pub(super) fn problems(&self, before: &Group) -> Vec<Problem> {
        let known = known_properties(before);
        let gone = left_out(before);
        let notes = self.notes.take();
        let mut problems = notes.problems;
        for (type_name, properties) in &self.config.rules.types {
            let Some(known_here) = known.get(type_name.get_ref()) else {
                let message = no_match("type", type_name.get_ref(), known.keys());
                problems.push(self.config.problem(type_name, message));
                continue;
            };
            for (property, rule) in properties {
                let entry = Entry {
                    type_name,
                    property,
                    rule,
                };
                let judge = Judge {
                    config: self.config,
                    entry,
                    known_here,
                    gone: gone.get(&entry.key()),
                    uses: &notes.uses,
                };
                problems.extend(judge.judge());
            }
        }
        problems
    }
}

/// The restriction that keeps a rule from a place where it would do something.
fn withheld(entry: &Entry<'_>, side: Side) -> Aspect {
    if entry.rule.side.is_some_and(|only| only != side) {
        Aspect::Side
    } else {
        Aspect::Versions
    }
}

/// Where one rule finds its property and another does not, in words.
fn further(one: &BTreeSet<(Side, ApiVersion)>, other: &BTreeSet<(Side, ApiVersion)>) -> String {
    let mut sides = BTreeMap::<Side, Vec<&str>>::new();
    for (side, version) in one.difference(other) {
        sides.entry(*side).or_default().push(version.as_str());
    }
    let sides = sides
        .into_iter()
        .map(|(side, versions)| format!("to the {} of {}", side.word(), versions.join(", ")));
    sides.collect::<Vec<_>>().join(" and ")
}

/// What is told of a name that nothing has.
pub(super) fn no_match<'b>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'b String>,
) -> String {
    let hint = hint(name, known.map(String::as_str));
    format!("no {what} `{name}` in any api-version of the group; {hint}")
}

/// Judges one rule by what it did.
struct Judge<'j> {
    config: &'j GroupConfig,
    entry: Entry<'j>,
    /// Properties of the type that the rule names.
    known_here: &'j BTreeSet<String>,
    /// How the property left a side before rules were asked, if it did.
    gone: Option<&'j Gone<'j>>,
    /// What all rules did.
    uses: &'j BTreeMap<Key<'j>, Use>,
}

/// A property that is left out before rules are asked.
struct Gone<'g> {
    /// What did it.
    why: &'g Decision,
    /// The definition that has it in the spec.
    definition: Option<&'g str>,
}

impl Judge<'_> {
    fn judge(&self) -> Vec<Problem> {
        let Entry { property, rule, .. } = self.entry;
        let at_property = |message| vec![self.config.problem(property, message)];
        let Some(noted) = self.uses.get(&self.entry.key()) else {
            return at_property(match self.gone {
                Some(gone) => self.goes_before("no rule finds", gone),
                None => self.unknown(property.get_ref()),
            });
        };
        if let Some(was) = &rule.was
            && !self.known_here.contains(was)
        {
            return at_property(self.unknown(was));
        }
        if let Some((other, _)) = noted.rivals.first() {
            return at_property(self.rivalry(other));
        }
        let unknown_versions = self.unknown_versions(noted);
        if !unknown_versions.is_empty() {
            return unknown_versions;
        }
        if !noted
            .sites
            .iter()
            .any(|(side, version)| self.entry.is_for(*side, version))
        {
            return at_property(format!(
                "`{}` of `{}` is only where the rule does not hold, on the other side or in other api-versions; \
                 remove the rule, or its `side` or `versions`",
                property.get_ref(),
                self.entry.type_name.get_ref()
            ));
        }
        let idle = rule
            .aspects()
            .filter(|aspect| !noted.effective.contains(aspect));
        let idle: Vec<String> = idle.filter_map(|aspect| rule.written(aspect)).collect();
        if idle.is_empty() {
            return Vec::new();
        }
        let idle = format!("`{}` has no effect on", idle.join("` and `"));
        let is_in_spec = noted.sites.iter().any(|(side, _)| *side == Side::Spec);
        at_property(match self.gone.filter(|_| !is_in_spec) {
            Some(gone) => self.goes_before(&idle, gone),
            None => format!(
                "{idle} `{}` of `{}`: it is so without the rule; remove it",
                property.get_ref(),
                self.entry.type_name.get_ref()
            ),
        })
    }

    /// The property is not there when rules are asked; and what brings it back, if something does.
    fn goes_before(&self, what: &str, gone: &Gone<'_>) -> String {
        let (type_name, property) = self.entry.key();
        let why = &gone.why.what;
        let advice = match why.as_ref() {
            NAMED_BY_AZURE => {
                let part = gone.definition.unwrap_or(type_name);
                format!("remove the rule, or keep it with `parts = [\"{part}\"]`")
            }
            DERIVED => format!("remove the rule, or keep it with `{property} = \"plain\"`"),
            _ => "remove the rule".to_owned(),
        };
        format!(
            "{what} `{property}` of `{type_name}`: it is left out before, for this reason: {why}; {advice}"
        )
    }

    fn unknown(&self, name: &str) -> String {
        let what = format!("property of `{}` named", self.entry.type_name.get_ref());
        no_match(&what, name, self.known_here.iter())
    }

    /// Two names of one type have a rule for the same property.
    fn rivalry(&self, other: &str) -> String {
        let (type_name, property) = self.entry.key();
        let types = &self.config.rules.types;
        let found = types.get_key_value(other).and_then(|(name, properties)| {
            let (place, rule) = properties.get_key_value(property)?;
            Some((name, place, rule))
        });
        let line = found.map_or(0, |(_, place, _)| self.config.line(place));
        let same = found.is_some_and(|(_, _, rule)| rule == self.entry.rule);
        if same {
            format!(
                "`{type_name}` and `{other}` are one type, whose `{property}` has this rule on line {line} already; {}",
                self.remove_one(other, line)
            )
        } else {
            format!(
                "`{type_name}` and `{other}` are one type, and the rules for `{property}` here and on line {line} \
                 disagree; keep one"
            )
        }
    }

    /// Which of two equal rules to remove: the one whose name finds the property in fewer places.
    fn remove_one(&self, other: &str, line: usize) -> String {
        let (type_name, property) = self.entry.key();
        let none = BTreeSet::new();
        let sites = |name| {
            let noted = self.uses.get(&(name, property));
            noted.map_or(&none, |noted| &noted.sites)
        };
        let (ours, theirs) = (sites(type_name), sites(other));
        let (here, there) = (further(ours, theirs), further(theirs, ours));
        match (here.as_str(), there.as_str()) {
            ("", "") => "remove one".to_owned(),
            (here, "") => format!("`{type_name}` reaches further, {here}; remove line {line}"),
            ("", there) => format!("`{other}` reaches further, {there}; remove the one here"),
            (here, there) => format!(
                "each reaches further than the other, `{type_name}` {here} and `{other}` {there}; give one of them a \
                 `side` or `versions`"
            ),
        }
    }

    /// Versions that the rule names and that have no such property.
    fn unknown_versions(&self, noted: &Use) -> Vec<Problem> {
        let sites = || noted.sites.iter().map(|(_, version)| version.as_str());
        let versions = self.entry.rule.versions.iter().flatten();
        let unknown = versions
            .filter(|version| !sites().any(|site| site == version_named(version.get_ref())));
        unknown
            .map(|version| {
                let message = format!(
                    "api-version `{}` has no `{}` of `{}`; {}",
                    version.get_ref(),
                    self.entry.property.get_ref(),
                    self.entry.type_name.get_ref(),
                    hint(version.get_ref(), sites())
                );
                self.config.problem(version, message)
            })
            .collect()
    }
}

/// Property names per name that rules may use for a type.
pub(super) fn known_properties(group: &Group) -> BTreeMap<String, BTreeSet<String>> {
    let mut known = BTreeMap::<String, BTreeSet<String>>::new();
    for version in group.versions.values() {
        let mut add = |name: &str, id: &TypeId| {
            if let Some(TypeDef::Object(object)) = version.types.get(id) {
                let properties = object.properties.iter();
                let names = properties.map(|property| property.name.clone());
                known.entry(name.to_owned()).or_default().extend(names);
            }
        };
        for (id, definition) in &version.types {
            let TypeDef::Object(object) = definition else {
                continue;
            };
            for alias in rule_names(id, object, Side::Status, None) {
                add(alias, id);
            }
        }
        for resource in &version.resources {
            add(&resource.kind, &resource.spec);
            add(&resource.kind, &resource.status);
        }
    }
    known
}

/// Properties that are left out before rules are asked, by the names that rules may use for their types.
fn left_out(group: &Group) -> BTreeMap<Key<'_>, Gone<'_>> {
    let mut gone = BTreeMap::new();
    for version in group.versions.values() {
        let kinds = version.resources.iter();
        let kinds = kinds.flat_map(|it| [(&it.spec, &it.kind), (&it.status, &it.kind)]);
        let kinds: BTreeMap<&TypeId, &String> = kinds.collect();
        for (id, definition) in &version.types {
            let TypeDef::Object(object) = definition else {
                continue;
            };
            let kind = kinds.get(id).map(|kind| kind.as_str());
            for name in rule_names(id, object, Side::Status, kind) {
                for member in &object.left_out {
                    if let Some(why) = member.origin.decisions.last() {
                        let definition = object.definition.as_deref();
                        let key = (name, member.name.as_str());
                        gone.entry(key).or_insert(Gone { why, definition });
                    }
                }
            }
        }
    }
    gone
}
