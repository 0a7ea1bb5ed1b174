//! Structs that every kind shares: references, secret and config map inputs and outputs, conditions, and the
//! typed object that `kube::Api` works with.
//!
//! What does not live here: anything of one kind or group.

mod condition;
mod object;
mod reference;
mod typed;

pub use condition::Condition;
pub use object::{Kind, Object, ObjectKey};
pub use reference::{
    ArbitraryOwnerReference, ConfigMapDestination, ConfigMapReference, DestinationExpression,
    KnownResourceReference, ResourceReference, SecretDestination, SecretMapReference,
    SecretReference, UserAssignedIdentityDetails, WellKnownResourceReference,
};
pub use typed::TypedObject;
