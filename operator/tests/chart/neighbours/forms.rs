//! Odd objects, as a tenant can store them.

use std::process::Command;

use armature_controlplane::waiting::{until, until_ok};
use armature_runtime::names::{
    BASELINE, CREDENTIAL_FROM, FINALIZER, NAMESPACE_CREDENTIAL, POLLER_RESUME_ID,
    POLLER_RESUME_TOKEN, PROTECT, RESOURCE_ID,
};
use armature_runtime::reconcile::queue::WORKERS;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::costly;
use super::tenants::Tenant;
use crate::cluster::Cluster;

/// Puts odd objects into the tenant's namespace.
pub type Form = for<'a> fn(&'a Cluster, &'a Tenant) -> LocalBoxFuture<'a, ()>;

/// All forms, one after the other; each stays.
pub const FORMS: [(&str, Form); 14] = [
    ("metadata, a spec and a status that are nested deeply", deep),
    ("annotations of 200 KiB, and ids that decode for ever", long),
    ("what an older version cannot hold", unfitting),
    ("a status beyond what etcd takes", large_status),
    ("an object that a rule keeps from being claimed", unclaimed),
    ("pages of large objects", large_pages),
    ("notes that the tenant wrote himself", forged),
    ("Secrets that name files without an end", files),
    ("a certificate that is none", certificates),
    ("PKCS#12 files with 1 GiB of scrypt", scrypt),
    (
        "expressions that take as long as they may",
        costly::expressions,
    ),
    (
        "paths by the thousand for values by the thousand",
        costly::paths,
    ),
    ("tenants by the hundred thousand", costly::tenants),
    ("objects in failure", failing),
];

const SERVED: &str = "resources.azure.com/v1api20200601";
const STORED: &str = "resources.azure.com/v1api20200601storage";
const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
/// What annotations of an object may have together is 256 KiB.
const ANNOTATION: usize = 200 << 10;

/// Groups that name each of so many Secrets: together they would take all workers.
pub(super) fn all_workers(secrets: usize) -> usize {
    let groups = WORKERS.div_ceil(secrets) + 2;
    many(groups, groups.max(50))
}

/// So many in CI, and so many by `cargo xtask test --all`.
pub(super) fn many(in_ci: usize, all: usize) -> usize {
    match std::env::var_os("ARMATURE_ALL_VERSIONS") {
        Some(_) => all,
        None => in_ci,
    }
}

fn nested(name: &str, levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ name: inner }))
}

pub(super) fn group(name: &str, metadata: Value) -> Value {
    let mut object = json!({
        "apiVersion": SERVED, "kind": "ResourceGroup",
        "metadata": metadata, "spec": {"location": "westeurope"},
    });
    object["metadata"]["name"] = json!(name);
    object
}

/// A group with a spec that the storage version takes as it is.
fn stored(name: &str, more: Value) -> Value {
    let mut object = group(name, json!({}));
    object["apiVersion"] = json!(STORED);
    object["spec"]["originalVersion"] = json!("v1api20200601");
    object["spec"]["more"] = more;
    object
}

/// Text that does not shrink when it is compressed.
fn noise(length: usize) -> String {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length * 3 / 4 {
        // Xorshift: each run has the same text.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    STANDARD.encode(bytes)
}

fn deep<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let fields = json!([{
            "manager": "x", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": nested("f:a", 120)},
        }]);
        for kind in ["Secret", "ConfigMap"] {
            let metadata = json!({"name": "deep", "managedFields": fields});
            let object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
            tenant.create(object).await;
        }
        let metadata = json!({ "managedFields": fields });
        tenant.create(group("deep-metadata", metadata)).await;
        tenant.create(stored("deep-spec", nested("a", 200))).await;
        tenant.create(stored("deep-status", json!(null))).await;
        let change = Patch::Merge(json!({"status": {"more": nested("a", 300)}}));
        let groups = tenant.api(STORED, "ResourceGroup");
        let parameters = PatchParams::default();
        let patched = groups.patch_status("deep-status", &parameters, &change);
        // The answer is one that kube cannot read.
        if let Err(error @ kube::Error::Api(_)) = patched.await {
            panic!("{error}");
        }
        goes(tenant, stored("deep-deleted", nested("a", 200))).await;
    }
    .boxed_local()
}

/// Creates an object and deletes it as it is stored: at another version its deletion would lose what is left out there.
async fn goes(tenant: &Tenant, object: Value) {
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    tenant.create(object).await;
    let groups = tenant.api(STORED, "ResourceGroup");
    let deleted = groups.delete(&name, &DeleteParams::default()).await;
    if let Err(error @ kube::Error::Api(_)) = deleted {
        panic!("{error}");
    }
    until(&format!("{name} to be gone"), async || {
        matches!(groups.get(&name).await, Err(kube::Error::Api(status)) if status.is_not_found())
    })
    .await;
}

fn long<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let id = format!("/subscriptions/%{}", "25".repeat(ANNOTATION / 2));
        let notes = [
            RESOURCE_ID,
            BASELINE,
            POLLER_RESUME_TOKEN,
            CREDENTIAL_FROM,
            PROTECT,
        ];
        for (number, note) in notes.into_iter().enumerate() {
            let metadata = json!({"finalizers": [FINALIZER], "annotations": {note: id}});
            tenant
                .create(group(&format!("long-{number}"), metadata))
                .await;
        }
        let mut by_id = stored("long-owner", json!(null));
        by_id["spec"]["owner"] = json!({ "armId": id });
        tenant.create(by_id).await;
    }
    .boxed_local()
}

fn unfitting<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let mut object = stored("unfitting", json!(noise(500 << 10)));
        object["metadata"]["annotations"] = json!({
            "armature.azure.com/conversion-stash.more": noise(ANNOTATION),
        });
        tenant.create(object).await;
    }
    .boxed_local()
}

fn large_status<'a>(cluster: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let value = noise(1 << 10);
        let tags = (0..3_000).map(|number| (format!("tag-{number}"), json!(value)));
        let body = json!({"location": "westeurope", "tags": Map::from_iter(tags)});
        let id = format!("{SUBSCRIPTION}/resourceGroups/large-status");
        cluster.azure.simulator().place(&id, body).unwrap();
        tenant.create(group("large-status", json!({}))).await;
        says(tenant, "large-status", "which Kubernetes refused").await;
    }
    .boxed_local()
}

/// Waits until an object's condition says so: what the API server refuses is told in the object.
pub(super) async fn says(tenant: &Tenant, name: &str, text: &str) {
    let groups = tenant.api(SERVED, "ResourceGroup");
    until_ok(&format!("{name} to say {text}"), async || {
        let found = groups.get(name).await;
        let found = found.map_err(|error| error.to_string())?;
        let conditions = found.data["status"]["conditions"].to_string();
        match conditions.contains(text) {
            true => Ok(()),
            false => Err(conditions),
        }
    })
    .await;
}

fn unclaimed<'a>(cluster: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let version = "admissionregistration.k8s.io/v1";
        cluster
            .apply(&json!({
                "apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "unclaimed"},
                "spec": {
                    "matchConstraints": {"resourceRules": [{
                        "apiGroups": ["", "resources.azure.com"], "apiVersions": ["*"], "operations": ["UPDATE"],
                        "resources": ["configmaps", "resourcegroups"],
                    }]},
                    "validations": [{
                        "expression": "!object.metadata.name.startsWith('unclaimed')", "message": "nobody claims this",
                    }],
                },
            }))
            .await;
        cluster
            .apply(&json!({
                "apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "unclaimed"},
                "spec": {"policyName": "unclaimed", "validationActions": ["Deny"]},
            }))
            .await;
        let probe = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unclaimed"}});
        tenant.create(probe).await;
        let probes = tenant.api("v1", "ConfigMap");
        until_ok("the policy to be in force", async || {
            let change = Patch::Merge(json!({"data": {"a": "b"}}));
            let parameters = PatchParams { dry_run: true, ..PatchParams::default() };
            match probes.patch("unclaimed", &parameters, &change).await {
                Ok(_) => Err("not yet"),
                Err(_) => Ok(()),
            }
        })
        .await;
        tenant.create(group("unclaimed", json!({}))).await;
        says(tenant, "unclaimed", "nobody claims this").await;
    }
    .boxed_local()
}

fn large_pages<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let text = noise(800 << 10);
        let objects =
            (0..many(50, 500)).map(|number| stored(&format!("large-{number}"), json!(text)));
        tenant.create_all(objects).await;
    }
    .boxed_local()
}

/// Ids of what others have, with all the words that a claim has.
fn forged<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let others = (0..20).map(|number| format!("look-{number}-0"));
        let others = others.chain(["read".to_owned()]).enumerate();
        let objects = others.map(|(number, other)| {
            let things = format!("{SUBSCRIPTION}/resourceGroups/{other}/providers/Microsoft.Anything/things/x");
            let metadata = json!({
                "name": format!("forged-{number}"), "finalizers": [FINALIZER],
                "annotations": {
                    RESOURCE_ID: things, PROTECT: "delete", BASELINE: "x",
                    POLLER_RESUME_ID: "GenericARM",
                    POLLER_RESUME_TOKEN: format!("{{\"url\":\"{SUBSCRIPTION}/resourceGroups/{other}\"}}"),
                },
            });
            json!({
                "apiVersion": "managedidentity.azure.com/v1api20230131", "kind": "UserAssignedIdentity",
                "metadata": metadata, "spec": {"location": "westeurope", "owner": {"name": "nobody"}},
            })
        });
        tenant.create_all(objects).await;
    }
    .boxed_local()
}

/// A Secret with a credential, and so many groups that name it.
pub(super) async fn credential(tenant: &Tenant, name: &str, more: (&str, Vec<u8>), groups: usize) {
    let mut data = json!({
        "AZURE_SUBSCRIPTION_ID": STANDARD.encode("00000000-0000-0000-0000-000000000001"),
        "AZURE_TENANT_ID": STANDARD.encode("t"), "AZURE_CLIENT_ID": STANDARD.encode("c"),
    });
    data[more.0] = json!(STANDARD.encode(more.1));
    tenant
        .create(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}),
        )
        .await;
    let of_group = |number| {
        let metadata = json!({"annotations": {CREDENTIAL_FROM: name}});
        group(&format!("{name}-{number}"), metadata)
    };
    tenant.create_all((0..groups).map(of_group)).await;
}

fn files<'a>(cluster: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let pipe = cluster.path("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let pipe = pipe.display().to_string();
        for (name, path) in [("zero", "/dev/zero"), ("pipe", &pipe)] {
            let file = ("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS", path.into());
            credential(tenant, name, file, all_workers(2)).await;
            says(
                tenant,
                &format!("{name}-0"),
                "it is not in a folder for such files",
            )
            .await;
        }
    }
    .boxed_local()
}

fn certificates<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        // As PKCS#12 begins.
        let mut archive = vec![0x30, 0x82, 0xff, 0xff];
        // As long as one may be.
        archive.extend(noise(250 << 10).into_bytes());
        let archive = ("AZURE_CLIENT_CERTIFICATE", archive);
        credential(tenant, "certificate", archive, all_workers(1)).await;
        says(tenant, "certificate-0", "it is neither PEM nor PKCS#12").await;
    }
    .boxed_local()
}

/// A value of ASN.1 in DER.
fn der(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let content = parts.concat();
    // No longer than they need to be, or it is no DER and nobody reads on.
    let length = match u16::try_from(content.len()).unwrap().to_be_bytes() {
        [0, short @ ..128] => vec![short],
        [0, length] => vec![0x81, length],
        [high, low] => vec![0x82, high, low],
    };
    [vec![tag], length, content].concat()
}

/// A PKCS#12 file without a MAC, whose one part asks for scrypt with N = 2²⁰ and r = 8.
fn scrypt_archive() -> Vec<u8> {
    let oid = |text: &[u8]| [&[0x06, text.len() as u8], text].concat();
    let data = oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1]);
    let encrypted = oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 6]);
    let pbes2 = oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 13]);
    let scrypt = oid(&[0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11]);
    let aes256 = oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42]);
    let octets = |bytes: &[u8]| [&[0x04, bytes.len() as u8], bytes].concat();
    let number = |bytes: &[u8]| [&[0x02, bytes.len() as u8], bytes].concat();
    let cost = [
        octets(&[7; 16]),
        number(&[0x10, 0, 0]),
        number(&[8]),
        number(&[1]),
    ];
    let kdf = der(0x30, &[scrypt, der(0x30, &cost)]);
    let cipher = der(0x30, &[aes256, octets(&[7; 16])]);
    let how = der(0x30, &[pbes2, der(0x30, &[kdf, cipher])]);
    let text = [&[0x80, 32][..], &[7; 32]].concat();
    let content = der(0x30, &[data.clone(), how, text]);
    let content = der(0x30, &[number(&[0]), content]);
    let safe = der(0x30, &[encrypted, der(0xa0, &[content])]);
    let safes = der(0x04, &[der(0x30, &[safe])]);
    let safes = der(0x30, &[data, der(0xa0, &[safes])]);
    der(0x30, &[number(&[3]), safes])
}

fn scrypt<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        // Each is another one: what is known of one says nothing of the next.
        for number in 0..5 {
            let archive = ("AZURE_CLIENT_CERTIFICATE", scrypt_archive());
            credential(tenant, &format!("scrypt-{number}"), archive, all_workers(5)).await;
        }
        says(tenant, "scrypt-0-0", "scrypt with more than 32 MiB").await;
    }
    .boxed_local()
}

fn failing<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let objects = (0..many(100, 1000)).map(|number| {
            let metadata = json!({"annotations": {CREDENTIAL_FROM: NAMESPACE_CREDENTIAL}});
            group(&format!("failing-{number}"), metadata)
        });
        tenant.create_all(objects).await;
    }
    .boxed_local()
}
