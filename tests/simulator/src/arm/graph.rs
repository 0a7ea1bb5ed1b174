//! Queries to Azure Resource Graph: who may ask about which subscriptions, and how an answer is worded.

use http::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ArmError;
use crate::exchange::Answer;
use crate::graph::{InvalidQuery, run};
use crate::state::{Call, Handled, State};

const PATH: &str = "/providers/microsoft.resourcegraph/resources";

/// The api-versions that are served.
const API_VERSIONS: [&str; 3] = ["2021-03-01", "2022-10-01", "2024-04-01"];

/// What is asked (REST API, `QueryRequest`).
#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    subscriptions: Vec<String>,
    query: String,
    #[serde(default)]
    options: Options,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Options {
    result_format: Option<String>,
    #[serde(rename = "$top")]
    top: Option<usize>,
    #[serde(rename = "$skipToken")]
    skip_token: Option<String>,
}

impl State {
    /// Answers a query. `None` when the request is for something else.
    pub(crate) fn graph_query(&mut self, call: &Call<'_>) -> Option<Handled> {
        let path = call.request.path.to_ascii_lowercase();
        if path.trim_end_matches('/') != PATH {
            return None;
        }
        let settings = self.settings.graph;
        let left = self.graph_quota.take(&call.principal, &settings, call.now);
        let handled = match left.is_admitted {
            true => self.answer_query(call),
            false => {
                let mut error = ArmError::new(
                    429,
                    "RateLimiting",
                    "Please retry after the time that x-ms-user-quota-resets-after names.",
                );
                error.retry_after = Some(left.resets_after.as_secs() + 1);
                Err(error)
            }
        };
        let answer = handled.unwrap_or_else(Answer::from);
        Some(Ok(answer
            .with("x-ms-user-quota-remaining", left.remaining.to_string())
            .with("x-ms-user-quota-resets-after", left.clock())))
    }

    fn answer_query(&mut self, call: &Call<'_>) -> Handled {
        if call.request.method != Method::POST {
            let method = call.request.method.as_str();
            return Err(ArmError::method_not_allowed(method, &call.request.path));
        }
        let version = call.request.api_version()?;
        if !API_VERSIONS.contains(&version) {
            return Err(ArmError::unsupported_api_version(
                "Microsoft.ResourceGraph/resources",
                version,
                &API_VERSIONS,
            ));
        }
        let body = call.request.json()?.unwrap_or_default();
        let question: Question = serde_json::from_value(body)
            .map_err(|error| invalid(&format!("The request is not as expected: {error}")))?;
        if question.options.result_format.as_deref() != Some("objectArray") {
            return Err(invalid("Only resultFormat objectArray is simulated."));
        }
        let known = |name: &&String| self.settings.has_subscription(name);
        let asked = question.subscriptions.iter().filter(known);
        let asked: Vec<String> = asked.map(|name| name.to_lowercase()).collect();
        if asked.is_empty() {
            return Err(ArmError::new(
                403,
                "AccessDenied",
                "No subscription of the query can be read.",
            ));
        }
        self.note_changes(call.now);
        let at = call.now.saturating_sub(self.settings.graph.delay);
        let rows = run(&question.query, &self.graph, at.unwrap_or(Timestamp::MIN))
            .map_err(|InvalidQuery(reason)| invalid(&format!("Query is invalid: {reason}.")))?;
        // Every row of the tables has it in its id, unless the query left that out.
        let is_asked = |row: &Value| {
            let id = row.get("id").and_then(Value::as_str).unwrap_or_default();
            let subscription = id.trim_start_matches('/').split('/').nth(1);
            subscription.is_none_or(|name| asked.contains(&name.to_lowercase()))
        };
        let rows: Vec<Value> = rows.into_iter().filter(is_asked).collect();
        Ok(Answer::json(200, self.graph_page(&question.options, rows)))
    }

    fn graph_page(&self, options: &Options, rows: Vec<Value>) -> Value {
        let total = rows.len();
        let start = options
            .skip_token
            .as_deref()
            .and_then(|token| token.parse().ok());
        let start: usize = start.unwrap_or(0);
        let size = options.top.unwrap_or(100).min(self.settings.graph.page);
        let has_ids = rows.iter().all(|row| row.get("id").is_some());
        let page: Vec<Value> = rows.into_iter().skip(start).take(size).collect();
        let end = start + page.len();
        let mut body = json!({
            "totalRecords": total,
            "count": page.len(),
            "data": page,
            "facets": [],
            "resultTruncated": "false",
        });
        match (end < total, has_ids) {
            (true, true) => body["$skipToken"] = json!(end.to_string()),
            (true, false) => body["resultTruncated"] = json!("true"),
            (false, _) => {}
        }
        body
    }

    /// Lets the Graph notice what changed until now.
    pub(crate) fn note_changes(&mut self, now: Timestamp) {
        self.graph.note(&mut self.store, &self.catalog, now);
    }
}

fn invalid(message: &str) -> ArmError {
    ArmError::new(400, "BadRequest", message)
}
