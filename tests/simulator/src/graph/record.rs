//! The Graph's copy of what is in Azure, and its notes of changes. Both show what was so long ago as the Graph is late.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::schema::has_status_path;
use crate::store::{Cause, Resource, Store, stable_uuid};

/// How long changes are kept ("get resource changes").
const KEPT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// The type of resource groups in the Graph.
const GROUPS: &str = "microsoft.resources/subscriptions/resourcegroups";

/// Which tables have a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// `resources` and `resourcechanges`.
    Resources,
    /// `resourcecontainers` and `resourcecontainerchanges`.
    Containers,
}

/// What the Graph knows of a resource.
#[derive(Debug)]
struct Copy {
    table: Table,
    id: String,
    name: String,
    arm_type: String,
    location: Value,
    subscription: String,
    /// Of what a GET shows.
    digest: u64,
    since: Timestamp,
    gone: Option<Timestamp>,
}

/// A note of a change.
#[derive(Debug)]
struct Change {
    table: Table,
    target: String,
    arm_type: String,
    subscription: String,
    word: &'static str,
    at: Timestamp,
    cause: Option<Cause>,
}

/// The Graph's memory.
#[derive(Debug, Default)]
pub struct Record {
    copies: BTreeMap<String, Copy>,
    changes: Vec<Change>,
}

impl Record {
    /// Takes in what became of resources that were touched.
    pub fn note(&mut self, store: &mut Store, catalog: &Catalog, now: Timestamp) {
        for (key, cause) in store.take_touched() {
            let resource = store.by_key(&key).filter(|resource| resource.visible);
            match resource.and_then(|resource| copy_of(resource, catalog, now)) {
                Some(copy) => self.put(key, copy, cause, now),
                None => self.remove(&key, cause, now),
            }
        }
        let oldest = now.saturating_sub(KEPT).unwrap_or(Timestamp::MIN);
        let expired = self.changes.partition_point(|change| change.at < oldest);
        self.changes.drain(..expired);
    }

    fn put(&mut self, key: String, mut copy: Copy, cause: Option<Cause>, now: Timestamp) {
        let known = self.copies.get(&key).filter(|known| known.gone.is_none());
        let word = match known {
            Some(known) if known.digest == copy.digest => return,
            Some(known) => {
                copy.since = known.since;
                "Update"
            }
            None => "Create",
        };
        self.changes.push(copy.change(word, cause, now));
        self.copies.insert(key, copy);
    }

    fn remove(&mut self, key: &str, cause: Option<Cause>, now: Timestamp) {
        let known = self
            .copies
            .get_mut(key)
            .filter(|known| known.gone.is_none());
        if let Some(known) = known {
            known.gone = Some(now);
            let change = known.change("Delete", cause, now);
            self.changes.push(change);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.copies.clear();
        self.changes.clear();
    }

    /// Rows of `resources` or `resourcecontainers` at a moment.
    pub fn present(&self, table: Table, at: Timestamp) -> impl Iterator<Item = Value> {
        let copies = self.copies.values().filter(move |copy| {
            copy.table == table && copy.since <= at && copy.gone.is_none_or(|gone| gone > at)
        });
        copies.map(Copy::row)
    }

    /// Rows of `resourcechanges` or `resourcecontainerchanges` at a moment.
    pub fn changed(&self, table: Table, at: Timestamp) -> impl Iterator<Item = Value> {
        let changes = self.changes.iter().enumerate();
        let changes = changes.filter(move |(_, change)| change.table == table && change.at <= at);
        changes.map(|(number, change)| change.row(number))
    }
}

impl Copy {
    fn change(&self, word: &'static str, cause: Option<Cause>, at: Timestamp) -> Change {
        Change {
            table: self.table,
            // The Graph has its own casing.
            target: self.id.to_lowercase(),
            arm_type: self.arm_type.clone(),
            subscription: self.subscription.clone(),
            word,
            at,
            cause,
        }
    }

    fn row(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "type": self.arm_type,
            "location": self.location,
            "subscriptionId": self.subscription,
        })
    }
}

impl Change {
    /// When it was, and by whose request. What changes without one is the system's doing.
    fn attributes(&self) -> Value {
        let mut attributes = json!({
            "timestamp": format!("{:.3}", self.at),
            "changedBy": "System",
            "changedByType": "System",
            "clientType": "Unspecified",
        });
        if let Some(cause) = &self.cause {
            attributes["correlationId"] = json!(cause.correlation);
            attributes["changedBy"] = json!(cause.principal);
            attributes["changedByType"] = json!("Application");
        }
        attributes
    }

    fn row(&self, number: usize) -> Value {
        let name = stable_uuid(&format!("{}/{}/{number}", self.target, self.at));
        json!({
            "id": format!("{}/providers/Microsoft.Resources/changes/{name}", self.target),
            "name": name,
            "type": "microsoft.resources/changes",
            "subscriptionId": self.subscription,
            "properties": {
                "targetResourceId": self.target,
                "targetResourceType": self.arm_type,
                "changeType": self.word,
                "changeAttributes": self.attributes(),
            },
        })
    }
}

/// What the Graph has of a resource; nothing of those that it does not have.
fn copy_of(resource: &Resource, catalog: &Catalog, now: Timestamp) -> Option<Copy> {
    let id = &resource.id;
    let subscription = id.subscription()?.to_lowercase();
    let (table, arm_type) = match id.is_group() {
        true => (Table::Containers, GROUPS.to_owned()),
        false => {
            let newest = catalog.get(&id.arm_type())?.newest()?;
            let has = |name| has_status_path(newest, &[name]);
            if !has("location") || !has("tags") {
                return None;
            }
            (Table::Resources, id.arm_type().to_lowercase())
        }
    };
    let mut body = resource.body.clone();
    if let Some(members) = body.as_object_mut() {
        members.remove("etag");
    }
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    Some(Copy {
        table,
        id: id.to_string(),
        name: id.name().to_owned(),
        arm_type,
        location: body["location"].clone(),
        subscription,
        digest: hasher.finish(),
        since: now,
        gone: None,
    })
}
