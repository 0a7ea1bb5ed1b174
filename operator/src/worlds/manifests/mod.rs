//! A world of manifests.
//!
//! | module | what lives here |
//! |---|---|
//! | [`manifest`] | files and folders become documents |
//! | [`documents`] | where the documents of a file begin and end |
//! | [`yaml`] | the text of a document becomes values, as kubectl reads it |
//! | [`relevant`] | those of them that say something about Azure resources |
//! | [`known_kinds`] | the kind and version that a document says it is |
//! | [`admission`] | a document becomes an object, as an API server would have it |
//! | [`metadata`] | what an API server says about the metadata |
//! | [`never_sent`] | values that only Azure says |
//! | [`mistakes`] | what the schema says about a document, told once and with what is meant |
//! | [`data`] | Secrets and ConfigMaps, and marks for those that are in no manifest |
//! | [`inventory`] | everything that is in the documents, found by name |
//! | [`cluster`] | the port of one object's pass, to which everything else is there and ready |
//! | [`problem`] | what is wrong, and where |

pub mod admission;
pub mod cluster;
pub mod data;
mod documents;
pub mod inventory;
pub mod known_kinds;
pub mod manifest;
pub mod metadata;
mod mistakes;
mod never_sent;
pub mod problem;
pub mod relevant;
pub mod yaml;
