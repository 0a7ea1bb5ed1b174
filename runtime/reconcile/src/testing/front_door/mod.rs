//! What must hold of texts that tenants write, whatever they are: for property tests and for fuzzing.
//!
//! | module | what lives here |
//! |---|---|
//! | [`ids`] | ARM ids, scopes, and ids in texts |
//! | [`annotations`] | what users ask for, and the operator's notes |
//! | [`seeds`] | texts of annotations that are right |
//! | [`mutation`] | texts that are nearly right, from real ones |
//!
//! Each `check_…` takes any text and says which promise was broken; a panic is one, too. What does not live here: reviews and objects
//! as the API server sends them, which `armature_kubernetes::testing` checks, and
//! answers of Azure Resource Manager.

pub mod annotations;
pub mod ids;
pub mod mutation;
pub mod seeds;
#[cfg(test)]
mod tests;

/// Says which promise does not hold.
///
/// # Errors
/// When it does not.
pub fn expect(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(broken()),
    }
}
