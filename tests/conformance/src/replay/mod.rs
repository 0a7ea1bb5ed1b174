//! A recording as an Azure: a server answers the operator as the real Azure answered the peer, and the operator brings
//! the recording's manifests to Ready and deletes them.
//!
//! | module | what lives here |
//! |---|---|
//! | [`timeline`] | what one URL answers, in the order in which it was recorded |
//! | [`azure`] | all URLs of one recording, and what was asked that was not recorded |
//! | [`server`] | the edge: all recordings over HTTPS, told apart by credential |
//! | [`world`] | a real API server and the operator beside that server |
//! | [`course`] | the course of one recording: apply, wait, delete |
//! | [`page`] | the result as a page of the book |
//!
//! What the operator asks and the peer did not ask is answered as far as the recording tells:
//!
//! - A read of a resource shows what was recorded between the same two writes of that URL, one after the other, and
//!   the last again when there are no more. Where nothing was recorded there, it shows what the write answered; before
//!   the first PUT and after a DELETE the resource does not exist, nor does what is below it. A read with another
//!   api-version than was recorded shows the same.
//! - A write must be recorded, with an equal body, after the writes to the same URL that came before. Writes that Azure
//!   had refused may be left out, and so may PUTs of the body that Azure has already: the peer sends it on every pass.
//!   The operator may not send it again.
//! - An operation is known by its URL without the signature. One that was named in an answer which also told its end
//!   shows that end: the peer did not ask for it.
//! - Anything else that was not recorded is an error, and fails the recording.

pub mod azure;
pub mod course;
pub mod page;
pub mod server;
pub mod timeline;
pub mod world;
