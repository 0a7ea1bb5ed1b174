//! The steps of a takeover and of the way back, and how far they are. Each is told from what the cluster has, so a run that was
//! cut off is gone on with by another one.

use std::collections::BTreeSet;

use serde::Serialize;

use super::ahead::{Ahead, Versions};
use super::found::{Found, Workload, converts_there};
use super::record::{NAME, Record};
use crate::installation::CREDENTIAL;

/// Names that a sentence lists.
const SHOWN: usize = 5;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What holds when it is done.
    pub name: String,
    /// How far it is.
    #[serde(flatten)]
    pub state: State,
}

/// How far a step is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state", content = "message")]
pub enum State {
    /// It holds.
    Done,
    /// There is something to be done.
    Open(Task),
    /// It will hold by itself: what is waited for.
    Waiting(String),
    /// Somebody has to do something: what.
    ByHand(String),
}

/// What can be done for a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Task {
    /// Write down what the way back needs.
    KeepRecord,
    /// Scale a Deployment to zero.
    Stop(Workload),
    /// Scale a Deployment to what it had.
    Start(Workload),
    /// Remove the webhooks for admission.
    RemoveAdmission,
    /// Create the webhooks for admission as they were.
    RestoreAdmission,
    /// Take the default of the status out of CRDs: whoever writes an object has it stored with it.
    TakeOutStatus(Vec<String>),
    /// Have CRDs convert where they did.
    RestoreConversion(Vec<String>),
}

fn step(name: &str, state: State) -> Step {
    Step {
        name: name.to_owned(),
        state,
    }
}

/// Names, not too many of them.
fn some<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<&String> = names.into_iter().collect();
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = format!("and {} more", names.len().saturating_sub(SHOWN));
    if names.len() > SHOWN {
        shown.push(&more);
    }
    shown.join(", ")
}

/// Stops all of these.
fn stopped(workloads: &[Workload]) -> State {
    if let Some(running) = workloads.iter().find(|workload| workload.replicas > 0) {
        return State::Open(Task::Stop(running.clone()));
    }
    let ending = workloads.iter().find(|workload| workload.pods > 0);
    ending.map_or(State::Done, |workload| {
        State::Waiting(format!(
            "{} pods of {}/{} end",
            workload.pods, workload.namespace, workload.name
        ))
    })
}

/// Starts those of these that were stopped.
fn started(workloads: &[Workload]) -> Option<State> {
    if let Some(stopped) = workloads
        .iter()
        .find(|it| it.replicas == 0 && it.before.is_some())
    {
        return Some(State::Open(Task::Start(stopped.clone())));
    }
    let wanted = workloads.iter().filter(|workload| workload.replicas > 0);
    let wanted: Vec<&Workload> = wanted.collect();
    let unready = wanted.iter().find(|workload| workload.ready == 0);
    match (wanted.is_empty(), unready) {
        (true, _) => None,
        (false, None) => Some(State::Done),
        (false, Some(workload)) => Some(State::Waiting(format!(
            "a pod of {}/{} becomes ready",
            workload.namespace, workload.name
        ))),
    }
}

/// How the objects are now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Objects that are not ready.
    pub not_ready: BTreeSet<String>,
    /// Sentences about kinds whose objects cannot be read.
    pub unread: Vec<String>,
}

impl Readiness {
    /// What cannot be read says nothing: not that it is ready, and not that it was not.
    fn waits(&self) -> Option<State> {
        waits(&self.unread)
    }
}

/// Until the kinds that these sentences are about can be read.
fn waits(unread: &[String]) -> Option<State> {
    let first = unread.first()?;
    Some(State::Waiting(match unread.len() - 1 {
        0 => format!("all objects can be read: {first}"),
        more => format!("all objects can be read: {first}; and {more} more kinds"),
    }))
}

/// From Azure Service Operator to Armature.
pub fn over(
    namespace: &str,
    found: &Found,
    record: Option<&Record>,
    objects: &Readiness,
) -> Vec<Step> {
    vec![
        step(
            &format!("what the way back needs is kept in ConfigMap {namespace}/{NAME}"),
            match record {
                Some(_) => State::Done,
                None => objects.waits().unwrap_or(State::Open(Task::KeepRecord)),
            },
        ),
        step("Azure Service Operator is stopped", stopped(&found.former)),
        step(
            "its webhooks for admission are gone",
            match found.admission.is_empty() {
                true => State::Done,
                false => State::Open(Task::RemoveAdmission),
            },
        ),
        step("its CRDs are all there", crds_are_there(found, record)),
        step("Armature runs", armature_runs(namespace, found)),
        step("Armature converts the objects", converts_here(found)),
        step(
            "objects are as ready as before",
            objects
                .waits()
                .unwrap_or_else(|| are_ready(record, &objects.not_ready)),
        ),
    ]
}

fn crds_are_there(found: &Found, record: Option<&Record>) -> State {
    let there: BTreeSet<&String> = found
        .crds
        .iter()
        .filter_map(|crd| crd.metadata.name.as_ref())
        .collect();
    let kept = record.into_iter().flat_map(|record| record.crds.keys());
    let gone: Vec<&String> = kept.filter(|name| !there.contains(name)).collect();
    match gone.is_empty() {
        true => State::Done,
        false => State::ByHand(format!(
            "{} are gone, and their objects with them; restore them from a backup",
            some(gone)
        )),
    }
}

fn armature_runs(namespace: &str, found: &Found) -> State {
    started(&found.ours).unwrap_or_else(|| {
        State::ByHand(format!(
            "install Armature in namespace {namespace}, with the values that Azure Service Operator had: \
             helm install armature deploy/chart --namespace {namespace} --take-ownership --values VALUES; then go on with \
             `armature takeover run`. Secret {CREDENTIAL} is used as it is"
        ))
    })
}

fn converts_here(found: &Found) -> State {
    let elsewhere = found
        .crds
        .iter()
        .filter(|crd| converts_there(crd) || crd.is_injected());
    let elsewhere: Vec<&String> = elsewhere
        .filter_map(|crd| crd.metadata.name.as_ref())
        .collect();
    match elsewhere.is_empty() {
        true => State::Done,
        false => State::Waiting(format!(
            "Armature takes over {} CRDs: {}",
            elsewhere.len(),
            some(elsewhere)
        )),
    }
}

fn are_ready(record: Option<&Record>, not_ready: &BTreeSet<String>) -> State {
    let before = record.map(|record| &record.not_ready);
    let news = not_ready
        .iter()
        .filter(|name| before.is_none_or(|before| !before.contains(*name)));
    let news: Vec<&String> = news.collect();
    match news.is_empty() {
        true => State::Done,
        false => State::Waiting(format!(
            "{} objects become ready: {}; `armature why KIND/NAME` tells more",
            news.len(),
            some(news)
        )),
    }
}

/// From Armature back to Azure Service Operator.
pub fn back(
    namespace: &str,
    found: &Found,
    record: Option<&Record>,
    written: &Versions,
) -> Vec<Step> {
    let first = "what the way back needs is there";
    let Some(record) = record else {
        let message = format!(
            "there is no ConfigMap {namespace}/{NAME}: this cluster was not taken over with `armature takeover run`, or it \
             was given back; --aso-namespace names another namespace"
        );
        return vec![step(first, State::ByHand(message))];
    };
    vec![
        step(first, State::Done),
        step("Azure Service Operator knows what is stored", knows_stored(found, record)),
        step("Azure Service Operator knows the versions of the objects", knows_written(written)),
        step("Armature is stopped", stopped(&found.ours)),
        step("no CRD gives its objects a status", gives_no_status(found)),
        step("Azure Service Operator converts the objects", converts_as_before(found, record)),
        step("its webhooks for admission are back", admits_as_before(found, record)),
        step(
            "Azure Service Operator runs",
            started(&found.former).unwrap_or_else(|| {
                State::ByHand(format!(
                    "its Deployment in namespace {namespace} is gone, or was stopped by somebody else; install it again, or \
                     scale it up"
                ))
            }),
        ),
    ]
}

fn knows_stored(found: &Found, record: &Record) -> State {
    let is_unknown = |crd: &&armature_runtime::kubernetes::InstalledCrd| {
        let kept = crd
            .metadata
            .name
            .as_ref()
            .and_then(|name| record.crds.get(name));
        let mut stored = crd.status.stored_versions.iter();
        kept.is_some_and(|kept| stored.any(|version| !kept.versions.contains(version)))
    };
    let unknown = found.crds.iter().filter(is_unknown);
    let unknown: Vec<&String> = unknown
        .filter_map(|crd| crd.metadata.name.as_ref())
        .collect();
    match unknown.is_empty() {
        true => State::Done,
        false => State::ByHand(format!(
            "objects of {} are stored at versions that it did not have; go back to a release of Azure Service Operator that \
             has them, or restore a backup",
            some(unknown)
        )),
    }
}

/// Azure Service Operator reads `spec.originalVersion` for the api-version of its requests, and fails on one that it does not
/// have.
fn knows_written(written: &Versions) -> State {
    let ahead = &written.ahead;
    if ahead.is_empty() {
        return waits(&written.unread).unwrap_or(State::Done);
    }
    let told = |it: &Ahead| {
        let instead = it
            .instead
            .unwrap_or("no version: delete it, or keep Armature");
        format!("{} is in {}, apply it in {instead}", it.object, it.version)
    };
    let told = ahead.iter().map(told).collect::<Vec<_>>();
    State::ByHand(format!(
        "{} objects were written in versions that it does not have: {}. Do so while Armature runs, which converts them; what \
         only the newer version can say is not sent to Azure any more",
        ahead.len(),
        some(&told)
    ))
}

/// Whether objects are still converted by Armature.
pub fn is_converted_here(found: &Found, record: &Record) -> bool {
    converts_as_before(found, record) != State::Done
}

fn converts_as_before(found: &Found, record: &Record) -> State {
    let is_other = |crd: &&armature_runtime::kubernetes::InstalledCrd| {
        let kept = crd
            .metadata
            .name
            .as_ref()
            .and_then(|name| record.crds.get(name));
        kept.is_some_and(|kept| {
            let service = |conversion: &serde_json::Value| {
                conversion["webhook"]["clientConfig"]["service"].clone()
            };
            let annotations = crd.metadata.annotations.as_ref();
            let has = |name| annotations.is_some_and(|annotations| annotations.contains_key(name));
            service(&crd.spec.conversion) != service(&kept.conversion)
                || !kept.annotations.keys().all(has)
        })
    };
    let others = found.crds.iter().filter(is_other);
    let others: Vec<String> = others.filter_map(|crd| crd.metadata.name.clone()).collect();
    match others.is_empty() {
        true => State::Done,
        false => State::Open(Task::RestoreConversion(others)),
    }
}

fn gives_no_status(found: &Found) -> State {
    let giving = found.crds.iter().filter(|crd| crd.has_status_default());
    let giving: Vec<String> = giving.filter_map(|crd| crd.metadata.name.clone()).collect();
    match giving.is_empty() {
        true => State::Done,
        false => State::Open(Task::TakeOutStatus(giving)),
    }
}

fn admits_as_before(found: &Found, record: &Record) -> State {
    let is_there = |kept: &serde_json::Value| {
        let mut there = found.admission.iter();
        there.any(|it| kept["kind"] == it.kind && kept["metadata"]["name"] == it.name())
    };
    match record.admission.iter().all(is_there) {
        true => State::Done,
        false => State::Open(Task::RestoreAdmission),
    }
}
