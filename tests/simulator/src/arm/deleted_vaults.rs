//! Deleted vaults: the one thing that can be read and purged without being a resource.

use http::Method;

use crate::behaviour::{DeletedVaults, deleted_vault_not_found, deleted_vaults};
use crate::error::ArmError;
use crate::exchange::Answer;
use crate::operation::{Style, Verb};
use crate::state::{Call, Handled, State};

impl State {
    /// Answers a request to a deleted vault. `None` when the path is another one.
    pub(super) fn deleted_vault(&mut self, call: &Call<'_>) -> Option<Handled> {
        let path = deleted_vaults(&call.request.path)?;
        let (DeletedVaults::One(id) | DeletedVaults::Purge(id)) = &path;
        let known = self.store.get(id).map(|deleted| deleted.body.clone());
        let Some(body) = known else {
            return Some(Err(deleted_vault_not_found(id.name())));
        };
        Some(match (&call.request.method, &path) {
            (&Method::GET, DeletedVaults::One(_)) => Ok(Answer::json(200, body)),
            (&Method::POST, DeletedVaults::Purge(_)) => {
                let idle = self.check_idle(call, id);
                idle.map(|()| {
                    let rule = self.settings.operation_rule("Microsoft.KeyVault/vaults");
                    let style = Style::Location;
                    let purge = self.start_operation(call, id, Verb::Delete, style, &rule, None);
                    let mut answer = Answer::empty(202);
                    answer.headers.extend(purge.announce(call));
                    answer
                })
            }
            (method, _) => {
                let method = method.as_str();
                Err(ArmError::method_not_allowed(method, &call.request.path))
            }
        })
    }
}
