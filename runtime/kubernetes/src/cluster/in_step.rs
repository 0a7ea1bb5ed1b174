//! Which watches are in step with the API server.
//!
//! A watch that is interrupted is begun again, and most interruptions are over within seconds. One that fails again and again
//! leaves the operator with what it knew: that is told once per minute, and counted.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a watch may be interrupted before that is told, and how often it is.
const TOLD: Duration = Duration::from_secs(60);

/// An interruption is over when nothing failed for so long. kube's watcher begins again after 30 s at most, and its requests
/// fail within 15 s when nobody answers.
const OVER: Duration = Duration::from_secs(60);

/// What is watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchName {
    /// Kind of the objects.
    pub kind: String,
    /// The namespace, where it is only one.
    pub namespace: Option<String>,
}

impl fmt::Display for WatchName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.kind)?;
        match &self.namespace {
            Some(namespace) => write!(formatter, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}

/// What every watch has come to.
#[derive(Debug, Default)]
pub struct InStep {
    interrupted: Mutex<BTreeMap<WatchName, Interruption>>,
    unreadable: Mutex<BTreeMap<String, u64>>,
}

#[derive(Clone, Copy, Debug)]
struct Interruption {
    since: Instant,
    last: Instant,
    told: Option<Instant>,
}

impl InStep {
    /// A watch has failed. How long that has been so already, when it is time to tell.
    pub fn failed(&self, watch: &WatchName, now: Instant) -> Option<Duration> {
        let mut all = self.all();
        let fresh = Interruption {
            since: now,
            last: now,
            told: None,
        };
        let found = all.entry(watch.clone()).or_insert(fresh);
        if now - found.last > OVER {
            *found = fresh;
        }
        found.last = now;
        let lasts = now - found.since;
        let is_told = found.told.is_some_and(|told| now - told < TOLD);
        if lasts < TOLD || is_told {
            return None;
        }
        found.told = Some(now);
        Some(lasts)
    }

    /// A watch has told something.
    pub fn told(&self, watch: &WatchName) {
        let mut all = self.all();
        if !all.is_empty() {
            all.remove(watch);
        }
    }

    /// The watches that have been interrupted for a minute or longer.
    pub fn out_of_step(&self, now: Instant) -> Vec<WatchName> {
        let all = self.all();
        let out = all
            .iter()
            .filter(|(_, found)| now - found.last <= OVER && found.last - found.since >= TOLD);
        out.map(|(watch, _)| watch.clone()).collect()
    }

    /// An object could not be read.
    pub fn unreadable(&self, what: &str) {
        let mut all = self
            .unreadable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *all.entry(what.to_owned()).or_default() += 1;
    }

    /// How often an object of each kind could not be read.
    pub fn unreadables(&self) -> BTreeMap<String, u64> {
        let all = self.unreadable.lock();
        all.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<WatchName, Interruption>> {
        self.interrupted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(kind: &str, namespace: Option<&str>) -> WatchName {
        WatchName {
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
        }
    }

    #[test]
    fn an_interruption_is_told_after_a_minute_and_once_per_minute() {
        let steps = InStep::default();
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let failed = |seconds| {
            let lasts = steps.failed(&watch("Secret", None), at(seconds));
            lasts.map(|lasts| lasts.as_secs())
        };
        let told: Vec<_> = [0, 20, 59, 60, 90, 119, 120, 130].map(failed).into();
        assert_eq!(
            told,
            [None, None, None, Some(60), None, None, Some(120), None]
        );
        assert_eq!(steps.out_of_step(at(135)), [watch("Secret", None)]);
        assert!(steps.out_of_step(at(300)).is_empty(), "it is over");
        assert_eq!(failed(300), None, "another one begins");
        assert!(steps.out_of_step(at(300)).is_empty());
    }

    #[test]
    fn a_watch_that_tells_something_is_in_step() {
        let steps = InStep::default();
        let began = Instant::now();
        let later = began + TOLD;
        assert_eq!(steps.failed(&watch("Secret", Some("a")), began), None);
        steps.failed(&watch("Secret", Some("a")), later);
        steps.told(&watch("Secret", Some("b")));
        assert_eq!(steps.out_of_step(later), [watch("Secret", Some("a"))]);
        steps.told(&watch("Secret", Some("a")));
        assert!(steps.out_of_step(later).is_empty());
    }
}
