//! Odd objects that ask for much to be computed, or for much to be kept.

use armature_runtime::names::{IGNORE_PATHS, KEEP_UNKNOWN};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value, json};

use super::forms::{all_workers, credential, group, many, says};
use super::tenants::Tenant;
use crate::cluster::Cluster;

/// How large an object may be that the API server takes.
const LARGE: usize = 1_300_000;

/// Three objects, each full of expressions that take as long as one may.
pub fn expressions<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let numbers = |count: usize| {
            let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            format!("[{}]", numbers.join(","))
        };
        let value = format!(
            "{}.map(a, {}.map(b, {}.exists(c, c == 9))).size() == 0 ? 'a' : 'b'",
            numbers(100),
            numbers(50),
            numbers(20)
        );
        let count = LARGE / (value.len() + 60);
        let entries =
            (0..count).map(|at| json!({"name": "out", "key": format!("k{at}"), "value": value}));
        let entries: Vec<Value> = entries.collect();
        let with = |name: &str, entries: &[Value]| {
            let mut object = group(name, json!({}));
            object["spec"]["operatorSpec"] = json!({"configMapExpressions": entries});
            object
        };
        // As many as one may have, and each takes as long as it may.
        let few = with("expressions-few", &entries[..200]);
        let names: Vec<String> = (0..3)
            .map(|number| format!("expressions-{number}"))
            .collect();
        let full = names.iter().map(|name| with(name, &entries));
        tenant.create_all(full.chain([few])).await;
        for name in &names {
            says(tenant, name, "one object may have 200").await;
        }
        says(tenant, "expressions-few", "together").await;
    }
    .boxed_local()
}

/// Paths that are not compared, by the thousand, for values by the thousand.
pub fn paths<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let tags: Map<String, Value> = (0..many(10_000, 40_000))
            .map(|tag| (format!("t{tag}"), json!("v")))
            .collect();
        let paths: Vec<String> = (0..20_000).map(|path| format!("tags.z{path}")).collect();
        let with = |name: &str, annotations: Value| {
            let mut object = group(name, json!({ "annotations": annotations }));
            object["spec"]["tags"] = json!(tags);
            object
        };
        let (few, all) = (paths[..100].join(","), paths.join(","));
        let objects = [
            with("paths-ignored", json!({ IGNORE_PATHS: all })),
            with("paths-kept", json!({ KEEP_UNKNOWN: all })),
            with("paths-few", json!({IGNORE_PATHS: few})),
        ];
        tenant.create_all(objects).await;
        for name in ["paths-ignored", "paths-kept"] {
            says(tenant, name, "at most 100 paths").await;
        }
    }
    .boxed_local()
}

/// Secrets that name a hundred thousand tenants, or one with a very long name.
pub fn tenants<'a>(_: &'a Cluster, tenant: &'a Tenant) -> LocalBoxFuture<'a, ()> {
    async move {
        let many: Vec<String> = (0..100_000).map(|number| format!("t{number}")).collect();
        let groups = all_workers(5);
        for number in 0..4 {
            let names = ("AZURE_ADDITIONAL_TENANTS", many.join(",").into_bytes());
            credential(tenant, &format!("tenants-{number}"), names, groups).await;
        }
        let long = ("AZURE_TENANT_ID", "t".repeat(900_000).into_bytes());
        credential(tenant, "tenant-long", long, groups).await;
        says(tenant, "tenants-0-0", "AZURE_ADDITIONAL_TENANTS").await;
        says(tenant, "tenant-long-0", "AZURE_TENANT_ID").await;
    }
    .boxed_local()
}
