//! Operations in the operator's notes.

use std::collections::BTreeMap;

use armature_azure::Operation;
use armature_reconcile::testing::front_door::expect;
use armature_shapes::names;

/// An operation that notes tell of is noted as one that is read alike.
///
/// # Errors
/// When it is not.
pub fn check_operation(notes: &BTreeMap<String, String>) -> Result<(), String> {
    let [id, token] =
        [names::POLLER_RESUME_ID, names::POLLER_RESUME_TOKEN].map(|name| notes.get(name));
    let (Some(id), Some(token)) = (id, token) else {
        return Ok(());
    };
    let Ok(operation) = Operation::resume(id, token) else {
        return Ok(());
    };
    let again = Operation::resume(operation.resume_id(), &operation.resume_token());
    expect(again.as_ref() == Ok(&operation), || {
        format!("{operation:?} is noted and read as {again:?}")
    })
}
