//! What Azure does by itself, and fights over a value.

use armature_runtime::reconcile::policy::Policy;
use armature_simulator::autonomy::{acts_of, owns, rows};
use armature_simulator::{Act, Changed, LoggedRequest, Wanted};
use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::World;
use super::harm::drift_of;
use super::ledger::{Moved, Touched};
use super::subject::Subject;
use crate::named::{Path, value_at};
use crate::plan::{Change, Who};

/// How often a value is changed in a fight.
const ROUNDS: u8 = 8;

/// Seconds from one change to the next.
const ROUND: i64 = 25;

impl World {
    /// Azure does one of what it does to the type.
    pub(super) fn act(&mut self, who: Who, pick: u32) {
        let subject = self.subjects[self.index(who)].clone();
        let Some(resource) = self.simulator.resource(&subject.id) else {
            return;
        };
        let mut acts = acts_of(subject.kind.remote_type());
        let has_tags = resource.get("tags").is_some();
        acts.retain(|act| match act {
            // That is a manner of Azure.
            Act::Respell => false,
            Act::TagByPolicy => has_tags,
            _ => true,
        });
        let number = usize::try_from(pick >> 1).unwrap_or(0);
        let Some(act) = number.checked_rem(acts.len()).map(|at| acts[at]) else {
            return;
        };
        let is_watched = pick.is_multiple_of(2) && self.settle(&subject);
        let restless = self.restless();
        let changes = self.simulator.act(&Wanted {
            id: subject.id.clone(),
            act,
            path: None,
            value: None,
            seed: u64::from(pick >> 1),
        });
        let Ok(changes) = changes else { return };
        for change in changes {
            let text = change
                .after
                .as_ref()
                .map_or_else(String::new, Value::to_string);
            let path = change.path.join(".");
            self.say(format!(
                "Azure does {} to {}: {path} = {text}",
                act.name(),
                subject.id
            ));
            self.note_move(&subject, act, change);
        }
        if is_watched {
            self.watch(&subject, act, &restless);
        }
    }

    /// Everything comes to rest. Whether the object does, so that what is written then has another reason.
    fn settle(&mut self, subject: &Subject) -> bool {
        for _ in 0..2 {
            self.sync(SignedDuration::from_hours(25));
        }
        let (policy, observed) = self.policy(&subject.key());
        policy != Policy::Skip && !observed && self.is_at_rest(&subject.key())
    }

    /// Ids of objects that are not at rest: what is refused is sent again, whatever Azure does elsewhere.
    fn restless(&self) -> Vec<String> {
        let subjects = self.subjects.iter();
        let restless = subjects.filter(|subject| !self.is_at_rest(&subject.key()));
        restless.map(|subject| subject.id.clone()).collect()
    }

    /// Nothing is written for what Azure did.
    fn watch(&mut self, subject: &Subject, act: Act, restless: &[String]) {
        let before = self.sequence();
        self.sync(SignedDuration::from_hours(2));
        let requests = self.requests(before);
        if requests.iter().any(|request| request.fault.is_some()) {
            return;
        }
        let is_write = |it: &&LoggedRequest| {
            let mut restless = restless.iter();
            !matches!(it.method.as_str(), "GET" | "HEAD")
                && !restless.any(|id| it.path.eq_ignore_ascii_case(id))
        };
        for request in requests.iter().filter(is_write) {
            self.violations.push(format!(
                "Azure did {} to {}, and {} {} was sent",
                act.name(),
                subject.id,
                request.method,
                request.path
            ));
        }
    }

    fn note_move(&mut self, subject: &Subject, act: Act, change: Changed) {
        let body = self.asked_of(subject);
        let said = body
            .as_ref()
            .and_then(|body| value_at(Some(body), &change.path));
        let moved = Moved {
            said: said.cloned(),
            depends: depends(subject.kind.remote_type(), &change.path),
            // What the manifest does not name Azure finds again by itself.
            is_firm: self.is_at_rest(&subject.key()) && said.is_some(),
            at: self.sequence(),
            was_named: false,
            act,
            change,
        };
        let record = self.ledger.of(&subject.id);
        record.acted.push(moved.change.path.clone());
        if !moved.change.is_item {
            record
                .moved
                .retain(|known| known.change.path != moved.change.path);
        }
        record.moved.push(moved);
    }

    /// What somebody else makes of a value that is Azure's looks like Azure's own move.
    pub(super) fn note_foreign_move(&mut self, subject: &Subject, path: &Path) {
        let asked = self.asked_of(subject);
        let (Some(asked), Some(azure)) = (asked, self.simulator.resource(&subject.id)) else {
            return;
        };
        self.ledger.of(&subject.id).loosen(path);
        if !owns(subject.kind.remote_type(), path, &asked, &azure) {
            return;
        }
        let change = Changed {
            path: path.clone(),
            before: None,
            after: value_at(Some(&azure), path).cloned(),
            is_item: false,
        };
        self.note_move(subject, Act::Autoscale, change);
        if let Some(moved) = self.ledger.of(&subject.id).moved.last_mut() {
            moved.is_firm = false;
        }
    }

    /// The body that the manifest of now asks for.
    pub(super) fn asked_of(&self, subject: &Subject) -> Option<Value> {
        let owner = self.owner_name(subject);
        let served = subject.served(subject.spec.as_ref()?, owner.as_deref());
        subject.body(&served, &self.cluster).ok()
    }

    /// Somebody changes the same thing again and again. It is put right with pauses that grow.
    pub(super) fn fight(&mut self, who: Who, pick: u16) {
        let subject = self.subjects[self.index(who)].clone();
        self.quiet();
        let asked = self.asked_of(&subject);
        let azure = self.simulator.resource(&subject.id);
        let (Some(asked), Some(azure), true) = (asked, azure, self.is_at_rest(&subject.key()))
        else {
            return;
        };
        let Some((path, value)) = drift_of(&azure, &asked, Change::Change, pick) else {
            return;
        };
        let patch = path.iter().rev().fold(value, |below, name| {
            Value::Object(Map::from_iter([(name.clone(), below)]))
        });
        let before = self.sequence();
        for _ in 0..ROUNDS {
            self.hit(&subject, &path, &patch);
            let until = self.now().saturating_add(SignedDuration::from_secs(ROUND));
            let until = until.unwrap_or(self.now());
            let now = self.now();
            self.schedule.want(&subject.key(), now);
            self.work(until, 20);
            self.clock.set(until);
        }
        self.check_pauses(&subject, before);
    }

    /// Somebody else changes a value of the resource.
    pub(super) fn hit(&mut self, subject: &Subject, path: &Path, patch: &Value) {
        if self.simulator.drift(&subject.id, patch).is_err() {
            return;
        }
        self.say(format!("somebody else changes {}: {patch}", subject.id));
        let touched = Touched {
            path: path.clone(),
            at: self.sequence(),
            is_unseen: !self.is_at_rest(&subject.key()) || self.is_outdated(&subject.id),
            is_edited: false,
        };
        let record = self.ledger.of(&subject.id);
        record.touched.push(touched);
        record.drifts += 1;
        self.note_foreign_move(subject, path);
    }

    /// From the first to the second time that it is put right a minute passes, then two, and so on.
    fn check_pauses(&mut self, subject: &Subject, before: u64) {
        let requests = self.requests(before);
        if requests
            .iter()
            .any(|it| it.fault.is_some() || it.status >= 400 || it.status == 0)
        {
            return;
        }
        let puts = requests.iter().filter(|request| {
            request.method == "PUT" && request.path.eq_ignore_ascii_case(&subject.id)
        });
        let times: Vec<_> = puts.map(|request| request.at).collect();
        let mut pause = SignedDuration::from_mins(1);
        for pair in times.windows(2) {
            let gap = pair[1].duration_since(pair[0]);
            // Times are remembered in seconds.
            if gap < pause - SignedDuration::from_secs(1) {
                self.violations.push(format!(
                    "{} is fought over, and was put right again after {gap:#}, where the pause is {pause:#}",
                    subject.id
                ));
            }
            pause *= 2;
        }
    }
}

/// Paths up to their first list on which it depends whether a value at a path is Azure's.
fn depends(arm_type: &str, path: &[String]) -> Vec<Path> {
    let up_to_list = |path: &str| -> Path {
        let steps = path.split('.');
        let mut found = Path::new();
        for step in steps {
            found.push(step.trim_end_matches("[]").to_owned());
            if step.ends_with("[]") {
                break;
            }
        }
        found
    };
    let number = |step: &&String| step.parse::<usize>().is_err();
    let mut found = vec![path.iter().take_while(number).cloned().collect()];
    for row in rows(arm_type) {
        found.extend(row.paths().map(up_to_list));
    }
    found
}
