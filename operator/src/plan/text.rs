//! A plan as text: a tree by owner, property by property, and a summary.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::reconcile::plain::plain;
use serde_json::Value;

use super::edits::Takes;
use super::resource::{Action, LeftAlone, LeftOut, Name, Plan, Property, Resource};
use crate::colour::Colour;

/// Longest value on one line.
const LONGEST: usize = 120;

/// Most values of a resource that are told to be left out.
const MOST_LEFT_OUT: usize = 12;

/// The whole plan.
pub fn text(plan: &Plan, colour: Colour) -> String {
    let mut text = String::new();
    let mut told = BTreeMap::new();
    for (depth, position) in tree(plan) {
        resource(&mut text, plan, depth, position, colour, &mut told);
    }
    for problem in &plan.problems {
        text.push_str(&format!("problem: {}\n", plain(problem)));
    }
    for note in &plan.notes {
        text.push_str(&format!("note: {}\n", plain(note)));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&plan.summary());
    text.push('\n');
    text
}

/// Positions of resources with how deep they are: each below its owner, in the order of the plan. Owners that go round in a
/// circle have none above them, and the first of them is at the top.
pub fn tree(plan: &Plan) -> Vec<(usize, usize)> {
    let names: BTreeSet<&Name> = plan.resources.iter().map(|one| &one.name).collect();
    let mut below: BTreeMap<&Name, Vec<usize>> = BTreeMap::new();
    let mut tops = Vec::new();
    for (position, one) in plan.resources.iter().enumerate() {
        match one.owner.as_ref().filter(|owner| names.contains(owner)) {
            Some(owner) => below.entry(owner).or_default().push(position),
            None => tops.push(position),
        }
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for position in tops.into_iter().chain(0..plan.resources.len()) {
        descend(plan, &below, (0, position), &mut seen, &mut found);
    }
    found
}

fn descend(
    plan: &Plan,
    below: &BTreeMap<&Name, Vec<usize>>,
    (depth, position): (usize, usize),
    seen: &mut BTreeSet<usize>,
    found: &mut Vec<(usize, usize)>,
) {
    if !seen.insert(position) {
        return;
    }
    found.push((depth, position));
    let owned = below.get(&plan.resources[position].name);
    for next in owned.into_iter().flatten() {
        descend(plan, below, (depth + 1, *next), seen, found);
    }
}

/// `told` has the long messages that stand above, with the numbers of their resources: what holds for all, such as a credential
/// that Azure refuses, is said once.
fn resource<'p>(
    text: &mut String,
    plan: &'p Plan,
    depth: usize,
    position: usize,
    colour: Colour,
    told: &mut BTreeMap<&'p str, usize>,
) {
    let one = &plan.resources[position];
    let indent = "    ".repeat(depth);
    let mark = paint(one.action, &format!("{:<3}", one.action.mark()), colour);
    let word = paint(one.action, &plain(&verdict(one)), colour);
    let (number, name) = (position + 1, one.name.to_string());
    text.push_str(&format!(
        "{indent}{mark} {} [{number}]: {word}\n",
        plain(&name)
    ));
    // The only colours are ours.
    let mut line = |line: &str| text.push_str(&format!("{indent}      {}\n", plain(line)));
    let message = one.message.as_deref().unwrap_or_default();
    let first = *told.entry(message).or_insert(number);
    match first == number || message.chars().count() <= LONGEST {
        true => message.lines().for_each(&mut line),
        false => line(&format!("for the same reason as [{first}]")),
    }
    for one in &one.assumed {
        line(&format!("{one} is taken to be there"));
    }
    for one in &one.warnings {
        line(&format!("warning: {one}"));
    }
    let width = width_of(one.properties.iter().map(|one| one.path.as_str()));
    for one in &one.properties {
        line(format!("{:<width$}  {}", one.path, values(one)).trim_end());
    }
    if !one.left_alone.is_empty() {
        line("left to Azure, which moves it by itself:");
        let width = width_of(one.left_alone.iter().map(|one| one.path.as_str()));
        for one in &one.left_alone {
            line(&format!(
                "  {:<width$}  {}",
                one.path,
                left_alone_values(one)
            ));
        }
    }
    if let Some((said, left_out)) = one.told_left_out() {
        line(said);
        let shown = &left_out[..left_out.len().min(MOST_LEFT_OUT)];
        let width = width_of(shown.iter().map(|one| one.path.as_str()));
        for one in shown {
            line(format!("  {:<width$}  {}", one.path, left_out_value(one)).trim_end());
        }
        if left_out.len() > shown.len() {
            let more = left_out.len() - shown.len();
            line(&format!("  and {more} more, which -o json tells"));
        }
    }
}

/// Width of a column of paths: that of the longest, but for those that would push all values away.
fn width_of<'p>(paths: impl Iterator<Item = &'p str>) -> usize {
    let widths = paths.map(|path| path.chars().count());
    widths.filter(|width| *width <= 60).max().unwrap_or(0)
}

/// What Azure has.
pub fn left_out_value(one: &LeftOut) -> String {
    match &one.value {
        Some(value) => shown(value),
        None => "(not shown)".to_owned(),
    }
}

/// Both values, and why Azure's stays.
pub fn left_alone_values(one: &LeftAlone) -> String {
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
    let values = match (&one.manifest, &one.azure) {
        (None, _) => "(not shown)".to_owned(),
        (manifest, azure) => format!(
            "Azure has {}, the manifest says {}",
            value(azure),
            value(manifest)
        ),
    };
    let edit = match one.may_be_edit {
        true => "; sent all the same where the operator has sent another value before",
        false => "",
    };
    format!("{values} (rule: {}){edit}", one.rule)
}

/// What would happen, and the reason where nothing can.
pub fn verdict(one: &Resource) -> String {
    let word = one.action.word();
    match &one.reason {
        Some(reason) => format!("{word} ({reason})"),
        None => word.to_owned(),
    }
}

/// Old and new.
pub fn values(property: &Property) -> String {
    let text = match (property.hidden, &property.old, &property.new) {
        (true, ..) => "(not shown)".to_owned(),
        (_, None, Some(new)) => shown(new),
        (_, Some(old), Some(new)) => format!("{} -> {}", shown(old), shown(new)),
        (_, Some(old), None) => format!("{} -> nothing", shown(old)),
        (_, None, None) => String::new(),
    };
    match note(property) {
        Some(note) => format!("{text} ({note})"),
        None => text,
    }
}

/// What Azure makes of the change, where that is known.
fn note(property: &Property) -> Option<String> {
    // What holds whatever the value says nothing more by its rule.
    let rule = property.rule.as_deref().filter(|rule| rule.contains(' '));
    let by_rule = |said: &str| match rule {
        Some(rule) => Some(format!("{said}; rule: {rule}")),
        None => Some(said.to_owned()),
    };
    match property.takes {
        Some(Takes::InPlace) => by_rule("in place"),
        Some(Takes::Refused) => by_rule("Azure refuses it"),
        Some(Takes::Replacement) => by_rule("only another resource can have it"),
        None if property.create_only => Some("can be set on creation only".to_owned()),
        None => None,
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start}…")
}

fn paint(action: Action, text: &str, colour: Colour) -> String {
    let code = match action {
        _ if colour == Colour::No => return text.to_owned(),
        Action::Create | Action::Send | Action::Adopt => 32,
        Action::Update | Action::Waiting | Action::Held | Action::Release => 33,
        Action::Replace | Action::Delete | Action::Blocked => 31,
        Action::Unchanged => 2,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}
