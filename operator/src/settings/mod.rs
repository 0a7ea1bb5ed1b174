//! What an operator is told beside its flags: the keys of the Secret `aso-controller-settings`, from which Azure Service Operator
//! takes each of its settings (ASO behaviour §5.2), and what changed since the last start.
//!
//! A flag or variable comes first, then the Secret, then the default; the chart writes a flag or variable only where a value was
//! set. The keys of the operator's own credential are apart: their files come before variables and are read again for each pass.
//!
//! | module | what lives here |
//! |---|---|
//! | [`keys`] | the keys that there are, and what each is for |
//! | [`secret`] | the keys of one Secret |
//! | [`chosen`] | what counts, and by what |
//! | [`last`] | what counted at the last start, and what of the Secret waits after an upgrade |
//!
//! What does not live here: flags (see [`crate::command::run`]), and what an installed operator is told, as its objects show it
//! (see [`crate::installation`]).

pub mod chosen;
pub mod keys;
pub mod last;
pub mod secret;

pub use chosen::{Chosen, Source};
pub use keys::SECRET;
pub use last::Last;
pub use secret::SecretSettings;
