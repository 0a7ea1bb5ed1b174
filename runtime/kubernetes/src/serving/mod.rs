//! What the operator serves over HTTPS: the conversion webhook, and the way to metrics.
//!
//! | module | what it does |
//! |---|---|
//! | `webhook` | the webhook |
//! | `https` | connections, with TLS |
//! | `review` | a ConversionReview, read and answered |
//! | `admission` | how much memory requests may have at a time |
//! | `buffer` | memory of one request |
//! | `certificate` | the certificate, kept in a Secret and renewed |
//! | `authorities` | its authorities, for who checks it |
//! | `reader` | who may read metrics |
//!
//! What does not live here: how versions convert ([`armature_shapes`]).

pub(crate) mod admission;
pub(crate) mod authorities;
pub(crate) mod buffer;
pub(crate) mod certificate;
pub(crate) mod https;
pub(crate) mod reader;
pub(crate) mod review;
pub(crate) mod webhook;
