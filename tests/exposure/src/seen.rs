//! All Secrets of a cluster, those that are gone too.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, ListParams};
use kube::runtime::{WatchStreamExt, watcher};

use crate::Secrets;

/// Every Secret that there ever is in a cluster.
pub struct SeenSecrets {
    client: Client,
    seen: Arc<Mutex<Secrets>>,
}

impl SeenSecrets {
    /// Watches until the runtime ends, within which this must be called.
    pub fn watch(client: Client) -> Self {
        let seen = Arc::default();
        tokio::spawn(remember(client.clone(), Arc::clone(&seen)));
        Self { client, seen }
    }

    /// Adds a secret that is in no Secret.
    pub fn add(&self, owner: &str, value: &str) {
        lock(&self.seen).add(owner, value);
    }

    /// All of them.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn all(&self) -> kube::Result<Secrets> {
        // The watch may be behind.
        let all: Api<Secret> = Api::all(self.client.clone());
        let listed = all.list(&ListParams::default()).await?;
        let mut seen = lock(&self.seen);
        for secret in listed {
            seen.add_secret(&secret);
        }
        Ok(seen.clone())
    }
}

async fn remember(client: Client, secrets: Arc<Mutex<Secrets>>) {
    let all: Api<Secret> = Api::all(client);
    // Once the API server is gone the watch fails at once, again and again, and nothing else would run.
    let all = watcher(all, watcher::Config::default()).default_backoff();
    let mut seen = pin!(all.applied_objects());
    while let Some(secret) = seen.next().await {
        if let Ok(secret) = secret {
            lock(&secrets).add_secret(&secret);
        }
    }
}

fn lock(secrets: &Mutex<Secrets>) -> MutexGuard<'_, Secrets> {
    secrets.lock().unwrap_or_else(PoisonError::into_inner)
}
