//! Extension points: where handwritten code changes what the one reconciler does for one kind.
//!
//! One trait per file, each with its contract, typed on the hub struct of its kind so that a change of the hub
//! breaks the build of what depends on it. Each takes a [`Context`] and `next`, the default behaviour that it
//! wraps. A [`Registry`] holds the implementations by kind; [`Points`] are those of one, and `registry.rs` lists them all.
//!
//! | called | trait |
//! |---|---|
//! | at the claim | [`Claimer`] |
//! | before a PUT, in this order | [`PreReconciliationOwnerChecker`], [`PreReconciliationChecker`], [`ArmResourceModifier`] |
//! | on each Azure error | [`ErrorClassifier`] |
//! | at the end, in this order | [`PostReconciliationChecker`], [`KubernetesSecretExporter`], [`KubernetesConfigExporter`], [`SuccessfulCreationHandler`] |
//! | on deletion | [`Deleter`] |
//! | on import | [`Importer`] |
//! | where Azure has another number of units, for all kinds | [`ScaleLookup`] |
//!
//! What does not live here: any implementation, and when the reconciler calls which (see
//! [`crate::driver`]).

mod claimer;
mod classifier;
mod config_exporter;
mod context;
mod deleter;
mod error;
mod importer;
mod modifier;
mod next;
mod owner_check;
mod post_check;
mod pre_check;
mod registry;
mod scale_lookup;
mod secret_exporter;
mod success_handler;
mod typed;
pub use claimer::Claimer;
pub use classifier::ErrorClassifier;
pub use config_exporter::KubernetesConfigExporter;
pub use context::{Context, Resolver};
pub use deleter::Deleter;
pub use error::ExtensionError;
pub use importer::{Import, Importer};
pub use modifier::ArmResourceModifier;
pub use next::Next;
pub use owner_check::PreReconciliationOwnerChecker;
pub use post_check::{PostCheck, PostReconciliationChecker};
pub use pre_check::{PreCheck, PreReconciliationChecker, Prerequisite};
pub use registry::{Points, RegisterError, Registry, RegistryBuilder};
pub use scale_lookup::ScaleLookup;
pub use secret_exporter::{KubernetesSecretExporter, SecretValues};
pub use success_handler::SuccessfulCreationHandler;
pub use typed::typed;
