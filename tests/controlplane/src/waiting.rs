//! How tests wait. What is to come is waited for until it is there: the only limit is one against hanging, far from what
//! any machine needs, however much else it does. What happens soon, late or not at all is told by counting requests and
//! events, or by a clock that the test holds.

#![allow(clippy::panic, reason = "support for tests fails as tests do")]

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

/// Limit of every wait, against hanging only.
pub const LIMIT: Duration = Duration::from_secs(600);

/// Least time between two looks at what is waited for.
const POLL: Duration = Duration::from_millis(50);

/// Waits until something holds.
///
/// # Panics
/// With its name, after [`LIMIT`].
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    until_ok(what, async || match holds().await {
        true => Ok(()),
        false => Err("it does not hold"),
    })
    .await;
}

/// Tries until it succeeds; what it came to.
///
/// # Panics
/// With the name of what was tried and its last error, after [`LIMIT`].
pub async fn until_ok<T, E: Display>(
    what: &str,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let started = Instant::now();
    loop {
        let begun = Instant::now();
        match attempt().await {
            Ok(done) => return done,
            Err(last) if started.elapsed() > LIMIT => {
                panic!("waited {LIMIT:?} for {what}; at last: {last}")
            }
            // Most of the time is for those who do the work.
            Err(_) => tokio::time::sleep(POLL.max(begun.elapsed())).await,
        }
    }
}

/// Waits for the end of a future; what it came to.
///
/// # Panics
/// With its name, after [`LIMIT`].
pub async fn until_ended<T>(what: &str, future: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(LIMIT, future).await;
    ended.unwrap_or_else(|_| panic!("waited {LIMIT:?} for {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_comes_in_the_end_is_waited_for() {
        let mut left = 3;
        let last = until_ok("the third attempt", async || {
            left -= 1;
            (left == 0).then_some("done").ok_or(left)
        });
        assert_eq!(last.await, "done");
        until_ended("what ends at once", async {}).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_ends_is_named() {
        let never = tokio::spawn(until_ended("the end of days", std::future::pending::<()>()));
        let told = never.await.unwrap_err().into_panic();
        let told = told.downcast::<String>().unwrap();
        assert_eq!(*told, "waited 600s for the end of days");
    }
}
