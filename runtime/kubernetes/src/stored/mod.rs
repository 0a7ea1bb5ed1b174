//! Objects, Secrets and ConfigMaps as the API server sends them.
//!
//! | module | what it does |
//! |---|---|
//! | `object` | an object of any of our kinds |
//! | `item` | one of a list, which may be unreadable |
//! | `metadata` | metadata of any form |
//! | `data` | values of Secrets and ConfigMaps |
//! | `written` | by which versions an object was written |
//!
//! What does not live here: what is kept of them ([`crate::cache`]).

pub(crate) mod data;
pub(crate) mod item;
pub(crate) mod metadata;
pub(crate) mod object;
pub(crate) mod written;
