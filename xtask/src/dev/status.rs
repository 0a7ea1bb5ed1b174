//! What an object's `Ready` condition says.

use std::fmt;

use futures::{StreamExt, TryStreamExt};
use kube::{Api, Client, api::DynamicObject};
use serde_json::Value;

use super::samples::{Applied, Sample};

/// Objects that are read at the same time.
const CONCURRENT: usize = 8;

/// One line of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Place of the manifest among all.
    pub order: usize,
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// `True`, `False` or `Unknown`; empty before the operator has seen the object.
    pub ready: String,
    /// Reason of the condition.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
    /// Id in Azure; empty before it is known.
    pub id: String,
    /// How many units Azure has, where the kind says so in `status.count`.
    pub count: Option<i64>,
}

impl Row {
    /// Whether there is anything to tell beyond the name.
    pub fn is_known(&self) -> bool {
        !(self.ready.is_empty() && self.message.is_empty())
    }

    /// Whether Azure has what the object asks for.
    pub fn is_ready(&self) -> bool {
        self.ready == "True"
    }

    fn of(sample: &Sample) -> Self {
        Self {
            order: sample.order,
            group: sample.group.clone(),
            kind: sample.kind.clone(),
            name: sample.name.clone(),
            ..Self::default()
        }
    }

    fn with_state(mut self, status: &Value) -> Self {
        self.id = status["id"].as_str().unwrap_or_default().to_owned();
        self.count = status["count"].as_i64();
        self
    }

    fn with_condition(mut self, condition: &Value) -> Self {
        let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
        self.ready = text("status");
        self.reason = text("reason");
        self.message = text("message");
        self
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ready = if self.ready.is_empty() {
            "-"
        } else {
            &self.ready
        };
        write!(f, "{} {} Ready={ready}", self.kind, self.name)?;
        if !self.reason.is_empty() {
            write!(f, " {}", self.reason)?;
        }
        if let Some(count) = self.count {
            write!(f, ", count {count}")?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

/// Reads the condition of everything that was applied, and adds a row without one for what is pending.
pub async fn read(
    client: &Client,
    applied: &[Applied],
    pending: &[Sample],
) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = futures::stream::iter(applied)
        .map(|applied| read_one(client, applied))
        .buffered(CONCURRENT)
        .try_collect()
        .await?;
    rows.extend(pending.iter().map(Row::of));
    rows.sort_by_key(|row| row.order);
    Ok(rows)
}

async fn read_one(client: &Client, applied: &Applied) -> anyhow::Result<Row> {
    let sample = &applied.sample;
    let api =
        Api::<DynamicObject>::namespaced_with(client.clone(), &sample.namespace, &applied.resource);
    let row = Row::of(sample);
    // A person may delete objects while they look.
    Ok(match api.get_opt(&sample.name).await {
        Ok(Some(object)) => {
            let conditions = object.data.pointer("/status/conditions");
            let ready = conditions
                .and_then(Value::as_array)
                .and_then(|list| list.iter().find(|condition| condition["type"] == "Ready"));
            let row = row.with_state(&object.data["status"]);
            ready.map_or(row.clone(), |ready| row.with_condition(ready))
        }
        Ok(None) => Row {
            message: "deleted".to_owned(),
            ..row
        },
        Err(error) => Row {
            message: format!("cannot be read: {error}"),
            ..row
        },
    })
}
