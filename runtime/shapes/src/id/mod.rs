//! ARM resource ids, those of other remotes, and the segments that must not stand in them.
//!
//! What does not live here: which id an object has (its owner and name say so to the reconciler), and requests.

mod in_text;
mod remote_id;
mod resource_id;

pub use crate::segment;
pub use in_text::ids_in_text;
pub use remote_id::RemoteId;
pub use resource_id::{IdError, LONGEST_ID, ResourceId};
