//! Items of a parent's list that are resources of their own, and may move between the list and an object.
//!
//! An item that the spec drops stays while an object stands for it, or has until an hour ago; where none does, it goes after a while
//! in which one may come. An object that goes while its parent's spec names the item leaves it there.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use armature_engine::compare::overlay::Others;
use armature_engine::compare::{Held, Keyed, MOST_TIMED, Record, Timed, Topic, is_by_place};
use armature_shapes::id::RemoteId;
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::names;
use armature_shapes::resource::Object;
use armature_shapes::shape::{ArmPlace, StructShape, Type};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::forms::Forms;
use super::named::some;
use super::object::{AZURE_NAME, parse};
use super::pass::Pass;
use crate::action::{normal, warning};
use crate::claim;
use crate::observed::{Leaving, NamedBy, Resource};
use crate::port::{EventNote, KubernetesError, Protection};

/// How long an item that the spec has dropped waits for an object that stands for it.
const WAIT: SignedDuration = SignedDuration::from_mins(2);

/// An item that Azure has, that the spec named once and does not name now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where, as comparisons write it.
    pub path: String,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of an item that the spec has dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays: this object stands for it.
    Moved(String),
    /// It stays: the object that stood for it has gone within the last hour.
    Left,
    /// It stays until this time, and goes then unless an object stands for it.
    Waits(Timestamp),
    /// It stays until it can be told whether an object stands for it.
    Unknown(String),
    /// It goes.
    Goes,
}

/// An item that the spec has dropped.
pub(super) struct Dropped {
    path: String,
    /// Under what its time is noted.
    key: String,
    /// The list.
    list: &'static [&'static str],
    /// What Azure has.
    value: Value,
    /// The item's name.
    name: String,
    /// What it may be called as a resource.
    ids: Vec<RemoteId>,
    /// When it was dropped, where that is noted.
    noted: Option<Timed>,
}

/// What is known of an item.
struct Facts {
    /// The object that stands for it, or why that cannot be told.
    standing: Result<Option<String>, String>,
    /// An object stood for it within the last hour.
    left_lately: bool,
    /// Since when the spec does not name it.
    since: Timestamp,
}

fn fate(facts: Facts, now: Timestamp) -> Fate {
    match facts.standing {
        Err(why) => Fate::Unknown(why),
        Ok(Some(object)) => Fate::Moved(object),
        Ok(None) if facts.left_lately => Fate::Left,
        Ok(None) if now.duration_since(facts.since) >= WAIT => Fate::Goes,
        Ok(None) => Fate::Waits(facts.since.saturating_add(WAIT).unwrap_or(Timestamp::MAX)),
    }
}

/// The items that a spec has dropped, and since when.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    items: Vec<Entry>,
    /// Whether the record is to say something else of them than it does.
    pub are_news: bool,
}

/// An item, since when it is dropped, and whether a PUT without it was sent or is.
#[derive(Clone, Debug)]
struct Entry {
    item: Item,
    key: String,
    list: &'static [&'static str],
    value: Value,
    since: Timestamp,
    is_sent: bool,
}

impl Items {
    /// All of them, for people.
    pub fn all(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().map(|entry| &entry.item)
    }

    /// Those that stay, for comparisons.
    pub fn held(&self) -> Vec<Held> {
        let staying = self.all().filter(|item| item.fate != Fate::Goes);
        let held = staying.map(|item| Held {
            path: item.path.clone(),
            is_ours: matches!(item.fate, Fate::Waits(_) | Fate::Unknown(_)),
        });
        held.collect()
    }

    /// Since when those wait that do, for the record.
    pub fn timed(&self, keyed: Keyed<'_>) -> Vec<Timed> {
        let waiting = self.items.iter().filter(|entry| {
            // What waits no longer is still to go, until it has gone.
            !matches!(entry.item.fate, Fate::Moved(_) | Fate::Left)
        });
        let timed = waiting.map(|entry| {
            let what = (Topic::Leaving, entry.key.as_str());
            Timed::new(what, u8::from(entry.is_sent), entry.since, None, keyed)
        });
        timed.take(MOST_TIMED / 2).collect()
    }

    /// Whether some go now.
    pub fn has_gone(&self) -> bool {
        self.all().any(|item| item.fate == Fate::Goes)
    }

    /// Those that are to go wait until it can be told what goes with them.
    pub fn put_off(&mut self, why: &str) {
        let entries = self.items.iter_mut();
        for entry in entries.filter(|entry| entry.item.fate == Fate::Goes) {
            entry.item.fate = Fate::Unknown(why.to_owned());
        }
    }

    /// What Azure has, without those that go.
    pub fn without_gone(&self, azure: &Value) -> Value {
        let mut left = azure.clone();
        let gone = self.items.iter();
        for entry in gone.filter(|entry| entry.item.fate == Fate::Goes) {
            let path: String = entry.list.iter().map(|name| format!("/{name}")).collect();
            let items = left.pointer_mut(&path).and_then(Value::as_array_mut);
            let Some(items) = items else { continue };
            if let Some(at) = items.iter().position(|item| *item == entry.value) {
                items.remove(at);
            }
        }
        left
    }

    /// What the object waits for.
    pub fn leaving(&self, now: Timestamp) -> Option<Leaving> {
        let mut texts = Vec::new();
        let mut after = Duration::MAX;
        for item in self.all() {
            let (text, wait) = match &item.fate {
                Fate::Waits(until) => {
                    let wait = until.duration_since(now);
                    (format!("{} at {until}", item.path), wait)
                }
                Fate::Unknown(why) => (format!("{} later: {why}", item.path), WAIT),
                _ => continue,
            };
            texts.push(text);
            let wait = Duration::try_from(wait).unwrap_or_default();
            after = after.min(wait.max(Duration::from_secs(1)));
        }
        (!texts.is_empty()).then(|| Leaving {
            message: format!(
                "the spec no longer names items that are resources of their own. Unless an object stands for them by then, these are \
                 removed: {}",
                some(&texts, ", ")
            ),
            after,
        })
    }

    /// What is told of those that stay for good.
    pub fn told(&self) -> Vec<EventNote> {
        let told = self.all().filter_map(|item| match &item.fate {
            Fate::Moved(object) => Some(normal(
                names::event::HELD_ELSEWHERE,
                format!("{} stays: {object} stands for it", item.path),
            )),
            Fate::Left => Some(warning(
                names::event::HELD_ELSEWHERE,
                format!(
                    "{} stays in Azure although the spec no longer names it: an object stood for it within the last hour. Name it \
                     again and take it out to have it removed",
                    item.path
                ),
            )),
            _ => None,
        });
        told.collect()
    }
}

impl Pass<'_> {
    /// What becomes of items that the spec has dropped.
    pub(super) async fn items_of(&self, dropped: Vec<Dropped>) -> Result<Items, KubernetesError> {
        let mut items = Items::default();
        let now = self.reconciler.clock.now();
        for one in dropped {
            // A clock that was ahead once keeps nothing for longer.
            let since = one.noted.as_ref().map_or(now, Timed::at).min(now);
            let departures = &self.reconciler.departures;
            let facts = Facts {
                standing: self.standing(&one).await?,
                left_lately: one.ids.iter().any(|id| departures.has_lately(id, now)),
                since,
            };
            let fate = fate(facts, now);
            // Another one that still waits is in the body.
            let is_sent = fate == Fate::Goes && self.findings.payload.removes
                || one.noted.as_ref().is_some_and(|noted| noted.times > 0);
            let fate = match fate {
                // What was compared, or is there after a PUT, had it in the body: it goes with the next one.
                Fate::Goes if !is_sent && self.is_past_comparison() => Fate::Waits(now),
                fate => fate,
            };
            items.are_news |= one.noted.is_none() || matches!(fate, Fate::Moved(_) | Fate::Left);
            let item = Item {
                path: one.path,
                fate,
            };
            items.items.push(Entry {
                item,
                key: one.key,
                list: one.list,
                value: one.value,
                since,
                is_sent,
            });
        }
        Ok(items)
    }

    /// What the body of this pass has is decided, or was sent by an earlier one.
    fn is_past_comparison(&self) -> bool {
        self.findings.payload.comparison.is_some() || self.observed().wrote()
    }

    /// What the object waits for. One that is only observed removes nothing.
    pub(super) fn leaving(&self, items: &Items) -> Option<Leaving> {
        let writes = !self.view().observe;
        let leaving = items.leaving(self.reconciler.clock.now());
        leaving.filter(|_| writes)
    }

    /// The items of Azure's lists that the spec has dropped: records tell which it named, and since when it does not.
    pub(super) fn dropped(
        &self,
        (records, keyed): (&[&Record], Keyed<'_>),
        (ignored, shared): (&[String], &[String]),
    ) -> Vec<Dropped> {
        let lists = self.version().keep_unknown.iter();
        let lists: Vec<(String, &'static [&'static str])> =
            lists.map(|path| (path.join("."), *path)).collect();
        let Some(azure) = self.findings.remote_body().filter(|_| !lists.is_empty()) else {
            return Vec::new();
        };
        let found = RefCell::new(Vec::new());
        let collect = |path: &str, item: &Value| {
            let list = lists.iter().find(|(list, _)| {
                let below = path.strip_prefix(list.as_str());
                below.is_some_and(|below| below.starts_with(['.', '[']))
            });
            // Each PUT and whatever others do may move it to another place.
            let key = match is_by_place(path) {
                true => format!("{path} {item}", path = path_of_list(path)),
                false => path.to_owned(),
            };
            let noted = records
                .iter()
                .find_map(|record| record.timed(Topic::Leaving, &key, keyed));
            found.borrow_mut().extend(list.map(|(_, list)| Dropped {
                path: path.to_owned(),
                key: key.clone(),
                list,
                value: item.clone(),
                name: item["name"].as_str().unwrap_or_default().to_owned(),
                ids: self.ids_of_item(segment_of(list), item),
                noted: noted.copied(),
            }));
            false
        };
        let collecting = Others {
            ignored,
            shared,
            is_ours: &|member| {
                let mut records = records.iter();
                records.any(|record| record.was_ours(member, keyed))
            },
            filled: &|list, counts| filled(records, (list, counts), keyed),
            is_held: &collect,
        };
        let desired = self.with_shared_lists(self.findings.desired());
        collecting.body(self.version().spec, &desired, azure);
        found.into_inner()
    }

    /// What an item of a list may be called as a resource: below this one, by the list's name or by what it is a list of.
    fn ids_of_item(&self, list: &str, item: &Value) -> Vec<RemoteId> {
        let (Some(own), Some(name)) = (self.id(), item["name"].as_str()) else {
            return Vec::new();
        };
        let ids = KindInfo::item_segments(list).into_iter();
        let ids = ids.map(|segment| format!("{}/{segment}/{name}", own.as_str()));
        ids.filter_map(|id| RemoteId::parse(self.kind(), &id).ok())
            .collect()
    }

    /// The object that stands for an item and may write it, or will: one that names this object as its owner may wait for something
    /// else before it has an id.
    async fn standing(
        &self,
        one: &Dropped,
    ) -> Result<Result<Option<String>, String>, KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        if one.name.is_empty() {
            // What has no name is no resource of its own.
            return Ok(Ok(None));
        }
        if one.ids.is_empty() {
            return Ok(Err("its name makes no id".to_owned()));
        }
        let mut objects = Vec::new();
        for id in &one.ids {
            match kubernetes.stand_for(id) {
                Ok(found) => objects.extend(found),
                Err(why) => return Ok(Err(why)),
            }
        }
        let kinds = KindInfo::item_segments(segment_of(one.list));
        for key in kubernetes.owned_by(&self.object.key()) {
            let segment = key.kind.0.arm_type_segment();
            if !kinds.iter().any(|kind| kind.eq_ignore_ascii_case(segment)) {
                continue;
            }
            let object = kubernetes.get(&key).await?;
            objects.extend(object.filter(|it| is_called(it, &one.name)).map(Arc::new));
        }
        let mut uncounted = None;
        for object in objects {
            if !self.writes(&object, one.ids.first()).await? {
                continue;
            }
            if self.keys.count(&object) {
                return Ok(Ok(Some(object.key().to_string())));
            }
            if object.metadata.namespace == self.object.metadata.namespace {
                uncounted = Some(object.key());
            }
        }
        Ok(match uncounted {
            None => Ok(None),
            Some(key) => Err(format!(
                "{key} may stand for it, but nobody vouches for what is noted there"
            )),
        })
    }

    /// Step before a DELETE: what must not go, and whether the parent's spec names the resource as an item of its own.
    pub(super) async fn look_around(&mut self) -> Result<(), KubernetesError> {
        let protection = self.look_for_protected();
        let named_by = self.named_by().await?;
        if let (Protection::None, NamedBy::Object(parent, list)) = (&protection, &named_by) {
            let message = format!(
                "the resource is not deleted: {parent} names it in {list}, and manages it from now on"
            );
            self.record(normal(names::event::HELD_ELSEWHERE, &message))
                .await;
        }
        self.findings.place.protection = Some(protection);
        self.findings.place.named_by = Some(named_by);
        Ok(())
    }

    /// Whether an object for the resource that this one is in names it as an item of a list.
    async fn named_by(&self) -> Result<NamedBy, KubernetesError> {
        let Some(parent) = self.parent_id() else {
            return Ok(NamedBy::Nobody);
        };
        let kubernetes = &self.reconciler.kubernetes;
        let objects = match kubernetes.stand_for(&parent) {
            Ok(objects) => objects,
            Err(why) => return Ok(NamedBy::Unknown(why)),
        };
        let mut writing = Vec::new();
        for object in objects {
            let mut versions = object.kind.0.versions.iter();
            let may_name = versions.any(|version| !self.lists_of(version).is_empty());
            if may_name && self.writes(&object, Some(&parent)).await? {
                writing.push((claim::rank(&object, self.keys.count(&object)), object));
            }
        }
        writing.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (_, object) in writing {
            // A watch may be behind an edit that was applied together with this deletion.
            let object = kubernetes.read(&object.key()).await?;
            let object = object.filter(|it| it.metadata.deletion_timestamp.is_none());
            let Some(object) = object else {
                continue;
            };
            let key = object.key().to_string();
            let is_here = object.metadata.namespace == self.object.metadata.namespace;
            return Ok(match self.keys.count(&object) {
                true => self
                    .list_that_names(&object)
                    .map_or(NamedBy::Nobody, |list| NamedBy::Object(key, list)),
                false if is_here => {
                    NamedBy::Unknown(format!("nobody vouches for what is noted in {key}"))
                }
                false => continue,
            });
        }
        Ok(NamedBy::Nobody)
    }

    /// Whether this pass has seen that there is no such resource.
    pub(super) fn was_gone(&self) -> bool {
        matches!(self.observed().resource, Some(Ok(Resource::Missing)))
    }

    fn parent_id(&self) -> Option<RemoteId> {
        let id = self.id()?.arm()?.as_str();
        let (rest, _) = id.rsplit_once('/')?;
        let (parent, _) = rest.rsplit_once('/')?;
        RemoteId::parse(self.kind(), parent).ok()
    }

    /// The lists of a parent whose items may be this resource.
    fn lists_of(&self, version: &VersionInfo) -> Vec<&'static [&'static str]> {
        let own = self.kind().arm_type_segment();
        let lists = version.keep_unknown.iter().copied();
        let lists = lists.filter(|path| {
            let list = path.last().copied().unwrap_or_default();
            let mut segments = KindInfo::item_segments(list).into_iter();
            segments.any(|segment| segment.eq_ignore_ascii_case(own))
        });
        lists.collect()
    }

    /// The list of a parent's spec that names this resource.
    fn list_that_names(&self, parent: &Object) -> Option<String> {
        let forms = Forms::of(parent).ok()?;
        let (version, spec) = (forms.version(), forms.served_spec().ok()?);
        let name = self.id()?.name().to_owned();
        let lists = self.lists_of(version).into_iter();
        let mut named = lists.filter(|path| {
            let items = at(version.spec, spec, path).and_then(Value::as_array);
            let mut names = items
                .into_iter()
                .flatten()
                .filter_map(|item| item["name"].as_str());
            names.any(|known| known.eq_ignore_ascii_case(&name))
        });
        named.next().map(|path| path.join("."))
    }
}

/// How many of so many items of a list that say nothing are not to be sent again, by records.
pub(super) fn filled(
    records: &[&Record],
    (list, counts): (&str, (usize, usize)),
    keyed: Keyed<'_>,
) -> usize {
    let records = records.iter();
    let filled = records.map(|record| record.filled(list, counts, keyed));
    filled.max().unwrap_or_default()
}

/// The path of the list in which an item has its place.
fn path_of_list(path: &str) -> &str {
    path.rsplit_once('[').map_or(path, |(list, _)| list)
}

/// What a list is called.
fn segment_of(list: &[&'static str]) -> &'static str {
    list.last().copied().unwrap_or_default()
}

/// Whether an object has this name in Azure, as its spec says.
fn is_called(object: &Object, name: &str) -> bool {
    let spec = parse(object.spec.as_deref(), "spec").unwrap_or_default();
    let own = spec[AZURE_NAME].as_str().filter(|own| !own.is_empty());
    let own = own.or(object.metadata.name.as_deref());
    own.is_some_and(|own| own.eq_ignore_ascii_case(name))
}

/// The value of a spec that stands at a path of ARM's body.
fn at<'v>(shape: &'static StructShape, spec: &'v Value, path: &[&str]) -> Option<&'v Value> {
    let mut fields = shape.fields.iter();
    fields.find_map(|field| {
        let ArmPlace::At(names) = field.arm else {
            return None;
        };
        let rest = path.strip_prefix(names)?;
        let value = spec.get(field.name)?;
        match (rest, field.ty) {
            ([], _) => Some(value),
            (rest, Type::Struct(shape)) => at(shape, value, rest),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_an_item_that_the_spec_has_dropped() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(9);
        let ago = |seconds: i64| now - SignedDuration::from_secs(seconds);
        let object = || Ok(Some("Box default/b".to_owned()));
        let unknown = || Err("boxes are not listed yet".to_owned());
        let until = now + SignedDuration::from_secs(60);
        let table = [
            (
                "an object stands for it",
                object(),
                true,
                500,
                Fate::Moved("Box default/b".to_owned()),
            ),
            (
                "one may",
                unknown(),
                true,
                500,
                Fate::Unknown("boxes are not listed yet".to_owned()),
            ),
            ("one did", Ok(None), true, 500, Fate::Left),
            ("none does yet", Ok(None), false, 60, Fate::Waits(until)),
            ("none came", Ok(None), false, 120, Fate::Goes),
        ];
        for (what, standing, left_lately, age, expected) in table {
            let facts = Facts {
                standing,
                left_lately,
                since: ago(age),
            };
            assert_eq!(fate(facts, now), expected, "{what}");
        }
    }

    #[test]
    fn what_items_of_a_list_may_be_called() {
        assert_eq!(KindInfo::item_segments("rules"), ["rules"]);
        assert_eq!(
            KindInfo::item_segments("poolProfiles"),
            ["poolProfiles", "pools"]
        );
    }
}
