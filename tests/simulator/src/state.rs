//! The whole simulated Azure as one state machine: a request and the time go in, a reply comes out.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::kind::KindInfo;
use http::Method;
use jiff::Timestamp;

use crate::acts::Clockwork;
use crate::behaviour::Behaviours;
use crate::catalog::Catalog;
use crate::error::ArmError;
use crate::exchange::{Answer, Reply, Request};
use crate::fault::{Effect, Faults, Spoil};
use crate::graph;
use crate::log::{Log, LoggedRequest};
use crate::operation::Operation;
use crate::options::Settings;
use crate::store::{Cause, Store, stable_uuid};
use crate::throttle::Throttle;
use crate::token::{self, Tokens};

/// Everything that the simulated Azure knows.
#[derive(Debug)]
pub struct State {
    /// Types that are served.
    pub catalog: Catalog,
    /// How the simulator was set up.
    pub settings: Settings,
    /// Particulars of providers.
    pub behaviours: Behaviours,
    /// Resources.
    pub store: Store,
    /// Long-running operations by name, ended ones included: clients may still poll them.
    pub operations: BTreeMap<String, Operation>,
    /// Names of those that run, so that ending them does not look at all.
    pub running: BTreeSet<String>,
    /// Faults on purpose.
    pub faults: Faults,
    /// Requests so far.
    pub log: Log,
    /// Tokens that were issued.
    pub tokens: Tokens,
    /// What Azure Resource Graph has of it.
    pub graph: graph::Record,
    /// Queries that it takes.
    pub graph_quota: graph::Quota,
    /// How far the profile of acts is.
    pub clockwork: Clockwork,
    throttle: Throttle,
    counter: u64,
}

/// What the handlers of one ARM request share.
pub struct Call<'a> {
    /// The request.
    pub request: &'a Request,
    /// The time.
    pub now: Timestamp,
    /// Client id of whoever sent it.
    pub principal: String,
    /// `x-ms-correlation-request-id`.
    pub correlation: String,
    /// What a fault does to the request.
    pub effect: &'a Effect,
}

impl State {
    /// An empty Azure that serves these kinds. `key` signs tokens.
    pub fn new(kinds: &'static [&'static KindInfo], settings: Settings, key: Vec<u8>) -> Self {
        let mut faults = Faults::new(settings.chaos);
        for rule in &settings.faults {
            faults.add(rule.clone());
        }
        Self {
            catalog: Catalog::new(kinds),
            behaviours: Behaviours::all(kinds, settings.normalise),
            store: Store::default(),
            operations: BTreeMap::new(),
            running: BTreeSet::new(),
            faults,
            log: Log::new(settings.log_limit),
            tokens: Tokens::new(key),
            graph: graph::Record::default(),
            graph_quota: graph::Quota::default(),
            clockwork: Clockwork::default(),
            throttle: Throttle::new(settings.limits),
            counter: 0,
            settings,
        }
    }

    /// A name that no other call of this state has returned.
    pub fn fresh_id(&mut self) -> String {
        self.counter += 1;
        stable_uuid(&format!("operation/{}", self.counter))
    }

    /// Answers one request to Azure. Those to the control endpoints do not come here.
    pub fn handle(&mut self, request: &Request, now: Timestamp) -> Reply {
        if let Some(answer) = token::answer(&self.settings, &mut self.tokens, request, now) {
            self.record(request, "", "", &answer, None, now);
            return answer.into();
        }
        self.settle(now);
        self.act_by_itself(now);
        let reply = self.arm(request, now);
        self.note_changes(now);
        reply
    }

    fn arm(&mut self, request: &Request, now: Timestamp) -> Reply {
        let correlation = request
            .header("x-ms-correlation-request-id")
            .map_or_else(|| self.fresh_id(), str::to_owned);
        let request_id = self.fresh_id();
        let subject = self.subject(&request.path);
        let (method, path) = (request.method.as_str(), &request.path);
        let effect = self.faults.strike(method, path, subject.as_deref());
        let fault = effect.as_ref().map(|effect| effect.rule);
        let effect = effect.unwrap_or_default();
        let (principal, limits, answer) = self.judge(request, &correlation, &effect, now);
        let mut answer = answer
            .with("x-ms-request-id", request_id)
            .with("x-ms-correlation-request-id", correlation.clone());
        answer.headers.extend(limits);
        self.record(request, &principal, &correlation, &answer, fault, now);
        let is_cut = effect.reset || effect.spoil == Some(Spoil::Reset);
        if is_cut && let Some(entry) = self.log.last_mut() {
            (entry.status, entry.code) = (0, None);
        }
        Reply {
            delay: effect.delay,
            answer: (!is_cut).then_some(answer),
            spoil: effect.spoil,
        }
    }

    /// What an operation works on whose URL this is.
    fn subject(&self, path: &str) -> Option<String> {
        let (_, name) = path.rsplit_once('/')?;
        let operation = self.operations.get(name)?;
        Some(operation.resource.to_string())
    }

    /// Decides on an ARM request: who sent it, whether it is refused, what it does.
    fn judge(
        &mut self,
        request: &Request,
        correlation: &str,
        effect: &Effect,
        now: Timestamp,
    ) -> (String, crate::throttle::Headers, Answer) {
        let anonymous = token::is_anonymous(request);
        let principal = match self.tokens.check(&self.settings, request, now) {
            Ok(principal) => principal,
            Err(_) if anonymous => String::new(),
            Err(refusal) => return (String::new(), Vec::new(), refusal),
        };
        let mut limits = Vec::new();
        if let Some(subscription) = subscription_of(&request.path) {
            let (headers, refusal) = self.throttle.take(subscription, &request.method, now);
            limits = headers;
            if let Some(refusal) = refusal {
                return (principal, limits, refusal.into());
            }
        }
        if effect.reset {
            // The request is lost on its way, before it does anything.
            return (principal, limits, Answer::empty(500));
        }
        if let Some(error) = &effect.error {
            return (principal, limits, error.clone().into());
        }
        let call = Call {
            request,
            now,
            principal: principal.clone(),
            correlation: correlation.to_owned(),
            effect,
        };
        self.store.cause = Some(Cause {
            correlation: correlation.to_owned(),
            principal: principal.clone(),
        });
        let answer = self.dispatch(&call).unwrap_or_else(Answer::from);
        self.note_changes(now);
        self.store.cause = None;
        (principal, limits, answer)
    }

    fn record(
        &mut self,
        request: &Request,
        principal: &str,
        correlation: &str,
        answer: &Answer,
        fault: Option<u64>,
        now: Timestamp,
    ) {
        // Token requests carry the client's own secret, which no test needs to see.
        let is_token = principal.is_empty() && request.method == Method::POST;
        self.log.add(LoggedRequest {
            sequence: 0,
            at: now,
            method: request.method.to_string(),
            path: request.path.clone(),
            subject: self.subject(&request.path),
            api_version: request.parameter("api-version").map(str::to_owned),
            body: match is_token {
                true => None,
                false => serde_json::from_slice(&request.body).ok(),
            },
            principal: principal.to_owned(),
            correlation_id: correlation.to_owned(),
            status: answer.status,
            code: answer.header("x-ms-error-code").map(str::to_owned),
            fault,
        });
    }

    /// Forgets resources, operations, fault rules and the log. Tokens stay valid.
    pub fn reset(&mut self) {
        self.store.clear();
        self.graph.clear();
        self.operations.clear();
        self.running.clear();
        self.faults.clear();
        self.log.clear();
    }
}

fn subscription_of(path: &str) -> Option<&str> {
    let mut segments = path.split('/').filter(|part| !part.is_empty());
    let first = segments.next()?;
    first
        .eq_ignore_ascii_case("subscriptions")
        .then(|| segments.next())?
}

/// The result of handling one ARM request.
pub type Handled = Result<Answer, ArmError>;
