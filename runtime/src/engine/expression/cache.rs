//! Compiled expressions, so that each is parsed once and not at every pass.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Expression, ExpressionError, Scope};

/// Most expressions that are kept.
const CAPACITY: usize = 1_000;

/// Version of a kind, whether secrets may be used, and the text.
type Key = (usize, bool, String);

/// Expressions by text and scope. When it is full it forgets everything: what is in use is soon back.
#[derive(Default)]
pub struct Cache {
    compiled: Mutex<HashMap<Key, Arc<Expression>>>,
}

impl Cache {
    /// The compiled expression. Errors are not kept: they end with the next edit.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile(&self, source: &str, scope: Scope) -> Result<Arc<Expression>, ExpressionError> {
        // Tables are static, so their address names them.
        let version = std::ptr::from_ref(scope.version).addr();
        let key = (version, scope.secrets.is_some(), source.to_owned());
        if let Some(known) = self.lock().get(&key) {
            return Ok(known.clone());
        }
        let expression = Arc::new(Expression::compile(source, scope)?);
        let mut compiled = self.lock();
        if compiled.len() >= CAPACITY {
            compiled.clear();
        }
        compiled.insert(key, expression.clone());
        Ok(expression)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Expression>>> {
        // The map is whole at every point where a holder could panic.
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}
