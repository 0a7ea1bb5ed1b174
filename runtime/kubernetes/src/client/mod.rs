//! Connections to the API server.
//!
//! | module | what it does |
//! |---|---|
//! | `clients` | the clients, for watches and for all else |
//!
//! What does not live here: what is asked by them.

pub(crate) mod clients;
