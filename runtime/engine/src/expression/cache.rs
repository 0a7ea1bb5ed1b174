//! Compiled expressions, so that each is parsed once and not at every pass.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Expression, ExpressionError, Scope};

/// Most expressions that are kept.
const CAPACITY: usize = 1_000;

/// Version of a kind, whether secrets may be used, and the text.
type Key = (usize, bool, String);

/// Learns how a cache does.
pub trait CacheObserver: Send + Sync {
    /// An expression was known.
    fn found(&self);
    /// One was not, and was compiled or refused within this time.
    fn compiled(&self, took: Duration);
}

/// Expressions by text and scope. When it is full it forgets everything: what is in use is soon back.
#[derive(Default)]
pub struct Cache {
    compiled: Mutex<HashMap<Key, Arc<Expression>>>,
    observer: Option<Arc<dyn CacheObserver>>,
}

impl Cache {
    /// An empty cache, and who wants to know how it does.
    pub fn observed_by(observer: Arc<dyn CacheObserver>) -> Self {
        Self {
            compiled: Mutex::default(),
            observer: Some(observer),
        }
    }

    /// The compiled expression. Errors are not kept: they end with the next edit.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile(&self, source: &str, scope: Scope) -> Result<Arc<Expression>, ExpressionError> {
        // Tables are static, so their address names them.
        let version = std::ptr::from_ref(scope.version).addr();
        let key = (version, scope.secrets.is_some(), source.to_owned());
        let observer = self.observer.as_deref();
        let known = self.lock().get(&key).cloned();
        if let Some(known) = known {
            observer.inspect(|observer| observer.found());
            return Ok(known);
        }
        let started = Instant::now();
        let compiled = Expression::compile(source, scope);
        observer.inspect(|observer| observer.compiled(started.elapsed()));
        let expression = Arc::new(compiled?);
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
