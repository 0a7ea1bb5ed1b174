//! The steps there and back, over what a cluster may have.

use std::collections::BTreeSet;

use armature_runtime::kubernetes::InstalledCrd;
use armature_runtime::resource::{Kind, Object};
use kube::api::ObjectMeta;
use serde_json::{Value, json};

use super::ahead::{Versions, ahead};
use super::check::{self, Check, Namespaces, Row};
use super::found::{Admission, Found, SERVICE, Workload, is_its_image};
use super::record::Record;
use super::steps::{Readiness, State, Step, Task, back, over};
use super::text;
use crate::plan::{Action, Name, Plan};

const NAMESPACE: &str = "azureserviceoperator-system";

fn crd(service: &str, injected: bool, stored: &str) -> InstalledCrd {
    let mut crd = json!({
        "metadata": {"name": "resourcegroups.resources.azure.com", "annotations": {}},
        "spec": {
            "group": "resources.azure.com",
            "names": {"kind": "ResourceGroup"},
            "versions": [
                {"name": "v1api20200601", "served": true, "storage": false},
                {"name": "v1api20200601storage", "served": true, "storage": true},
            ],
            "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {
                "service": {"name": service, "namespace": NAMESPACE, "path": "/convert"},
            }}},
        },
        "status": {"storedVersions": [stored]},
    });
    if injected {
        let from = format!("{NAMESPACE}/azureserviceoperator-serving-cert");
        crd["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] = from.into();
    }
    serde_json::from_value(crd).unwrap()
}

fn workload(name: &str, replicas: i32, pods: usize, before: Option<i32>) -> Workload {
    Workload {
        namespace: NAMESPACE.to_owned(),
        name: name.to_owned(),
        replicas,
        pods,
        ready: replicas.min(1),
        before,
    }
}

fn admission() -> Admission {
    let object = json!({
        "metadata": {"name": "aso-validating", "uid": "1", "resourceVersion": "7"},
        "webhooks": [{"name": "a.azure.com", "clientConfig": {"service": {"name": SERVICE}}}],
    });
    Admission {
        kind: "ValidatingWebhookConfiguration",
        object,
    }
}

/// A cluster as Azure Service Operator leaves it.
fn former() -> Found {
    Found {
        former: vec![workload("aso", 2, 2, None)],
        admission: vec![admission()],
        crds: vec![crd(SERVICE, true, "v1api20200601storage")],
        ..Found::default()
    }
}

/// The same as Armature leaves it.
fn taken() -> Found {
    Found {
        former: vec![workload("aso", 0, 0, Some(2))],
        ours: vec![workload("armature", 2, 2, None)],
        crds: vec![crd("armature-webhook", false, "v1api20200601storage")],
        ..Found::default()
    }
}

fn unready(names: &[&str]) -> Readiness {
    Readiness {
        not_ready: names.iter().map(|name| (*name).to_owned()).collect(),
        unread: Vec::new(),
    }
}

/// The first step that is not done.
fn next(steps: Vec<Step>) -> Option<State> {
    let mut states = steps.into_iter().map(|step| step.state);
    states.find(|state| *state != State::Done)
}

#[test]
fn a_takeover_goes_step_by_step() {
    let before = former();
    let broken = unready(&["Disk team/broken"]);
    let record = Record::of(&before, broken.not_ready.clone());
    let with = |change: fn(&mut Found)| {
        let mut found = taken();
        change(&mut found);
        next(over(NAMESPACE, &found, Some(&record), &broken))
    };
    let first = next(over(NAMESPACE, &before, None, &broken));
    assert_eq!(first, Some(State::Open(Task::KeepRecord)));
    let second = next(over(NAMESPACE, &before, Some(&record), &broken));
    assert_eq!(
        second,
        Some(State::Open(Task::Stop(before.former[0].clone())))
    );
    assert!(matches!(
        with(|it| it.former[0].pods = 1),
        Some(State::Waiting(_))
    ));
    let admits = with(|it| it.admission.push(admission()));
    assert_eq!(admits, Some(State::Open(Task::RemoveAdmission)));
    assert!(matches!(with(|it| it.crds.clear()), Some(State::ByHand(_))));
    assert!(matches!(with(|it| it.ours.clear()), Some(State::ByHand(_))));
    assert!(matches!(
        with(|it| it.ours[0].ready = 0),
        Some(State::Waiting(_))
    ));
    let stopped = with(|it| it.ours = vec![workload("armature", 0, 0, Some(3))]);
    assert!(
        matches!(stopped, Some(State::Open(Task::Start(_)))),
        "given back before"
    );
    for (service, injected) in [(SERVICE, false), ("armature-webhook", true)] {
        let mut found = taken();
        found.crds = vec![crd(service, injected, "v1api20200601storage")];
        let next = next(over(NAMESPACE, &found, Some(&record), &broken));
        assert!(
            matches!(next, Some(State::Waiting(_))),
            "{service} {injected}"
        );
    }
    assert_eq!(with(|_| {}), None);
    let more = unready(&["Disk team/broken", "Disk team/another"]);
    let next = next(over(NAMESPACE, &taken(), Some(&record), &more));
    let Some(State::Waiting(message)) = next else {
        panic!("{next:?}");
    };
    assert!(
        message.contains("team/another") && !message.contains("team/broken"),
        "{message}"
    );
}

#[test]
fn a_cluster_is_given_back_step_by_step() {
    let none = Versions::default();
    let record = Record::of(&former(), BTreeSet::new());
    let with = |change: fn(&mut Found)| {
        let mut found = former();
        found.ours = vec![workload("armature", 0, 0, Some(2))];
        change(&mut found);
        next(back(NAMESPACE, &found, Some(&record), &none))
    };
    assert_eq!(with(|_| {}), None);
    assert!(matches!(
        next(back(NAMESPACE, &taken(), None, &none)),
        Some(State::ByHand(_))
    ));
    let running = with(|it| it.ours = vec![workload("armature", 2, 2, None)]);
    assert!(matches!(running, Some(State::Open(Task::Stop(_)))));
    let newer = with(|it| it.crds = vec![crd(SERVICE, true, "v1api20990101storage")]);
    assert!(matches!(newer, Some(State::ByHand(_))), "{newer:?}");
    for (service, injected) in [("armature-webhook", true), (SERVICE, false)] {
        let mut found = former();
        found.crds = vec![crd(service, injected, "v1api20200601storage")];
        let next = next(back(NAMESPACE, &found, Some(&record), &none));
        let names = vec!["resourcegroups.resources.azure.com".to_owned()];
        assert_eq!(
            next,
            Some(State::Open(Task::RestoreConversion(names))),
            "{service}"
        );
    }
    let giving = with(|it| it.crds[0].spec.versions[1].defaults.conditions = true);
    let names = vec!["resourcegroups.resources.azure.com".to_owned()];
    assert_eq!(giving, Some(State::Open(Task::TakeOutStatus(names))));
    let unadmitted = with(|it| it.admission.clear());
    assert_eq!(unadmitted, Some(State::Open(Task::RestoreAdmission)));
    let stopped = with(|it| it.former = vec![workload("aso", 0, 0, Some(2))]);
    assert!(matches!(stopped, Some(State::Open(Task::Start(_)))));
    assert!(matches!(
        with(|it| it.former[0].ready = 0),
        Some(State::Waiting(_))
    ));
    assert!(matches!(
        with(|it| it.former.clear()),
        Some(State::ByHand(_))
    ));
}

/// A resource group in its stored form.
fn group(name: &str, version: &str) -> Object {
    let kinds = armature_generated::KINDS;
    let kind = kinds.iter().find(|kind| kind.kind == "ResourceGroup");
    let spec = json!({"originalVersion": version, "location": "westeurope"});
    Object {
        kind: Kind(kind.unwrap()),
        metadata: ObjectMeta {
            namespace: Some("team".to_owned()),
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(serde_json::value::to_raw_value(&spec).unwrap()),
        status: None,
    }
}

#[test]
fn objects_in_versions_that_azure_service_operator_does_not_have_are_named_before_it_gets_them() {
    let record = Record::of(&former(), BTreeSet::new());
    let objects = [group("old", "v1api20200601"), group("new", "v20250401")];
    let written = Versions {
        ahead: ahead(&objects, &record),
        unread: Vec::new(),
    };
    let next = next(back(NAMESPACE, &taken(), Some(&record), &written));
    let Some(State::ByHand(message)) = next else {
        panic!("{next:?}");
    };
    let told = "ResourceGroup team/new is in v20250401, apply it in v1api20200601.";
    assert!(message.contains(told), "{message}");
    assert!(!message.contains("team/old"), "{message}");
}

#[test]
fn webhooks_are_kept_as_they_can_be_created_again() {
    let record = Record::of(&former(), BTreeSet::new());
    let kept: &Value = &record.admission[0];
    assert_eq!(kept["kind"], "ValidatingWebhookConfiguration");
    assert_eq!(kept["metadata"], json!({"name": "aso-validating"}));
    assert_eq!(kept["webhooks"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_read_is_not_taken_for_ready_or_known() {
    let unread = vec!["cannot list Disk: conversion webhook failed".to_owned()];
    let readiness = Readiness {
        not_ready: BTreeSet::new(),
        unread: unread.clone(),
    };
    let written = Versions {
        ahead: BTreeSet::new(),
        unread,
    };
    let record = Record::of(&former(), BTreeSet::new());
    for steps in [
        over(NAMESPACE, &taken(), Some(&record), &readiness),
        over(NAMESPACE, &former(), None, &readiness),
        back(NAMESPACE, &taken(), Some(&record), &written),
    ] {
        let next = next(steps);
        let Some(State::Waiting(message)) = next else {
            panic!("{next:?}");
        };
        assert!(message.contains("conversion webhook failed"), "{message}");
    }
}

#[test]
fn its_image_is_known_wherever_it_was_copied_to() {
    for image in [
        "mcr.microsoft.com/k8s/azureserviceoperator:v2.20.0",
        "azureserviceoperator",
        "registry:5000/mirror/azureserviceoperator@sha256:0123",
        "registry:5000/azureserviceoperator:v2.20.0@sha256:0123",
    ] {
        assert!(is_its_image(image), "{image}");
    }
    for image in [
        "registry:5000/not-azureserviceoperator:v2",
        "azureserviceoperator/other:v2",
        "armature:1",
    ] {
        assert!(!is_its_image(image), "{image}");
    }
}

#[test]
fn nothing_is_promised_where_somebody_has_to_do_something_first() {
    let to_do = text::undone(&over(NAMESPACE, &former(), None, &Readiness::default()));
    assert!(to_do.is_some_and(|told| told.contains("--yes does it")));
    let by_hand = text::undone(&back(NAMESPACE, &taken(), None, &Versions::default()));
    assert!(by_hand.is_some_and(|told| !told.contains("--yes does it")));
}

#[test]
fn a_check_has_a_line_for_each_object() {
    let row = |name: &str, action| Row {
        name: Name {
            group: "storage.azure.com".to_owned(),
            kind: "StorageAccount".to_owned(),
            namespace: "shop".to_owned(),
            name: name.to_owned(),
        },
        version: "v20230101".to_owned(),
        credential: "Secret shop/aso-credential".to_owned(),
        policy: "skip".to_owned(),
        ready: true,
        action,
    };
    let text = text::check(&Check {
        former: Vec::new(),
        settings: Vec::new(),
        crds: 1,
        objects: vec![row("one", Action::Adopt), row("two", Action::Update)],
        exceptions: Vec::new(),
        requests: 2,
        offline: false,
    });
    let line = "shop       StorageAccount  two   v20230101  Secret shop/aso-credential  skip    yes    update\n";
    assert!(text.contains(line), "{text}");
    let default = "1 of kinds that Armature has; it adds a status that says when nobody has looked at an object";
    assert!(text.contains(default), "{text}");
}

/// What a check says of a cluster without objects.
fn exceptions(change: impl FnOnce(&mut Found)) -> Vec<String> {
    let mut found = former();
    change(&mut found);
    let plan = Plan {
        format: String::new(),
        version: String::new(),
        offline: true,
        requests: 0,
        resources: Vec::new(),
        problems: Vec::new(),
        notes: Vec::new(),
    };
    let checked = check::check(&found, Vec::new(), &[], &Namespaces::default(), &plan);
    let exceptions = checked.exceptions.into_iter();
    exceptions
        .map(|exception| format!("{}: {}", exception.of, exception.message))
        .collect()
}

#[test]
fn a_check_tells_versions_and_kinds_that_could_not_be_converted_any_more() {
    const CRD: &str = "CRD resourcegroups.resources.azure.com";
    assert_eq!(exceptions(|_| {}), [""; 0]);
    let unknown = "which this version of the operator does not know; run a version that does";
    let stored = exceptions(|it| it.crds = vec![crd(SERVICE, true, "v1api20990101storage")]);
    let told = format!("{CRD}: {CRD} has objects of v1api20990101storage, {unknown}");
    assert_eq!(stored, [told]);
    let serve = |served: bool| {
        exceptions(move |it| {
            let newer = &mut it.crds[0].spec.versions[0];
            newer.name = "v1api20990101".to_owned();
            newer.served = served;
        })
    };
    let told = format!(
        "{CRD}: requests at a version that it serves would fail: {CRD} has objects of v1api20990101, {unknown}"
    );
    assert_eq!(serve(true), [told]);
    assert_eq!(serve(false), [""; 0], "nobody asks for it");
    let others = exceptions(|it| it.unknown.push("toys.toys.azure.com".to_owned()));
    let told =
        "CRD toys.toys.azure.com: Armature does not have this kind: its objects stay as they are";
    assert!(
        others.len() == 1 && others[0].starts_with(told),
        "{others:?}"
    );
}
