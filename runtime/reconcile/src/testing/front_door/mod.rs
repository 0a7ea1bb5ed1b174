//! What must hold of texts that tenants and Azure write, whatever they are: for property tests and for fuzzing.
//!
//! | module | what lives here |
//! |---|---|
//! | [`ids`] | ARM ids, scopes, and ids in texts |
//! | [`annotations`] | what users ask for, and the operator's notes |
//! | [`answers`] | answers of Azure Resource Manager |
//! | [`mutation`] | texts that are nearly right, from real ones |
//!
//! Each `check_…` takes any text and says which promise was broken; a panic is one, too. What does not live here: reviews and objects
//! as the API server sends them, which `armature_kubernetes::testing` checks.

pub mod annotations;
pub mod answers;
pub mod ids;
pub mod mutation;
#[cfg(test)]
mod tests;

/// Says which promise does not hold.
///
/// # Errors
/// When it does not.
pub(crate) fn expect(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(broken()),
    }
}
