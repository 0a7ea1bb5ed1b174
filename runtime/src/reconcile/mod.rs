//! One reconciler for all kinds: a pure decision (`decide`) and a thin driver that performs it through ports.
//!
//! What does not live here: ARM's protocol ([`crate::arm`]), Kubernetes' protocol ([`crate::kubernetes`]) and
//! JSON shapes ([`crate::engine`]).

pub mod port;
