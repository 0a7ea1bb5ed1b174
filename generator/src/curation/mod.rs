//! Curation files, `specs/<group>/group.toml`: what of Azure's API a group exports, and what its specs leave unsaid.
//!
//! Here: the vocabulary and reading a file, which needs no specs. What a file does to a group is pass 4, [`crate::curate`].
//!
//! | module | what lives here |
//! |---|---|
//! | [`words`], [`property`] | the words and what rules can state, each in one table |
//! | [`key`], [`form`], [`check`] | which keys may stand where, and whether a file is like that |
//! | [`group`], [`source`], [`retirement`], [`secret`], [`versions`] | what a file says |
//! | [`consistency`] | whether it contradicts itself |
//! | [`config`] | reading a file, with the place of everything in it ([`text`]) |
//! | [`error`] | what can be wrong, and how it is told |

mod check;
mod config;
mod consistency;
mod error;
mod form;
mod group;
mod key;
mod property;
mod retirement;
mod secret;
mod source;
mod text;
mod versions;
mod words;

pub use config::GroupConfig;
pub use error::{CurateError, Problem};
pub(crate) use error::{hint, nearest};
pub use form::FILE;
pub use group::{ErrorRules, GroupRules, KindRules};
pub use key::{Form, Key};
pub(crate) use property::Aspect;
pub use property::PropertyRule;
pub use retirement::RetirementRules;
pub use secret::SecretRule;
pub(crate) use source::bicep_file;
pub use source::{ReadFrom, SourceRules};
pub(crate) use versions::{covers, version_named};
pub use words::{
    AbsentWord, Encoding, EnvelopeWord, ErrorWord, IdPart, NameWord, Naming, PlainType, Side,
    SpecFormat, Treatment,
};
