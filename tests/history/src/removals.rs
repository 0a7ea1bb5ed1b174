//! PUTs that take an item out of a list to which other objects may add some. Such an item waits for an object that comes to stand
//! for it, so that it goes by a PUT of its own.

use armature_runtime::kind::KindInfo;
use armature_simulator::LoggedRequest;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::named::{Named, Path, related, value_at};
use crate::world::dropped::{NAMELESS, called, has};
use crate::world::{Dropped, Record, World};

/// How long an item waits; times are remembered in seconds.
const WAIT: SignedDuration = SignedDuration::from_secs(119);

/// How many PUTs of an id there are that repeat the one before without items that an edit has dropped, after the wait, and for
/// which no object stands.
pub fn of(world: &World, id: &str, record: &Record, requests: &[LoggedRequest]) -> usize {
    if record.dropped.is_empty() {
        return 0;
    }
    let taken: Vec<&LoggedRequest> = requests
        .iter()
        .filter(|request| {
            request.method == "PUT" && request.path.eq_ignore_ascii_case(id) && request.status < 300
        })
        .collect();
    let is_removal = |pair: &&[&LoggedRequest]| {
        let (Some(before), Some(after)) = (&pair[0].body, &pair[1].body) else {
            return false;
        };
        removes_alone(record, (before, after), pair[1].at, &|list, name| {
            stands(world, (id, list, name), pair[1].at)
        })
    };
    taken.windows(2).filter(is_removal).count()
}

/// Whether an object stands for an item.
type Stands<'s> = &'s dyn Fn(&str, &str) -> bool;

/// Whether a body is the one before without items that were dropped long enough ago. What Azure moved between the two may be
/// another value.
fn removes_alone(
    record: &Record,
    (before, after): (&Value, &Value),
    at: Timestamp,
    stands: Stands<'_>,
) -> bool {
    let mut left = before.clone();
    let mut has_removed = false;
    let mut lists: Vec<&'static [&'static str]> = record.dropped.iter().map(|it| it.list).collect();
    lists.dedup();
    for list in lists {
        let path: Path = list.iter().map(|name| (*name).to_owned()).collect();
        let still = value_at(Some(after), &path).and_then(Value::as_array);
        let still: Vec<Value> = still.cloned().unwrap_or_default();
        let segment = list.last().copied().unwrap_or_default();
        let Some(items) = items_at(&mut left, list) else {
            continue;
        };
        let many = items.len();
        items.retain(|item| {
            let name = called(item);
            let has_gone = !has(&still, item) && has_waited(record, (list, &name), at);
            !has_gone || stands(segment, &name)
        });
        has_removed |= items.len() < many;
    }
    let mut named = Named::default();
    named.add(&left);
    named.add(after);
    let differing = named.compare(Some(&left), Some(after));
    let is_moved = |path: &Path| record.acted.iter().any(|acted| related(acted, path));
    has_removed && differing.iter().all(|found| is_moved(&found.path))
}

/// Whether the latest edit that dropped an item is long enough ago; of those without a name, whether that of any is.
fn has_waited(record: &Record, (list, name): (&[&str], &str), at: Timestamp) -> bool {
    let is_of_item =
        |it: &&Dropped| it.list == list && it.at <= at && it.names.iter().any(|it| it == name);
    let dropped = record.dropped.iter().filter(is_of_item).map(|it| it.at);
    let counts = match name {
        NAMELESS => dropped.min(),
        _ => dropped.max(),
    };
    counts.is_some_and(|since| at.duration_since(since) >= WAIT)
}

/// Whether there was an object for an item of a list by then.
fn stands(world: &World, (id, list, name): (&str, &str, &str), at: Timestamp) -> bool {
    let segments = KindInfo::item_segments(list).into_iter();
    let ids: Vec<String> = segments
        .map(|segment| format!("{id}/{segment}/{name}"))
        .collect();
    world.subjects.iter().any(|subject| {
        let object = world.cluster.object(&subject.key());
        let made = object.and_then(|object| object.metadata.creation_timestamp);
        made.is_some_and(|made| made.0 <= at)
            && ids.iter().any(|id| id.eq_ignore_ascii_case(&subject.id))
    })
}

fn items_at<'v>(body: &'v mut Value, list: &[&str]) -> Option<&'v mut Vec<Value>> {
    let found = list.iter().try_fold(body, |at, name| at.get_mut(*name))?;
    found.as_array_mut()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIST: &[&str] = &["properties", "pools"];

    fn body(names: &[&str], count: i64) -> Value {
        let pools = names.iter().map(|name| match name.strip_prefix('=') {
            Some(size) => json!({ "size": size }),
            None => json!({ "name": name }),
        });
        json!({"properties": {"count": count, "pools": pools.collect::<Vec<_>>()}})
    }

    #[test]
    fn a_put_that_removes_items_alone_is_one_of_its_own() {
        let at = |seconds: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let dropped = |name: &str, seconds: i64| Dropped {
            list: LIST,
            names: vec![name.to_owned()],
            at: at(seconds),
        };
        let record = Record {
            dropped: vec![
                dropped("b", 0),
                dropped("c", 50),
                dropped("d", 0),
                dropped("d", 100),
            ],
            ..Record::default()
        };
        let all = body(&["a", "b", "c", "d"], 1);
        let table = [
            (
                "an item that has waited",
                body(&["a", "c", "d"], 1),
                120,
                true,
            ),
            ("one that has not", body(&["a", "b", "d"], 1), 120, false),
            ("two that have", body(&["a", "d"], 1), 200, true),
            (
                "one that was dropped again",
                body(&["a", "b", "c"], 1),
                200,
                false,
            ),
            ("one that nobody dropped", body(&["c", "d"], 1), 200, false),
            ("with another change", body(&["a", "c", "d"], 2), 120, false),
            ("none", all.clone(), 120, false),
        ];
        for (what, after, seconds, expected) in table {
            let found = |record: &Record, stands: Stands<'_>| {
                removes_alone(record, (&all, &after), at(seconds), stands)
            };
            assert_eq!(found(&record, &|_, _| false), expected, "{what}");
            assert!(
                !found(&record, &|_, _| true),
                "{what}: an object stands for it"
            );
        }
        // Those without a name are known by what they say.
        let all = body(&["a", "=1", "=2"], 1);
        let record_of = |drops: &[i64]| Record {
            dropped: drops.iter().map(|at| dropped(NAMELESS, *at)).collect(),
            ..Record::default()
        };
        let table = [
            (&[0][..], body(&["a", "=2"], 1), 120, true),
            (&[0, 100], body(&["a", "=2"], 1), 120, true),
            (&[100], body(&["a", "=2"], 1), 120, false),
            (&[], body(&["a", "=2"], 1), 120, false),
            (&[0], body(&["=1", "=2"], 1), 120, false),
            (&[0], body(&["a", "=3", "=2"], 1), 120, false),
            (&[0], all.clone(), 120, false),
        ];
        for (drops, after, seconds, expected) in table {
            let bodies = (&all, &after);
            let found = removes_alone(&record_of(drops), bodies, at(seconds), &|_, _| false);
            assert_eq!(found, expected, "{drops:?} {after}");
        }
        let all = body(&["a", "b", "c", "d"], 1);
        let moved = Record {
            acted: vec![vec!["properties".to_owned(), "count".to_owned()]],
            ..record
        };
        let after = body(&["a", "c", "d"], 2);
        assert!(removes_alone(&moved, (&all, &after), at(120), &|_, _| {
            false
        }));
    }
}
