//! Bodies of answers, with a limit: a server that never ends, or that a tenant has named, takes no memory of others.

/// Most bytes of an answer of ARM. Resources have a few MiB at most, and so have pages of lists.
pub(crate) const OF_ARM: usize = 32 << 20;

/// Most bytes of an error of ARM. The longest known ones list policies, and have some 10 KiB.
pub(crate) const OF_ERRORS: usize = 256 << 10;

/// Most bytes of an answer of a service that gives out tokens.
pub(crate) const OF_TOKENS: usize = 1 << 20;

/// Why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// It has more bytes than its limit.
    #[error("the answer has more than {}, which no answer of this service has; nothing of it is read", size(*limit))]
    TooLong {
        /// In bytes.
        limit: usize,
    },
    /// The connection failed on the way.
    #[error(transparent)]
    Lost(#[from] reqwest::Error),
}

fn size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        whole => format!("{whole} MiB"),
    }
}

/// Reads a body up to a limit.
///
/// # Errors
/// When it is longer, as soon as that is known, or when the connection fails.
pub(crate) async fn read(
    mut answer: reqwest::Response,
    limit: usize,
) -> Result<Vec<u8>, BodyError> {
    let announced = answer.content_length().unwrap_or_default();
    if announced > limit as u64 {
        return Err(BodyError::TooLong { limit });
    }
    let mut bytes = Vec::new();
    while let Some(part) = answer.chunk().await? {
        if bytes.len() + part.len() > limit {
            return Err(BodyError::TooLong { limit });
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}
