//! What must hold after every history, once nothing goes wrong any more and everything has come to rest.

use armature_runtime::names;
use armature_runtime::reconcile::condition::reason;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::shape::{ArmPlace, Flags, Semantic, StructShape, Type};
use jiff::SignedDuration;
use serde_json::Value;

use crate::moves;
use crate::named::{Mismatch, Named, Path, related, shown, value_at as at};
use crate::removals;
use crate::world::subject::Subject;
use crate::world::{Record, World};

/// In a pattern: any item of a list, any key of a map.
const ANY: &str = "*";

/// What does not hold. `world` has come to rest; `fresh` has only seen the last manifests.
pub fn faults(world: &mut World, fresh: &World) -> Vec<String> {
    let mut faults = std::mem::take(&mut world.violations);
    for index in 0..world.subjects.len() {
        let subject = world.subjects[index].clone();
        let is_current = index <= world.target && {
            let mut later = world.subjects.iter().skip(index + 1);
            !later.any(|other| other.key() == subject.key())
        };
        if is_current {
            object(world, fresh, &subject, &mut faults);
        }
    }
    orphans(world, &mut faults);
    puts(world, &mut faults);
    if faults.is_empty() {
        idle(world, &mut faults);
    }
    faults
}

fn object(world: &mut World, fresh: &World, subject: &Subject, faults: &mut Vec<String>) {
    let key = subject.key();
    let Some(object) = world.cluster.object(&key) else {
        return;
    };
    let state = world.state(&key);
    if object.metadata.deletion_timestamp.is_some() {
        // What Azure cannot delete waits for its owner to go, or for the user to let it go.
        let waits = world.cluster.condition(&key, "Ready");
        if subject.version.verbs.delete || !waits.ends_with(reason::DELETION_NOT_SUPPORTED) {
            faults.push(format!("it is still being deleted: {state}"));
        }
        return;
    }
    for name in [names::POLLER_RESUME_ID, names::POLLER_RESUME_TOKEN] {
        if world.cluster.annotation(&key, name).is_some() {
            faults.push(format!("an operation is still noted in {name}: {state}"));
        }
    }
    let (policy, observed) = world.policy(&key);
    if policy != Policy::Skip && !observed && !lacks_owner(world, subject) {
        let record = world.ledger.of(&subject.id).clone();
        let is_sent = |path: &[String]| !has_right(subject, path, &["read-only", "unsent"]);
        faults.extend(moves::lost(world, subject, &record, &is_sent));
        let ends = Ends::of(world, fresh, subject, record);
        ends.readiness(&state, faults);
        // What the operator refuses to send leaves Azure as it is.
        let is_blocked = |world: &World| {
            let ready = world.cluster.condition(&key, "Ready");
            ready.ends_with(reason::BLOCKED)
        };
        // What no GET shows and a service keeps, nobody can tell.
        let is_hidden = ends.world.keeps() && !subject.version.verbs.get;
        let are_blocked = is_blocked(ends.world) && is_blocked(fresh);
        if !(is_hidden || are_blocked) {
            ends.differences(faults);
        }
    }
}

/// An object at rest, and the same one where only the last manifests were seen.
struct Ends<'w> {
    world: &'w World,
    fresh: &'w World,
    subject: &'w Subject,
    record: Record,
    /// The last body that the manifest asks for.
    body: Option<Value>,
    /// The paths that it names.
    last: Named,
    /// Requests that may have written it.
    puts: Vec<u64>,
    /// What Azure shows in the one and in the other.
    want: Option<Value>,
    /// What was sent in the one.
    sent: Option<Value>,
    /// Where they differ.
    differing: Vec<Mismatch>,
}

impl<'w> Ends<'w> {
    fn of(world: &'w World, fresh: &'w World, subject: &'w Subject, record: Record) -> Self {
        let have = world.simulator.resource(&subject.id);
        let want = fresh.simulator.resource(&subject.id);
        let sent = world.simulator.desired(&subject.id);
        let mut differing = record.named.compare(have.as_ref(), want.as_ref());
        // What GET does not show. What it does show alike need not have been sent: it may have been there.
        let other = fresh.simulator.desired(&subject.id);
        for found in record.named.compare(sent.as_ref(), other.as_ref()) {
            let shown = at(have.as_ref(), &found.path);
            let is_alike = shown.is_some() && shown == at(want.as_ref(), &found.path);
            let is_known = differing.iter().any(|other| other.path == found.path);
            // What GET does not show and a service keeps, nobody can tell.
            if !is_alike && !world.keeps() && !is_known {
                differing.push(found);
            }
        }
        let body = last_body(world, subject);
        let mut last = Named::default();
        if let Some(body) = &body {
            last.add(body);
        }
        Self {
            world,
            fresh,
            subject,
            body,
            last,
            puts: puts_of(world, &subject.id),
            record,
            want,
            sent,
            differing,
        }
    }

    /// It is as ready as the other one.
    fn readiness(&self, state: &str, faults: &mut Vec<String>) {
        let (world, fresh, key) = (self.world, self.fresh, self.subject.key());
        let ready = |world: &World| world.cluster.condition(&key, "Ready");
        let mut differing = self.differing.iter();
        // What is kept, or was left by an earlier object, may be what keeps it from being ready.
        let has_more = self.record.others.is_some()
            || differing.clone().any(|found| !self.last.has(&found.path));
        let is_kept_unready = (world.keeps() && has_more || self.record.is_left)
            && ready(world).ends_with(reason::POST_CHECK_FAILED);
        // What others changed may be what would have kept it from being ready.
        let is_made_ready = ready(fresh).ends_with(reason::POST_CHECK_FAILED)
            && differing.any(|found| self.is_of_others(found));
        if ready(world) != ready(fresh) && !is_kept_unready && !is_made_ready {
            let other = fresh.state(&key);
            faults.push(format!(
                "{state}, where the last manifest alone gives {other}"
            ));
        }
    }

    /// Azure has of it what it has of the other one, but for what nobody can mend or was told of.
    fn differences(&self, faults: &mut Vec<String>) {
        let (world, subject) = (self.world, self.subject);
        let kept = creation_only(subject);
        let is_misled = was_misled(world, &subject.id);
        for found in &self.differing {
            let path = &found.path;
            let is_named = self.last.has(path);
            // What a service makes of what it keeps is its own.
            let is_made = world.keeps() && at(self.sent.as_ref(), path).is_none();
            let is_excused = kept.iter().any(|pattern| matches(pattern, path))
                || is_made && !is_named
                || is_beyond(subject, path)
                || has_right(subject, path, &["read-only"])
                || self.is_unsent(path)
                || !is_named && self.is_of_nameless(path)
                || !is_named && has_right(subject, path, &["from ", "autoscaled"])
                || self.is_of_others(found)
                || self.record.shared.explains(found)
                || self.is_default_of_others(found)
                || self.is_kept_default(found)
                || self.is_left_at_takeover(found)
                || self.is_moved(found)
                || is_told(world, &self.record, &self.last, found)
                || world.keeps() && was_there(&self.record, found)
                || is_misled && !is_named && at(self.record.others.as_ref(), path).is_some()
                || has_twin(self.want.as_ref(), path);
            if !is_excused {
                faults.push(format!(
                    "{}: {} is {}, and the last manifest alone gives {}",
                    subject.id,
                    shown(path),
                    text(found.have.as_ref()),
                    text(found.want.as_ref())
                ));
            }
        }
    }

    /// Whether it is a value that the manifest names, and that is not sent even where there was only this manifest: it says
    /// something nearby that rules it out.
    fn is_unsent(&self, path: &[String]) -> bool {
        let requests = self.fresh.requests(0).into_iter().rev();
        let mut puts = requests.filter(|request| {
            request.method == "PUT" && request.path.eq_ignore_ascii_case(&self.subject.id)
        });
        let sent = puts.next().and_then(|put| put.body);
        has_right(self.subject, path, &["unsent"])
            && self.last.has(path)
            && sent.is_some_and(|body| at(Some(&body), path).is_none())
    }

    /// Whether a value stays that the manifest never named, of an item without a name: it is found again by its place alone.
    fn is_of_nameless(&self, path: &[String]) -> bool {
        let mut above = (1..path.len()).filter_map(|end| at(self.want.as_ref(), &path[..end]));
        has_right(self.subject, path, &["while unset"]) && above.any(|it| has_nameless(Some(it)))
    }

    /// Whether it is a value that is Azure's, and Azure moved it.
    fn is_moved(&self, found: &Mismatch) -> bool {
        let have = self.world.simulator.resource(&self.subject.id);
        let ends = (have.as_ref(), self.want.as_ref());
        moves::is_moved(self.subject, &self.record, self.body.as_ref(), ends, found)
    }

    /// Whether others took out what the kind says is the same as none, and neither a PUT nor an edit has brought it back.
    fn is_default_of_others(&self, found: &Mismatch) -> bool {
        let touched = self.record.touched.iter();
        let is_written = |at: u64| self.puts.iter().any(|put| *put > at);
        let mut touched = touched.filter(|it| !it.is_edited && !is_written(it.at));
        found.have.is_none()
            && touched.any(|it| related(&it.path, &found.path))
            && self.is_unset_as(&found.path, found.want.as_ref())
    }

    /// Whether a service keeps what the manifest no longer names, and the kind says that it is the same as none.
    fn is_kept_default(&self, found: &Mismatch) -> bool {
        self.world.keeps()
            && found.want.is_none()
            && !self.last.has(&found.path)
            && self.is_unset_as(&found.path, found.have.as_ref())
    }

    /// Whether the kind says that a value is the same as none.
    fn is_unset_as(&self, path: &[String], value: Option<&Value>) -> bool {
        let Some(word) = value.and_then(Value::as_str) else {
            return false;
        };
        let path = shown(path);
        let mut rules = self.subject.kind.equal_values.iter();
        rules.any(|rule| {
            let words = rule.strip_prefix(&*path);
            let words = words.and_then(|rest| rest.strip_prefix(" unset as "));
            words.is_some_and(|words| words.split(" or ").any(|known| known == word))
        })
    }

    /// Whether an object was taken over with an edit that was not sent, or has taken over what others made, Azure still has what it had
    /// then, the kind says that such a value is Azure's until it is edited, and that was told. Nobody knows what of it was the edit.
    fn is_left_at_takeover(&self, found: &Mismatch) -> bool {
        let path = &found.path;
        let [unsent, had] =
            [&self.record.unsent, &self.record.others].map(|it| at(it.as_ref(), path));
        let mut rules = rights_at(self.subject, path);
        let is_told = rules.any(|(depth, right)| {
            let is_carried = right.starts_with("told") || right.starts_with("while");
            is_carried && moves::is_told(&self.record, &path[..depth])
        });
        is_told && unsent.is_some() && unsent == found.want.as_ref() && had == found.have.as_ref()
    }

    fn is_of_others(&self, found: &Mismatch) -> bool {
        is_of_others(
            &self.record,
            &self.last,
            &self.puts,
            found,
            self.world.keeps(),
        )
    }
}

/// Whether something above it is not in Azure and not to be brought back.
fn lacks_owner(world: &World, subject: &Subject) -> bool {
    let Some(owner) = subject.owner.map(|index| &world.subjects[index]) else {
        return false;
    };
    let (policy, _) = world.policy(&owner.key());
    let is_left = policy == Policy::Skip && world.simulator.resource(&owner.id).is_none();
    is_left || lacks_owner(world, owner)
}

fn text(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), Value::to_string)
}

fn last_body(world: &World, subject: &Subject) -> Option<Value> {
    let owner = subject
        .owner
        .map(|index| world.subjects[index].name.clone());
    let served = subject.served(subject.spec.as_ref()?, owner.as_deref());
    subject.body(&served, &world.cluster).ok()
}

/// Numbers of the PUTs of an id that Azure took.
fn puts_of(world: &World, id: &str) -> Vec<u64> {
    let requests = world.requests(0).into_iter();
    let taken = requests.filter(|request| {
        request.method == "PUT"
            && request.path.eq_ignore_ascii_case(id)
            && (request.status == 0 || request.status < 300)
    });
    taken.map(|request| request.sequence).collect()
}

/// What others changed stays until the next PUT where the last manifest says nothing, and where it came before the
/// operator had seen what Azure made of its own PUT: then it looks like the service's own way to put it.
fn is_of_others(
    record: &Record,
    last: &Named,
    puts: &[u64],
    found: &Mismatch,
    is_kept: bool,
) -> bool {
    let mut touched = record.touched.iter();
    touched.any(|touched| {
        let path = &touched.path;
        let deeper = if path.len() > found.path.len() {
            path
        } else {
            &found.path
        };
        related(path, &found.path)
            && (touched.is_unseen || !last.has(deeper))
            && (is_kept || !puts.iter().any(|put| *put > touched.at))
    })
}

/// Whether somebody else had put something there, in an object that manifests named as an empty one: none of it was ever
/// said.
fn was_there(record: &Record, found: &Mismatch) -> bool {
    let Some(Value::Object(have)) = &found.have else {
        return false;
    };
    let mut members = have
        .keys()
        .map(|name| [&found.path[..], std::slice::from_ref(name)].concat());
    let others = at(record.others.as_ref(), &found.path);
    others.is_some_and(Value::is_object)
        && !have.is_empty()
        && members.all(|path| !record.named.has(&path))
}

/// Whether the operator was told that nothing is there, and then not what became of its PUT: what it finds later, with all
/// that is desired in it, may well be what it sent.
fn was_misled(world: &World, id: &str) -> bool {
    let requests = world.requests(0).into_iter();
    let of_this: Vec<_> = requests
        .filter(|request| request.fault.is_some() && request.path.eq_ignore_ascii_case(id))
        .collect();
    of_this.windows(2).any(|pair| {
        is_read(&pair[0].method) && (200..500).contains(&pair[0].status) && pair[1].method == "PUT"
    })
}

fn is_read(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// Whether another member there has the same name but for its case: to Azure they are one.
fn has_twin(resource: Option<&Value>, path: &[String]) -> bool {
    let Some((last, above)) = path.split_last() else {
        return false;
    };
    let members = at(resource, above).and_then(Value::as_object);
    let mut names = members.into_iter().flat_map(|members| members.keys());
    names.any(|name| name != last && name.eq_ignore_ascii_case(last))
}

/// Where a service keeps what a PUT leaves out, an event names the path, or says that there are more than it names.
fn is_told(world: &World, record: &Record, last: &Named, found: &Mismatch) -> bool {
    let names = |event: &String| {
        // Maps that are kept as a whole are named as a whole.
        let mut path = found.path.iter().take(2);
        event.contains("Azure keeps")
            && (event.contains(" more,") || path.all(|name| event.contains(name.as_str())))
    };
    // What was refused, or sent by a pass that was cut before it noted anything, nobody remembers; and of an item that nothing
    // names, Azure shows its own id.
    let is_unknown = !record.heard.has(&found.path) || has_nameless(found.have.as_ref());
    // Azure's names are the same in any case.
    let is_named_otherwise = last.has_in_any_case(&found.path);
    world.keeps()
        && !last.has(&found.path)
        && (is_unknown || is_named_otherwise || record.events.iter().any(names))
}

fn has_nameless(value: Option<&Value>) -> bool {
    let items = value.and_then(Value::as_array);
    items.is_some_and(|items| {
        items
            .iter()
            .any(|item| item.is_object() && item.get("name").is_none())
    })
}

/// Whether the version that the last manifest is written in can neither say nor show it, while another one can: the
/// api-version that is used leaves it as it is.
fn is_beyond(subject: &Subject, path: &[String]) -> bool {
    let mut versions = subject.kind.versions.iter();
    !knows(subject.version.spec, path) && versions.any(|version| knows(version.spec, path))
}

/// Whether a rule of the kind gives a value to Azure in one of these ways: what only Azure says is never sent, and a number that
/// something scales stays where no manifest names one.
fn has_right(subject: &Subject, path: &[String], rights: &[&str]) -> bool {
    let mut rules = rights_at(subject, path);
    rules.any(|(_, right)| rights.iter().any(|it| right.starts_with(it)))
}

/// What the rules of a kind say of a value, each with how many steps of the path its own has.
fn rights_at(subject: &Subject, path: &[String]) -> impl Iterator<Item = (usize, &'static str)> {
    let rules = subject.kind.azure_owned.iter();
    rules.filter_map(|rule| {
        let (pattern, right) = rule.split_once(' ').unwrap_or((rule, ""));
        let steps = pattern.replace("[]", &format!(".{ANY}"));
        let steps: Path = steps.split('.').map(str::to_owned).collect();
        matches(&steps, path).then_some((steps.len(), right))
    })
}

/// Whether a spec can have something at an ARM path, above or below it.
fn knows(shape: &'static StructShape, path: &[String]) -> bool {
    let mut fields = shape.fields.iter();
    fields.any(|field| match field.arm {
        ArmPlace::Operator => false,
        ArmPlace::Variant => knows_below(field.ty, path),
        ArmPlace::At(names) | ArmPlace::Further(names) => {
            let mut pairs = names.iter().zip(path);
            pairs.all(|(name, step)| name == step)
                && (path.len() <= names.len() || knows_below(field.ty, &path[names.len()..]))
        }
    })
}

fn knows_below(ty: Type, path: &[String]) -> bool {
    match (ty, path) {
        (Type::Struct(shape), path) if shape.semantic == Semantic::Plain => knows(shape, path),
        (Type::List(list), [_, rest @ ..]) if !rest.is_empty() => knows_below(list.item, rest),
        (Type::Map(map), [_, rest @ ..]) if !rest.is_empty() => knows_below(map.value, rest),
        _ => true,
    }
}

/// ARM paths of values that can be set on creation only; the mode of a creation is one. An etag is Azure's own, whatever a
/// manifest says.
fn creation_only(subject: &Subject) -> Vec<Path> {
    let mut found = vec![
        vec!["properties".to_owned(), "createMode".to_owned()],
        vec!["etag".to_owned()],
    ];
    for version in subject.kind.versions {
        collect(version.spec, &mut Vec::new(), &mut found);
    }
    found
}

fn collect(shape: &'static StructShape, path: &mut Path, found: &mut Vec<Path>) {
    for field in shape.fields {
        let depth = path.len();
        match field.arm {
            ArmPlace::Operator => continue,
            ArmPlace::At(names) | ArmPlace::Further(names) => {
                path.extend(names.iter().map(|name| (*name).to_owned()));
            }
            ArmPlace::Variant => {}
        }
        if field.flags.has(Flags::CREATE_ONLY) {
            found.push(path.clone());
        } else {
            below(field.ty, path, found);
        }
        path.truncate(depth);
    }
}

fn below(ty: Type, path: &mut Path, found: &mut Vec<Path>) {
    let inner = match ty {
        Type::Struct(shape) => return collect(shape, path, found),
        Type::List(list) => list.item,
        Type::Map(map) => map.value,
        _ => return,
    };
    path.push(ANY.to_owned());
    below(inner, path, found);
    path.pop();
}

fn matches(pattern: &[String], path: &[String]) -> bool {
    pattern.len() <= path.len()
        && pattern
            .iter()
            .zip(path)
            .all(|(pattern, name)| pattern == ANY || pattern == name)
}

/// Nothing is left in Azure without an object, but what was left on purpose and what came with its owner.
fn orphans(world: &mut World, faults: &mut Vec<String>) {
    let subjects = world.subjects.clone();
    for subject in subjects {
        let key = subject.key();
        let is_deletable = subject.version.verbs.delete;
        if world.cluster.object(&key).is_some() || subject.spec.is_none() || !is_deletable {
            continue;
        }
        let mut others = world.subjects.iter();
        if others
            .any(|other| other.id == subject.id && world.cluster.object(&other.key()).is_some())
        {
            continue;
        }
        let stays = world.ledger.of(&subject.id).may_stay;
        if !stays && world.simulator.resource(&subject.id).is_some() {
            faults.push(format!("{} is in Azure, and {key} is gone", subject.id));
        }
    }
}

/// PUTs are explained by edits, drift, what failed, and items that go when they have waited.
fn puts(world: &World, faults: &mut Vec<String>) {
    let requests = world.requests(0);
    for (id, record) in world.ledger.all() {
        let of_this = |path: &str| path.eq_ignore_ascii_case(id);
        let puts = requests
            .iter()
            .filter(|request| request.method == "PUT" && of_this(&request.path))
            .count();
        let failed = requests
            .iter()
            .filter(|request| {
                let subject = request.subject.as_deref().unwrap_or(&request.path);
                let is_refused = request.method == "PUT" && request.status >= 400;
                of_this(subject) && (request.fault.is_some() || is_refused)
            })
            .count();
        // Of what can only be asked by HEAD nothing tells whether an edit arrived.
        let is_unseen = |subject: &Subject| of_this(&subject.id) && !subject.version.verbs.get;
        let again = match world.subjects.iter().any(is_unseen) {
            true => record.edits,
            false => 0,
        };
        let removals = removals::of(world, id, record, &requests);
        let explained = record.edits + again + record.drifts + record.cuts + failed + removals;
        if puts > explained {
            faults.push(format!(
                "{puts} PUTs of {id}, explained by {} edits, {} changes by others, {} cut passes, {removals} removals of items and {failed} failures",
                record.edits, record.drifts, record.cuts
            ));
        }
    }
}

/// What is at rest stays at rest.
fn idle(world: &mut World, faults: &mut Vec<String>) {
    let before = world.sequence();
    world.sync(SignedDuration::from_hours(25));
    let writes = world.requests(before);
    let writes = writes.iter().filter(|request| !is_read(&request.method));
    for request in writes.filter(|request| request.status < 400) {
        faults.push(format!(
            "nothing has changed, and {} {} was sent",
            request.method, request.path
        ));
    }
}
