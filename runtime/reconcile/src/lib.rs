//! One reconciler for all kinds: a pure decision (`decide`) and a thin driver that performs it through ports.
//!
//! | module | what lives here |
//! |---|---|
//! | [`decide`](mod@decide) | the state machine: from [`view`] and [`observed`] to one [`action`] |
//! | [`driver`] | performs actions and loops until the pass ends |
//! | [`queue`] | which object is looked at when, and by how many workers |
//! | [`inventory`] | the objects of the cluster for whoever looks at all of them |
//! | [`bookkeeping`] | what the operator notes in an object |
//! | [`mod@persist`] | which of it, and which conditions, the end of a pass writes |
//! | [`outcome`] | what one thing that was tried has come to |
//! | [`condition`], [`classify`], [`backoff`] | conditions, what errors mean, how long to wait |
//! | [`claim`] | what the finalizer vouches for |
//! | [`signature`] | what tells the operator's notes from those that somebody else wrote |
//! | [`secret_source`] | where values of `operatorSpec.secrets` come from |
//! | [`export_target`] | Secrets and ConfigMaps, put together from what an object wants written |
//! | [`young`] | objects that need not say yet how they are |
//! | [`fence`] | until when this replica may write |
//! | [`left_alone`] | how many values are left to Azure, and by which right |
//! | [`written`] | what was sent to Azure of late, so that the news of it is no news |
//! | [`time`], [`urgency`] | the time by which all of it waits, and whether somebody does |
//! | [`allowed_scopes`] | which ARM ids objects of a namespace may be for |
//! | [`azure_name`] | names in Azure that are UUIDs |
//! | [`annotations`], [`policy`], [`names`] | what users may say, and all names on the wire |
//! | [`side_condition`] | conditions beside `Ready` that show what annotations ask for |
//! | `testing` | ports in memory, with the feature `testing` |
//! | [`object_name`] | which names a Secret may have |
//! | [`mod@plain`] | texts of others as messages show them |
//! | [`port`] | how the driver reaches Kubernetes |
//! | [`remote`] | how it reaches what objects stand for: Azure Resource Manager, and others |
//!
//! What does not live here: ARM's protocol (`armature_arm`), Kubernetes' protocol (`armature_kubernetes`) and
//! JSON shapes ([`armature_engine`]).
//!
//! A pass over one object, with ports in memory:
//!
//! ```
//! use std::sync::Arc;
//!
//! use armature_reconcile::backoff::Requeue;
//! use armature_reconcile::extension::Registry;
//! use armature_arm::testing::{MemoryAzure, reconciler};
//! use armature_reconcile::testing::{Journal, MemoryCluster};
//! use armature_shapes::testing::kinds::GROUP;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let journal = Journal::default();
//! let cluster = Arc::new(MemoryCluster::new(journal.clone()));
//! let azure = Arc::new(MemoryAzure::new(journal.clone(), "s-1"));
//! let reconciler = reconciler(&cluster, &azure, Registry::default());
//!
//! let group = cluster.apply(&GROUP, "g", &json!({"location": "westus"}));
//! assert_eq!(reconciler.reconcile(&group).await, Requeue::Sync);
//! assert_eq!(cluster.condition(&group, "Ready"), "True//Succeeded");
//! assert_eq!(azure.get("/subscriptions/s-1/resourceGroups/g").unwrap()["location"], "westus");
//!
//! // Once Azure has it, a pass asks and writes nothing.
//! journal.take();
//! reconciler.reconcile(&group).await;
//! assert_eq!(journal.take(), ["GET /subscriptions/s-1/resourceGroups/g"]);
//! # }
//! ```

pub mod action;
pub mod allowed_scopes;
pub mod annotations;
pub mod azure_name;
pub mod backoff;
pub mod bookkeeping;
pub mod claim;
pub mod classify;
pub mod condition;
pub mod decide;
pub mod driver;
pub mod export_target;
pub mod extension;
pub mod fence;
pub mod inventory;
pub mod left_alone;
pub mod object_name;
pub mod observed;
pub mod outcome;
pub mod persist;
pub mod plain;
pub mod policy;
pub mod port;
pub mod protection;
pub mod queue;
pub mod remote;
pub mod secret_source;
pub mod side_condition;
pub mod signature;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
pub mod urgency;
pub mod view;
pub mod written;
pub mod young;
