//! What a remote gives extensions to reach it by.

use std::any::Any;
use std::sync::Arc;

/// What a remote gives the extensions of one pass to reach it by, in a form of its own that the reconciler does not look into.
/// Clones are the same.
#[derive(Clone, Default)]
pub struct Access(Option<Arc<dyn Any + Send + Sync>>);

impl Access {
    /// The way of one remote.
    pub fn new<T: Any + Send + Sync>(way: T) -> Self {
        Self(Some(Arc::new(way)))
    }

    /// The way, where it has this form.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_given_in_its_own_form_only() {
        let access = Access::new("a way".to_owned());
        assert_eq!(access.get::<String>().map(String::as_str), Some("a way"));
        assert!(access.get::<u16>().is_none());
        assert!(Access::default().get::<String>().is_none());
    }
}
