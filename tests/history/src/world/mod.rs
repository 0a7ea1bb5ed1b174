//! A cluster, the operator and a simulated Azure in one process, by one clock that nobody waits for.
//!
//! | module | what lives here |
//! |---|---|
//! | this one | the world, passes over its objects |
//! | `restart` | ends of the process |
//! | `azure` | the simulator as a transport |
//! | `subject` | objects and their manifests |
//! | `schedule` | when which object is looked at |
//! | `settings` | how Azure behaves, and how the operator is set up |
//! | `steps` | what each step of a plan does |
//! | `acts` | what Azure does by itself, and fights over a value |
//! | `harm` | what goes wrong with requests, and what others change |
//! | `ledger` | what the oracle has to know |
//! | `dropped` | items that edits take out of lists |
//! | `shared` | items of others in lists to which they may add |

mod acts;
mod azure;
pub mod dropped;
mod harm;
mod ledger;
mod restart;
mod schedule;
mod settings;
mod shared;
mod steps;
pub mod subject;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use armature_runtime::arm::Arm;
use armature_runtime::azure::Transport;
use armature_runtime::extension::Registry;
use armature_runtime::kind::{KindInfo, NameRule};
use armature_runtime::names;
use armature_runtime::reconcile::backoff::Requeue;
use armature_runtime::reconcile::driver::Reconciler;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::port::{DataKind, KubernetesPort};
use armature_runtime::reconcile::remote::Remotes;
use armature_runtime::reconcile::testing::{Breakpoint, Journal, ManualClock, MemoryCluster, Side};
use armature_runtime::reconcile::time::Clock;
use armature_runtime::resource::ObjectKey;
use armature_simulator::{LoggedRequest, Query, Settings, Simulator};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::plan::{Draw, History, Manner};
use azure::Client;
use ledger::Ledger;
use schedule::Schedule;
use settings::{operator, settings, timers};
use subject::{DATA, NAMESPACE, Subject};

pub use dropped::Dropped;
pub use ledger::{Moved, Record};

/// Client id of the operator.
pub const OPERATOR: &str = "operator";

/// Client id of everybody else.
const OTHERS: &str = "others";

/// Namespace of the operator, and of Azure Service Operator before it.
const OPERATOR_NAMESPACE: &str = "azureserviceoperator-system";

/// Most passes until nothing is due.
const PASSES: usize = 1500;

/// When every history begins.
const BEGIN: i64 = 1_700_000_000;

/// Value in the ConfigMap and the Secret that drawn specs refer to.
const FIRST_VALUE: &str = "00000000-0000-0000-0000-000000000000";

/// A pass, and how things stood when it began.
struct Begun {
    key: ObjectKey,
    policy: (Policy, bool),
    was_claimed: bool,
    /// What the manifest asks for that it works from.
    body: Option<Box<Value>>,
    running: Pin<Box<dyn Future<Output = Requeue>>>,
}

/// The world.
pub struct World {
    /// The cluster.
    pub cluster: Arc<MemoryCluster>,
    /// Azure.
    pub simulator: Simulator,
    /// The objects, owners first, then the target, and those that it was before it was renamed.
    pub subjects: Vec<Subject>,
    /// Which of them is the target.
    pub target: usize,
    /// What the oracle has to know.
    pub ledger: Ledger,
    /// What happened, for people.
    pub transcript: Vec<String>,
    /// What must not have happened.
    pub violations: Vec<String>,
    manner: Manner,
    clock: Arc<ManualClock>,
    breakpoint: Arc<Breakpoint>,
    reconciler: Reconciler,
    /// The way to Azure of all processes of the operator.
    arm: Arc<dyn Transport>,
    others: Client,
    schedule: Schedule,
    journal: Journal,
    /// A pass of a process that another has taken over from, before its last write.
    late: Option<Begun>,
    renames: usize,
    /// For limits of time, which no history comes to: nobody drives it.
    timers: Runtime,
}

/// All kinds, for as long as the process lives.
/// Azure for a process that knows nothing of what others have sent.
fn remotes(arm: &Arc<dyn Transport>) -> Remotes {
    Remotes::new(Arc::new(Arm::new(arm.clone(), Arc::default())))
}

fn kinds() -> &'static [&'static KindInfo] {
    static KINDS: OnceLock<Vec<&'static KindInfo>> = OnceLock::new();
    KINDS.get_or_init(subject::all_kinds)
}

fn registry() -> Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let registry = REGISTRY.get_or_init(|| armature_customizations::registry().unwrap_or_default());
    registry.clone()
}

/// What drawn specs refer to.
fn put_first_data(cluster: &MemoryCluster) {
    for kind in [DataKind::Secret, DataKind::ConfigMap] {
        cluster.put_data(kind, DATA.0, &[(DATA.1, FIRST_VALUE)]);
    }
}

impl World {
    /// A world for the kind, with its owners ready.
    ///
    /// # Panics
    /// When a history names a kind that is not there.
    #[allow(clippy::panic, reason = "a history that makes no sense")]
    pub fn new(history: &History) -> Self {
        let Some(kind) = subject::kind(&history.kind) else {
            panic!("there is no kind {}", history.kind)
        };
        let mut world = Self::empty(kind, history.manner());
        let lineage = subject::lineage(kind);
        let subscription = world.subscription();
        for kind in lineage {
            let owner = world.subjects.len().checked_sub(1);
            let owner = owner.map(|index| (index, &world.subjects[index]));
            let subject = Subject::new(kind, "armature0", owner, &subscription);
            world.subjects.push(subject);
        }
        world.target = world.subjects.len() - 1;
        for index in 0..world.target {
            let spec = world.subjects[index].drawn(Draw { seed: 1, size: 0 });
            world.apply(index, spec);
        }
        world.quiet();
        world.transcript.clear();
        world
    }

    fn empty(kind: &KindInfo, manner: Manner) -> Self {
        let clock = Arc::new(ManualClock::default());
        clock.advance(BEGIN);
        let breakpoint = Arc::new(Breakpoint::default());
        let settings = settings(manner, kind);
        let account = (settings.subscriptions[0].clone(), settings.tenant.clone());
        let time = clock.clone();
        let simulator = Simulator::new(kinds(), settings, Arc::new(move || time.now()));
        let journal = Journal::default();
        let cluster = MemoryCluster::with_kinds(journal.clone(), kinds());
        let cluster = Arc::new(cluster.stopped_at(breakpoint.clone()));
        let client = |name, breakpoint| {
            Client::new(
                simulator.clone(),
                clock.clone(),
                name,
                account.clone(),
                breakpoint,
            )
        };
        let arm: Arc<dyn Transport> = Arc::new(client(OPERATOR, breakpoint.clone()));
        let reconciler = Reconciler {
            kubernetes: cluster.clone() as Arc<dyn KubernetesPort>,
            remotes: remotes(&arm),
            extensions: registry(),
            deferred: Arc::default(),
            absences: Arc::default(),
            departures: Arc::default(),
            written: Arc::default(),
            left_alone: Arc::default(),
            expressions: Arc::default(),
            clock: clock.clone(),
            since: clock.now(),
            settings: operator(),
            cancellation: CancellationToken::new(),
        };
        let others = client(OTHERS, Arc::default());
        put_first_data(&cluster);
        Self {
            cluster,
            simulator,
            subjects: Vec::new(),
            target: 0,
            ledger: Ledger::default(),
            transcript: Vec::new(),
            violations: Vec::new(),
            manner,
            clock,
            breakpoint,
            reconciler,
            arm,
            others,
            schedule: Schedule::default(),
            journal,
            late: None,
            renames: 0,
            timers: timers(),
        }
    }

    /// A world in which nothing was ever but the last manifests of this one.
    pub fn afresh(&self) -> Self {
        let kind = self.subjects[self.target].kind;
        let mut fresh = Self::empty(kind, self.manner);
        for data in [DataKind::Secret, DataKind::ConfigMap] {
            if let Some(value) = self.cluster.data(data, DATA.0, DATA.1) {
                fresh.cluster.put_data(data, DATA.0, &[(DATA.1, &value)]);
            }
        }
        fresh.subjects.clone_from(&self.subjects);
        fresh.target = self.target;
        for index in 0..fresh.subjects.len() {
            let spec = fresh.subjects[index].spec.take();
            let is_there = self.cluster.object(&self.subjects[index].key());
            let is_there =
                is_there.is_some_and(|object| object.metadata.deletion_timestamp.is_none());
            if let Some(spec) = spec.filter(|_| is_there) {
                fresh.apply(index, spec);
                // What comes into being with its owner is sent too, and not left at what it has.
                let subject = &fresh.subjects[index];
                if matches!(subject.kind.name, NameRule::Fixed(_)) {
                    let cluster = &fresh.cluster;
                    cluster.annotate(&subject.key(), names::ALWAYS_PUT, Some("true"));
                }
                fresh.quiet();
            }
        }
        fresh
    }

    fn subscription(&self) -> String {
        Settings::default().subscriptions[0].clone()
    }

    /// Whether Azure keeps what a PUT leaves out.
    pub fn keeps(&self) -> bool {
        self.manner.keeps
    }

    /// Subjects whose manifest Azure refused, the highest first, or that never became ready without a PUT; and owners that
    /// are not ready, on which nothing can be built.
    pub fn refused(&self) -> Vec<usize> {
        let requests = self.requests(0);
        let is_refused = |index: &usize| {
            let subject = &self.subjects[*index];
            let key = subject.key();
            if subject.spec.is_none() || self.cluster.object(&key).is_none() {
                return false;
            }
            let is_ready = self.cluster.condition(&key, "Ready").starts_with("True");
            let is_owner = self
                .subjects
                .iter()
                .any(|other| other.owner == Some(*index));
            let mut requests = requests.iter().rev();
            let put = requests.find(|request| {
                request.method == "PUT" && request.path.eq_ignore_ascii_case(&subject.id)
            });
            let is_taken = put.map(|put| put.status < 400);
            !is_taken.unwrap_or(is_ready) || (is_owner && !is_ready)
        };
        (0..self.subjects.len()).filter(is_refused).collect()
    }

    /// The manifest of a subject becomes a plain one.
    pub fn apply_plain(&mut self, index: usize, draw: Draw) {
        let spec = self.subjects[index].drawn(draw);
        self.apply(index, spec);
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The operator's requests after the one of this number.
    pub fn requests(&self, after: u64) -> Vec<LoggedRequest> {
        let mut requests = self.simulator.requests(&Query {
            after: Some(after),
            ..Query::default()
        });
        requests.retain(|request| request.principal == OPERATOR);
        requests
    }

    /// The number of the last request.
    pub fn sequence(&self) -> u64 {
        self.simulator.sequence()
    }

    /// The policy that holds for an object, and whether it is only observed.
    pub fn policy(&self, key: &ObjectKey) -> (Policy, bool) {
        let own = self.cluster.annotation(key, names::RECONCILE_POLICY);
        let own = own.and_then(|text| Policy::parse(&text));
        let of_namespace = || {
            let annotations = self.cluster.annotations_of_namespace(NAMESPACE);
            let text = annotations.get(names::RECONCILE_POLICY);
            text.and_then(|text| Policy::parse(text))
                .unwrap_or_default()
        };
        let observed = self.cluster.annotation(key, names::OBSERVE).as_deref() == Some("true");
        (own.unwrap_or_else(of_namespace), observed)
    }

    /// One pass; `None` when it was stopped in the middle.
    fn pass(&mut self, key: &ObjectKey) -> Option<Requeue> {
        let begun = self.begin(key);
        let outcome = self.drive(begun);
        let requeue = outcome.ok()?;
        let now = self.now();
        self.schedule.finish(key, requeue, now);
        if self
            .journal
            .take()
            .iter()
            .any(|line| line.starts_with("wake"))
        {
            self.want_all();
        }
        Some(requeue)
    }

    fn begin(&self, key: &ObjectKey) -> Begun {
        let (reconciler, cluster_key) = (self.reconciler.clone(), key.clone());
        Begun {
            key: key.clone(),
            policy: self.policy(key),
            was_claimed: self.is_claimed(key),
            body: self.body_of(key).map(Box::new),
            running: Box::pin(async move { reconciler.reconcile(&cluster_key).await }),
        }
    }

    fn polled(&self, begun: &mut Begun) -> Option<Requeue> {
        let _timers = self.timers.enter();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..8 {
            match begun.running.as_mut().poll(&mut context) {
                Poll::Ready(requeue) => return Some(requeue),
                Poll::Pending if self.breakpoint.held().is_some() => return None,
                Poll::Pending => {}
            }
        }
        None
    }

    /// Polls until the end, or until nothing moves: then the pass is given back.
    fn drive(&mut self, mut begun: Begun) -> Result<Requeue, Begun> {
        let before = self.sequence();
        let was_there = self.cluster.object(&begun.key).is_some();
        let conflicts = self.cluster.interferences();
        let outcome = self.polled(&mut begun);
        for request in self.requests(before) {
            let LoggedRequest {
                method,
                path,
                status,
                body,
                ..
            } = request;
            let body = body.map_or_else(String::new, |body| format!(": {body}"));
            let line = format!("    {}: {method} {path} ({status}){body}", begun.key);
            self.transcript.push(line);
        }
        self.check_policy(&begun.key, begun.policy, before);
        let is_overtaken = self.cluster.interferences() < conflicts;
        self.note_manifest(&begun, before, (outcome.is_none(), is_overtaken));
        if was_there && self.cluster.object(&begun.key).is_none() {
            self.note_end(&begun);
        }
        outcome.ok_or(begun)
    }

    /// From its claim on the operator may know of what a manifest named.
    fn note_manifest(&mut self, begun: &Begun, before: u64, (is_cut, is_overtaken): (bool, bool)) {
        let (Some(id), Some(body)) = (self.id_of(&begun.key), &begun.body) else {
            return;
        };
        let is_taken = |request: &LoggedRequest| {
            request.method == "PUT"
                && request.path.eq_ignore_ascii_case(&id)
                && request.status < 300
        };
        let is_sent = self.requests(before).iter().any(is_taken);
        // What is only looked at is not recorded.
        let (policy, observed) = begun.policy;
        let is_recorded = policy.allows_put() && !observed && self.is_at_rest(&begun.key);
        let is_heard = !is_cut && (is_sent || is_recorded);
        let is_known = self.is_claimed(&begun.key);
        let record = self.ledger.of(&id);
        // What was sent may not be noted, which is as if the pass had been cut.
        record.cuts += usize::from(!is_cut && is_sent && is_overtaken);
        if is_known {
            record.name(body);
        }
        if is_heard {
            record.hear(body);
        }
    }

    /// What an object says that is taken over with an edit which was not sent.
    fn note_unsent(&mut self, has_edit: bool) {
        let subject = self.subjects[self.target].clone();
        let Some(spec) = subject.spec.as_ref().filter(|_| has_edit) else {
            return;
        };
        let served = subject.served(spec, self.owner_name(&subject).as_deref());
        self.ledger.of(&subject.id).unsent = subject.body(&served, &self.cluster).ok();
    }

    /// Whether Azure's latest answer was that nothing is there, and it was an old one: that is believed.
    fn was_denied(&self, id: &str) -> bool {
        let requests = self.requests(0);
        let mut latest = requests.iter().rev();
        let latest = latest.find(|request| request.path.eq_ignore_ascii_case(id));
        latest.is_some_and(|request| {
            request.method == "GET" && request.status == 404 && request.fault.is_some()
        })
    }

    /// The object of a pass is gone.
    fn note_end(&mut self, begun: &Begun) {
        let Some(id) = self.id_of(&begun.key) else {
            return;
        };
        let (policy, observed) = begun.policy;
        let mut others = self.subjects.iter();
        let is_held =
            others.any(|other| other.id == id && self.cluster.object(&other.key()).is_some());
        let is_anew = self.ledger.of(&id).is_anew && !is_held;
        let is_left = !policy.allows_delete() || observed || !begun.was_claimed || is_anew;
        if is_left || self.was_denied(&id) {
            self.ledger.of(&id).leave();
        } else if self.simulator.resource(&id).is_none() {
            self.ledger.of(&id).end();
        } else {
            self.ledger.of(&id).may_stay = false;
            if !is_held {
                let key = &begun.key;
                self.violations
                    .push(format!("{key} is gone, and {id} is in Azure"));
            }
        }
    }

    /// What the manifest of an object asks for, as far as that can be known.
    fn body_of(&self, key: &ObjectKey) -> Option<Value> {
        let mut subjects = self.subjects.iter().rev();
        let subject = subjects.find(|subject| subject.key() == *key)?;
        let served = subject.served(subject.spec.as_ref()?, self.owner_name(subject).as_deref());
        subject.body(&served, &self.cluster).ok()
    }

    /// Nothing is written for what is skipped or observed.
    fn check_policy(&mut self, key: &ObjectKey, (policy, observed): (Policy, bool), before: u64) {
        if policy.allows_put() && !observed {
            return;
        }
        for request in self.requests(before) {
            if ["PUT", "DELETE", "PATCH"].contains(&request.method.as_str()) {
                self.violations.push(format!(
                    "{key} is under {policy:?} (observed: {observed}), and {} {} was sent",
                    request.method, request.path
                ));
            }
        }
    }

    fn is_claimed(&self, key: &ObjectKey) -> bool {
        let object = self.cluster.object(key);
        let finalizers = object.and_then(|object| object.metadata.finalizers);
        finalizers.is_some_and(|names| names.iter().any(|name| name == names::FINALIZER))
    }

    fn id_of(&self, key: &ObjectKey) -> Option<String> {
        let mut subjects = self.subjects.iter().rev();
        let subject = subjects.find(|subject| subject.key() == *key)?;
        Some(subject.id.clone())
    }

    /// Everything is looked at once.
    fn want_all(&mut self) {
        let now = self.now();
        for subject in &self.subjects {
            let key = subject.key();
            if self.cluster.object(&key).is_some() {
                self.schedule.want(&key, now);
            }
        }
    }

    /// Works on what is due until the moment, at most this many passes.
    fn work(&mut self, until: Timestamp, most: usize) -> usize {
        let mut passes = 0;
        while passes < most
            && let Some((key, due)) = self.schedule.next(until)
        {
            self.clock.set(due);
            self.pass(&key);
            passes += 1;
        }
        passes
    }

    /// Works until nothing is due but syncs.
    pub fn quiet(&mut self) {
        self.deliver_late();
        for _ in 0..PASSES {
            if self.schedule.is_quiet() {
                return;
            }
            let Some((key, due)) = self.schedule.next(Timestamp::MAX) else {
                return;
            };
            self.clock.set(due);
            self.pass(&key);
        }
        let states: Vec<_> = self
            .subjects
            .iter()
            .map(|it| self.state(&it.key()))
            .collect();
        self.violations
            .push(format!("it never gets quiet: {}", states.join("; ")));
    }

    /// What an object says and when it is looked at again.
    pub fn state(&self, key: &ObjectKey) -> String {
        format!(
            "{key} Ready={} ({}), next {:?}",
            self.cluster.condition(key, "Ready"),
            self.cluster.message(key),
            self.schedule.last(key)
        )
    }

    /// Time passes until every sync is due, and each object is looked at.
    pub fn sync(&mut self, after: SignedDuration) {
        self.quiet();
        let now = self.now();
        self.clock.set(now.saturating_add(after).unwrap_or(now));
        self.want_all();
        self.quiet();
    }

    /// A process that nobody waits for writes for the last time.
    fn deliver_late(&mut self) {
        let Some(late) = self.late.take() else { return };
        self.breakpoint.release();
        self.breakpoint.arm(0, Side::After);
        drop(self.drive(late));
        self.breakpoint.release();
        self.want_all();
    }
}
