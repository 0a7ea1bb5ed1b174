//! All URLs of one recording, and what was asked that was not recorded.

use std::collections::BTreeMap;
use std::ops::Add;

use armature_exposure::random_value;
use armature_generated::KINDS;
use armature_runtime::id::ResourceId;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::timeline::{Answer, Timeline};
use crate::comparison::difference;
use crate::data::Exchange;
use crate::renaming;

/// Parameters that sign the URL of an operation. Azure gives out a new signature with each answer; the peer goes on with
/// the first URL, the operator with the last.
const SIGNATURE: [&str; 4] = ["t", "c", "s", "h"];

/// Endpoint in recorded URLs.
const RECORDED_ENDPOINT: &str = "https://management.azure.com";

/// The resource group that samples spell out in ARM ids.
const SAMPLE_GROUP: &str = "/resourceGroups/aso-sample-rg";

/// What recordings have in the place of a key.
const KEY: &str = "{KEY}";

/// Headers that name the operation of a write, the one that clients ask first.
const OPERATION: [&str; 2] = ["azure-asyncoperation", "location"];

/// Ends of an operation that did not do what the write asked.
const FAILED: [&str; 2] = ["Failed", "Canceled"];

/// Writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// PUTs.
    pub puts: usize,
    /// DELETEs.
    pub deletes: usize,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            puts: self.puts + other.puts,
            deletes: self.deletes + other.deletes,
        }
    }
}

impl Counts {
    /// One request more, which counts when it is a write.
    pub fn count(&mut self, method: &str) {
        match method {
            "PUT" => self.puts += 1,
            "DELETE" => self.deletes += 1,
            _ => {}
        }
    }
}

/// A recording that answers.
#[derive(Debug, Default)]
pub struct RecordedAzure {
    /// By method, where it is an action, and URL in lower case.
    timelines: BTreeMap<Place, Timeline>,
    recorded: Counts,
    sent: Counts,
    problems: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    path: String,
    query: Vec<(String, String)>,
    is_action: bool,
}

impl Place {
    /// Path and query as a server decodes them.
    fn new(method: &str, path: &str, query: &[(String, String)]) -> Self {
        let lower = |(name, value): &(String, String)| (name.to_lowercase(), value.to_lowercase());
        Self {
            path: path.to_lowercase(),
            query: query
                .iter()
                .map(lower)
                .filter(|(name, _)| !SIGNATURE.contains(&name.as_str()))
                .collect(),
            is_action: method == "POST",
        }
    }

    fn recorded(method: &str, url: &str) -> Self {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let path = percent_decode_str(path).decode_utf8_lossy();
        let query: Vec<_> = url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        Self::new(method, &path, &query)
    }

    fn is_below(&self, path: &str) -> bool {
        let rest = self.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether it is a resource of a kind that there is.
    fn is_resource(&self) -> bool {
        let id = ResourceId::parse(&self.path);
        id.is_ok_and(|id| KINDS.iter().any(|kind| id.has_type(kind.remote_type())))
    }
}

impl RecordedAzure {
    /// What was recorded, with URLs in answers below another endpoint.
    pub fn new(exchanges: &[Exchange], endpoint: &str) -> Self {
        let mut timelines: BTreeMap<Place, Timeline> = BTreeMap::new();
        let mut recorded = Counts::default();
        for exchange in exchanges {
            let place = Place::recorded(&exchange.method, &exchange.url);
            if exchange.status < 300 && place.is_resource() {
                recorded.count(&exchange.method);
            }
        }
        let exchanges = one_operation_each(exchanges);
        let ends = ends(&exchanges);
        let own_group = own_group(&exchanges);
        for exchange in &exchanges {
            let place = Place::recorded(&exchange.method, &exchange.url);
            let has_failed = operation(exchange)
                .and_then(|operation| ends.get(&operation))
                .is_some_and(|end| FAILED.contains(&end.as_str()));
            let mut exchange = exchange.clone();
            if let Some(group) = &own_group {
                replace(&mut exchange.request, SAMPLE_GROUP, group);
            }
            for (_, value) in &mut exchange.headers {
                *value = value.replace(RECORDED_ENDPOINT, endpoint);
            }
            if place.is_action {
                give_keys(&mut exchange.response);
            }
            if is_deletion(&exchange.method, exchange.status) {
                let below = timelines
                    .iter_mut()
                    .filter(|(other, _)| other.is_below(&place.path));
                below.for_each(|(_, timeline)| timeline.record_gone());
            }
            let timeline = timelines.entry(place).or_default();
            match has_failed && exchange.method == "PUT" {
                true => timeline.record_failed(&exchange),
                false => timeline.record(&exchange),
            }
        }
        for (place, operation) in exchanges.iter().filter_map(unread_operation) {
            let timeline = timelines.entry(place).or_default();
            if timeline.is_empty() {
                timeline.record(&operation);
            }
        }
        Self {
            timelines,
            recorded,
            ..Self::default()
        }
    }

    /// Answers one request.
    pub fn answer(
        &mut self,
        method: &str,
        path: &str,
        query: &[(String, String)],
        body: &Value,
    ) -> Answer {
        let place = Place::new(method, path, query);
        let answer = self.find(method, &place, body).unwrap_or_else(|problem| {
            let problem = format!("{method} {path}: {problem}");
            self.problems.push(problem.clone());
            Answer::unknown(&problem)
        });
        if is_deletion(method, answer.status) {
            let below = self
                .timelines
                .iter_mut()
                .filter(|(other, _)| other.is_below(&place.path));
            below.for_each(|(_, timeline)| timeline.lose());
        }
        if answer.status < 300 {
            self.sent.count(method);
        }
        answer
    }

    fn find(&mut self, method: &str, place: &Place, body: &Value) -> Result<Answer, String> {
        let is_read = matches!(method, "GET" | "HEAD");
        if let Some(timeline) = self.timelines.get_mut(place) {
            return match is_read || place.is_action {
                true => Ok(timeline.read()),
                false => timeline.write(method, body),
            };
        }
        let with_other_version =
            |other: &&Place| other.path == place.path && other.is_action == place.is_action;
        let other = self.timelines.keys().find(with_other_version).cloned();
        match other.and_then(|other| self.timelines.get_mut(&other)) {
            Some(timeline) if is_read || place.is_action => Ok(timeline.read()),
            _ if is_read && place.is_resource() => Ok(Answer::missing()),
            _ => Err("was not recorded".to_owned()),
        }
    }

    /// Requests about our kinds that Azure took from the peer.
    pub fn recorded(&self) -> Counts {
        self.recorded
    }

    /// Requests that were taken so far.
    pub fn sent(&self) -> Counts {
        self.sent
    }

    /// What was asked that was not recorded, and the writes to our kinds that were recorded and have not come.
    pub fn problems(&self) -> Vec<String> {
        let resources = self
            .timelines
            .iter()
            .filter(|(place, _)| place.is_resource());
        let left = resources.flat_map(|(place, timeline)| {
            let left = timeline.left().into_iter();
            left.map(|method| format!("{method} {}: was not sent", place.path))
        });
        self.problems.iter().cloned().chain(left).collect()
    }
}

/// The exchanges as if the peer had asked on where it began anew: when a poll was answered with a failure of the server,
/// it sent the same body again, which began an operation of its own. That one's polls are the first one's here.
///
/// Of operations that failed one after the other, with the same body, the first stays: the peer waited for others by trying
/// again, up to a hundred times.
fn one_operation_each(exchanges: &[Exchange]) -> Vec<Exchange> {
    let mut latest: BTreeMap<Place, &Exchange> = BTreeMap::new();
    let mut first: BTreeMap<Place, &Exchange> = BTreeMap::new();
    let mut statuses: BTreeMap<Place, u16> = BTreeMap::new();
    let ends = ends(exchanges);
    let has_failed = |put: &Exchange| {
        let end = operation(put).and_then(|operation| ends.get(&operation));
        end.is_some_and(|end| FAILED.contains(&end.as_str()))
    };
    let mut kept = Vec::new();
    for exchange in exchanges {
        let place = Place::recorded(&exchange.method, &exchange.url);
        if exchange.method == "PUT" && exchange.status < 300 {
            let earlier = latest
                .get(&place)
                .copied()
                .filter(|earlier| difference(&earlier.request, &exchange.request).is_none());
            if earlier.is_some_and(has_failed) && has_failed(exchange) {
                continue;
            }
            let earlier = earlier.filter(|earlier| {
                let status = operation(earlier).and_then(|operation| statuses.get(&operation));
                status.is_some_and(|status| *status >= 500)
            });
            if let (Some(earlier), Some(again)) = (earlier, operation(exchange)) {
                first.insert(again, earlier);
                continue;
            }
            latest.insert(place, exchange);
            kept.push(exchange.clone());
            continue;
        }
        if exchange.method == "DELETE" {
            latest.remove(&place);
        }
        let mut exchange = exchange.clone();
        let mut asked = place;
        if let Some(url) = first.get(&asked).and_then(|put| operation_url(put)) {
            asked = Place::recorded("GET", url);
            url.clone_into(&mut exchange.url);
        }
        if exchange.method == "GET" {
            statuses.insert(asked, exchange.status);
        }
        kept.push(exchange);
    }
    kept
}

/// How each operation ended, by the latest poll that told.
fn ends(exchanges: &[Exchange]) -> BTreeMap<Place, String> {
    let polls = exchanges.iter().filter(|exchange| exchange.method == "GET");
    polls
        .filter_map(|poll| {
            let end = poll.response.get("status")?.as_str()?.to_owned();
            Some((Place::recorded("GET", &poll.url), end))
        })
        .collect()
}

/// Where the operation of a write is asked for.
fn operation(exchange: &Exchange) -> Option<Place> {
    Some(Place::recorded("GET", operation_url(exchange)?))
}

fn operation_url(exchange: &Exchange) -> Option<&str> {
    let header = |wanted: &&str| exchange.headers.iter().find(|(name, _)| name == wanted);
    let (_, url) = OPERATION.iter().find_map(header)?;
    url.strip_prefix(RECORDED_ENDPOINT)
}

/// Path of the group that the recorded test gave its samples. It left the name of another in ids that samples spell out, for
/// which there was none in Azure; [`renaming`] leaves none.
fn own_group(exchanges: &[Exchange]) -> Option<String> {
    let puts = exchanges.iter().filter(|exchange| exchange.method == "PUT");
    let mut ids = puts.filter_map(|put| ResourceId::parse(renaming::path(&put.url)).ok());
    let own = ids.find(renaming::is_own_group)?;
    Some(format!("/resourceGroups/{}", own.name()))
}

fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text.contains(&format!("{from}/")) => {
            *text = text.replace(&format!("{from}/"), &format!("{to}/"));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| replace(member, from, to)),
        _ => {}
    }
}

/// Puts a key into every place from which one was taken, another in each: what is exported from there can be searched for.
fn give_keys(answer: &mut Value) {
    match answer {
        Value::String(text) if text.contains(KEY) => *text = text.replace(KEY, &random_value()),
        Value::Array(items) => items.iter_mut().for_each(give_keys),
        Value::Object(members) => members.values_mut().for_each(give_keys),
        _ => {}
    }
}

/// The operation that a PUT named, as it shows itself to those who ask although the answer to the PUT told the end.
fn unread_operation(exchange: &Exchange) -> Option<(Place, Exchange)> {
    let state = exchange.response.pointer("/properties/provisioningState")?;
    let header = "azure-asyncoperation";
    let (_, url) = exchange.headers.iter().find(|(name, _)| name == header)?;
    let operation = Exchange {
        method: "GET".to_owned(),
        url: url.strip_prefix(RECORDED_ENDPOINT)?.to_owned(),
        request: Value::Null,
        status: 200,
        headers: Vec::new(),
        response: json!({ "status": state }),
    };
    Some((Place::recorded("GET", &operation.url), operation))
}

fn is_deletion(method: &str, status: u16) -> bool {
    method == "DELETE" && status < 300
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "/subscriptions/s/resourceGroups/g";
    const STORE: &str =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a";
    const POLLED: &str = "/subscriptions/s/operations/West US";

    fn exchange(method: &str, path: &str, status: u16) -> Exchange {
        let location =
            format!("{RECORDED_ENDPOINT}/subscriptions/s/operations/West%20US?id=A%2FB&t=1");
        Exchange {
            method: method.to_owned(),
            url: path.replace(' ', "%20"),
            request: json!({}),
            status,
            headers: vec![("location".to_owned(), location)],
            response: json!({"of": path}),
        }
    }

    fn azure() -> RecordedAzure {
        let operation = format!("{POLLED}?id=A%2FB&t=0");
        RecordedAzure::new(
            &[
                exchange("PUT", GROUP, 201),
                exchange("PUT", STORE, 202),
                exchange("GET", &operation, 200),
                exchange("DELETE", GROUP, 202),
                exchange("DELETE", STORE, 404),
            ],
            "https://here",
        )
    }

    fn status(azure: &mut RecordedAzure, method: &str, path: &str) -> u16 {
        azure.answer(method, path, &[], &json!({})).status
    }

    #[test]
    fn urls_are_found_whatever_their_casing_and_encoding_and_lead_here() {
        let mut azure = azure();
        let answer = azure.answer("PUT", &STORE.to_uppercase(), &[], &json!({}));
        assert_eq!(
            answer.headers[0].1,
            "https://here/subscriptions/s/operations/West%20US?id=A%2FB&t=1"
        );
        let query =
            [("id", "a/b"), ("t", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let answer = azure.answer("GET", POLLED, &query, &Value::Null);
        assert_eq!(answer.status, 200);
    }

    #[test]
    fn a_deleted_group_takes_everything_with_it() {
        let mut azure = azure();
        for (method, path, expected) in [
            ("PUT", GROUP, 201),
            ("PUT", STORE, 202),
            ("GET", STORE, 200),
            ("DELETE", GROUP, 202),
            ("GET", STORE, 404),
            ("GET", GROUP, 404),
        ] {
            assert_eq!(
                status(&mut azure, method, path),
                expected,
                "{method} {path}"
            );
        }
        assert_eq!(azure.problems(), [""; 0]);
        let expected = Counts {
            puts: 2,
            deletes: 1,
        };
        assert_eq!((azure.recorded(), azure.sent()), (expected, expected));
    }

    fn put(operation: &str) -> Exchange {
        let mut put = exchange("PUT", STORE, 202);
        put.headers[0].1 = format!("{RECORDED_ENDPOINT}/{operation}");
        put.response = Value::Null;
        put
    }

    fn poll(operation: &str, status: u16, end: &str) -> Exchange {
        let mut poll = exchange("GET", &format!("/{operation}"), status);
        poll.response = json!({ "status": end });
        poll
    }

    #[test]
    fn an_operation_that_the_peer_gave_up_goes_on_as_the_next_one() {
        let mut azure = RecordedAzure::new(
            &[
                put("one"),
                poll("one", 200, "InProgress"),
                poll("one", 500, ""),
                put("two"),
                poll("two", 503, ""),
                put("three"),
                poll("three", 200, "Succeeded"),
                exchange("GET", STORE, 200),
            ],
            "https://here",
        );
        assert_eq!(status(&mut azure, "PUT", STORE), 202);
        for expected in [200, 500, 503, 200] {
            assert_eq!(status(&mut azure, "GET", "/one"), expected);
        }
        assert_eq!(status(&mut azure, "GET", STORE), 200);
        assert_eq!(azure.problems(), [""; 0]);
        assert_eq!((azure.recorded().puts, azure.sent().puts), (3, 1));
    }

    #[test]
    fn a_put_whose_operation_failed_may_be_repeated_but_needs_not_be() {
        let exchanges = [
            put("one"),
            poll("one", 200, "Failed"),
            put("two"),
            poll("two", 200, "Failed"),
            put("three"),
            poll("three", 200, "Succeeded"),
        ];
        let mut azure = RecordedAzure::new(&exchanges, "https://here");
        // What failed twice in the same way failed once.
        for _ in 0..2 {
            assert_eq!(azure.problems().len(), 1);
            assert_eq!(status(&mut azure, "PUT", STORE), 202);
        }
        assert_eq!(azure.problems(), [""; 0]);
        assert_eq!(status(&mut azure, "PUT", STORE), 400);
    }

    #[test]
    fn actions_are_found_with_any_version_and_give_keys() {
        let mut list = exchange("POST", &format!("{STORE}/listKeys?api-version=1"), 200);
        list.response = json!({"keys": [{"value": "k={KEY}"}]});
        let mut azure = RecordedAzure::new(&[list], "https://here");
        let query = [("api-version".to_owned(), "2".to_owned())];
        let path = format!("{STORE}/listKeys");
        let answer = azure.answer("POST", &path, &query, &Value::Null);
        let key = answer.body["keys"][0]["value"].as_str().unwrap_or_default();
        assert!(
            key.len() > 30 && key.starts_with("k=") && !key.contains(KEY),
            "{key}"
        );
        assert_eq!(azure.problems(), [""; 0]);
    }

    #[test]
    fn what_was_not_recorded_is_a_problem_and_so_is_what_does_not_come() {
        let mut azure = azure();
        assert_eq!(status(&mut azure, "PUT", GROUP), 201);
        assert_eq!(status(&mut azure, "GET", &format!("{STORE}2")), 404);
        assert_eq!(status(&mut azure, "GET", "/subscriptions/s/skus"), 400);
        assert_eq!(status(&mut azure, "PUT", &format!("{STORE}2")), 400);
        assert_eq!(
            azure.problems(),
            [
                "GET /subscriptions/s/skus: was not recorded".to_owned(),
                format!("PUT {STORE}2: was not recorded"),
                format!("DELETE {}: was not sent", GROUP.to_lowercase()),
                format!("PUT {}: was not sent", STORE.to_lowercase()),
            ]
        );
    }
}
