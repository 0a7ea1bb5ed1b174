//! Transports: where requests to Azure go that are not to reach it.
//!
//! | module | where they go |
//! |---|---|
//! | [`recording`] | nowhere; they are kept, and answered from what is said to be there |

pub mod recording;
