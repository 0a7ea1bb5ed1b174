//! Leases, as replicas write and look at them.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::PostParams;
use tokio::time::Instant;

use crate::names::FIELD_MANAGER;

/// The latest change of a Lease, by the clock of who looks.
pub(super) struct Change {
    version: Option<String>,
    at: Instant,
}

impl Change {
    /// The change to this version of the Lease, which was not seen before.
    pub fn seen(version: Option<String>, at: Instant) -> Self {
        Self { version, at }
    }

    /// Whether a Lease of this version has not changed since.
    pub fn led_to(&self, version: Option<&String>) -> bool {
        self.version.as_ref() == version
    }

    /// How long ago it was seen.
    pub fn age(&self, now: Instant) -> Duration {
        now.duration_since(self.at)
    }
}

/// The time to write into a Lease. It is for people: nobody compares it with another clock.
pub(super) fn now() -> MicroTime {
    MicroTime(Timestamp::now())
}

/// How the operator writes Leases.
pub(super) fn parameters() -> PostParams {
    PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    }
}
