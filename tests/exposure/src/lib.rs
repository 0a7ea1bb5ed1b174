//! What people see of an operator, and the search for secrets in it.
//!
//! | module | what lives here |
//! |---|---|
//! | `secrets` | values of Secrets in every form in which they may be written, and the search for them |
//! | `seen` | all Secrets that there ever are in a cluster |
//! | `cluster` | objects, conditions, annotations, events and ConfigMaps |
//! | `collector` | traces |
//! | `metrics` | metrics |
//!
//! What does not live here: logs, which whoever starts the operator has, and any operator.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "support for tests fails as tests do"
)]

mod cluster;
mod collector;
mod metrics;
mod secrets;
mod seen;

pub use cluster::shown_in;
pub use collector::{Collector, attribute};
pub use metrics::scrape;
pub use secrets::{Place, Secrets, random_value};
pub use seen::SeenSecrets;
