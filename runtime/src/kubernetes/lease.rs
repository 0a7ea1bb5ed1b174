//! Leader election through a Lease: of several replicas one works, the others wait for it to go.
//!
//! The clocks of replicas are never compared. Who waits measures with its own clock how long the Lease has not
//! changed (as client-go does), and writes on the condition that nobody else did.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::message;
use super::names::FIELD_MANAGER;

/// Longest wait for the Lease to be given back.
const RELEASE_LIMIT: Duration = Duration::from_secs(2);

/// How long an election waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTimes {
    /// A Lease that has not changed for this long may be taken.
    pub lease: Duration,
    /// A leader that could not renew for this long gives up; shorter than `lease`.
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
    seen: Option<Seen>,
}

/// The Lease as it was when it changed last.
struct Seen {
    holder: String,
    version: Option<String>,
    at: Instant,
}

impl Seen {
    /// Whether this replica may write the Lease at this moment.
    fn is_free_for(&self, identity: &str, lease: Duration, now: Instant) -> bool {
        self.holder.is_empty() || self.holder == identity || now.duration_since(self.at) >= lease
    }
}

/// What an attempt to take or renew led to.
enum Attempt {
    Held,
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
            seen: None,
        }
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
        let mut shown = String::new();
        let tries = async {
            loop {
                match self.attempt().await {
                    Ok(Attempt::Held) => return,
                    Ok(Attempt::HeldBy(holder)) if holder != shown => {
                        tracing::info!(lease = self.label, holder, "another replica leads");
                        shown = holder;
                    }
                    Ok(Attempt::HeldBy(_)) => {}
                    Err(error) => {
                        tracing::warn!(lease = self.label, error, "cannot stand for the Lease");
                    }
                }
                tokio::time::sleep(self.times.retry).await;
            }
        };
        let leads = stop.run_until_cancelled(tries).await.is_some();
        if leads {
            tracing::info!(lease = self.label, "leading");
        }
        leads
    }

    /// Renews the Lease until it is lost. Dropping the future stops the renewals.
    pub async fn hold(&mut self) -> LeaseLost {
        let mut renewed = Instant::now();
        let mut failure = String::from("no answer");
        loop {
            tokio::time::sleep(self.times.retry).await;
            let deadline = renewed + self.times.renew;
            match tokio::time::timeout_at(deadline, self.attempt()).await {
                Ok(Ok(Attempt::Held)) => renewed = Instant::now(),
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
            if Instant::now() >= deadline {
                return LeaseLost::NotRenewed {
                    lease: self.label.clone(),
                    seconds: self.times.renew.as_secs(),
                    message: failure,
                };
            }
        }
    }

    /// Gives the Lease back, so that another replica need not wait for it to expire.
    pub async fn release(&mut self) {
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
            spec.renew_time = Some(MicroTime(Timestamp::now()));
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
        let text = |error: kube::Error| message(&error);
        let found = self.leases.get_opt(&self.name).await.map_err(text)?;
        let now = Instant::now();
        if let Some(lease) = &found {
            let version = lease.metadata.resource_version.clone();
            let holder = holder(lease).to_owned();
            if self
                .seen
                .as_ref()
                .is_none_or(|seen| seen.version != version)
            {
                let at = now;
                self.seen = Some(Seen {
                    holder,
                    version,
                    at,
                });
            }
            if let Some(seen) = &self.seen
                && !seen.is_free_for(&self.identity, self.times.lease, now)
            {
                return Ok(Attempt::HeldBy(seen.holder.clone()));
            }
        }
        let wanted = self.claimed(found.as_ref());
        let written = match found {
            Some(_) => {
                self.leases
                    .replace(&self.name, &parameters(), &wanted)
                    .await
            }
            None => self.leases.create(&parameters(), &wanted).await,
        };
        match written {
            Ok(_) => Ok(Attempt::Held),
            // Somebody was faster; the next attempt sees who.
            Err(error) => Err(text(error)),
        }
    }

    /// The Lease as it is when we hold it.
    fn claimed(&self, found: Option<&Lease>) -> Lease {
        let old = found
            .and_then(|lease| lease.spec.clone())
            .unwrap_or_default();
        let is_ours = old.holder_identity.as_ref() == Some(&self.identity);
        let transitions = old.lease_transitions.unwrap_or_default();
        let now = MicroTime(Timestamp::now());
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

/// How the operator writes Leases.
pub(super) fn parameters() -> PostParams {
    PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_free_when_given_back_our_own_or_unchanged_for_long() {
        let lease = LeaseTimes::default().lease;
        let rows = [
            ("", 0, true),
            ("us", 0, true),
            ("us", 60, true),
            ("them", 0, false),
            ("them", 14, false),
            ("them", 15, true),
        ];
        for (holder, seconds, expected) in rows {
            let seen = Seen {
                holder: holder.to_owned(),
                version: None,
                at: Instant::now(),
            };
            let now = seen.at + Duration::from_secs(seconds);
            assert_eq!(
                seen.is_free_for("us", lease, now),
                expected,
                "{holder} {seconds}"
            );
        }
    }

    #[test]
    fn a_leader_gives_up_before_another_may_take_over() {
        let times = LeaseTimes::default();
        assert!(times.retry < times.renew && times.renew < times.lease);
    }
}
