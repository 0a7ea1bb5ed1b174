//! What one URL answers, in the order in which it was recorded.
//!
//! Writes must come as they were recorded. A write may be left out when Azure had refused it, at once or at the end of
//! its operation, or had taken the same body before: the peer sends its body again on every pass. Reads may be fewer or
//! more than were recorded: they get what was recorded between the same two writes, one after the other, and the last
//! again when there are no more. Where nothing was recorded between two writes, the answer follows from the write before.

use std::ops::Range;

use serde_json::{Value, json};

use crate::comparison::difference;
use crate::data::Exchange;

/// What a URL answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// JSON body; null without one.
    pub body: Value,
}

impl Answer {
    fn recorded(exchange: &Exchange) -> Self {
        Self {
            status: exchange.status,
            headers: exchange.headers.clone(),
            body: exchange.response.clone(),
        }
    }

    fn found(body: Value) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body,
        }
    }

    /// ARM's answer about what does not exist.
    pub fn missing() -> Self {
        Self::error(404, "ResourceNotFound", "The resource was not found.")
    }

    /// An answer that stops the operator: nothing was recorded that could be answered.
    pub fn unknown(message: &str) -> Self {
        Self::error(400, "InvalidRequestContent", message)
    }

    fn error(status: u16, code: &str, message: &str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: json!({"error": {"code": code, "message": message}}),
        }
    }

    fn is_good(&self) -> bool {
        self.status < 300
    }
}

#[derive(Clone, Debug)]
enum Step {
    Read(Answer),
    Write(Write),
    /// The resource above was deleted here, and this one with it.
    Gone,
}

#[derive(Clone, Debug)]
struct Write {
    method: String,
    body: Value,
    answer: Answer,
    /// Azure began what was asked and failed: it is as if it had refused.
    has_failed: bool,
}

impl Write {
    fn is_taken(&self) -> bool {
        self.answer.is_good() && !self.has_failed
    }

    /// The first difference from what is sent; `None` when this is that write.
    fn difference(&self, method: &str, body: &Value) -> Option<String> {
        if self.method != method {
            return Some(format!("{} was recorded next", self.method));
        }
        difference(&self.body, body)
    }
}

/// What one URL answers, and how far it is.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    steps: Vec<Step>,
    next: usize,
    /// What a read shows when nothing more was recorded before the next write.
    shown: Option<Answer>,
    /// Body of the latest PUT that Azure took.
    taken: Option<Value>,
    /// Writes that Azure took and that had not come when the resource above was deleted.
    missed: Vec<String>,
}

impl Timeline {
    /// Adds what was recorded next.
    pub fn record(&mut self, exchange: &Exchange) {
        let answer = Answer::recorded(exchange);
        self.steps.push(match exchange.method.as_str() {
            "PUT" | "PATCH" | "DELETE" => Step::Write(Write {
                method: exchange.method.clone(),
                body: exchange.request.clone(),
                answer,
                has_failed: false,
            }),
            _ => Step::Read(answer),
        });
    }

    /// Adds a write whose operation failed.
    pub fn record_failed(&mut self, exchange: &Exchange) {
        self.record(exchange);
        if let Some(Step::Write(write)) = self.steps.last_mut() {
            write.has_failed = true;
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds that the resource above was deleted.
    pub fn record_gone(&mut self) {
        self.steps.push(Step::Gone);
    }

    /// Answers a read.
    pub fn read(&mut self) -> Answer {
        if let Some(Step::Read(answer)) = self.steps.get(self.next) {
            self.next += 1;
            self.shown = Some(answer.clone());
        }
        self.shown.clone().unwrap_or_else(Answer::missing)
    }

    /// Answers a write.
    ///
    /// # Errors
    /// When it was not recorded here, or nothing asks for it; with what was expected.
    pub fn write(&mut self, method: &str, body: &Value) -> Result<Answer, String> {
        let is_taken = method == "PUT" && self.is_taken(body);
        for index in self.next..self.steps.len() {
            let write = match &self.steps[index] {
                Step::Read(_) => continue,
                Step::Gone => break,
                Step::Write(write) => write,
            };
            match write.difference(method, body) {
                None if is_taken => {
                    return Err("Azure had taken the same body before".to_owned());
                }
                None => return Ok(self.perform(index, write.clone())),
                Some(_) if self.may_be_left_out(write) => {}
                Some(what) => return Err(what),
            }
        }
        Err("nothing more was recorded".to_owned())
    }

    fn perform(&mut self, index: usize, write: Write) -> Answer {
        self.next = index + 1;
        if write.is_taken() {
            let is_deletion = write.method == "DELETE";
            self.taken = (!is_deletion).then_some(write.body);
            let body = &write.answer.body;
            if is_deletion {
                self.shown = None;
            } else if body.is_object() {
                self.shown = Some(Answer::found(body.clone()));
            }
        }
        write.answer
    }

    /// The resource above has been deleted.
    pub fn lose(&mut self) {
        let is_gone = |step: &Step| matches!(step, Step::Gone);
        let ahead = self.steps.iter().skip(self.next).position(is_gone);
        if let Some(ahead) = ahead {
            let gone = self.next + ahead;
            let missed = self.writes(self.next..gone);
            self.missed.extend(missed);
            self.next = gone + 1;
        }
        (self.shown, self.taken) = (None, None);
    }

    /// Writes that Azure took and that have not come.
    pub fn left(&self) -> Vec<String> {
        let left = self.writes(self.next..self.steps.len());
        self.missed.iter().cloned().chain(left).collect()
    }

    /// Methods of the writes there that must come.
    fn writes(&self, steps: Range<usize>) -> Vec<String> {
        let steps = self.steps[steps].iter();
        steps
            .filter_map(|step| match step {
                Step::Write(write) if !self.may_be_left_out(write) => Some(write.method.clone()),
                _ => None,
            })
            .collect()
    }

    fn may_be_left_out(&self, write: &Write) -> bool {
        !write.is_taken() || (write.method == "PUT" && self.is_taken(&write.body))
    }

    fn is_taken(&self, body: &Value) -> bool {
        let taken = self.taken.as_ref();
        taken.is_some_and(|taken| difference(taken, body).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(method: &str, request: Value, status: u16, response: Value) -> Exchange {
        Exchange {
            method: method.to_owned(),
            url: String::new(),
            request,
            status,
            headers: Vec::new(),
            response,
        }
    }

    fn put(size: u32, status: u16) -> Exchange {
        exchange("PUT", json!({"size": size}), status, json!({"put": size}))
    }

    fn get(status: u16, text: &str) -> Exchange {
        exchange("GET", Value::Null, status, json!(text))
    }

    fn delete() -> Exchange {
        exchange("DELETE", Value::Null, 202, Value::Null)
    }

    fn timeline(exchanges: &[Exchange]) -> Timeline {
        let mut timeline = Timeline::default();
        for exchange in exchanges {
            timeline.record(exchange);
        }
        timeline
    }

    fn sent(timeline: &mut Timeline, size: u32) -> Result<u16, String> {
        let answer = timeline.write("PUT", &json!({"size": size}));
        answer.map(|answer| answer.status)
    }

    fn shown(timeline: &mut Timeline) -> Value {
        match timeline.read() {
            Answer { status: 404, .. } => Value::Null,
            answer => answer.body,
        }
    }

    #[test]
    fn reads_stay_between_the_writes_that_they_were_recorded_between() {
        let mut timeline = timeline(&[
            get(404, "none"),
            put(1, 201),
            get(200, "a"),
            get(200, "b"),
            put(2, 200),
            delete(),
        ]);
        let nothing = Value::Null;
        assert_eq!(
            [(); 2].map(|()| shown(&mut timeline)),
            [const { Value::Null }; 2]
        );
        assert_eq!(sent(&mut timeline, 1), Ok(201));
        assert_eq!([(); 3].map(|()| shown(&mut timeline)), ["a", "b", "b"]);
        assert_eq!(sent(&mut timeline, 2), Ok(200));
        assert_eq!(shown(&mut timeline), json!({"put": 2}));
        assert!(timeline.write("DELETE", &nothing).is_ok());
        assert_eq!(shown(&mut timeline), nothing);
        assert_eq!(timeline.left(), [""; 0]);
    }

    #[test]
    fn refused_and_repeated_writes_may_be_left_out() {
        let mut timeline =
            timeline(&[put(1, 409), put(1, 201), put(1, 200), put(2, 429), delete()]);
        // A refusal comes first for those who send what was refused.
        assert_eq!(sent(&mut timeline, 1), Ok(409));
        assert_eq!(sent(&mut timeline, 1), Ok(201));
        assert!(timeline.write("DELETE", &Value::Null).is_ok());
    }

    #[test]
    fn writes_that_were_not_recorded_are_refused() {
        let recorded = [put(1, 201), put(1, 200), put(2, 200), delete()];
        let mut timeline = timeline(&recorded);
        let other = Err("/size: 1 is recorded, 3 rendered".to_owned());
        assert_eq!(sent(&mut timeline, 3), other);
        assert_eq!(sent(&mut timeline, 1), Ok(201));
        let again = Err("Azure had taken the same body before".to_owned());
        assert_eq!(sent(&mut timeline, 1), again);
        let early = timeline.write("DELETE", &Value::Null).unwrap_err();
        assert_eq!(early, "PUT was recorded next");
        assert_eq!(timeline.left(), ["PUT", "DELETE"]);
        assert_eq!(sent(&mut timeline, 2), Ok(200));
        assert!(timeline.write("DELETE", &Value::Null).is_ok());
        let late = timeline.write("DELETE", &Value::Null).unwrap_err();
        assert_eq!(late, "nothing more was recorded");
    }

    #[test]
    fn what_is_below_a_deleted_resource_goes_with_it() {
        let mut timeline = timeline(&[put(1, 201), get(200, "a")]);
        timeline.record_gone();
        timeline.record(&get(200, "going"));
        timeline.record(&get(404, "gone"));
        assert_eq!(sent(&mut timeline, 1), Ok(201));
        assert_eq!([(); 2].map(|()| shown(&mut timeline)), ["a", "a"]);
        timeline.lose();
        assert_eq!(shown(&mut timeline), "going");
        assert_eq!(shown(&mut timeline), Value::Null);
        assert_eq!(timeline.left(), [""; 0]);
    }

    #[test]
    fn what_did_not_come_before_the_resource_above_was_deleted_is_left() {
        let mut timeline = timeline(&[put(1, 409), put(1, 201), put(1, 200)]);
        timeline.record_gone();
        timeline.lose();
        assert_eq!(timeline.left(), ["PUT", "PUT"]);
    }
}
