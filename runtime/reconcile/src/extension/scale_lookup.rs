//! Whether another resource changes how many units a resource has.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Context, ExtensionError};

/// Looks for resources that scale others. There is one for all kinds; without it nothing is scaled.
///
/// It is asked where a kind says that its number of units may be scaled from elsewhere (`autoscaled` in `azure-owned` of its
/// curation) and Azure has another number than the spec. What is found is kept for a short while by the implementation, since
/// many resources of one subscription ask.
#[async_trait]
pub trait ScaleLookup: Send + Sync + 'static {
    /// The least and the most number of units that others allow the resource of the context; nothing where none scales it.
    ///
    /// # Errors
    /// When Azure does not say. The number is left alone then, and that is told.
    async fn bounds(
        &self,
        context: &Context,
        now: Timestamp,
    ) -> Result<Option<(i64, i64)>, ExtensionError>;
}
