//! Faults on purpose: by rule, or drawn from a seed.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::error::ArmError;
use crate::operation::Failure;
use crate::pattern;

/// What goes wrong with which requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultRule {
    /// Number of the rule; set when it is added.
    #[serde(default)]
    pub id: u64,
    /// Only requests with this method.
    pub method: Option<String>,
    /// Only requests whose path holds this text; `*` stands for anything, a final `$` for the path's end.
    pub path: Option<String>,
    /// Matching requests that pass unharmed first.
    #[serde(default)]
    pub skip: u64,
    /// Matching requests that are hit after that; without it, all of them.
    pub count: Option<u64>,
    /// Answer with this HTTP status and an ARM error.
    pub status: Option<u16>,
    /// ARM error code of the answer.
    pub code: Option<String>,
    /// Message of the answer.
    pub message: Option<String>,
    /// `Retry-After` of the answer in seconds.
    pub retry_after: Option<u64>,
    /// Cut the connection without an answer, before the request does anything.
    #[serde(default)]
    pub reset: bool,
    /// Carry the request out and spoil the answer.
    pub spoil: Option<Spoil>,
    /// Answer a GET with what was there before the last write.
    #[serde(default)]
    pub stale: bool,
    /// Wait before answering. What the request does is done before.
    #[serde(default, with = "crate::duration::option")]
    pub delay: Option<Duration>,
    /// Let the long-running operation that the request starts never end by itself.
    #[serde(default)]
    pub endless: bool,
    /// Let the long-running operation that the request starts end badly.
    pub fail_operation: Option<Failure>,
    /// Matching requests seen so far.
    #[serde(default)]
    pub seen: u64,
}

/// How an answer does not arrive as it was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spoil {
    /// The connection is cut instead.
    Reset,
    /// Half of the body is missing.
    Truncated,
    /// The body is no JSON.
    NoJson,
}

/// Faults drawn from a seed: with the same seed, the n-th request of a method for a resource, polls of its operations
/// included, meets the same fault, whatever else is sent in between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Chaos {
    /// The seed.
    pub seed: u64,
    /// Share of ARM requests that are hit, from 0 to 1.
    pub rate: f64,
}

/// What happens to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// Rule that caused it; 0 for a fault from the seed.
    pub rule: u64,
    /// Wait before answering.
    pub delay: Duration,
    /// Cut the connection before anything is done.
    pub reset: bool,
    /// Spoil the answer.
    pub spoil: Option<Spoil>,
    /// Answer with what was there before the last write.
    pub stale: bool,
    /// Answer with this error instead.
    pub error: Option<ArmError>,
    /// The operation that it starts never ends by itself.
    pub endless: bool,
    /// Let the operation that it starts fail.
    pub fail_operation: Option<Failure>,
}

impl Effect {
    /// Nothing, by this rule.
    fn of(rule: u64) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }
}

/// All rules, with their counters.
#[derive(Debug)]
pub struct Faults {
    rules: Vec<FaultRule>,
    next: u64,
    chaos: Option<Chaos>,
    /// Requests that met the seed so far, by method and resource.
    drawn: BTreeMap<String, u64>,
}

impl Faults {
    /// No rules yet, and faults from a seed where one is given.
    pub fn new(chaos: Option<Chaos>) -> Self {
        Self {
            rules: Vec::new(),
            next: 1,
            chaos,
            drawn: BTreeMap::new(),
        }
    }

    /// Adds a rule and returns its number.
    pub fn add(&mut self, rule: FaultRule) -> u64 {
        let id = self.next;
        self.next += 1;
        self.rules.push(FaultRule {
            id,
            seen: 0,
            ..rule
        });
        id
    }

    /// The rules.
    pub fn rules(&self) -> &[FaultRule] {
        &self.rules
    }

    /// Removes a rule; false when there is none of this number.
    pub fn remove(&mut self, id: u64) -> bool {
        let before = self.rules.len();
        self.rules.retain(|rule| rule.id != id);
        self.rules.len() < before
    }

    /// Removes all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// Faults from another seed, or none any more.
    pub fn set_chaos(&mut self, chaos: Option<Chaos>) {
        self.chaos = chaos;
        self.drawn.clear();
    }

    /// What happens to a request. The first rule that applies wins. `subject` is what an operation works on whose
    /// URL this is.
    pub fn strike(&mut self, method: &str, path: &str, subject: Option<&str>) -> Option<Effect> {
        let mut hit = None;
        for rule in &mut self.rules {
            if !rule.matches(method, path, subject) {
                continue;
            }
            rule.seen += 1;
            let over = rule
                .count
                .is_some_and(|count| rule.seen > rule.skip + count);
            if hit.is_none() && rule.seen > rule.skip && !over {
                hit = Some(rule.effect());
            }
        }
        hit.or_else(|| self.draw(method, subject.unwrap_or(path)))
    }

    fn draw(&mut self, method: &str, resource: &str) -> Option<Effect> {
        let chaos = self.chaos?;
        let request = format!("{method} {}", resource.to_ascii_lowercase());
        let mut hasher = DefaultHasher::new();
        (chaos.seed, &request).hash(&mut hasher);
        let number = self.drawn.entry(request).or_default();
        *number += 1;
        number.hash(&mut hasher);
        let mut random = StdRng::seed_from_u64(hasher.finish());
        if !random.random_bool(chaos.rate.clamp(0.0, 1.0)) {
            return None;
        }
        let refused = |status, retry_after| Effect {
            error: Some(error_of(status, None, None, retry_after)),
            ..Effect::default()
        };
        let spoilt = |spoil| Effect {
            spoil: Some(spoil),
            ..Effect::default()
        };
        Some(match random.random_range(0..10) {
            0 => refused(429, Some(1)),
            1 => refused(429, None),
            2 => refused(500, None),
            3 => refused(502, None),
            4 => refused(503, Some(1)),
            5 => Effect {
                reset: true,
                ..Effect::default()
            },
            6 => spoilt(Spoil::Reset),
            7 => spoilt(Spoil::Truncated),
            8 => spoilt(Spoil::NoJson),
            _ => Effect {
                delay: Duration::from_millis(random.random_range(1..500)),
                ..Effect::default()
            },
        })
    }
}

/// A fault rule that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// Nothing would happen.
    #[error(
        "a fault rule needs one of status, reset, spoil, stale, delay, endless and failOperation"
    )]
    NoEffect,
    /// No HTTP error.
    #[error("status {0} of a fault rule is no HTTP error; it must be from 400 to 599")]
    Status(u16),
}

impl FaultRule {
    /// Refuses rules that would do nothing, or something that HTTP does not know.
    pub fn check(&self) -> Result<(), FaultError> {
        match self.status {
            Some(status) if !(400..600).contains(&status) => Err(FaultError::Status(status)),
            Some(_) => Ok(()),
            None if self.effect() == Effect::of(self.id) => Err(FaultError::NoEffect),
            None => Ok(()),
        }
    }

    fn matches(&self, method: &str, path: &str, subject: Option<&str>) -> bool {
        self.method
            .as_ref()
            .is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.path.as_ref().is_none_or(|wanted| {
                pattern::matches(wanted, path)
                    || subject.is_some_and(|subject| pattern::matches(wanted, subject))
            })
    }

    fn effect(&self) -> Effect {
        Effect {
            rule: self.id,
            delay: self.delay.unwrap_or_default(),
            reset: self.reset,
            spoil: self.spoil,
            stale: self.stale,
            endless: self.endless,
            error: self.status.map(|status| {
                error_of(
                    status,
                    self.code.as_deref(),
                    self.message.as_deref(),
                    self.retry_after,
                )
            }),
            fail_operation: self.fail_operation.clone(),
        }
    }
}

fn error_of(
    status: u16,
    code: Option<&str>,
    message: Option<&str>,
    retry_after: Option<u64>,
) -> ArmError {
    let (usual_code, usual_message) = match status {
        400 => ("BadRequest", "The request was refused."),
        401 => ("AuthenticationFailed", "Authentication failed."),
        403 => (
            "AuthorizationFailed",
            "The client does not have authorization to perform this action over this scope.",
        ),
        404 => ("ResourceNotFound", "The resource was not found."),
        409 => (
            "Conflict",
            "The resource is in a state that does not allow the operation.",
        ),
        412 => (
            "PreconditionFailed",
            "The condition of the request does not hold.",
        ),
        429 => (
            "TooManyRequests",
            "The request is being throttled as the limit has been reached for this operation type.",
        ),
        503 => ("ServerBusy", "The server is busy. Try again later."),
        _ => (
            "InternalServerError",
            "The server encountered an internal error.",
        ),
    };
    let mut error = ArmError::new(
        status,
        code.unwrap_or(usual_code),
        message.unwrap_or(usual_message),
    );
    error.retry_after = retry_after;
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_hits_its_share_of_requests() {
        let mut faults = Faults::new(None);
        faults.add(FaultRule {
            method: Some("put".into()),
            path: Some("/storageAccounts/*".into()),
            skip: 1,
            count: Some(2),
            status: Some(429),
            retry_after: Some(7),
            ..FaultRule::default()
        });
        let mut hits = Vec::new();
        for _ in 0..5 {
            hits.push(faults.strike("PUT", "/x/storageaccounts/a", None).is_some());
        }
        assert_eq!(hits, [false, true, true, false, false]);
        assert_eq!(faults.strike("GET", "/x/storageaccounts/a", None), None);
        assert_eq!(faults.rules()[0].seen, 5);
    }

    #[test]
    fn a_rule_on_a_resource_hits_polls_of_its_operations() {
        let mut faults = Faults::new(None);
        faults.add(FaultRule {
            path: Some("/widgets/a$".into()),
            status: Some(500),
            ..FaultRule::default()
        });
        let url = "/subscriptions/s/operationStatuses/1";
        assert_eq!(faults.strike("GET", url, None), None);
        assert_eq!(faults.strike("GET", url, Some("/x/widgets/b")), None);
        assert!(faults.strike("GET", url, Some("/x/widgets/a")).is_some());
    }

    #[test]
    fn rules_that_cannot_work_are_refused() {
        let rule = FaultRule::default();
        assert_eq!(rule.check(), Err(FaultError::NoEffect));
        let status = |status| FaultRule {
            status: Some(status),
            ..FaultRule::default()
        };
        assert_eq!(status(200).check(), Err(FaultError::Status(200)));
        assert_eq!(status(503).check(), Ok(()));
    }

    #[test]
    fn an_error_has_the_usual_code_unless_the_rule_names_one() {
        let mut faults = Faults::new(None);
        faults.add(FaultRule {
            status: Some(409),
            count: Some(1),
            ..FaultRule::default()
        });
        faults.add(FaultRule {
            status: Some(409),
            code: Some("AccountIsBusy".into()),
            ..FaultRule::default()
        });
        let codes: Vec<String> = (0..2)
            .map(|_| faults.strike("GET", "/", None).unwrap().error.unwrap().code)
            .collect();
        assert_eq!(codes, ["Conflict", "AccountIsBusy"]);
    }

    #[test]
    fn what_is_sent_in_between_does_not_change_what_is_drawn() {
        let draw = |others: usize| {
            let mut faults = Faults::new(Some(Chaos { seed: 7, rate: 0.5 }));
            let one = |_| {
                for _ in 0..others {
                    faults.strike("GET", "/b", None);
                }
                faults.strike("GET", "/a", None)
            };
            (0..50).map(one).collect::<Vec<_>>()
        };
        assert_eq!(draw(0), draw(3));
    }

    #[test]
    fn one_seed_draws_the_same_faults_twice() {
        let draw = || {
            let mut faults = Faults::new(Some(Chaos { seed: 7, rate: 0.5 }));
            (0..50)
                .map(|_| faults.strike("GET", "/", None))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(), draw());
        assert!(draw().iter().any(Option::is_some));
        assert!(draw().iter().any(Option::is_none));
    }
}
