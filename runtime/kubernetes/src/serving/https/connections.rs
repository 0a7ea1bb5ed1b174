//! How many connections there are, of all clients and of one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Connections at the same time. An API server has one for each CRD, of which there are some 300.
const ALL: usize = 4096;
/// Connections of one address.
const OF_ONE: usize = 1024;
/// How often it is told that there are too many.
const TOLD: Duration = Duration::from_secs(60);

/// The connections of a server. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Connections(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    of: HashMap<IpAddr, usize>,
    told: Option<Instant>,
}

/// A connection that is counted for as long as this lives.
#[derive(Debug)]
pub struct Entered {
    connections: Connections,
    peer: IpAddr,
}

impl Connections {
    /// Counts a connection; `None` when there are too many.
    pub fn enter(&self, peer: IpAddr) -> Option<Entered> {
        let mut counts = self.counts();
        let of_one = counts.of.get(&peer).copied().unwrap_or_default();
        if counts.all >= ALL || of_one >= OF_ONE {
            let now = Instant::now();
            if counts.told.is_none_or(|told| now - told >= TOLD) {
                counts.told = Some(now);
                let all = counts.all;
                tracing::warn!(%peer, of_one, all, "too many connections: new ones are closed");
            }
            return None;
        }
        counts.all += 1;
        *counts.of.entry(peer).or_default() += 1;
        Some(Entered {
            connections: self.clone(),
            peer,
        })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut counts = self.connections.counts();
        counts.all -= 1;
        if let Some(of_one) = counts.of.get_mut(&self.peer) {
            *of_one -= 1;
            if *of_one == 0 {
                counts.of.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_leaves_room_for_others_and_places_are_given_back() {
        let connections = Connections::default();
        let peer = |last: u8| IpAddr::from([10, 0, 0, last]);
        let mut entered: Vec<_> = (0..OF_ONE)
            .map(|_| connections.enter(peer(1)).unwrap())
            .collect();
        assert!(connections.enter(peer(1)).is_none());
        let other = connections.enter(peer(2));
        assert!(other.is_some());
        entered.pop();
        assert!(connections.enter(peer(1)).is_some());
        drop((entered, other));
        assert!(connections.counts().of.is_empty());
        assert_eq!(connections.counts().all, 0);
    }
}
