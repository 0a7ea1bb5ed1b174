//! Transports: where requests to Azure go that are not to reach it.
//!
//! | module | where they go |
//! |---|---|
//! | [`reading`] | to Azure, as far as they read |
//! | [`recording`] | nowhere; they are kept, and answered from what is said to be there |

pub mod reading;
pub mod recording;
