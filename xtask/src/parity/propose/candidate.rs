//! Lines that may settle differences.

use std::collections::BTreeSet;

use armature_generator::curation::Side;
use armature_generator::model::ApiVersion;
use toml::{Table, Value};

/// What a line says: the value of a key.
pub type Addition = (String, Value);

/// One thing to try, and in which ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Tables that it may stand in: `types.Album`, `kinds.Album`, empty for the top of the file. The first that works is
    /// taken.
    pub tables: Vec<String>,
    /// Ways to say it, the likeliest first.
    pub options: Vec<Vec<Addition>>,
    /// Where the differences are that it is for.
    pub places: BTreeSet<(Side, ApiVersion)>,
    /// Definition that has to be among the parts of the file, or else there is nothing that the lines are about.
    pub part: Option<String>,
    /// Whether the specs have to be read anew for it.
    pub is_deep: bool,
}

/// A rule's only statement.
pub fn statement(key: &str, value: impl Into<Value>) -> Table {
    Table::from_iter([(key.to_owned(), value.into())])
}

/// A word that says what a value stands for.
pub fn word(word: &str) -> Table {
    statement("as", word)
}

impl Candidate {
    /// Tries these rules for a property of a type.
    pub fn rule(
        types: &[String],
        property: &str,
        rules: Vec<Table>,
        place: (Side, ApiVersion),
    ) -> Self {
        let option = |rule: Table| vec![(property.to_owned(), Value::Table(rule))];
        Self {
            tables: types.iter().map(|name| format!("types.{name}")).collect(),
            options: rules.into_iter().map(option).collect(),
            places: BTreeSet::from([place]),
            part: None,
            is_deep: false,
        }
    }

    /// The same thing, if it is: about the same keys of the same tables.
    pub fn is_like(&self, other: &Self) -> bool {
        let keys = |it: &Self| -> Vec<String> {
            let first = it.options.first().into_iter().flatten();
            first.map(|(key, _)| key.clone()).collect()
        };
        self.tables == other.tables && keys(self) == keys(other)
    }

    /// Takes over what another one of the kind would try.
    pub fn join(&mut self, other: Self) {
        for option in other.options {
            if !self.options.contains(&option) {
                self.options.push(option);
            }
        }
        self.places.extend(other.places);
        self.part = self.part.take().or(other.part);
        self.is_deep |= other.is_deep;
    }

    /// A rule for the places of the differences alone, by what tells these from other places. Nothing for what is no rule.
    pub fn restrictions(&self, option: &[Addition], versions: &BTreeSet<ApiVersion>) -> Vec<Table> {
        // What is a kind of its own is so on both sides and at all times.
        let is_child_kind = option
            .iter()
            .any(|(_, value)| *value == Value::Table(word("child-kind")));
        if is_child_kind || !self.tables.iter().all(|table| table.starts_with("types.")) {
            return vec![Table::new()];
        }
        let sides: BTreeSet<Side> = self.places.iter().map(|(side, _)| *side).collect();
        let here: BTreeSet<&ApiVersion> = self.places.iter().map(|(_, version)| version).collect();
        let mut side = Table::new();
        if let (Some(only), 1) = (sides.first(), sides.len()) {
            side = statement("side", only.word());
        }
        let mut restrictions = vec![Table::new(), side.clone()];
        if here.len() < versions.len() {
            let list = statement("versions", version_list(&here, versions));
            restrictions.push(list.clone());
            restrictions.push(side.into_iter().chain(list).collect());
        }
        restrictions.dedup();
        restrictions
    }
}

/// Versions as a file lists them: as an open range where they are the last of all.
fn version_list(here: &BTreeSet<&ApiVersion>, all: &BTreeSet<ApiVersion>) -> Value {
    let first = here.first();
    let later = all
        .iter()
        .filter(|version| first.is_some_and(|first| version >= first));
    let texts: Vec<Value> = match (first, later.count() == here.len()) {
        (Some(first), true) if here.len() > 1 || all.last() == Some(*first) => {
            vec![Value::from(format!("{first}.."))]
        }
        _ => here
            .iter()
            .map(|version| Value::from(version.as_str()))
            .collect(),
    };
    Value::Array(texts)
}

/// What a key says with an addition, where it said something before.
pub fn merged(spot_is_rule: bool, key: &str, before: Option<Value>, addition: &Value) -> Value {
    let merged = match (before, addition) {
        (Some(Value::Table(mut before)), Value::Table(addition)) => {
            before.extend(addition.clone());
            Value::Table(before)
        }
        (Some(Value::String(before)), Value::Table(addition)) if spot_is_rule => {
            let mut rule = word(&before);
            rule.extend(addition.clone());
            Value::Table(rule)
        }
        (Some(Value::Array(mut before)), Value::Array(addition)) if key == "parts" => {
            before.extend(
                addition
                    .iter()
                    .filter(|it| !before.contains(it))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            before.sort_by_key(ToString::to_string);
            Value::Array(before)
        }
        (_, addition) => addition.clone(),
    };
    match merged {
        Value::Table(rule) if spot_is_rule && rule.len() == 1 => match rule.get("as") {
            Some(word) => word.clone(),
            None => Value::Table(rule),
        },
        merged => merged,
    }
}
