//! What a pass compares: the body to send, what Azure has, and what of both is whose.

use armature_engine::compare::overlay::Others;
use armature_engine::compare::{
    self, DigestKey, Held, Keyed, Mark, Record, Remembered, Repeated, Timed,
};
use armature_engine::owned::{Owned, Right};
use armature_shapes::names;
use serde_json::Value;

use super::items::{Items, filled};
use super::pass::Pass;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::port::KubernetesError;

/// Of what has one of these rights nothing is sent.
pub(super) const UNSENT: [&str; 2] = [Right::Unsent.name(), Right::ReadOnly.name()];

/// What is compared in one step: the digests' key, what the user's annotations say, and the body.
pub(super) struct Work {
    pub key: DigestKey,
    pub uid: String,
    /// What is not compared, as the user says.
    pub ignored: Vec<String>,
    /// Where others add members.
    pub shared: Vec<String>,
    /// What is desired, with Azure's values where they are Azure's.
    pub owned: Owned,
    /// Items that are resources of their own and that the spec has dropped.
    pub items: Items,
    /// Those that stay.
    pub held: Vec<Held>,
    /// Drift that is put right later: the body repeats what Azure has there.
    pub carried: Vec<String>,
    /// Whether the body is known to repeat it.
    pub is_settled: bool,
    /// What the record is to note beside a time.
    pub timed: Vec<Timed>,
    /// Whether there are rules for what Azure moves.
    pub has_rules: bool,
    /// The record, where it can be read.
    pub record: Option<Record>,
    /// That of the claim: without another one, a PUT of it may have arrived of which nobody heard.
    pub claimed: Option<Record>,
    /// The body of a PUT.
    pub body: Value,
}

impl Work {
    pub fn keyed(&self) -> Keyed<'_> {
        self.key.of(&self.uid)
    }

    /// What was sent last, or may have been.
    pub fn before(&self) -> Option<&Record> {
        self.record.as_ref().or(self.claimed.as_ref())
    }

    /// Whether the body repeats what Azure has of values that are not ours: it may have changed since it was read.
    pub fn carries_azures(&self) -> bool {
        let mut moved = self.owned.moved.iter();
        self.body != self.owned.desired || moved.any(|moved| !UNSENT.contains(&moved.right))
    }

    pub fn comparison<'a>(&'a self, pass: &'a Pass<'_>) -> compare::Comparison<'a> {
        let desired = match self.shared.is_empty() {
            true => &self.owned.desired,
            false => &self.body,
        };
        // What can only be asked by HEAD shows nothing that could have drifted.
        let observed = match pass.version().verbs.get {
            true => pass.findings.remote_body().unwrap_or(&Value::Null),
            false => desired,
        };
        compare::Comparison {
            own: Some(pass.findings.desired()),
            ignored: &self.ignored,
            owned: &self.owned.ignored,
            shared: &self.shared,
            unnamed: &self.owned.unnamed,
            held: &self.held,
            timed: &self.timed,
            marks: self.has_rules.then_some(self.owned.marks.as_slice()),
            equal_values: pass.kind().equal_values,
            ..compare::Comparison::new(pass.version().spec, desired, observed)
        }
    }
}

impl Pass<'_> {
    pub(super) async fn work(&self) -> Result<Work, KubernetesError> {
        let key = self.reconciler.kubernetes.digest_key().await?;
        let uid = self.uid();
        let record = self.book.record(key.of(&uid));
        let claimed = self.book.claimed(key.of(&uid));
        let before = record.as_ref().or(claimed.as_ref());
        let keyed = key.of(&uid);
        let has_rules = before.is_some_and(|it| self.has_rules_of(it, keyed));
        let remembered = |mark: &Mark| {
            let known = before.map_or(Remembered::Nothing, |it| it.remembers(mark, keyed));
            match known {
                // Of a rule that is new nothing was noted.
                Remembered::Unnamed if !has_rules => Remembered::Nothing,
                known => known,
            }
        };
        let owned = self.owned(self.findings.remote_body(), &remembered);
        let ignored = self.ignored_paths();
        let mut shared = self.shared_paths();
        shared.extend_from_slice(&owned.shared);
        let desired = &owned.desired;
        let records: Vec<&Record> = record.iter().chain(&claimed).collect();
        let places = (ignored.as_slice(), shared.as_slice());
        let items = self.dropped((&records, keyed), places);
        let items = self.items_of(items).await?;
        let (held, mut timed) = (items.held(), items.timed(keyed));
        // An edit begins anew.
        let last = record
            .as_ref()
            .filter(|it| it.is_of_generation(self.generation));
        timed.extend(self.contested(&self.findings.payload.drift, last, keyed));
        let body = self.body_beside_others(desired, (&records, keyed), places, &held);
        let work = Work {
            key,
            uid,
            ignored,
            shared,
            owned,
            items,
            held,
            timed,
            has_rules: !self.owned_rules().is_empty(),
            carried: Vec::new(),
            is_settled: true,
            record,
            claimed,
            body,
        };
        Ok(self.carrying(work))
    }

    /// The same with Azure's values of drift that is put right later.
    fn carrying(&self, mut work: Work) -> Work {
        let carried = self.carried(&work);
        if carried.is_empty() {
            return work;
        }
        let Repeated {
            body,
            places,
            is_settled,
        } = self.repeated(&work, &carried);
        work.is_settled = is_settled;
        work.body = body;
        work.owned.ignored.extend_from_slice(&places);
        work.carried = places;
        let timed = self.carried_in(&work);
        work.timed.extend(timed);
        work
    }

    /// The body with what Azure has on these paths of differences. Items that go are not repeated.
    pub(super) fn repeated(&self, work: &Work, carried: &[String]) -> Repeated {
        let comparison = work.comparison(self);
        let observed = work.items.without_gone(comparison.observed);
        let comparison = compare::Comparison {
            desired: &work.body,
            observed: &observed,
            ..comparison
        };
        let moved = work.owned.moved.iter();
        let unsent = moved.filter(|moved| UNSENT.contains(&moved.right));
        let unsent: Vec<String> = unsent.map(|moved| moved.path.clone()).collect();
        comparison.repeating(carried, &unsent)
    }

    /// The body to send for what is desired, with what others own in the resource.
    fn body_beside_others(
        &self,
        desired: &Value,
        (records, keyed): (&[&Record], Keyed<'_>),
        (ignored, shared): (&[String], &[String]),
        held: &[Held],
    ) -> Value {
        let Some(azure) = self.findings.remote_body() else {
            return desired.clone();
        };
        let others = Others {
            ignored,
            shared,
            is_ours: &|member| {
                let mut records = records.iter();
                records.any(|record| record.was_ours(member, keyed))
            },
            filled: &|list, counts| filled(records, (list, counts), keyed),
            is_held: &|path, _| held.iter().any(|held| held.path == path),
        };
        others.body(self.version().spec, &self.with_shared_lists(desired), azure)
    }

    /// The body where these items stay.
    pub(super) fn body_beside(&self, work: &Work, held: &[Held]) -> Value {
        let records: Vec<&Record> = work.record.iter().chain(&work.claimed).collect();
        let places = (work.ignored.as_slice(), work.shared.as_slice());
        let records = (records.as_slice(), work.keyed());
        self.body_beside_others(&work.owned.desired, records, places, held)
    }

    /// Where others add members.
    fn shared_paths(&self) -> Vec<String> {
        let mut shared = self.paths(names::KEEP_UNKNOWN);
        let of_kind = self.version().keep_unknown.iter();
        shared.extend(of_kind.map(|path| path.join(".")));
        shared
    }

    /// Refuses a body of which it could not be remembered which members beside those of others are ours.
    pub(super) fn check_shared(&self, body: &Value) -> Result<(), Failure> {
        let shared = self.shared_paths();
        let comparison = compare::Comparison {
            shared: &shared,
            ..compare::Comparison::new(self.version().spec, body, &Value::Null)
        };
        if !comparison.has_too_many_shared() {
            return Ok(());
        }
        let message = format!(
            "the spec names more than {} members where others add members, too ({}): so many cannot be told from theirs, and \
             nothing is sent. Make them objects of their own where the kind has such, or spread them over several resources",
            compare::MOST_SHARED,
            shared.join(", ")
        );
        Err(Failure::error(reason::FAILED, message))
    }
}
