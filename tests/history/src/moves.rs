//! What must hold of values that Azure moved by itself, once everything is at rest.

use armature_runtime::names;
use armature_simulator::Act;
use armature_simulator::autonomy::{How, adds, fits, owns, rows};
use serde_json::{Value, json};

use crate::named::{Mismatch, related, shown, value_at};
use crate::world::subject::Subject;
use crate::world::{Moved, Record, World};

/// Whether a difference is what Azure made of a value that is its own: by the simulator's table the last manifest lets it have
/// it, and Azure has what the last manifest alone gives but for what was moved. An item that it added stays where the manifest
/// says that the list is empty, too, unless a manifest has named that very item since.
pub fn is_moved(
    subject: &Subject,
    record: &Record,
    last: Option<&Value>,
    (have, want): (Option<&Value>, Option<&Value>),
    found: &Mismatch,
) -> bool {
    let (Some(have), Some(want)) = (have, want) else {
        return false;
    };
    let desired = last.unwrap_or(&Value::Null);
    let is_owned = |moved: &&Moved| {
        let arm_type = subject.kind.remote_type();
        let path = &moved.change.path;
        moved.act == Act::TagByPolicy
            || match moved.change.is_item {
                true => !moved.was_named && adds(arm_type, path, desired, have),
                false => owns(arm_type, path, desired, have),
            }
    };
    let of_place = |moved: &&Moved| related(&moved.change.path, &found.path);
    let moved: Vec<&Moved> = record.moved.iter().filter(is_owned).collect();
    // Sizes and versions never go down, whatever an edit says.
    if goes_up(subject, found) && owns(subject.kind.remote_type(), &found.path, desired, have) {
        return true;
    }
    if is_beyond_its_bounds(subject, &found.path, desired, (have, want)) {
        return true;
    }
    // Where nobody remembers what the spec said, an edit is not sent, and that is told.
    let is_one_of_its_own = || owns(subject.kind.remote_type(), &found.path, desired, have);
    if is_told(record, &found.path) && is_one_of_its_own() {
        return true;
    }
    let mut here = moved.iter().copied().filter(of_place).peekable();
    if here.peek().is_none() {
        return false;
    }
    // Within bounds that were edited Azure may have another one than it moved to.
    let is_one_value = here.any(|it| !it.change.is_item && it.change.path == found.path);
    is_one_value || {
        let mut expected = want.clone();
        for moved in &moved {
            apply(&mut expected, moved);
        }
        let [is, was] = [have, &expected].map(|side| value_at(Some(side), &found.path));
        is.map(sorted) == was.map(sorted)
    }
}

/// Whether the manifest says a number that is beyond its own bounds, and Azure has one within: a PUT that makes the resource
/// sends the manifest's, each later one the bound.
fn is_beyond_its_bounds(
    subject: &Subject,
    path: &[String],
    desired: &Value,
    (have, want): (&Value, &Value),
) -> bool {
    let arm_type = subject.kind.remote_type();
    let mut rows = rows(arm_type);
    rows.any(|row| matches!(row.how, How::Within(..)) && fits(row.path, path))
        && owns(arm_type, path, desired, have)
        && !owns(arm_type, path, desired, want)
}

/// Whether an event says that a value is left to Azure.
pub fn is_told(record: &Record, path: &[String]) -> bool {
    let names = |event: &String| {
        let mut members = path.iter().filter(|step| step.parse::<usize>().is_err());
        event.starts_with(names::event::OWNED) && members.all(|name| event.contains(name.as_str()))
    };
    record.events.iter().any(names)
}

/// Whether a value is a size or a version that only ever goes up.
fn goes_up(subject: &Subject, found: &Mismatch) -> bool {
    let mut rows = rows(subject.kind.remote_type());
    rows.any(|row| {
        let is_upward = matches!(row.how, How::Larger | How::Later);
        is_upward && fits(row.path, &found.path)
    })
}

/// Values that Azure moved while everything was at rest, and that nobody has a reason to write since: they are still there.
pub fn lost(
    world: &World,
    subject: &Subject,
    record: &Record,
    is_sent: &dyn Fn(&[String]) -> bool,
) -> Vec<String> {
    let azure = world.simulator.resource(&subject.id);
    let requests = world.requests(0);
    // What a request met that went wrong showed the operator something else.
    let is_clear = |moved: &Moved| {
        let mut since = requests.iter().filter(|it| it.sequence > moved.at);
        !since.any(|it| it.fault.is_some() || it.method == "DELETE")
    };
    let firm = record
        .moved
        .iter()
        .filter(|it| it.is_firm && is_clear(it) && is_sent(&it.change.path));
    let lost = firm.filter(|moved| {
        let is = value_at(azure.as_ref(), &moved.change.path);
        let after = moved.change.after.as_ref();
        let items = || is.and_then(Value::as_array).into_iter().flatten();
        match moved.change.is_item {
            true => !items().any(|item| after.is_some_and(|it| covers(item, it))),
            false => is != after,
        }
    });
    let words = lost.map(|moved| {
        let is = value_at(azure.as_ref(), &moved.change.path);
        let [is, after] = [is, moved.change.after.as_ref()]
            .map(|value| value.map_or_else(|| "absent".to_owned(), Value::to_string));
        let path = shown(&moved.change.path);
        format!(
            "{}: Azure moved {path} to {after} by {}, nobody edited it since, and it is {is}",
            subject.id,
            moved.act.name()
        )
    });
    words.collect()
}

/// Whether one value has all of another.
fn covers(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|whole| covers(whole, part))),
        (whole, part) => whole == part,
    }
}

fn apply(body: &mut Value, moved: &Moved) {
    let change = &moved.change;
    let mut at = body;
    for step in &change.path {
        at = match at {
            Value::Array(items) => {
                let index = step.parse::<usize>().ok();
                match index.and_then(|index| items.get_mut(index)) {
                    Some(item) => item,
                    None => return,
                }
            }
            Value::Object(members) => members.entry(step.clone()).or_insert(Value::Null),
            Value::Null => {
                *at = json!({});
                &mut at[step]
            }
            _ => return,
        };
    }
    let after = change.after.clone().unwrap_or_default();
    match (change.is_item, at) {
        (false, at) => *at = after,
        (true, Value::Array(items)) if !items.iter().any(|item| covers(item, &after)) => {
            items.push(after);
        }
        (true, Value::Array(_)) => {}
        (true, at) => *at = json!([after]),
    }
}

/// A value with its lists in one order: others' items may stand anywhere.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        value => value.clone(),
    }
}
