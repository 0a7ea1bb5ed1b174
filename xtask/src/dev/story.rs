//! What happens in Azure while the samples are reconciled, decided from what the table shows. Pure.
//!
//! Three things make the project's point. A private endpoint is created and stays not ready until the owner of the
//! service approves its connection. A Kusto database waits, with not one request sent, while its cluster is Updating:
//! so the databases are applied once the cluster is there and has started an update. An autoscaler adds nodes to a pool
//! ([`scaling`]), and they stay.

mod scaling;

use std::{
    fmt,
    time::{Duration, Instant},
};

use self::scaling::Scaling;
use super::{samples::Sample, status::Row};

const NETWORK: &str = "network.azure.com";
const KUSTO: &str = "kusto.azure.com";
const CONTAINER_SERVICE: &str = "containerservice.azure.com";
const POOL: &str = "ManagedClustersAgentPool";
const UPDATING: &str = "Updating";
const SUCCEEDED: &str = "Succeeded";

/// Something that somebody does in Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The owner of a service approves the connections of a private endpoint.
    Approve {
        /// Name of the private endpoint.
        endpoint: String,
    },
    /// A cluster changes its provisioning state.
    SetCluster {
        /// Name of the cluster.
        cluster: String,
        /// The new state.
        state: &'static str,
    },
    /// The autoscaler of a pool changes how many nodes it has.
    Autoscale {
        /// Name of the pool.
        pool: String,
        /// Its id.
        id: String,
        /// How many it has then.
        count: i64,
    },
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approve { endpoint } => write!(
                f,
                "in Azure: the service's owner approves the connection of private endpoint {endpoint}"
            ),
            Self::SetCluster { cluster, state } => {
                write!(f, "in Azure: Kusto cluster {cluster} is {state}")
            }
            Self::Autoscale { pool, count, .. } => {
                write!(
                    f,
                    "in Azure: the autoscaler of pool {pool} sets {count} nodes"
                )
            }
        }
    }
}

/// The threads of the story, each absent when no sample is for it.
#[derive(Debug)]
pub struct Story {
    pause: Duration,
    approval: Option<Approval>,
    update: Option<Update>,
    scaling: Option<Scaling>,
}

#[derive(Debug)]
struct Approval {
    endpoint: String,
    step: ApprovalStep,
}

#[derive(Debug, PartialEq, Eq)]
enum ApprovalStep {
    /// Until the endpoint says that it waits.
    Created,
    /// Since then; the approval follows after the pause.
    Waiting(Instant),
    Approved,
}

#[derive(Debug)]
struct Update {
    cluster: String,
    database: String,
    step: UpdateStep,
}

#[derive(Debug, PartialEq, Eq)]
enum UpdateStep {
    /// Until the cluster is Ready.
    Creating,
    /// The cluster is Updating; until the database says that it is blocked.
    Updating,
    /// Since then; the update ends after the pause.
    Blocked(Instant),
    Updated,
}

impl Story {
    /// The story of these samples; `pause` is how long a waiting state stays to be looked at.
    pub fn new(samples: &[Sample], pause: Duration) -> Self {
        let named = |group: &str, kind: &str| {
            samples
                .iter()
                .find(|sample| sample.group == group && sample.kind == kind)
                .map(|sample| sample.name.clone())
        };
        let update = named(KUSTO, "Cluster").zip(named(KUSTO, "Database"));
        Self {
            pause,
            approval: named(NETWORK, "PrivateEndpoint").map(|endpoint| Approval {
                endpoint,
                step: ApprovalStep::Created,
            }),
            update: update.map(|(cluster, database)| Update {
                cluster,
                database,
                step: UpdateStep::Creating,
            }),
            scaling: samples
                .iter()
                .filter(|sample| sample.group == CONTAINER_SERVICE && sample.kind == POOL)
                .find_map(Scaling::of),
        }
    }

    /// Whether a sample is not to be applied yet.
    pub fn holds_back(&self, sample: &Sample) -> bool {
        let creating = self
            .update
            .as_ref()
            .is_some_and(|update| update.step == UpdateStep::Creating);
        creating && sample.group == KUSTO && sample.kind != "Cluster"
    }

    /// What happens now, given the table.
    pub fn next(&mut self, rows: &[Row], now: Instant) -> Vec<Act> {
        let row = |group: &str, kind: &str, name: &str| {
            rows.iter()
                .find(|row| row.group == group && row.kind == kind && row.name == name)
        };
        let mut acts = Vec::new();
        if let Some(approval) = &mut self.approval {
            let endpoint = row(NETWORK, "PrivateEndpoint", &approval.endpoint);
            acts.extend(approval.next(endpoint, now, self.pause));
        }
        if let Some(update) = &mut self.update {
            let cluster = row(KUSTO, "Cluster", &update.cluster);
            let database = row(KUSTO, "Database", &update.database);
            acts.extend(update.next(cluster, database, now, self.pause));
        }
        if let Some(scaling) = &mut self.scaling {
            let pool = row(CONTAINER_SERVICE, POOL, &scaling.pool);
            acts.extend(scaling.next(pool, now, self.pause));
        }
        acts
    }

    /// Whether all threads have come to their end.
    pub fn is_over(&self) -> bool {
        self.unseen().next().is_none()
    }

    /// States that should have been seen and were not.
    pub fn unseen(&self) -> impl Iterator<Item = String> {
        let approval = self
            .approval
            .as_ref()
            .filter(|approval| approval.step != ApprovalStep::Approved)
            .map(|approval| format!("private endpoint {} waits for approval", approval.endpoint));
        let update = self
            .update
            .as_ref()
            .filter(|update| update.step != UpdateStep::Updated)
            .map(|update| {
                format!(
                    "database {} waits for cluster {}",
                    update.database, update.cluster
                )
            });
        let scaling = self.scaling.as_ref().filter(|scaling| !scaling.is_over());
        let scaling =
            scaling.map(|it| format!("the nodes that the autoscaler of pool {} added", it.pool));
        approval.into_iter().chain(update).chain(scaling)
    }

    /// One sentence about what a person is looking at, if there is something special.
    pub fn remark(&self) -> Option<String> {
        let waiting = self.approval.as_ref().and_then(|approval| match approval.step {
            ApprovalStep::Waiting(_) => Some(format!(
                "{} waits for its connection to be approved; the simulator's operator will do so shortly",
                approval.endpoint
            )),
            _ => None,
        });
        let blocked = self.update.as_ref().and_then(|update| match update.step {
            UpdateStep::Blocked(_) => Some(format!(
                "{} sends nothing to Azure while cluster {} is Updating",
                update.database, update.cluster
            )),
            _ => None,
        });
        let scaled = || self.scaling.as_ref().and_then(Scaling::remark);
        waiting.or(blocked).or_else(scaled)
    }
}

impl Approval {
    fn next(&mut self, endpoint: Option<&Row>, now: Instant, pause: Duration) -> Option<Act> {
        match self.step {
            // Azure has approved it by itself: nobody has to be asked.
            ApprovalStep::Created if endpoint.is_some_and(Row::is_ready) => {
                self.step = ApprovalStep::Approved;
                None
            }
            ApprovalStep::Created => {
                if endpoint.is_some_and(|row| row.reason == "PostReconciliationFailure") {
                    self.step = ApprovalStep::Waiting(now);
                }
                None
            }
            ApprovalStep::Waiting(since) if now.duration_since(since) >= pause => {
                self.step = ApprovalStep::Approved;
                Some(Act::Approve {
                    endpoint: self.endpoint.clone(),
                })
            }
            ApprovalStep::Waiting(_) | ApprovalStep::Approved => None,
        }
    }
}

impl Update {
    fn next(
        &mut self,
        cluster: Option<&Row>,
        database: Option<&Row>,
        now: Instant,
        pause: Duration,
    ) -> Option<Act> {
        let state = match self.step {
            UpdateStep::Creating if cluster.is_some_and(Row::is_ready) => {
                self.step = UpdateStep::Updating;
                UPDATING
            }
            UpdateStep::Updating
                if database.is_some_and(|row| row.reason == "ReconciliationBlocked") =>
            {
                self.step = UpdateStep::Blocked(now);
                return None;
            }
            UpdateStep::Blocked(since) if now.duration_since(since) >= pause => {
                self.step = UpdateStep::Updated;
                SUCCEEDED
            }
            _ => return None,
        };
        Some(Act::SetCluster {
            cluster: self.cluster.clone(),
            state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, name: &str, ready: &str, reason: &str) -> Row {
        let group = if kind == "PrivateEndpoint" {
            NETWORK
        } else {
            KUSTO
        };
        Row {
            order: 0,
            group: group.into(),
            kind: kind.into(),
            name: name.into(),
            ready: ready.into(),
            reason: reason.into(),
            ..Row::default()
        }
    }

    fn story(pause: Duration) -> (Story, Vec<Sample>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.yaml");
        let manifest = |group: &str, kind: &str, name: &str| {
            format!("apiVersion: {group}/v1\nkind: {kind}\nmetadata:\n  name: {name}\n---\n")
        };
        let text = [
            manifest(NETWORK, "PrivateEndpoint", "pe"),
            manifest(KUSTO, "Cluster", "c"),
            manifest(KUSTO, "Database", "d"),
        ]
        .concat();
        std::fs::write(&path, text.trim_end_matches("---\n")).unwrap();
        let samples =
            super::super::samples::read(camino::Utf8Path::from_path(&path).unwrap()).unwrap();
        (Story::new(&samples, pause), samples)
    }

    #[test]
    fn an_endpoint_is_approved_a_pause_after_it_waits() {
        let pause = Duration::from_secs(5);
        let (mut story, _) = story(pause);
        let start = Instant::now();
        assert_eq!(
            story.next(
                &[row("PrivateEndpoint", "pe", "False", "Reconciling")],
                start
            ),
            []
        );
        let waits = [row(
            "PrivateEndpoint",
            "pe",
            "False",
            "PostReconciliationFailure",
        )];
        assert_eq!(story.next(&waits, start), []);
        assert!(story.remark().unwrap().contains("pe waits"));
        assert_eq!(story.next(&waits, start + Duration::from_secs(4)), []);
        let acts = story.next(&waits, start + pause);
        assert_eq!(
            acts,
            [Act::Approve {
                endpoint: "pe".into()
            }]
        );
        assert_eq!(story.next(&waits, start + 2 * pause), []);
    }

    #[test]
    fn nobody_is_asked_about_an_endpoint_that_is_ready_at_once() {
        let (mut story, _) = story(Duration::ZERO);
        let ready = [row("PrivateEndpoint", "pe", "True", "Succeeded")];
        assert_eq!(story.next(&ready, Instant::now()), []);
        assert_eq!(
            story.unseen().collect::<Vec<_>>(),
            ["database d waits for cluster c"]
        );
    }

    #[test]
    fn databases_come_when_the_cluster_updates_and_it_ends_when_one_is_blocked() {
        let (mut story, samples) = story(Duration::ZERO);
        let now = Instant::now();
        let held: Vec<&str> = samples
            .iter()
            .filter(|sample| story.holds_back(sample))
            .map(|sample| sample.name.as_str())
            .collect();
        assert_eq!(held, ["d"]);
        let cluster = row("Cluster", "c", "True", "Succeeded");
        let set = |state| Act::SetCluster {
            cluster: "c".into(),
            state,
        };
        assert_eq!(
            story.next(std::slice::from_ref(&cluster), now),
            [set(UPDATING)]
        );
        assert!(!samples.iter().any(|sample| story.holds_back(sample)));
        let blocked = [
            cluster,
            row("Database", "d", "False", "ReconciliationBlocked"),
        ];
        assert_eq!(story.next(&blocked, now), []);
        assert_eq!(story.next(&blocked, now), [set(SUCCEEDED)]);
        assert_eq!(
            story.unseen().collect::<Vec<_>>(),
            ["private endpoint pe waits for approval"]
        );
    }

    #[test]
    fn other_samples_have_no_story() {
        let mut story = Story::new(&[], Duration::ZERO);
        assert!(story.is_over());
        assert_eq!(story.next(&[], Instant::now()), []);
    }
}
