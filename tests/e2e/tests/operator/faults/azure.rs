//! What goes wrong with requests to Azure.

use std::time::Duration;

use armature_simulator::{FaultRule, Spoil};

use super::Phase;

/// A fault of Azure.
#[derive(Clone, Copy)]
pub struct Fault {
    /// For the list of what fails.
    pub name: &'static str,
    /// What happens, to every request.
    rule: fn() -> FaultRule,
    /// Which requests it can happen to.
    hits: fn(Phase, &str) -> bool,
    /// Writes that it makes necessary.
    pub more_writes: usize,
}

impl Fault {
    /// Whether somebody must end the operation that it starts.
    pub fn is_endless(&self) -> bool {
        (self.rule)().endless
    }

    /// Whether a write that it hits does nothing.
    pub fn refuses(&self) -> bool {
        let rule = (self.rule)();
        rule.reset || rule.status.is_some()
    }

    /// The rule for one of a phase's steps at a path: the n-th request of its method, so that a read more than usual does
    /// not move a fault of writes onto it. `None` where it cannot happen.
    pub fn rule(
        &self,
        phase: Phase,
        path: &str,
        steps: &[String],
        position: usize,
    ) -> Option<FaultRule> {
        let method = steps.get(position)?;
        let before = &steps[..position];
        (self.hits)(phase, method).then(|| FaultRule {
            method: Some(method.clone()),
            path: Some(path.to_owned()),
            skip: before.iter().filter(|one| *one == method).count() as u64,
            count: Some(1),
            ..(self.rule)()
        })
    }
}

fn status(status: u16, code: &str, retry_after: Option<u64>) -> FaultRule {
    FaultRule {
        status: Some(status),
        code: Some(code.to_owned()),
        retry_after,
        ..FaultRule::default()
    }
}

fn spoilt(spoil: Spoil) -> FaultRule {
    FaultRule {
        spoil: Some(spoil),
        ..FaultRule::default()
    }
}

const fn anywhere(name: &'static str, rule: fn() -> FaultRule) -> Fault {
    Fault {
        name,
        rule,
        hits: |_, _| true,
        more_writes: 0,
    }
}

/// All of them.
pub const ALL: [Fault; 16] = [
    anywhere("429 with Retry-After", || {
        status(429, "TooManyRequests", Some(10))
    }),
    anywhere("429 without Retry-After", || {
        status(429, "TooManyRequests", None)
    }),
    anywhere("429 of the subscription", || {
        status(429, "SubscriptionRequestsThrottled", Some(5))
    }),
    anywhere("500", || status(500, "InternalServerError", None)),
    anywhere("503", || status(503, "ServerBusy", Some(5))),
    Fault {
        name: "404 on the parent",
        rule: || status(404, "ResourceGroupNotFound", None),
        // In a deletion it means that the resource is gone too, and is to be believed.
        hits: |phase, _| phase != Phase::Delete,
        more_writes: 0,
    },
    Fault {
        name: "404 on the subscription",
        rule: || status(404, "SubscriptionNotFound", None),
        // A refused PUT is tried again once per sync period.
        hits: |_, method| method != "PUT",
        more_writes: 0,
    },
    anywhere("409 in progress", || {
        status(409, "AnotherOperationInProgress", None)
    }),
    anywhere("412", || status(412, "PreconditionFailed", None)),
    anywhere("reset before the request", || FaultRule {
        reset: true,
        ..FaultRule::default()
    }),
    anywhere("reset after the request", || spoilt(Spoil::Reset)),
    anywhere("truncated JSON", || spoilt(Spoil::Truncated)),
    anywhere("no JSON", || spoilt(Spoil::NoJson)),
    anywhere("slow answer", || FaultRule {
        delay: Some(Duration::from_millis(1500)),
        ..FaultRule::default()
    }),
    Fault {
        name: "operation without end",
        rule: || FaultRule {
            endless: true,
            ..FaultRule::default()
        },
        hits: |_, method| method != "GET",
        // What failed is tried again.
        more_writes: 1,
    },
    Fault {
        name: "stale read",
        rule: || FaultRule {
            stale: true,
            ..FaultRule::default()
        },
        hits: |_, method| method == "GET",
        more_writes: 0,
    },
];
