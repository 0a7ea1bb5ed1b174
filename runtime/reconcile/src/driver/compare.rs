//! Was the spec edited, did Azure drift, and what is remembered of the latest PUT.

use std::collections::BTreeSet;

use armature_engine::compare::overlay::Others;
use armature_engine::compare::{
    self, Desired, Edit, Keyed, LeftOut, Mark, Place, Record, Remembered, Settled, edit,
};
use armature_engine::owned::{self, Owned};
use armature_shapes::names;
use serde_json::{Map, Value};

use super::items::Item;
use super::named::some;
use super::pass::Pass;
use super::work::Work;
use crate::action::warning;
use crate::observed::{Comparison, Differences, Recorded};
use crate::outcome::Write;
use crate::port::{EventNote, KubernetesError};

/// What a comparison has come to, with the differences in words.
pub(super) type Verdict = fn(Differences) -> Comparison;

/// What a PUT would change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Where Azure has something else than is desired, each place once. Values of secrets are not among them.
    pub differences: Vec<compare::Difference>,
    /// Which of the desired paths Azure never shows, and which can be set on creation only.
    pub marks: compare::Marks,
}

impl Pass<'_> {
    /// Steps 12 and 13: is there anything to send?
    pub(super) async fn compare(&mut self) -> Result<Comparison, KubernetesError> {
        let mut work = self.work().await?;
        let (mut verdict, mut differences) = self.compared(&work);
        if self.removes_only(&work) && self.removed(&mut work, &mut differences).is_none() {
            verdict = Comparison::Differs;
        }
        let (record, keyed) = (work.record.as_ref(), work.keyed());
        let is_drift = matches!(verdict(Differences::default()), Comparison::Differs(_));
        if is_drift {
            self.findings.payload.contest = self.contest(&differences, record, keyed);
            self.findings.payload.drift.clone_from(&differences);
        }
        let contest = self.findings.payload.contest.as_ref();
        let waits = contest.is_some_and(|contest| contest.wait.is_some());
        let contested = if waits { differences.len() } else { 0 };
        let left_alone = &self.reconciler.left_alone;
        left_alone.note(&self.object.key(), &work.owned.moved, contested);
        let is_sent = matches!(
            verdict(Differences::default()),
            Comparison::Edited(_) | Comparison::Differs(_)
        );
        self.findings.payload.removes = is_sent && work.items.has_gone();
        self.findings.payload.leaving = self.leaving(&work.items);
        Ok(verdict(shown(differences)))
    }

    /// Whether Azure has all of an edit that the policy keeps from it, for certain. What the body is made of may not be there.
    pub(super) async fn has_edit(&mut self) -> Result<bool, KubernetesError> {
        self.resolve_inputs().await?;
        if !matches!(self.findings.inputs.outcome, Some(Ok(()))) {
            return Ok(false);
        }
        self.findings.payload.body = Some(self.build_payload().await);
        if !matches!(self.findings.payload.body, Some(Ok(_))) || !self.version().verbs.get {
            return Ok(false);
        }
        let work = self.work().await?;
        if !self.knows_what_was_sent(&work) {
            return Ok(false);
        }
        let stays = work.items.has_gone() || self.leaving(&work.items).is_some();
        let is_equal = self.compared(&work).1.is_empty() && work.comparison(self).is_certain();
        Ok(is_equal && !stays)
    }

    /// Whether it is known what Azure has of an earlier spec: what was taken out of that one, and which value is an edit.
    fn knows_what_was_sent(&self, work: &Work) -> bool {
        let sent = self.book.put_generation();
        let record = work.record.as_ref();
        let is_known = record.is_some_and(|record| {
            sent == Some(record.generation()) && record.has_all_that_was_named()
        });
        let is_unknown = |moved: &owned::Moved| moved.is_unknown || moved.is_forgotten;
        let mut differing = work.owned.moved.iter().filter(|moved| moved.differs);
        is_known && !differing.any(is_unknown)
    }

    /// Items that are resources of their own and that the spec has dropped, and what becomes of each.
    pub(super) async fn items(&self) -> Result<Vec<Item>, KubernetesError> {
        Ok(self.work().await?.items.all().cloned().collect())
    }

    /// What a PUT would change, place by place.
    pub(super) async fn changes(&self) -> Result<Changes, KubernetesError> {
        let work = self.work().await?;
        let comparison = work.comparison(self);
        let mut differences = match self.findings.payload.comparison {
            Some(_) => self.compared(&work).1,
            // There is nothing to compare with.
            None => comparison.differences(),
        };
        let mut places = BTreeSet::new();
        differences.retain(|difference| places.insert(difference.path.clone()));
        Ok(Changes {
            differences,
            marks: comparison.marks(),
        })
    }

    /// Whether it has to be asked if another resource scales this one.
    pub(super) async fn asks_scaled(&self) -> Result<bool, KubernetesError> {
        Ok(self.work().await?.owned.asks_scaled)
    }

    /// Values that are Azure's, and are not those of the spec.
    pub(super) async fn left_alone(&self) -> Result<Vec<owned::Moved>, KubernetesError> {
        let mut moved = self.work().await?.owned.moved;
        moved.retain(|moved| moved.differs);
        Ok(moved)
    }

    /// What Azure has and a PUT of what is desired would leave out; nothing where there is no body to send.
    pub(super) async fn left_out(&self) -> Result<Vec<LeftOut>, KubernetesError> {
        if !matches!(self.findings.payload.body, Some(Ok(_))) {
            return Ok(Vec::new());
        }
        let work = self.work().await?;
        let whole = compare::Comparison {
            desired: &work.body,
            ..work.comparison(self)
        };
        Ok(whole.left_out(self.version().status))
    }

    pub(super) fn compared(&self, work: &Work) -> (Verdict, Vec<compare::Difference>) {
        let (comparison, keyed) = (work.comparison(self), work.keyed());
        let record = work.record.as_ref();
        let now = self.desired_now(work);
        let drift = || {
            let at = self.reconciler.clock.now();
            record.map_or_else(Vec::new, |record| record.drift(&comparison, keyed, at))
        };
        let secrets = &self.findings.inputs.secret_versions;
        let claimed = work.claimed.as_ref();
        match edit(record, claimed, self.book.put_generation(), &now) {
            Edit::Changed => {
                let taken_out = record.map(|record| record.taken_out(&comparison, keyed));
                let mut differences = comparison.differences();
                differences.extend(taken_out.unwrap_or_default());
                (Comparison::Edited, differences)
            }
            Edit::Unknown => match self.book.earlier_record() {
                Some(earlier) if !earlier.has_secrets(secrets, &work.uid) => {
                    (Comparison::Edited, comparison.differences())
                }
                Some(earlier) => unrecorded(comparison.differences_since(&earlier, &work.uid)),
                None => self.unknown(&comparison, claimed.is_some()),
            },
            Edit::None => match drift() {
                // The wait is over.
                differences if !differences.is_empty() && work.items.has_gone() => {
                    (Comparison::Edited, differences)
                }
                differences if differences.is_empty() && self.is_to_remember(work) => {
                    (|_| Comparison::Unrecorded, differences)
                }
                differences if differences.is_empty() => (|_| Comparison::Same, differences),
                differences => (Comparison::Differs, differences),
            },
            // Whatever Azure made of it.
            Edit::Sent => (|_| Comparison::Unrecorded, Vec::new()),
            Edit::Harmless => unrecorded(drift()),
            Edit::Rebuilt => self.rebuilt(record, &comparison, keyed),
        }
    }

    /// Whether there is more to remember of what Azure moves than the record has, without anything to send: what the spec says,
    /// where the record is of other rules or of none; what is told; what is scaled; and which members are ours of what is shared
    /// now and was not then.
    fn is_to_remember(&self, work: &Work) -> bool {
        let (comparison, record) = (work.comparison(self), work.record.as_ref());
        if record.is_some_and(|record| !record.covers_shared(&comparison, work.keyed())) {
            return true;
        }
        let Some(record) = record.filter(|_| work.has_rules) else {
            return work.items.are_news;
        };
        let is_told = |moved: &owned::Moved| moved.is_told && moved.is_new && moved.differs;
        let is_newly_scaled = |mark: &Mark| {
            let known = record.remembers(mark, work.keyed());
            mark.is_scaled && known == Remembered::Same { was_scaled: false }
        };
        work.items.are_news
            || !self.has_rules_of(record, work.keyed())
            || work.owned.moved.iter().any(is_told)
            || work.owned.marks.iter().any(is_newly_scaled)
    }

    /// Whether a record was made with the rules that there are.
    pub(super) fn has_rules_of(&self, record: &Record, keyed: Keyed<'_>) -> bool {
        let rules = owned::of_rules(&self.owned_rules());
        matches!(record.remembers(&rules, keyed), Remembered::Same { .. })
    }

    /// This release builds another body: what Azure changed is drift, the rest waits for the next edit.
    fn rebuilt(
        &self,
        record: Option<&Record>,
        comparison: &compare::Comparison<'_>,
        keyed: Keyed<'_>,
    ) -> (Verdict, Vec<compare::Difference>) {
        let Some(record) = record else {
            return unrecorded(comparison.differences());
        };
        let at = self.reconciler.clock.now();
        let drifted = record.drift_since_another_release(comparison, keyed, at);
        if !drifted.is_empty() {
            return (Comparison::Differs, drifted);
        }
        match record.differences(comparison, keyed, at) {
            differences if differences.is_empty() => (|_| Comparison::Unrecorded, differences),
            differences => (Comparison::Rebuilt, differences),
        }
    }

    /// The direct comparison alone. Where this operator has claimed the object and sent nothing of it that it knows of, it
    /// must prove that Azure has all that is desired; another operator has sent what it claimed.
    fn unknown(
        &self,
        comparison: &compare::Comparison<'_>,
        is_claimed: bool,
    ) -> (Verdict, Vec<compare::Difference>) {
        let differences = comparison.differences();
        let is_sent = self.book.put_generation().is_some() || !is_claimed;
        let is_certain = self.version().verbs.get && comparison.is_certain();
        if differences.is_empty() && !is_sent && !is_certain {
            return (Comparison::Edited, differences);
        }
        unrecorded(differences)
    }

    /// What a PUT will be made from, for the claim.
    pub(super) async fn claimed_spec(&self) -> Result<String, KubernetesError> {
        let work = self.work().await?;
        let now = self.desired_now(&work);
        let claimed = match &self.findings.payload.body {
            Some(Ok(_)) => Record::foretelling(&now, &work.comparison(self), work.keyed()),
            _ => Record::claimed(&now, work.keyed()),
        };
        Ok(claimed.encode())
    }

    /// What is kept while Azure works on a PUT, so that its end can tell whether something else is desired by then, and
    /// so that a PUT that fails is not taken for one that arrived.
    pub(super) async fn sent(&self) -> Result<Record, KubernetesError> {
        let work = self.work().await?;
        let (now, comparison) = (self.desired_now(&work), work.comparison(self));
        // What was sent of another spec and is not known to have arrived may be what appears.
        let mut earlier = work.record.iter().chain(&work.claimed);
        // Of some kinds Azure shows that they are there, and no more.
        let is_there = self.findings.seen.answer.is_some();
        let may_be_there = is_there || earlier.any(|earlier| !earlier.is_of(&now));
        let before = work.before();
        let record = Record::sent(&now, &comparison, work.keyed(), before, may_be_there);
        Ok(record)
    }

    /// Notes what was sent where no answer came: whatever is desired next, it is not what Azure has for certain. Of a PUT that
    /// repeats what is recorded there is nothing to note.
    pub(super) async fn note_unheard(&mut self) -> Result<(), KubernetesError> {
        let work = self.work().await?;
        let now = self.desired_now(&work);
        if work.record.is_some_and(|record| record.is_settled(&now)) {
            return Ok(());
        }
        let sent = self.sent().await?;
        // A record counts as long as it is of the generation that was sent last.
        match self.book.put_generation() {
            Some(_) => self.book.note_record(&sent, self.generation),
            None => self.book.note_record_alone(&sent),
        }
        Ok(())
    }

    /// Notes a PUT that Azure took and whose outcome this pass could not read, so that the next pass reads it instead of
    /// sending it again.
    pub(super) async fn note_unread(&mut self) -> Result<(), KubernetesError> {
        // Once the finalizer is gone, so is the object, or it is not ours to write.
        let is_over = !self.is_claimed() || self.findings.payload.recorded.is_some();
        if is_over || !self.observed().wrote() {
            return Ok(());
        }
        let work = self.work().await?;
        match &self.findings.writes.put {
            Some(Write::Completed) => {
                let (now, comparison) = (self.desired_now(&work), work.comparison(self));
                let sent = Record::sent(&now, &comparison, work.keyed(), work.before(), true);
                self.book.note_record(&sent.answered(), self.generation);
            }
            // Of an operation that has ended it is there since it began.
            _ => match work.record {
                Some(sent) => self.book.note_record_alone(&sent.answered()),
                None => return Ok(()),
            },
        }
        self.write_notes_anyway().await
    }

    /// Step 15 after a PUT, and where there was nothing to send: what is desired, what Azure made of it, and from which
    /// generation, in one write.
    pub(super) async fn record_settled(&mut self) -> Result<Recorded, KubernetesError> {
        let work = self.work().await?;
        let now = self.desired_now(&work);
        let sent = work.record.as_ref();
        if self.findings.writes.poll.is_some() && sent.is_some_and(|sent| !sent.is_of(&now)) {
            return Ok(Recorded::Outdated);
        }
        let before = work.before();
        let comparison = work.comparison(self);
        let again = self.look_again(&comparison).await;
        let at = self.reconciler.clock.now();
        let settled = Record::settled(&now, &comparison, work.keyed(), again.as_ref(), before, at);
        if settled.forgotten > 0 {
            tracing::warn!(
                paths = settled.forgotten,
                "Azure writes more paths in its own way than are remembered: where one of them changes, all of them count as drift"
            );
        }
        self.findings.payload.carried.clone_from(&work.carried);
        let mut events = self.events(&settled, &work.owned);
        events.extend(self.told_unsure(&settled, before));
        events.extend(work.items.told());
        self.findings.payload.leaving = self.leaving(&work.items);
        if events.is_empty() && self.is_foretold(&settled.record, work.keyed()) {
            self.forget_deferred();
            self.book.confirm_claim();
            return Ok(Recorded::Current);
        }
        let before = self.book.clone();
        self.book.note_record(&settled.record, self.generation);
        self.book.end_operation();
        // Before the record, after which nobody would know it: better told twice than never.
        for event in events {
            self.record(event).await;
        }
        if self.book != before {
            self.write_notes_anyway().await?;
        }
        if self.observed().wrote() && self.carries_children() {
            // They were sent as Azure had them a moment ago.
            let key = self.object.key();
            self.reconciler.kubernetes.wake_dependents(&key);
        }
        Ok(Recorded::Current)
    }

    /// What is told once, when it is found.
    fn events(&self, settled: &Settled, owned: &Owned) -> Vec<EventNote> {
        let mut events = Vec::new();
        events.extend(self.told_of(owned));
        if !settled.kept.is_empty() {
            let message = format!(
                "Azure keeps {}, which the spec no longer names",
                some(&settled.kept, ", ")
            );
            events.push(warning(names::event::KEPT, message));
        }
        if !settled.unstable.is_empty() {
            let paths = |of: fn(&Place) -> &String| -> Vec<String> {
                settled
                    .unstable
                    .iter()
                    .map(|place| of(place).clone())
                    .collect()
            };
            let hours = compare::UNSTABLE_FOR.as_hours();
            let message = format!(
                "Azure changes {} by itself: not compared for {hours} h, or until the next edit",
                some(&paths(|place| &place.path), ", ")
            );
            events.push(EventNote {
                paths: paths(|place| &place.schema_path),
                ..warning(names::event::UNSTABLE, message)
            });
        }
        if let Some(Comparison::Rebuilt(differences)) = &self.findings.payload.comparison {
            let message = format!(
                "this release of the operator would send something else, which waits for the next edit: {differences}"
            );
            events.push(warning(names::event::REBUILT, message));
        }
        events
    }

    /// Where the service rewrote something of what was sent: what it says when it is asked once more. A value that is
    /// another one then changes by itself.
    async fn look_again(&self, comparison: &compare::Comparison<'_>) -> Option<Value> {
        self.findings.remote_body()?;
        if !self.observed().wrote() || comparison.differences().is_empty() {
            return None;
        }
        let read = self.ways.session.read(self.target().ok()?).await;
        read.ok().flatten()?.body
    }

    pub(super) fn desired_now(&self, work: &Work) -> Desired {
        let shape = self.version().spec;
        let others = Others {
            ignored: &self.ignored_paths(),
            shared: &[],
            is_ours: &|_| true,
            filled: &|_, _| 0,
            is_held: &|_, _| false,
        };
        // What is ignored is no part of what is desired: with nothing in Azure it falls out. Nor is what only Azure says.
        let nothing = Value::Object(Map::new());
        let asked = owned::asked(shape, &self.owned_rules(), self.findings.desired());
        let body = others.body(shape, &asked, &nothing);
        let inputs = self.input_texts();
        let inputs: Vec<[&str; 3]> = inputs
            .iter()
            .map(|input| input.each_ref().map(String::as_str))
            .collect();
        let build = &self.reconciler.settings.operator_version;
        Desired::new(work.keyed(), self.generation, &body, &inputs, build)
    }

    /// All that the body is made from beside the spec, by its content: a Secret that is only labelled anew has not
    /// changed.
    fn input_texts(&self) -> Vec<[String; 3]> {
        let resolved = &self.findings.inputs.resolved;
        let mut texts = Vec::new();
        let mut add = |kind: &str, name: String, value: &str| {
            texts.push([kind.to_owned(), name, value.to_owned()]);
        };
        if let Some(id) = self.id() {
            add("id", String::new(), &id.as_str().to_lowercase());
        }
        for (target, id) in &resolved.references {
            add("reference", target.to_string(), &id.to_lowercase());
        }
        for (key, value) in &resolved.secrets {
            add("secret", key.to_string(), value);
        }
        for (name, values) in &resolved.secret_maps {
            for (key, value) in values {
                add("secret", format!("{name}/{key}"), value);
            }
        }
        for (key, value) in &resolved.config_maps {
            add("config map", key.to_string(), value);
        }
        texts
    }

    /// ARM paths in an annotation of the user: a list with commas.
    pub(super) fn paths(&self, name: &str) -> Vec<String> {
        let paths = self
            .annotation(name)
            .unwrap_or("")
            .split(',')
            .map(str::trim);
        paths
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Whether spec or inputs are other ones than those that were sent last. The body must be built.
    pub(super) async fn is_edited(&self) -> Result<bool, KubernetesError> {
        let work = self.work().await?;
        let now = self.desired_now(&work);
        Ok(work.record.is_some_and(|sent| !sent.is_of(&now)))
    }
}

/// Nothing to send, and still to be remembered; or something that differs.
fn unrecorded(differences: Vec<compare::Difference>) -> (Verdict, Vec<compare::Difference>) {
    if differences.is_empty() {
        (|_| Comparison::Unrecorded, differences)
    } else {
        (Comparison::Differs, differences)
    }
}

/// The differences in words, the first ones of many, each place once.
fn shown(differences: Vec<compare::Difference>) -> Differences {
    let mut places = BTreeSet::new();
    let texts: Vec<String> = differences
        .iter()
        .filter(|difference| places.insert(&difference.path))
        .map(ToString::to_string)
        .collect();
    let paths = differences.iter();
    let paths = paths.map(|difference| difference.schema_path.clone());
    Differences {
        text: some(&texts, "; "),
        paths: paths.collect::<BTreeSet<_>>().into_iter().collect(),
    }
}
