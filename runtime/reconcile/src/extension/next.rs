//! The default behaviour that an extension wraps.

use futures::future::BoxFuture;

use super::ExtensionError;

type Run<'a, I, O> = Box<dyn FnOnce(I) -> BoxFuture<'a, Result<O, ExtensionError>> + Send + 'a>;

/// What would happen without the extension. Nothing of it happens before it is called; an extension that does
/// not call it replaces it.
pub struct Next<'a, O, I = ()> {
    run: Run<'a, I, O>,
}

impl<'a, O: 'a, I: 'a> Next<'a, O, I> {
    /// From the default behaviour.
    pub fn new<F, R>(run: F) -> Self
    where
        F: FnOnce(I) -> R + Send + 'a,
        R: Future<Output = Result<O, ExtensionError>> + Send + 'a,
    {
        Self {
            run: Box::new(move |input| Box::pin(run(input))),
        }
    }

    /// Runs the default behaviour with this input.
    ///
    /// # Errors
    /// What the default behaviour could not find out or do.
    pub async fn call_with(self, input: I) -> Result<O, ExtensionError> {
        (self.run)(input).await
    }
}

impl<'a, O: Send + 'a> Next<'a, O> {
    /// A default that is known already.
    pub fn value(value: O) -> Self {
        Self::new(move |()| async move { Ok(value) })
    }

    /// Runs the default behaviour.
    ///
    /// # Errors
    /// What the default behaviour could not find out or do.
    pub async fn call(self) -> Result<O, ExtensionError> {
        (self.run)(()).await
    }
}

impl<O, I> std::fmt::Debug for Next<'_, O, I> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Next")
    }
}
