//! What the Graph is asked.

use std::fmt::Write;

use jiff::Timestamp;
use serde_json::json;

use crate::{CredentialKey, Method, Request};

/// Where queries are sent.
const URL: &str = "/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01";

/// Rows on one page: the most that Azure gives.
const PAGE: usize = 1000;

/// Subscriptions of one query at most. Azure recommends fewer than 300 ("guidance for throttled requests").
pub const MOST_SUBSCRIPTIONS: usize = 299;

/// Types that a query names at most; with more of them it asks for all.
pub const MOST_TYPES: usize = 100;

/// ARM's type of resource groups, and the Graph's.
const GROUPS: [&str; 2] = [
    "Microsoft.Resources/resourceGroups",
    "microsoft.resources/subscriptions/resourcegroups",
];

/// Which half of the Graph has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Most resources.
    Resources,
    /// Resource groups.
    Containers,
}

impl Table {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Resources, Self::Containers];

    /// Where an ARM type would be found. Many types are in other tables, or in none.
    pub fn of(arm_type: &str) -> Self {
        match arm_type.eq_ignore_ascii_case(GROUPS[0]) {
            true => Self::Containers,
            false => Self::Resources,
        }
    }

    fn present(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Containers => "resourcecontainers",
        }
    }

    fn changes(self) -> &'static str {
        match self {
            Self::Resources => "resourcechanges",
            Self::Containers => "resourcecontainerchanges",
        }
    }
}

/// One question about some subscriptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    subscriptions: Vec<String>,
    text: String,
}

impl Query {
    /// Ids of the resources of these types that the Graph has; its answer has rows of [`super::Shown`].
    pub fn shown(table: Table, subscriptions: &[String], types: &[&str]) -> Self {
        let mut text = table.present().to_owned();
        push_types(&mut text, "type", types);
        text.push_str(" | project id | order by id asc");
        Self::new(subscriptions, text)
    }

    /// What changed of these types from this moment on; its answer has rows of [`super::Change`].
    pub fn changed(
        table: Table,
        subscriptions: &[String],
        types: &[&str],
        since: Timestamp,
    ) -> Self {
        let mut text = format!(
            "{} | extend at = todatetime(properties.changeAttributes.timestamp), \
             target = tostring(properties.targetResourceId), \
             targetType = tostring(properties.targetResourceType), \
             correlation = tostring(properties.changeAttributes.correlationId), \
             actor = tostring(properties.changeAttributes.changedBy), \
             actorType = tostring(properties.changeAttributes.changedByType), \
             client = tostring(properties.changeAttributes.clientType) \
             | where at > datetime({since:.3})",
            table.changes()
        );
        push_types(&mut text, "targetType", types);
        // Without `id` Azure gives one page alone; without an order, pages that may overlap.
        text.push_str(
            " | project id, target, at, correlation, actor, actorType, client | order by id asc",
        );
        Self::new(subscriptions, text)
    }

    fn new(subscriptions: &[String], text: String) -> Self {
        Self {
            subscriptions: subscriptions.to_vec(),
            text,
        }
    }

    /// The request for its first page, or for the one that the page before names.
    pub fn request(&self, credential: &CredentialKey, next: Option<&str>) -> Request {
        let mut options = json!({ "resultFormat": "objectArray", "$top": PAGE });
        if let Some(next) = next {
            options["$skipToken"] = json!(next);
        }
        Request {
            method: Method::Post,
            url: URL.to_owned(),
            body: Some(json!({
                "subscriptions": self.subscriptions,
                "query": self.text,
                "options": options,
            })),
            if_match: None,
            credential: credential.clone(),
        }
    }
}

/// Limits a query to types, unless they are too many to be named.
fn push_types(text: &mut String, column: &str, types: &[&str]) {
    let is_plain = |name: &&str| {
        name.chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "./_-".contains(letter))
    };
    if types.len() > MOST_TYPES || !types.iter().all(is_plain) {
        return;
    }
    let names: Vec<String> = types
        .iter()
        .map(|name| match name.eq_ignore_ascii_case(GROUPS[0]) {
            true => format!("'{}'", GROUPS[1]),
            false => format!("'{}'", name.to_ascii_lowercase()),
        })
        .collect();
    // Writing into text cannot fail.
    let _ = write!(text, " | where {column} in~ ({})", names.join(", "));
}
