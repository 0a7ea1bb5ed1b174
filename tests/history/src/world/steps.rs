//! What each step of a plan does to a world.

use armature_runtime::kind::NameRule;
use armature_runtime::names;
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::reconcile::testing::Side;
use armature_runtime::resource::{Object, ObjectKey};
use armature_simulator::FaultRule;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use super::dropped::drops;
use super::harm::{drift_of, rule};
use super::shared::Shared;
use super::subject::{DATA, NAMESPACE, Subject};
use super::{FIRST_VALUE, OPERATOR_NAMESPACE, World};
use crate::edit;
use crate::permit::permit;
use crate::plan::{Change, Cut, DataChange, Draw, PolicyWord, Run, Step, Trouble, Verb, Who};

impl World {
    /// Does one step.
    pub fn step(&mut self, step: &Step) {
        match *step {
            Step::Apply(draw) => {
                let spec = self.subjects[self.target].drawn(draw);
                self.apply(self.target, spec);
            }
            Step::Edit(who, change, draw) => self.edit(who, change, draw),
            Step::Version(pick) => self.write_version(pick),
            Step::Policy(word) => self.annotate(names::RECONCILE_POLICY, text_of(word)),
            Step::NamespacePolicy(word) => self.annotate_namespace(word),
            Step::Observe(is_on) => self.annotate(names::OBSERVE, is_on.then_some("true")),
            Step::Secret(change) => self.change_data(DataKind::Secret, change),
            Step::ConfigMap(change) => self.change_data(DataKind::ConfigMap, change),
            Step::Delete => self.delete(),
            Step::Rename(keeps_name) => self.rename(keeps_name),
            Step::Precede(draw) => self.precede(draw),
            Step::FromAso(draw, edit) => self.take_over(draw, edit),
            Step::Drift(who, change, pick) => self.drift(who, change, pick),
            Step::Act(who, pick) => self.act(who, pick),
            Step::Permit(who, is_on, draw) => self.permit(who, is_on, draw),
            Step::Fight(who, pick) => self.fight(who, pick),
            Step::Vanish(who) => self.vanish(who),
            Step::Trouble(who, verb, trouble, count) => self.trouble(who, verb, trouble, count),
            Step::Conflicts(writes) => {
                self.say(format!("the next {writes} writes of objects come too late"));
                self.cluster.interfere(usize::from(writes));
            }
            Step::Restart => {
                self.say("the operator is restarted");
                self.late = None;
                self.restart();
            }
            Step::Crash(who, cut) => self.crash(who, cut),
            Step::FailOver(who, at) => self.fail_over(who, at),
            Step::Run(run) => self.run(run),
        }
        self.hear_events();
    }

    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.transcript.push(line.into());
    }

    pub(super) fn index(&self, who: Who) -> usize {
        match who {
            Who::Target => self.target,
            Who::Owner => self.subjects[self.target].owner.unwrap_or(self.target),
        }
    }

    pub(super) fn owner_name(&self, subject: &Subject) -> Option<String> {
        let owner = subject.owner?;
        Some(self.subjects[owner].name.clone())
    }

    /// Writes the manifest of a subject. Nothing happens to one that is being deleted.
    pub(super) fn apply(&mut self, index: usize, spec: Value) {
        self.write(index, spec, ObjectMeta::default());
    }

    /// Whether it is taken.
    fn write(&mut self, index: usize, spec: Value, metadata: ObjectMeta) -> bool {
        let subject = self.subjects[index].clone();
        let key = subject.key();
        let deleting = self.cluster.object(&key);
        if deleting.is_some_and(|object| object.metadata.deletion_timestamp.is_some()) {
            self.say(format!("{key} is being deleted and takes no manifest"));
            return false;
        }
        let served = subject.served(&spec, self.owner_name(&subject).as_deref());
        let before = self.asked_of(&subject);
        let (body, stored) = match (
            subject.body(&served, &self.cluster),
            subject.stored(served.clone()),
        ) {
            (Ok(body), Ok(stored)) => (body, stored),
            (Err(error), _) | (_, Err(error)) => {
                self.say(format!(
                    "{key}: a spec that the API server refuses: {error}"
                ));
                return false;
            }
        };
        let changed = self.cluster.store(Object {
            kind: key.kind,
            metadata: ObjectMeta {
                name: Some(key.name.clone()),
                namespace: Some(key.namespace.clone()),
                creation_timestamp: Some(Time(self.now())),
                ..metadata
            },
            spec: to_raw_value(&stored).ok(),
            status: None,
        });
        let now = self.now();
        let dropped = before.as_ref().filter(|_| changed);
        let dropped = dropped.map(|before| drops(&subject, before, &body, now));
        let record = self.ledger.of(&subject.id);
        record.edits += usize::from(changed);
        record.dropped.extend(dropped.into_iter().flatten());
        record.is_anew = false;
        if record.others.is_some() && record.heard.is_empty() {
            record.unsent = Some(body.clone());
        }
        record.edit(before.as_ref(), &body);
        self.say(format!("apply {key} ({}): {served}", subject.version.name));
        self.subjects[index].spec = Some(spec);
        self.schedule.want(&key, now);
        true
    }

    fn edit(&mut self, who: Who, change: Change, draw: Draw) {
        self.edit_by(who, |subject, spec| {
            edit::edit(subject.version.spec, spec, change, draw)
        });
    }

    fn permit(&mut self, who: Who, is_on: bool, draw: Draw) {
        self.edit_by(who, |subject, spec| {
            let arm_type = subject.kind.remote_type();
            permit(subject.version.spec, arm_type, spec, is_on, draw)
        });
    }

    /// Applies what the spec of an object that is there has become, where something of it has changed.
    fn edit_by(&mut self, who: Who, edit: impl FnOnce(&Subject, &mut Value) -> Option<String>) {
        let index = self.index(who);
        let subject = &self.subjects[index];
        if self.cluster.object(&subject.key()).is_none() {
            return;
        }
        let Some(mut spec) = subject.spec.clone() else {
            return;
        };
        let Some(said) = edit(subject, &mut spec) else {
            return;
        };
        self.subjects[index].settle(&mut spec);
        self.say(format!("edit: {said}"));
        self.apply(index, spec);
    }

    fn write_version(&mut self, pick: u8) {
        let target = self.target;
        let versions = self.subjects[target].kind.versions;
        let version = &versions[usize::from(pick) % versions.len()];
        // What the new version does not have is left out, as a user would.
        let known = |name: &str| version.spec.field(name).is_some();
        let spec = self.subjects[target].spec.clone();
        let before = std::mem::replace(&mut self.subjects[target].version, version);
        let there = self.cluster.object(&self.subjects[target].key()).is_some();
        let Some(Value::Object(mut members)) = spec.filter(|_| there) else {
            return;
        };
        members.retain(|name, _| known(name));
        if !self.write(target, Value::Object(members), ObjectMeta::default()) {
            self.subjects[target].version = before;
        }
    }

    fn annotate(&mut self, name: &str, value: Option<&str>) {
        let key = self.subjects[self.target].key();
        self.say(format!("{key}: {name} = {}", value.unwrap_or("nothing")));
        self.cluster.annotate(&key, name, value);
        if self.cluster.object(&key).is_some() {
            let now = self.now();
            self.schedule.want(&key, now);
        }
    }

    fn annotate_namespace(&mut self, word: PolicyWord) {
        let value = text_of(word);
        self.say(format!("namespace: policy {}", value.unwrap_or("nothing")));
        let annotations = value.map(|value| (names::RECONCILE_POLICY.to_owned(), value.to_owned()));
        self.cluster
            .annotate_namespace(NAMESPACE, annotations.into_iter().collect());
        self.want_all();
    }

    fn change_data(&mut self, kind: DataKind, change: DataChange) {
        self.say(format!("{kind} {}: {change:?}", DATA.0));
        let value = self.cluster.data(kind, DATA.0, DATA.1);
        let old = value.clone().unwrap_or_else(|| FIRST_VALUE.to_owned());
        match change {
            DataChange::Content => {
                // The last digit counts on, so that it stays what it looks like.
                let digit = old
                    .chars()
                    .last()
                    .and_then(|last| last.to_digit(10))
                    .unwrap_or(0);
                let new = format!("{}{}", &old[..old.len() - 1], (digit + 1) % 10);
                self.cluster.put_data(kind, DATA.0, &[(DATA.1, &new)]);
            }
            DataChange::OtherKey => {
                let number = self.sequence().to_string();
                self.cluster
                    .put_data(kind, DATA.0, &[(DATA.1, &old), ("other", &number)]);
            }
            DataChange::Label => self.cluster.touch_data(kind, DATA.0),
            DataChange::Same => self.cluster.put_data(kind, DATA.0, &[(DATA.1, &old)]),
            DataChange::Removed => self.cluster.remove_data(kind, DATA.0),
        }
        let changes = match change {
            DataChange::Content | DataChange::OtherKey => 1,
            DataChange::Label | DataChange::Same | DataChange::Removed => 0,
        };
        for index in 0..self.subjects.len() {
            if self.subjects[index].uses(kind) {
                let id = self.subjects[index].id.clone();
                self.ledger.of(&id).edits += changes;
            }
        }
        self.want_all();
    }

    fn delete(&mut self) {
        let subject = self.subjects[self.target].clone();
        let key = subject.key();
        if self.cluster.object(&key).is_none() {
            return;
        }
        let (policy, observed) = self.policy(&key);
        // Such a resource goes with its owner, and its object stays until then.
        if !subject.version.verbs.delete && policy.allows_delete() && !observed {
            return;
        }
        self.say(format!("delete {key}"));
        self.cluster.delete(&key);
        let now = self.now();
        if self.cluster.object(&key).is_none() {
            self.ledger.of(&subject.id).leave();
        } else {
            self.schedule.want(&key, now);
        }
    }

    fn rename(&mut self, keeps_name: bool) {
        let old = self.subjects[self.target].clone();
        let is_free = matches!(old.kind.name, NameRule::Free(_) | NameRule::Uuid { .. });
        if !is_free || !old.version.verbs.delete || self.cluster.object(&old.key()).is_none() {
            return;
        }
        let Some(spec) = old.spec.clone() else { return };
        self.delete();
        self.renames += 1;
        let name = format!("armature{}", self.renames);
        let owner = old.owner.map(|index| (index, &self.subjects[index]));
        let mut subject = Subject::new(old.kind, &name, owner, &self.subscription());
        subject.version = old.version;
        if keeps_name {
            subject.azure_name = old.azure_name;
            subject.id = old.id;
        }
        self.subjects.push(subject);
        self.target = self.subjects.len() - 1;
        self.apply(self.target, spec);
    }

    fn precede(&mut self, draw: Draw) {
        let subject = self.subjects[self.target].clone();
        let there = self.cluster.object(&subject.key()).is_some();
        if there || self.simulator.resource(&subject.id).is_some() {
            return;
        }
        self.put_by_others(&subject, draw);
        let mut others = self.subjects.iter();
        let is_anew =
            others.any(|it| it.id == subject.id && self.cluster.object(&it.key()).is_some());
        self.ledger.of(&subject.id).is_anew = is_anew;
    }

    /// Somebody else PUTs what the draw says. Returns whether Azure took it.
    fn put_by_others(&mut self, subject: &Subject, draw: Draw) -> bool {
        let spec = subject.drawn(draw);
        let served = subject.served(&spec, self.owner_name(subject).as_deref());
        let Ok(mut body) = subject.body(&served, &self.cluster) else {
            return false;
        };
        if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
            properties.shift_remove("createMode");
        }
        let url = format!("{}?api-version={}", subject.id, subject.version.api_version);
        let status = self.others.put(url, body.clone());
        self.say(format!(
            "somebody else PUTs {}: {body} ({status})",
            subject.id
        ));
        let record = self.ledger.of(&subject.id);
        record.may_stay = true;
        record.drifts += 1;
        let is_taken = status < 300 && status > 0;
        if is_taken {
            record.shared = Shared::of(subject, &body);
            record.others = Some(body);
        }
        is_taken
    }

    /// An object that Azure Service Operator has managed until now.
    fn take_over(&mut self, draw: Draw, edit: Option<Draw>) {
        let subject = self.subjects[self.target].clone();
        let there = self.cluster.object(&subject.key()).is_some();
        if there || self.simulator.resource(&subject.id).is_some() {
            return;
        }
        // What refers to nothing it could not have sent.
        let sent = Subject {
            spec: Some(subject.drawn(draw)),
            ..subject.clone()
        };
        let lacks = |kind| sent.uses(kind) && self.cluster.data(kind, DATA.0, DATA.1).is_none();
        if lacks(DataKind::Secret)
            || lacks(DataKind::ConfigMap)
            || !self.put_by_others(&subject, draw)
        {
            return;
        }
        // It says so once Azure has ended it.
        self.clock.advance(i64::from(self.manner.seconds) + 1);
        let generation = 4;
        let reconciled = if edit.is_some() { 3 } else { generation };
        let annotations = [
            (names::OPERATOR_NAMESPACE, OPERATOR_NAMESPACE.to_owned()),
            (names::RESOURCE_ID, subject.id.clone()),
            (names::LATEST_RECONCILED_GENERATION, reconciled.to_string()),
        ];
        let annotations = annotations.into_iter();
        let metadata = ObjectMeta {
            generation: Some(generation),
            finalizers: Some(vec![names::FINALIZER.to_owned()]),
            annotations: Some(
                annotations
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            ),
            ..ObjectMeta::default()
        };
        // What it has sent counts as named: it is what the manifest said. Where Azure keeps it nobody could tell, since
        // nothing in the object says what it was.
        let sent = subject.drawn(draw);
        let served = subject.served(&sent, self.owner_name(&subject).as_deref());
        if let Ok(body) = subject.body(&served, &self.cluster)
            && !self.manner.keeps
        {
            self.ledger.of(&subject.id).named.add(&body);
        }
        let spec = edit.map_or(sent, |edit| subject.drawn(edit));
        self.say(match reconciled == generation {
            true => "Azure Service Operator leaves it reconciled",
            false => "Azure Service Operator leaves it with an edit that it has not sent",
        });
        self.write(self.target, spec, metadata);
        self.note_unsent(edit.is_some());
    }

    fn drift(&mut self, who: Who, change: Change, pick: u16) {
        let subject = self.subjects[self.index(who)].clone();
        let Some(resource) = self.simulator.resource(&subject.id) else {
            return;
        };
        let Some(spec) = &subject.spec else { return };
        let served = subject.served(spec, self.owner_name(&subject).as_deref());
        let Ok(body) = subject.body(&served, &self.cluster) else {
            return;
        };
        let Some((path, value)) = drift_of(&resource, &body, change, pick) else {
            return;
        };
        let patch = path.iter().rev().fold(value, |below, name| {
            Value::Object(Map::from_iter([(name.clone(), below)]))
        });
        self.hit(&subject, &path, &patch);
    }

    /// Whether an answer after the latest PUT was one from before it: what it showed seems to be the service's own way.
    pub(super) fn is_outdated(&self, id: &str) -> bool {
        let requests = self.requests(0).into_iter();
        let of_this: Vec<_> = requests
            .filter(|request| request.path.eq_ignore_ascii_case(id))
            .collect();
        let mut since_put = of_this.iter().rev();
        since_put
            .by_ref()
            .take_while(|request| request.method != "PUT")
            .any(|request| request.fault.is_some() && (200..500).contains(&request.status))
    }

    /// Whether the operator has seen what came of all that it did for the object.
    pub(super) fn is_at_rest(&self, key: &ObjectKey) -> bool {
        let object = self.cluster.object(key);
        let generation = object.and_then(|object| object.metadata.generation);
        let observed = self.cluster.status(key)["observedGeneration"].as_i64();
        observed == generation
            && self.cluster.condition(key, "Ready").starts_with("True")
            && self
                .cluster
                .annotation(key, names::POLLER_RESUME_ID)
                .is_none()
    }

    fn vanish(&mut self, who: Who) {
        let id = self.subjects[self.index(who)].id.clone();
        if self.simulator.resource(&id).is_none() {
            return;
        }
        self.say(format!("somebody else removes {id}"));
        if self.simulator.remove(&id).is_ok() {
            for record in self.ledger.below(&id) {
                record.drifts += 1;
                record.moved.clear();
            }
        }
    }

    fn trouble(&mut self, who: Who, verb: Verb, trouble: Trouble, count: u8) {
        let id = self.subjects[self.index(who)].id.clone();
        // What Azure has shown does not vanish again: that is what the operator may build on.
        if trouble == Trouble::Stale
            && self.simulator.resource(&id).is_some()
            && self.simulator.resource_before(&id).is_none()
        {
            return;
        }
        let method = match verb {
            Verb::Put => "PUT",
            Verb::Get => "GET",
            Verb::Delete => "DELETE",
        };
        self.say(format!(
            "the next {count} {method} of {id} meet trouble: {trouble:?}"
        ));
        let plain = FaultRule {
            method: Some(method.to_owned()),
            path: Some(format!("{id}$")),
            count: Some(u64::from(count)),
            ..FaultRule::default()
        };
        self.simulator.add_fault(rule(plain, trouble));
    }

    fn crash(&mut self, who: Who, cut: Cut) {
        self.late = None;
        let subject = self.subjects[self.index(who)].clone();
        let side = if cut.done { Side::After } else { Side::Before };
        self.breakpoint.arm(usize::from(cut.at), side);
        let ended = self.pass(&subject.key()).is_some();
        let held = self.breakpoint.held();
        self.say(match (&held, cut.done) {
            (None, _) => format!(
                "a pass over {}, and the operator is restarted",
                subject.key()
            ),
            (Some(call), true) => format!("the operator dies after '{call}' for {}", subject.key()),
            (Some(call), false) => {
                format!("the operator dies before '{call}' for {}", subject.key())
            }
        });
        self.ledger.of(&subject.id).cuts += usize::from(!ended);
        self.restart();
    }

    /// The lease sees to it that no request to Azure is sent when another leads already; one that is on its way arrives. A
    /// write of an object may come at any time.
    fn fail_over(&mut self, who: Who, at: u8) {
        self.late = None;
        let subject = self.subjects[self.index(who)].clone();
        let key = subject.key();
        self.breakpoint.arm(usize::from(at), Side::Before);
        let begun = self.begin(&key);
        let outcome = self.drive(begun);
        let held = self.breakpoint.held();
        match (outcome, held) {
            (Err(begun), Some(call)) => {
                self.say(format!(
                    "the operator hangs at '{call}' for {key}; another takes over"
                ));
                self.ledger.of(&subject.id).cuts += 1;
                if call.starts_with("azure") {
                    self.late = Some(begun);
                    self.deliver_late();
                    self.restart();
                } else {
                    self.restart_keeping();
                    self.late = Some(begun);
                }
            }
            _ => {
                self.say("another operator takes over");
                self.restart();
            }
        }
    }

    fn run(&mut self, run: Run) {
        match run {
            Run::Passes(count) => {
                let now = self.now();
                let passes = self.work(now, usize::from(count));
                self.say(format!("{passes} passes"));
            }
            Run::Seconds(seconds) => {
                let seconds = SignedDuration::from_secs(i64::from(seconds));
                let until = self.now().saturating_add(seconds).unwrap_or(self.now());
                let passes = self.work(until, 200);
                self.clock.set(until);
                self.say(format!("{} seconds, {passes} passes", seconds.as_secs()));
            }
            Run::Quiet => {
                self.quiet();
                self.say("quiet");
            }
            Run::Sync => {
                self.sync(SignedDuration::from_hours(2));
                self.say("a sync of everything");
            }
        }
        self.deliver_late();
        let target = self.subjects[self.target].key();
        if self.cluster.object(&target).is_some() {
            self.say(format!("  {}", self.state(&target)));
        }
    }

    /// Nothing goes wrong any more, what specs refer to is there, and everything comes to rest.
    pub fn heal(&mut self) {
        self.simulator.clear_faults();
        self.cluster.interfere(0);
        for kind in [DataKind::Secret, DataKind::ConfigMap] {
            if self.cluster.data(kind, DATA.0, DATA.1).is_none() {
                self.change_data(kind, DataChange::Content);
            }
        }
        self.want_all();
        for _ in 0..2 {
            self.sync(SignedDuration::from_hours(25));
        }
        self.hear_events();
    }

    fn hear_events(&mut self) {
        for (key, event) in self.cluster.take_event_notes() {
            if let Some(id) = self.id_of(&key) {
                let text = format!("{}: {}", event.reason, event.message);
                if event.reason == names::event::KEPT {
                    self.say(format!("  event {text}"));
                }
                self.ledger.of(&id).events.push(text);
            }
        }
    }
}

fn text_of(word: PolicyWord) -> Option<&'static str> {
    match word {
        PolicyWord::None => None,
        PolicyWord::Manage => Some("manage"),
        PolicyWord::Skip => Some("skip"),
        PolicyWord::Detach => Some("detach-on-delete"),
    }
}
