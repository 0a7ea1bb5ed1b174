//! The log of requests, so that a test can assert what was sent and what was not.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pattern;

/// One request and how it was answered.
///
/// Bodies are kept as they were sent, secrets included: the log exists to assert on them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedRequest {
    /// Counts requests from 1.
    pub sequence: u64,
    /// When it came.
    pub at: Timestamp,
    /// Method.
    pub method: String,
    /// Path without query.
    pub path: String,
    /// What the operation works on, when this is an operation's URL.
    pub subject: Option<String>,
    /// `api-version` of the query.
    pub api_version: Option<String>,
    /// JSON body that was sent.
    pub body: Option<Value>,
    /// Who sent it: the client id in the token; empty without one.
    pub principal: String,
    /// `x-ms-correlation-request-id`.
    pub correlation_id: String,
    /// HTTP status of the answer; 0 when the connection was cut.
    pub status: u16,
    /// ARM error code of the answer.
    pub code: Option<String>,
    /// Number of the fault rule that hit it; 0 for a fault from the seed.
    pub fault: Option<u64>,
}

/// Which requests to return. What is not set does not matter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Query {
    /// Pattern on the path; see the README.
    pub path: Option<String>,
    /// Method, in any casing.
    pub method: Option<String>,
    /// HTTP status of the answer.
    pub status: Option<u16>,
    /// Only requests after this sequence number.
    pub after: Option<u64>,
}

impl Query {
    fn matches(&self, entry: &LoggedRequest) -> bool {
        self.path
            .as_ref()
            .is_none_or(|wanted| pattern::matches(wanted, &entry.path))
            && self
                .method
                .as_ref()
                .is_none_or(|wanted| wanted.eq_ignore_ascii_case(&entry.method))
            && self.status.is_none_or(|wanted| wanted == entry.status)
            && self.after.is_none_or(|after| entry.sequence > after)
    }
}

/// The log; the oldest entries go when it is full.
#[derive(Debug)]
pub struct Log {
    entries: VecDeque<LoggedRequest>,
    limit: usize,
    next: u64,
    methods: BTreeMap<String, u64>,
}

impl Log {
    /// An empty log of at most `limit` entries.
    pub fn new(limit: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            limit: limit.max(1),
            next: 1,
            methods: BTreeMap::new(),
        }
    }

    /// Adds an entry and numbers it.
    pub fn add(&mut self, mut entry: LoggedRequest) {
        entry.sequence = self.next;
        self.next += 1;
        *self.methods.entry(entry.method.clone()).or_default() += 1;
        if self.entries.len() == self.limit {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// The newest entry.
    pub fn last_mut(&mut self) -> Option<&mut LoggedRequest> {
        self.entries.back_mut()
    }

    /// The requests that match, oldest first.
    pub fn find(&self, query: &Query) -> Vec<LoggedRequest> {
        self.entries
            .iter()
            .filter(|entry| query.matches(entry))
            .cloned()
            .collect()
    }

    /// Everything that is kept, oldest first.
    pub fn all(&self) -> impl Iterator<Item = &LoggedRequest> {
        self.entries.iter()
    }

    /// Requests since the start, those that are no longer kept included.
    pub fn total(&self) -> u64 {
        self.next - 1
    }

    /// Requests by method since the start or the last [`Log::clear`], those that are no longer kept included.
    pub fn methods(&self) -> &BTreeMap<String, u64> {
        &self.methods
    }

    /// Forgets the entries; numbers go on.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.methods.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str) -> LoggedRequest {
        LoggedRequest {
            sequence: 0,
            at: Timestamp::UNIX_EPOCH,
            method: method.to_owned(),
            path: String::new(),
            subject: None,
            api_version: None,
            body: None,
            principal: String::new(),
            correlation_id: String::new(),
            status: 200,
            code: None,
            fault: None,
        }
    }

    #[test]
    fn a_full_log_counts_on() {
        let mut log = Log::new(2);
        for method in ["GET", "PUT", "GET", "GET"] {
            log.add(request(method));
        }
        assert_eq!(log.all().count(), 2);
        assert_eq!(log.total(), 4);
        assert_eq!(log.methods()["GET"], 3);
        assert_eq!(log.methods()["PUT"], 1);
        log.clear();
        assert!(log.methods().is_empty());
    }
}
