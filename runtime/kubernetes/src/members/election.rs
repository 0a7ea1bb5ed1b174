//! Leader election through a Lease: of several replicas one works, the others wait for it to go.
//!
//! Who waits measures how long the Lease has not changed (as client-go does), and writes on the condition that nobody
//! else did. Who leads counts from before the request that renewed the Lease, because nobody knows when within a late
//! answer's time it was renewed, and is fenced off before others may take the Lease.

use std::time::Duration;

use armature_reconcile::fence::Fence;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::Api;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::lease::{Change, now, parameters};
use crate::error::message;

/// Longest wait for the Lease to be given back.
const RELEASE_LIMIT: Duration = Duration::from_secs(2);

/// How long an election waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTimes {
    /// A Lease that has not changed for this long may be taken.
    pub lease: Duration,
    /// A leader that could not renew for this long gives up; shorter than `lease`. The time between the two is for
    /// writes that are on their way then.
    pub renew: Duration,
    /// Time between two attempts to take or renew.
    pub retry: Duration,
}

impl Default for LeaseTimes {
    /// 15, 10 and 2 seconds, the periods of most operators (ASO behaviour §5.4).
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            renew: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

/// Why a leader no longer is one.
#[derive(Debug, thiserror::Error)]
pub enum LeaseLost {
    /// Somebody else has the Lease.
    #[error(
        "Lease {lease} was taken by {holder}; this replica ends, so that two never work at once"
    )]
    Taken {
        /// Namespace and name.
        lease: String,
        /// Identity of the new holder.
        holder: String,
    },
    /// The API server did not take our renewals.
    #[error(
        "Lease {lease} was not renewed for {seconds} s ({message}); this replica ends before another takes over"
    )]
    NotRenewed {
        /// Namespace and name.
        lease: String,
        /// How long.
        seconds: u64,
        /// What the server said last.
        message: String,
    },
}

/// One replica in an election.
pub struct Election {
    leases: Api<Lease>,
    label: String,
    name: String,
    identity: String,
    times: LeaseTimes,
    fence: Fence,
    seen: Option<Seen>,
    /// The Lease as our last write left it.
    written: Option<Lease>,
}

/// The Lease as it was when it changed last.
struct Seen {
    holder: String,
    change: Change,
}

impl Seen {
    /// Whether this replica may write the Lease at this moment.
    fn is_free_for(&self, identity: &str, lease: Duration, now: Instant) -> bool {
        self.holder.is_empty() || self.holder == identity || self.change.age(now) >= lease
    }
}

/// What an attempt to take or renew led to.
enum Attempt {
    /// Ours, by a request that was begun at this moment.
    Held(Instant),
    HeldBy(String),
}

impl Election {
    /// A replica that stands for the Lease of this name. `host` is the start of its identity.
    pub fn new(client: Client, namespace: &str, name: &str, host: &str, times: LeaseTimes) -> Self {
        Self {
            leases: Api::namespaced(client, namespace),
            label: format!("{namespace}/{name}"),
            name: name.to_owned(),
            identity: format!("{host}_{}", uuid::Uuid::new_v4()),
            times,
            fence: Fence::closed(),
            seen: None,
            written: None,
        }
    }

    /// Open while this replica leads, and closed before another one may.
    pub fn fence(&self) -> Fence {
        self.fence.clone()
    }

    /// What the Lease names while this replica leads.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Waits until this replica leads; false when told to stop before.
    pub async fn acquire(&mut self, stop: &CancellationToken) -> bool {
        tracing::info!(
            lease = self.label,
            identity = self.identity,
            "waiting to lead"
        );
        let leads = stop.run_until_cancelled(self.stand()).await.is_some();
        if leads {
            tracing::info!(lease = self.label, "leading");
        }
        leads
    }

    async fn stand(&mut self) {
        let mut shown = String::new();
        loop {
            match tokio::time::timeout(self.times.renew, self.attempt()).await {
                Ok(Ok(Attempt::Held(since))) if self.leads_since(since) => return,
                // The answer came so late that nothing is left of the time.
                Ok(Ok(Attempt::Held(_))) => {}
                Ok(Ok(Attempt::HeldBy(holder))) if holder != shown => {
                    tracing::info!(lease = self.label, holder, "another replica leads");
                    shown = holder;
                }
                Ok(Ok(Attempt::HeldBy(_))) => {}
                Ok(Err(error)) => {
                    tracing::warn!(lease = self.label, error, "cannot stand for the Lease");
                }
                Err(_) => {
                    tracing::warn!(lease = self.label, "no answer about the Lease");
                }
            }
            tokio::time::sleep(self.times.retry).await;
        }
    }

    /// Opens the fence for as long as a renewal counts that was begun at this moment; false when that is over.
    fn leads_since(&self, began: Instant) -> bool {
        self.fence.extend(began + self.times.renew);
        self.fence.is_open()
    }

    /// Renews the Lease until it is lost. Dropping the future stops the renewals.
    pub async fn hold(&mut self) -> LeaseLost {
        let lost = self.renew().await;
        self.fence.close();
        lost
    }

    async fn renew(&mut self) -> LeaseLost {
        let mut failure = String::from("no answer");
        while let Some(deadline) = self.fence.until() {
            let next = Instant::now() + self.times.retry;
            tokio::time::sleep_until(next.min(deadline)).await;
            match tokio::time::timeout_at(deadline, self.attempt()).await {
                Ok(Ok(Attempt::Held(since))) => self.fence.extend(since + self.times.renew),
                Ok(Ok(Attempt::HeldBy(holder))) => {
                    let lease = self.label.clone();
                    return LeaseLost::Taken { lease, holder };
                }
                Ok(Err(error)) => {
                    tracing::warn!(lease = self.label, error, "the Lease was not renewed");
                    failure = error;
                }
                Err(_) => {}
            }
        }
        LeaseLost::NotRenewed {
            lease: self.label.clone(),
            seconds: self.times.renew.as_secs(),
            message: failure,
        }
    }

    /// Gives the Lease back, so that another replica need not wait for it to expire.
    pub async fn release(&mut self) {
        self.fence.close();
        match tokio::time::timeout(RELEASE_LIMIT, self.give_back()).await {
            Ok(Ok(())) => tracing::info!(lease = self.label, "gave the Lease back"),
            Ok(Err(error)) => {
                tracing::warn!(lease = self.label, %error, "the Lease was not given back");
            }
            Err(_) => tracing::warn!(lease = self.label, "the Lease was not given back in time"),
        }
    }

    async fn give_back(&self) -> kube::Result<()> {
        loop {
            let Some(mut lease) = self.leases.get_opt(&self.name).await? else {
                return Ok(());
            };
            if holder(&lease) != self.identity {
                return Ok(());
            }
            let spec = lease.spec.get_or_insert_default();
            spec.holder_identity = Some(String::new());
            spec.renew_time = Some(now());
            let written = self.leases.replace(&self.name, &parameters(), &lease).await;
            match written {
                // A renewal of our own was still under way.
                Err(kube::Error::Api(status)) if status.is_conflict() => {}
                written => return written.map(drop),
            }
        }
    }

    /// Takes the Lease if it is free, renews it if it is ours.
    async fn attempt(&mut self) -> Result<Attempt, String> {
        // What our last write left needs no other look as long as nobody else writes.
        if let Some(ours) = self.written.take() {
            match self.write(Some(&ours)).await {
                Ok(since) => return Ok(Attempt::Held(since)),
                Err(kube::Error::Api(status)) if status.is_conflict() => {}
                Err(error) => return Err(message(&error)),
            }
        }
        let found = self.leases.get_opt(&self.name).await;
        let found = found.map_err(|error| message(&error))?;
        let looked = Instant::now();
        if let Some(lease) = &found {
            let version = lease.metadata.resource_version.clone();
            let holder = holder(lease).to_owned();
            if self
                .seen
                .as_ref()
                .is_none_or(|seen| !seen.change.led_to(version.as_ref()))
            {
                self.seen = Some(Seen {
                    holder,
                    change: Change::seen(version, looked),
                });
            }
            if let Some(seen) = &self.seen
                && !seen.is_free_for(&self.identity, self.times.lease, looked)
            {
                return Ok(Attempt::HeldBy(seen.holder.clone()));
            }
        }
        // When it fails, somebody was faster; the next attempt sees who.
        let written = self.write(found.as_ref()).await;
        written.map(Attempt::Held).map_err(|error| message(&error))
    }

    /// Writes the Lease as ours, if it is still as it was found. Returns when that was begun.
    async fn write(&mut self, found: Option<&Lease>) -> kube::Result<Instant> {
        let wanted = self.claimed(found);
        let began = Instant::now();
        let written = match found {
            Some(_) => {
                let name = &self.name;
                self.leases.replace(name, &parameters(), &wanted).await
            }
            None => self.leases.create(&parameters(), &wanted).await,
        };
        self.written = Some(written?);
        Ok(began)
    }

    /// The Lease as it is when we hold it.
    fn claimed(&self, found: Option<&Lease>) -> Lease {
        let old = found
            .and_then(|lease| lease.spec.clone())
            .unwrap_or_default();
        let is_ours = old.holder_identity.as_ref() == Some(&self.identity);
        let transitions = old.lease_transitions.unwrap_or_default();
        let now = now();
        Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                resource_version: found.and_then(|lease| lease.metadata.resource_version.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.identity.clone()),
                lease_duration_seconds: i32::try_from(self.times.lease.as_secs()).ok(),
                acquire_time: match is_ours {
                    true => old.acquire_time,
                    false => Some(now.clone()),
                },
                renew_time: Some(now),
                lease_transitions: Some(transitions + i32::from(found.is_some() && !is_ours)),
                ..LeaseSpec::default()
            }),
        }
    }
}

fn holder(lease: &Lease) -> &str {
    let spec = lease.spec.as_ref();
    spec.and_then(|spec| spec.holder_identity.as_deref())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
