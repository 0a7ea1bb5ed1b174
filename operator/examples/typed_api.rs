//! A Rust program that works with Azure resources through `kube::Api` and the generated types.
//!
//! Writes a storage account, waits until the operator has made it ready, and prints its endpoint:
//!
//! ```text
//! cargo run -p armature --example typed_api -- NAMESPACE NAME RESOURCE_GROUP
//! ```

use anyhow::Context;
use armature_generated::storage::v20230101::{
    AccessTier, Kind, Sku, SkuName, StorageAccount, StorageAccountSpec,
};
use armature_runtime::resource::KnownResourceReference;
use futures::StreamExt;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = |name: &str| {
        arguments.next().with_context(|| {
            format!("{name} is missing; usage: typed_api NAMESPACE NAME RESOURCE_GROUP")
        })
    };
    let (namespace, name) = (argument("NAMESPACE")?, argument("NAME")?);
    let account = storage_account(&name, &argument("RESOURCE_GROUP")?);

    let client = kube::Client::try_default().await?;
    let accounts: Api<StorageAccount> = Api::namespaced(client, &namespace);
    let parameters = PatchParams::apply("typed-api-example");
    accounts
        .patch(&name, &parameters, &Patch::Apply(&account))
        .await?;

    let changes = watcher::watch_object(accounts, &name).default_backoff();
    let mut changes = std::pin::pin!(changes);
    while let Some(change) = changes.next().await {
        let Some(account) = change? else { continue };
        if let Some(endpoint) = blob_endpoint(&account).filter(|_| is_ready(&account)) {
            println!("{name} is ready at {endpoint}");
            return Ok(());
        }
    }
    Ok(())
}

fn storage_account(name: &str, resource_group: &str) -> StorageAccount {
    let spec = StorageAccountSpec {
        access_tier: Some(AccessTier::HOT),
        kind: Some(Kind::STORAGE_V2),
        location: Some("westeurope".to_owned()),
        owner: Some(Box::new(KnownResourceReference {
            name: Some(resource_group.to_owned()),
            ..KnownResourceReference::default()
        })),
        sku: Some(Box::new(Sku {
            name: Some(SkuName::STANDARD_LRS),
            ..Sku::default()
        })),
        ..StorageAccountSpec::default()
    };
    StorageAccount::new(name, spec)
}

fn is_ready(account: &StorageAccount) -> bool {
    let conditions = account
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|conditions| {
        conditions.iter().any(|condition| {
            condition.condition_type.as_deref() == Some("Ready")
                && condition.status.as_deref() == Some("True")
        })
    })
}

fn blob_endpoint(account: &StorageAccount) -> Option<&str> {
    let endpoints = account.status.as_ref()?.primary_endpoints.as_ref()?;
    endpoints.blob.as_deref()
}
