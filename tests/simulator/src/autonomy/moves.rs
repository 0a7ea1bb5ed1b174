//! New values from old ones, and which values are Azure's to have.

use serde::Serialize;
use serde_json::{Value, json};

use super::places::{expand, fit, get, resolve, set};
use super::table::{Bound, How, Row, When};
use super::{Wanted, acts_of, rows};
use crate::acts::Act;
use crate::error::ArmError;

/// One value that an act changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Steps to it; those into lists are numbers. Of an added item, steps to the list.
    #[serde(serialize_with = "as_text")]
    pub path: Vec<String>,
    /// What it was.
    pub before: Option<Value>,
    /// What it is. Of an added item, the item.
    pub after: Option<Value>,
    /// Whether an item was added to a list.
    #[serde(skip)]
    pub is_item: bool,
}

fn as_text<S: serde::Serializer>(path: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.join("."))
}

/// A resource, and between which numbers another one moves its units.
#[derive(Clone, Copy)]
pub struct Body<'a> {
    pub value: &'a Value,
    pub scaled: Option<(i64, i64)>,
}

/// Makes a change.
pub fn apply(body: &mut Value, change: &Changed) {
    let after = change.after.clone().unwrap_or_default();
    if !change.is_item {
        return set(body, &change.path, after);
    }
    let there = get(body, &change.path).and_then(Value::as_array);
    let items: Vec<Value> = there
        .into_iter()
        .flatten()
        .cloned()
        .chain([after])
        .collect();
    set(body, &change.path, json!(items));
}

/// What an act changes of a resource.
pub fn changes(
    arm_type: &str,
    act: Act,
    body: Body<'_>,
    wanted: &Wanted,
) -> Result<Vec<Changed>, ArmError> {
    let of_act: Vec<&Row> = rows(arm_type).filter(|row| row.act == act).collect();
    if of_act.is_empty() {
        let known: Vec<&str> = acts_of(arm_type).into_iter().map(Act::name).collect();
        let message = format!(
            "'{arm_type}' does not know '{}'; it knows {}.",
            act.name(),
            known.join(", ")
        );
        return Err(ArmError::new(400, "UnknownAct", message));
    }
    let mut possible: Vec<Vec<Changed>> = Vec::new();
    for row in &of_act {
        for indices in expand(body.value, row.path) {
            let steps = resolve(row.path, &indices).join(".");
            let is_meant = wanted.path.as_deref();
            if is_meant.is_none_or(|path| path == row.path || path == steps) {
                possible.extend(change(row, &indices, body, wanted));
            }
        }
    }
    let count = u64::try_from(possible.len()).unwrap_or(1).max(1);
    let pick = usize::try_from(wanted.seed % count).unwrap_or(0);
    if possible.is_empty() {
        let rows: Vec<String> = of_act.iter().map(|row| row.in_words()).collect();
        let message = format!(
            "'{}' of '{arm_type}' moves {}; the resource is not so, or has no room.",
            act.name(),
            rows.join("; or ")
        );
        return Err(ArmError::new(409, "NothingToMove", message));
    }
    Ok(possible.swap_remove(pick))
}

/// Whether the conditions of a row hold for the items of these numbers.
fn holds(row: &Row, indices: &[usize], body: Body<'_>) -> bool {
    row.when.iter().all(|when| is_met(when, indices, body))
}

fn is_met(when: &When, indices: &[usize], body: Body<'_>) -> bool {
    match when {
        When::On(path) => get(body.value, &resolve(path, indices)).is_some_and(is_on),
        When::Is(path, words) => {
            let text = get(body.value, &resolve(path, indices)).and_then(Value::as_str);
            text.is_some_and(|text| words.iter().any(|word| word.eq_ignore_ascii_case(text)))
        }
        When::Scaled => body.scaled.is_some(),
    }
}

fn is_on(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && text != "false",
        Value::Number(number) => number.as_i64() != Some(0),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

fn bound(bound: &Bound, indices: &[usize], body: Body<'_>, is_upper: bool) -> Option<i64> {
    match bound {
        Bound::At(path) => get(body.value, &resolve(path, indices))?.as_i64(),
        Bound::Fixed(number) => Some(*number),
        Bound::Scaled => body
            .scaled
            .map(|(least, most)| if is_upper { most } else { least }),
    }
}

fn change(row: &Row, indices: &[usize], body: Body<'_>, wanted: &Wanted) -> Option<Vec<Changed>> {
    if !holds(row, indices, body) {
        return None;
    }
    let path = resolve(row.path, indices);
    let old = get(body.value, &path).filter(|old| !old.is_null());
    let single = |after: Value| {
        vec![Changed {
            path: path.clone(),
            before: old.cloned(),
            after: Some(after),
            is_item: false,
        }]
    };
    let new = match row.how {
        How::Swapped(other) => return swap(body.value, [path, resolve(other, indices)]),
        How::Turned(member) => return turn(body.value, &path, member),
        How::Item(text) => return add_item(body.value, path, text, wanted.seed),
        How::Entry(text) => return add_entry(body.value, path, text, wanted.seed),
        How::Within(least, most) => {
            let least = bound(&least, indices, body, false)?;
            let most = bound(&most, indices, body, true)?;
            within(old?.as_i64(), least, most, wanted)?
        }
        How::Upward(most) => {
            let most = bound(&most, indices, body, true)?;
            let least = old?.as_i64()?;
            within(Some(least), least, most, wanted)?
        }
        How::Larger => json!(old?.as_i64().filter(|old| *old > 0)?.checked_mul(2)?),
        How::Later => json!(later(old?.as_str()?)?),
        How::Tail => json!(other_tail(old?.as_str()?, wanted.seed)?),
        How::Anew => json!(anew(old?.as_str()?, wanted.seed)),
        How::Becomes(pairs) => {
            let old = old?.as_str()?;
            let pair = pairs
                .iter()
                .find(|(from, _)| from.eq_ignore_ascii_case(old));
            json!(pair?.1)
        }
    };
    (old != Some(&new)).then(|| single(new))
}

/// A number between two others that is not the old one; the wanted one where it is such a number.
fn within(old: Option<i64>, least: i64, most: i64, wanted: &Wanted) -> Option<Value> {
    let span = u64::try_from(most.checked_sub(least)?)
        .ok()?
        .checked_add(1)?;
    if let Some(value) = &wanted.value {
        let fits = value.as_i64().is_some_and(|it| it >= least && it <= most);
        return fits.then(|| value.clone());
    }
    let drawn = i64::try_from(wanted.seed % span).ok()?.checked_add(least)?;
    let other = if drawn < most { drawn + 1 } else { least };
    let new = if Some(drawn) == old { other } else { drawn };
    (Some(new) != old).then(|| json!(new))
}

/// `1.28.3` to `1.28.4`.
fn later(old: &str) -> Option<String> {
    let (stem, last) = old
        .rsplit_once('.')
        .map_or(("", old), |(stem, last)| (stem, last));
    let next = last.parse::<u64>().ok()?.checked_add(1)?;
    Some(match stem {
        "" => next.to_string(),
        stem => format!("{stem}.{next}"),
    })
}

/// The same but for what stands behind the last slash.
fn other_tail(old: &str, seed: u64) -> Option<String> {
    let (stem, _) = old.rsplit_once('/')?;
    Some(format!("{stem}/{:032x}", u128::from(seed) + 1))
}

/// The same stem and another number.
fn anew(old: &str, seed: u64) -> String {
    let stem = old.split("-moved-").next().unwrap_or(old);
    format!("{stem}-moved-{}", seed % 1000)
}

fn swap(body: &Value, paths: [Vec<String>; 2]) -> Option<Vec<Changed>> {
    let [one, other] = paths.clone().map(|path| get(body, &path).cloned());
    if one.is_none() || other.is_none() || one == other {
        return None;
    }
    let [first, second] = paths;
    let changed = |path, before: &Option<Value>, after: &Option<Value>| Changed {
        path,
        before: before.clone(),
        after: after.clone(),
        is_item: false,
    };
    Some(vec![
        changed(first, &one, &other),
        changed(second, &other, &one),
    ])
}

/// The values of a member of the first two items change places.
fn turn(body: &Value, list: &[String], member: &str) -> Option<Vec<Changed>> {
    let at = |index: &str| [list, &[index.to_owned(), member.to_owned()]].concat();
    swap(body, [at("0"), at("1")])
}

fn parsed(text: &str, seed: u64) -> Option<Value> {
    serde_json::from_str(&text.replace("{n}", &(seed % 10).to_string())).ok()
}

fn add_item(body: &Value, path: Vec<String>, text: &str, seed: u64) -> Option<Vec<Changed>> {
    let (_, above) = path.split_last()?;
    get(body, above).filter(|above| above.is_object())?;
    let item = parsed(text, seed)?;
    let before = get(body, &path).filter(|old| !old.is_null());
    let mut items = before.and_then(Value::as_array).into_iter().flatten();
    // An item of this name, or this text, is there already.
    let is_same = |old: &Value| {
        *old == item
            || item
                .get("name")
                .is_some_and(|it| old.get("name") == Some(it))
    };
    if items.any(is_same) {
        return None;
    }
    Some(vec![Changed {
        before: before.cloned(),
        after: Some(item),
        is_item: true,
        path,
    }])
}

fn add_entry(body: &Value, path: Vec<String>, text: &str, seed: u64) -> Option<Vec<Changed>> {
    let (_, above) = path.split_last()?;
    get(body, above).filter(|above| above.is_object())?;
    let entries = parsed(text, seed)?;
    let mut entries = entries.as_object()?.iter();
    let (name, value) = entries.find(|(name, _)| {
        let there = [&path[..], &[(*name).clone()]].concat();
        get(body, &there).is_none()
    })?;
    Some(vec![Changed {
        path: [&path[..], std::slice::from_ref(name)].concat(),
        before: None,
        after: Some(value.clone()),
        is_item: false,
    }])
}

/// Between which numbers an autoscale setting moves the units of the resource with this key, where it is about that one.
pub fn bounds_of_setting(setting: &Value, key: &str) -> Option<(i64, i64)> {
    let properties = setting.get("properties")?;
    let target = properties.get("targetResourceUri")?.as_str()?;
    let is_off = properties.get("enabled") == Some(&json!(false));
    if is_off || !target.eq_ignore_ascii_case(key) {
        return None;
    }
    let profiles = properties.get("profiles")?.as_array()?.iter();
    let number = |profile: &Value, name: &str| -> Option<i64> {
        let value = profile.get("capacity")?.get(name)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    let bounds = profiles.filter_map(|it| Some((number(it, "minimum")?, number(it, "maximum")?)));
    bounds.reduce(|(least, most), (other, further)| (least.min(other), most.max(further)))
}

/// Whether a row lets Azure have what it has at these steps, where something else is desired.
pub fn allows(row: &Row, steps: &[&str], desired: &Value, azure: &Value) -> bool {
    let whole = over(azure, desired);
    let body = Body {
        value: &whole,
        scaled: None,
    };
    let places = match row.how {
        How::Swapped(other) => vec![row.path, other],
        _ => vec![row.path],
    };
    let member = match row.how {
        How::Turned(member) if steps.last() == Some(&member) && steps.len() > 2 => 2,
        _ => 0,
    };
    let steps = &steps[..steps.len() - member];
    let fitting = places.iter().find_map(|path| fit(path, steps));
    let Some(indices) = fitting.filter(|indices| holds(row, indices, body)) else {
        return false;
    };
    let path: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    let (ours, theirs) = (get(desired, &path), get(azure, &path));
    match row.how {
        How::Within(least, most) => {
            let least = bound(&least, &indices, body, false);
            let most = bound(&most, &indices, body, true);
            let has = theirs.and_then(Value::as_i64);
            has.is_some() && has >= least && has <= most
        }
        How::Upward(_) | How::Larger => {
            let [ours, theirs] = [ours, theirs].map(|it| it.and_then(Value::as_i64));
            theirs >= ours
        }
        How::Later => {
            let [ours, theirs] = [ours, theirs].map(|it| it.and_then(Value::as_str));
            theirs.is_some_and(|theirs| is_at_least(theirs, ours.unwrap_or_default()))
        }
        _ => theirs.is_some(),
    }
}

/// Whether a row is about items of the list at these steps, and lets one that was added stay. A condition on the list itself is
/// about what Azure has: a manifest that says that the list is empty takes no item of others out.
pub fn adds(row: &Row, steps: &[&str], desired: &Value, azure: &Value) -> bool {
    let fitting = fit(row.path, steps).filter(|_| matches!(row.how, How::Item(_)));
    let Some(indices) = fitting else {
        return false;
    };
    let whole = over(azure, desired);
    let list = row.path.trim_end_matches("[]");
    row.when.iter().all(|when| {
        let is_of_list = match when {
            When::On(path) | When::Is(path, _) => *path == list,
            When::Scaled => false,
        };
        let value = if is_of_list { azure } else { &whole };
        let scaled = None;
        is_met(when, &indices, Body { value, scaled })
    })
}

/// Whether a version is not before another one. What is no version is not judged.
fn is_at_least(one: &str, other: &str) -> bool {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    match (numbers(one), numbers(other)) {
        (Some(one), Some(other)) => one >= other,
        (None, Some(_)) => false,
        (_, None) => true,
    }
}

/// What Azure has with what is desired over it.
fn over(azure: &Value, desired: &Value) -> Value {
    match (azure, desired) {
        (azure, Value::Null) => azure.clone(),
        (Value::Object(azure), Value::Object(desired)) => {
            let mut whole = azure.clone();
            for (name, value) in desired {
                let below = azure.get(name).unwrap_or(&Value::Null);
                whole.insert(name.clone(), over(below, value));
            }
            Value::Object(whole)
        }
        (Value::Array(azure), Value::Array(desired)) => {
            let items = desired.iter().enumerate();
            let below = |index| azure.get(index).unwrap_or(&Value::Null);
            items
                .map(|(index, item)| over(below(index), item))
                .collect()
        }
        (_, desired) => desired.clone(),
    }
}

#[cfg(test)]
#[path = "moves_tests.rs"]
mod tests;
