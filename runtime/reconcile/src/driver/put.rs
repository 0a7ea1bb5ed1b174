//! The PUT, and what goes along with it that others own.

use armature_shapes::names;
use armature_shapes::resource::Kind;
use jiff::SignedDuration;
use serde_json::Value;

use super::findings::Seen;
use super::pass::Pass;
use crate::outcome::Write;
use crate::port::{EventNote, KubernetesError};
use crate::remote::Begun;

/// PUTs of one pass that are begun again because the resource changed after it was read, or may have.
const ATTEMPTS: usize = 3;

/// How old what Azure said may be when a PUT repeats it and the service is not known to look at ETags.
const OLDEST: SignedDuration = SignedDuration::from_secs(5);

/// How far behind a watch is thought to be at most.
const LONGEST_BEHIND: SignedDuration = SignedDuration::from_mins(2);

impl Pass<'_> {
    /// Step 13. Where Azure changed the resource since it was read, nothing was sent: the pass looks again.
    pub(super) async fn put(&mut self, event: EventNote) -> Result<(), KubernetesError> {
        let work = self.work().await?;
        if !work.is_settled && !self.findings.payload.carried.is_empty() {
            // Azure has changed since the PUT was decided on.
            self.look_anew();
            return Ok(());
        }
        let repeats = self.carries_children() || work.carries_azures();
        if self.is_too_old(repeats) {
            self.look_anew();
            return Ok(());
        }
        self.check_is_latest().await?;
        self.say_unserved(&event.message).await?;
        self.tell_outside_body().await;
        // What was sent before, of something else, is not what this one is recorded under.
        self.ways.main.take_correlation();
        let carried = self.told_carried(&work);
        let sent = self.send_put(work.body, repeats).await;
        self.note_sent();
        if matches!(sent, Begun::Overtaken(_)) {
            self.reconciler.written.has_refused(self.interface());
            if self.findings.writes.overtaken < ATTEMPTS {
                self.look_anew();
                return Ok(());
            }
        }
        let is_unheard = matches!(sent, Begun::Unheard(_));
        let (begun, operation) = self.begun(sent).await;
        if self.ways.session.put_off().is_none() {
            let event = self.with_credential(event);
            self.record(event).await;
        }
        // What got no answer may have arrived, and is noted as sent.
        let may_be_there = is_unheard || matches!(begun, Write::Completed | Write::Running(_));
        if let Some(carried) = carried.filter(|_| may_be_there) {
            self.record(carried).await;
        }
        if let Some(operation) = operation {
            self.save_operation(&operation).await?;
        }
        if is_unheard {
            self.note_unanswered_put().await?;
        }
        if begun == Write::Completed {
            self.findings.seen.expire();
        }
        self.findings.writes.put = Some(begun);
        Ok(())
    }

    /// A process that has just begun to manage objects knows them from a watch, which may be behind what the one before it has
    /// sent and noted: what that wrote would look like drift, and an older spec would go to Azure.
    async fn check_is_latest(&mut self) -> Result<(), KubernetesError> {
        let since = self.reconciler.since;
        let is_new = self.reconciler.clock.now().duration_since(since) < LONGEST_BEHIND;
        if self.is_latest || !is_new {
            return Ok(());
        }
        let key = self.object.key();
        let Some(latest) = self.reconciler.kubernetes.read(&key).await? else {
            let object = key.to_string();
            return Err(KubernetesError::Gone { object });
        };
        if latest.metadata.resource_version != self.object.metadata.resource_version {
            let object = key.to_string();
            return Err(KubernetesError::Conflict { object });
        }
        self.is_latest = true;
        Ok(())
    }

    /// The event of a first PUT tells which credential the claim chose, too.
    fn with_credential(&mut self, mut event: EventNote) -> EventNote {
        if event.reason == names::event::BEGIN_PUT
            && let Some(name) = self.untold_credential.take()
        {
            event
                .message
                .push_str(&format!("; using the credential in secret {name}"));
        }
        event
    }

    /// The PUT, on the condition that Azure has not changed the resource since it was read where the body repeats what Azure said.
    async fn send_put(&self, body: Value, repeats: bool) -> Begun {
        let body = self.with_children(body);
        // A service whose ETag changes by itself would never take a PUT; only lists of others are worth that.
        let is_last = self.findings.writes.overtaken == ATTEMPTS && !self.carries_children();
        let etag = self.etag().filter(|_| repeats && !is_last).cloned();
        match self.target() {
            Ok(target) => self.ways.session.write(target, body, etag).await,
            Err(failure) => Begun::Refused(failure.into()),
        }
    }

    fn etag(&self) -> Option<&String> {
        self.findings.seen.answer.as_ref()?.etag.as_ref()
    }

    /// The type of the resource, in the version in which Azure is asked.
    fn interface(&self) -> (Kind, &'static str) {
        (self.object.key().kind, self.version().api_version)
    }

    /// Whether a PUT would repeat what was read a while ago, with nothing that would have Azure refuse it if that has changed since:
    /// many services show ETags that they do not look at. What takes that long each time is sent in the end.
    fn is_too_old(&self, repeats: bool) -> bool {
        let since = self.findings.seen.since;
        let age = since.map(|since| self.reconciler.clock.now().duration_since(since));
        let is_guarded = self.etag().is_some() && self.reconciler.written.refuses(self.interface());
        repeats
            && !is_guarded
            && age.is_some_and(|age| age > OLDEST)
            && self.findings.writes.overtaken < ATTEMPTS
    }

    /// What Azure's own records call the PUT: its news is no news.
    fn note_sent(&self) {
        let reconciler = self.reconciler;
        if let Some(correlation) = self.ways.main.take_correlation() {
            let (key, now) = (self.object.key(), reconciler.clock.now());
            reconciler.written.sent(&key, correlation, now);
        }
    }

    /// Forgets what was found out from Azure's former answer.
    fn look_anew(&mut self) {
        let findings = &mut self.findings;
        findings.writes.overtaken += 1;
        findings.seen = Seen::default();
        findings.checks.before_put = None;
        findings.payload.body = None;
        findings.payload.comparison = None;
        findings.payload.contest = None;
        findings.payload.drift.clear();
        findings.payload.carried.clear();
    }

    /// Whether a PUT repeats what Azure has of children that are kinds of their own, or may be.
    pub(super) fn carries_children(&self) -> bool {
        self.children().next().is_some() || self.shared_lists().next().is_some()
    }

    /// Lists with items in Azure to which other objects may add some.
    fn shared_lists(&self) -> impl Iterator<Item = &'static [&'static str]> {
        let azure = self.findings.remote_body();
        let paths = self.version().keep_unknown.iter().copied();
        paths.filter(move |path| {
            let there = azure.and_then(|azure| azure.pointer(&pointer(path)));
            there
                .and_then(Value::as_array)
                .is_some_and(|items| !items.is_empty())
        })
    }

    /// A body that names the lists to which other objects may add items, so that these are seen where the spec names none.
    pub(super) fn with_shared_lists(&self, desired: &Value) -> Value {
        let mut body = desired.clone();
        for path in self.shared_lists() {
            if desired.pointer(&pointer(path)).is_none_or(Value::is_null) {
                insert(&mut body, path, Value::Array(Vec::new()));
            }
        }
        body
    }

    /// Where a body has children that are kinds of their own, and those that Azure has there.
    fn children(&self) -> impl Iterator<Item = (&'static [&'static str], &Value)> {
        let paths = self.version().child_lists.iter();
        let azure = self.findings.remote_body();
        paths.filter_map(move |path| {
            let there = azure?.pointer(&pointer(path))?;
            let is_empty = there.as_array().is_some_and(Vec::is_empty);
            (!is_empty && self.findings.desired().pointer(&pointer(path)).is_none())
                .then_some((*path, there))
        })
    }

    /// A body with the children that Azure has and that are kinds of their own: ARM deletes what a PUT does
    /// not name.
    fn with_children(&self, mut body: Value) -> Value {
        for (path, children) in self.children() {
            insert(&mut body, path, children.clone());
        }
        body
    }
}

fn pointer(path: &[&str]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

/// Writes a value below the body, making the objects on the way.
fn insert(body: &mut Value, path: &[&str], value: Value) {
    let mut at = body;
    for name in path {
        if !at.is_object() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = &mut at[*name];
    }
    *at = value;
}
