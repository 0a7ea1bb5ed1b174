//! What is known of the objects that the operator manages: kept from watches, asked by passes.
//!
//! | module | what it does |
//! |---|---|
//! | `objects` | the objects themselves, and who waits for whom |
//! | `lists` | which kinds were listed, and which lists fail alone |
//! | `state` | the maps below, and what a change of them wakes |
//! | `packed` | an object, packed while nobody needs it |
//! | `filter` | what a change means for the queue |
//! | `references` | what an object refers to |
//! | `exports` | which Secrets and ConfigMaps the operator writes |
//!
//! What does not live here: reading from the API server ([`crate::watching`], [`crate::cluster`]).

pub(crate) mod exports;
pub(crate) mod filter;
pub(crate) mod lists;
pub(crate) mod objects;
pub(crate) mod packed;
pub(crate) mod references;
pub(crate) mod state;
