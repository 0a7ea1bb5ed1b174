//! `kusto.azure.com`: a cluster refuses changes, of itself and of its databases, while it is busy with one.

mod cluster;
mod database;
mod state;

pub use cluster::ClusterState;
pub use database::DatabaseOwnerState;
