//! ARM's request limits: a token bucket for reads and one for writes and deletes each, per subscription.

use std::collections::BTreeMap;

use http::Method;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::ArmError;

/// Sizes of the buckets. The defaults are ARM's for one principal in one subscription and region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Limits {
    /// Refuse requests with 429 when a bucket is empty; otherwise only the headers tell.
    pub enforce: bool,
    /// Reads that a full bucket holds.
    pub reads: f64,
    /// Reads that flow back per second.
    pub reads_per_second: f64,
    /// Writes, or deletes, that a full bucket holds.
    pub writes: f64,
    /// Writes, or deletes, that flow back per second.
    pub writes_per_second: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            enforce: false,
            reads: 250.0,
            reads_per_second: 25.0,
            writes: 200.0,
            writes_per_second: 10.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bucket {
    Reads,
    Writes,
    Deletes,
}

/// The buckets of every subscription.
#[derive(Debug)]
pub struct Throttle {
    limits: Limits,
    levels: BTreeMap<(String, Bucket), (f64, Timestamp)>,
}

/// Headers that tell a client how many requests it has left.
pub type Headers = Vec<(&'static str, String)>;

impl Throttle {
    /// Full buckets.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            levels: BTreeMap::new(),
        }
    }

    /// Takes one request out of its bucket. Returns the headers of its answer, or the refusal.
    pub fn take(
        &mut self,
        subscription: &str,
        method: &Method,
        now: Timestamp,
    ) -> (Headers, Option<ArmError>) {
        let bucket = match *method {
            Method::GET | Method::HEAD => Bucket::Reads,
            Method::DELETE => Bucket::Deletes,
            _ => Bucket::Writes,
        };
        let (size, rate) = match bucket {
            Bucket::Reads => (self.limits.reads, self.limits.reads_per_second),
            _ => (self.limits.writes, self.limits.writes_per_second),
        };
        let key = (subscription.to_ascii_lowercase(), bucket);
        let (level, since) = self.levels.get(&key).copied().unwrap_or((size, now));
        let seconds = now.duration_since(since).as_secs_f64().max(0.0);
        let level = (level + seconds * rate).min(size);
        let refusal = (self.limits.enforce && level < 1.0).then(|| {
            let mut error = ArmError::gateway(
                429,
                "SubscriptionRequestsThrottled",
                format!(
                    "Number of requests for subscription '{subscription}' exceeded the limit for this \
                     operation type. Please try again later."
                ),
            );
            error.retry_after = Some(((1.0 - level) / rate).ceil().max(1.0) as u64);
            error
        });
        let left = if refusal.is_some() {
            level
        } else {
            (level - 1.0).max(0.0)
        };
        self.levels.insert(key, (left, now));
        (headers(bucket, left), refusal)
    }
}

fn headers(bucket: Bucket, left: f64) -> Headers {
    // All principals together may use fifteen times as much as one.
    let (own, global) = match bucket {
        Bucket::Reads => (
            "x-ms-ratelimit-remaining-subscription-reads",
            "x-ms-ratelimit-remaining-subscription-global-reads",
        ),
        Bucket::Writes => (
            "x-ms-ratelimit-remaining-subscription-writes",
            "x-ms-ratelimit-remaining-subscription-global-writes",
        ),
        Bucket::Deletes => (
            "x-ms-ratelimit-remaining-subscription-deletes",
            "x-ms-ratelimit-remaining-subscription-global-deletes",
        ),
    };
    let left = left.floor();
    vec![
        (own, format!("{left}")),
        (global, format!("{}", left * 15.0)),
    ]
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn an_empty_bucket_refuses_until_it_has_filled() {
        let mut throttle = Throttle::new(Limits {
            enforce: true,
            writes: 2.0,
            writes_per_second: 0.5,
            ..Limits::default()
        });
        let now = Timestamp::UNIX_EPOCH;
        let mut take = |method: Method, now| throttle.take("s", &method, now);
        let (headers, refusal) = take(Method::PUT, now);
        assert_eq!(refusal, None);
        assert_eq!(
            headers[0],
            (
                "x-ms-ratelimit-remaining-subscription-writes",
                "1".to_owned()
            )
        );
        assert_eq!(take(Method::PUT, now).1, None);
        let refusal = take(Method::PUT, now).1.unwrap();
        assert_eq!((refusal.status, refusal.retry_after), (429, Some(2)));
        assert_eq!(
            take(Method::GET, now).1,
            None,
            "reads have their own bucket"
        );
        let later = now + SignedDuration::from_secs(2);
        assert_eq!(take(Method::PUT, later).1, None);
    }
}
