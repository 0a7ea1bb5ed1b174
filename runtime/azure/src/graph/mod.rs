//! Azure Resource Graph as a protocol: what it is asked, and how its answers are read (REST API
//! `Microsoft.ResourceGraph/resources`, 2022-10-01).
//!
//! | question | table | what it tells |
//! |---|---|---|
//! | [`Query::shown`] | `resources`, `resourcecontainers` | ids of what the Graph has |
//! | [`Query::changed`] | `resourcechanges`, `resourcecontainerchanges` | what was created, changed or deleted, and when |
//!
//! The Graph is a copy that Azure Resource Manager keeps, which is behind by up to some minutes and does not have every
//! type. So whatever it says is a hint: that it does not show something says nothing.
//!
//! Pure: the requests are the caller's to send. What does not live here: how often to ask, and what follows.

mod page;
mod query;
#[cfg(test)]
mod tests;

pub use page::{Change, Page, Quota, Refusal, Row, Shown};
pub use query::{MOST_SUBSCRIPTIONS, MOST_TYPES, Query, Table};
