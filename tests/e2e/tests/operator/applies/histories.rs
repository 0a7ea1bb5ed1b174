//! Random histories of applies by two field managers, each at the version it likes, against a model of ownership.
//!
//! The model is the whole of what server-side apply promises: a member has the value that was applied last, and is there as
//! long as a manager applies it. It knows nothing of versions, which is the point: a version is a way to say things, and
//! must not change what is there.

use std::collections::{BTreeMap, BTreeSet};

use armature_e2e::{Choices, World, kind_info};
use armature_runtime::conversion::is_stash_annotation;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::Type;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::leave_alone;

/// Histories per kind; ten times as many with `cargo xtask test --all`.
const HISTORIES: u64 = 12;
/// Applies of a history.
const STEPS: usize = 8;

/// A kind, and what two managers say of its objects.
struct Subject {
    kind: &'static str,
    namespace: &'static str,
    /// Members that every manifest has.
    base: Value,
    /// Members that a manifest may have, with the values they may take. Those of a name that begins with `labels/` are in
    /// the metadata.
    members: &'static [(&'static str, &'static [&'static str])],
}

/// All versions say these, or some.
const NETWORK: Subject = Subject {
    kind: "network/VirtualNetwork",
    namespace: "applies-network",
    base: Value::Null,
    members: &[
        ("labels/team", &[r#""a""#, r#""b""#]),
        ("labels/stage", &[r#""x""#]),
        ("annotations/example.com~1note", &[r#""n""#, r#""m""#]),
        (
            "addressSpace/addressPrefixes",
            &[r#"["10.0.0.0/16","10.1.0.0/16"]"#, r#"["10.0.0.0/16"]"#],
        ),
        (
            "dhcpOptions/dnsServers",
            &[r#"["10.0.0.1","10.0.0.2"]"#, r#"["10.0.0.2"]"#, "[]"],
        ),
        ("tags/a", &[r#""1""#, r#""2""#]),
        ("tags/b", &[r#""1""#]),
        ("enableDdosProtection", &["true", "false"]),
        // Not in the oldest version.
        ("flowTimeoutInMinutes", &["10", "20"]),
        ("encryption/enabled", &["true"]),
        // Only in the newest one.
        (
            "privateEndpointVNetPolicies",
            &[r#""Basic""#, r#""Disabled""#],
        ),
    ],
};

const STORAGE: Subject = Subject {
    kind: "StorageAccount",
    namespace: "applies-storage",
    base: Value::Null,
    members: &[
        ("labels/team", &[r#""a""#, r#""b""#]),
        ("tags/a", &[r#""1""#, r#""2""#]),
        ("accessTier", &[r#""Hot""#, r#""Cool""#]),
        ("allowBlobPublicAccess", &["true", "false"]),
        (
            "networkAcls/ipRules",
            &[
                r#"[{"value":"1.2.3.4"},{"value":"1.2.3.5"}]"#,
                r#"[{"value":"1.2.3.5"}]"#,
            ],
        ),
        // Not in the oldest version.
        ("allowedCopyScope", &[r#""AAD""#]),
        ("defaultToOAuthAuthentication", &["true"]),
        ("dnsEndpointType", &[r#""Standard""#]),
        // Only in the newest one.
        ("enableExtendedGroups", &["true", "false"]),
        ("dualStackEndpointPreference/publishIpv6Endpoint", &["true"]),
    ],
};

#[test]
fn a_network_is_what_its_managers_applied_whatever_versions_they_use() {
    let base = json!({"location": "westeurope", "owner": {"name": "nobody"}});
    run(Subject { base, ..NETWORK });
}

#[test]
fn an_account_is_what_its_managers_applied_whatever_versions_they_use() {
    let base = json!({
        "location": "westeurope", "owner": {"name": "nobody"}, "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"}, "networkAcls": {"defaultAction": "Deny"},
    });
    run(Subject { base, ..STORAGE });
}

fn run(subject: Subject) {
    let all = std::env::var_os("ARMATURE_ALL_VERSIONS").is_some();
    let histories = if all { 10 * HISTORIES } else { HISTORIES };
    World::shared().run(subject.namespace, async |world, _| {
        for seed in 0..histories {
            let mut history = History::new(&subject, seed);
            for _ in 0..STEPS {
                history.step(world).await;
            }
        }
    });
}

/// One object, and who owns what of it.
struct History<'s> {
    subject: &'s Subject,
    info: &'static KindInfo,
    name: String,
    choices: Choices,
    /// Value of a member that somebody owns, and its owners.
    owned: BTreeMap<&'static str, (Value, BTreeSet<&'static str>)>,
    /// What was done, for messages.
    log: Vec<String>,
}

impl<'s> History<'s> {
    fn new(subject: &'s Subject, seed: u64) -> Self {
        Self {
            subject,
            info: kind_info(subject.kind),
            name: format!("history{seed}"),
            choices: Choices::new(seed),
            owned: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    /// One manager applies something at some version; then the object is as the model has it.
    async fn step(&mut self, world: &'static World) {
        let manager = ["flux", "argo"][self.choices.below(2)];
        let versions: Vec<_> = self.info.served_unasked().collect();
        let version = versions[self.choices.below(versions.len())];
        let members = self.choose(version);
        let manifest = self.manifest(version, &members);
        self.log.push(format!("{manager}: {manifest}"));
        let objects = world.objects(self.subject.namespace);
        let applied = objects
            .api(self.subject.kind, version.name)
            .patch(
                &self.name,
                &PatchParams::apply(manager).force(),
                &Patch::Apply(&manifest),
            )
            .await;
        if let Err(error) = applied {
            panic!("{error}\n{}", self.log.join("\n"));
        }
        self.own(manager, &members);
        let newest = versions.last().unwrap();
        let found = objects.get(self.subject.kind, newest.name, &self.name);
        let found = found.await.unwrap();
        let expected = self.expected();
        let found = shown(&found);
        assert_eq!(found, expected, "\n{}", self.log.join("\n"));
    }

    /// Members that the version has, with values.
    fn choose(&mut self, version: &VersionInfo) -> BTreeMap<&'static str, Value> {
        let mut chosen = BTreeMap::new();
        for (path, values) in self.subject.members {
            let value = values[self.choices.below(values.len())];
            if self.choices.below(2) == 0 && has(version, path) {
                chosen.insert(*path, serde_json::from_str(value).unwrap());
            }
        }
        chosen
    }

    fn manifest(&self, version: &VersionInfo, members: &BTreeMap<&'static str, Value>) -> Value {
        let mut manifest = json!({
            "apiVersion": format!("{}/{}", self.info.group, version.name),
            "kind": self.info.kind,
            "metadata": {"name": self.name, "namespace": self.subject.namespace},
            "spec": self.subject.base,
        });
        leave_alone(&mut manifest);
        put_all(&mut manifest, members);
        manifest
    }

    fn own(&mut self, manager: &'static str, members: &BTreeMap<&'static str, Value>) {
        self.owned.retain(|path, (_, owners)| {
            if !members.contains_key(path) {
                owners.remove(manager);
            }
            !owners.is_empty()
        });
        for (path, value) in members {
            let (there, owners) = self.owned.entry(path).or_default();
            if there != value {
                *there = value.clone();
                owners.clear();
            }
            owners.insert(manager);
        }
    }

    /// Labels, annotations and spec.
    fn expected(&self) -> Value {
        let mut object = json!({"metadata": {}, "spec": self.subject.base});
        leave_alone(&mut object);
        let members = self.owned.iter();
        put_all(
            &mut object,
            &members
                .map(|(path, (value, _))| (*path, value.clone()))
                .collect(),
        );
        shown(&object)
    }
}

/// Whether the version has a place for the member.
fn has(version: &VersionInfo, path: &str) -> bool {
    if path.starts_with("labels/") || path.starts_with("annotations/") {
        return true;
    }
    let mut shape = version.spec;
    for name in path.split('/') {
        match shape.field(name).map(|field| field.ty) {
            Some(Type::Struct(below)) => shape = below,
            Some(_) => return true,
            None => return false,
        }
    }
    true
}

fn put_all(object: &mut Value, members: &BTreeMap<&'static str, Value>) {
    for (path, value) in members {
        let is_metadata = path.starts_with("labels/") || path.starts_with("annotations/");
        let mut place = &mut object[if is_metadata { "metadata" } else { "spec" }];
        for name in path.split('/') {
            place = &mut place[name.replace("~1", "/")];
        }
        *place = value.clone();
    }
}

/// What of an object its managers have a say in. Empty objects count for nothing: merging leaves some behind.
fn shown(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut shown = json!({
        "labels": metadata["labels"],
        "annotations": metadata["annotations"],
        "spec": object["spec"],
    });
    if let Some(annotations) = shown["annotations"].as_object_mut() {
        annotations.retain(|key, _| !is_stash_annotation(key));
    }
    without_empty(&mut shown);
    shown
}

fn without_empty(value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    members.values_mut().for_each(without_empty);
    members
        .retain(|_, value| !value.is_null() && value.as_object().is_none_or(|it| !it.is_empty()));
    members.sort_keys();
}
