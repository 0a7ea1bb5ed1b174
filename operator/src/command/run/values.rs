//! Values of flags that are no plain numbers or words.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use armature_runtime::reconcile::policy::Policy;

/// How often something is done; `None` for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyncPeriod(pub Option<Duration>);

/// An address, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OptionalAddress(pub Option<SocketAddr>);

impl fmt::Display for SyncPeriod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = self
            .0
            .and_then(|it| jiff::SignedDuration::try_from(it).ok());
        match period {
            Some(period) => write!(formatter, "{period:#}"),
            None => formatter.write_str("never"),
        }
    }
}

pub(super) fn policy(text: &str) -> Result<Policy, String> {
    Policy::parse(text).ok_or_else(|| "expected manage, skip or detach-on-delete".to_owned())
}

pub(super) fn sync_period(text: &str) -> Result<SyncPeriod, String> {
    if text.eq_ignore_ascii_case("never") {
        return Ok(SyncPeriod(None));
    }
    match duration(text) {
        Ok(period) => Ok(SyncPeriod(Some(period))),
        Err(error) => Err(format!("{error}, or 'never'")),
    }
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a duration such as 1h or 15m, longer than nothing";
    let span = text.parse::<jiff::SignedDuration>();
    let span = span.map_err(|error| format!("{error}; {EXPECTED}"))?;
    let duration = Duration::try_from(span).ok();
    duration
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| EXPECTED.to_owned())
}

pub(super) fn optional_address(text: &str) -> Result<OptionalAddress, String> {
    if text == "0" || text.is_empty() {
        return Ok(OptionalAddress(None));
    }
    // ":8081" means all addresses, as in other operators.
    let text = match text.strip_prefix(':') {
        Some(port) => format!("0.0.0.0:{port}"),
        None => text.to_owned(),
    };
    text.parse()
        .map(|address| OptionalAddress(Some(address)))
        .map_err(|error| format!("expected address:port, or 0 for none: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sync_periods() {
        assert_eq!(
            sync_period("1h").unwrap().0,
            Some(Duration::from_secs(3600))
        );
        assert_eq!(
            sync_period("15m").unwrap().0,
            Some(Duration::from_secs(900))
        );
        assert_eq!(sync_period("Never").unwrap().0, None);
        for text in ["1h", "15m", "1h 30m", "never"] {
            let period = sync_period(text).unwrap();
            assert_eq!(sync_period(&period.to_string()).unwrap(), period);
        }
        for wrong in ["0s", "soon", "", "-1h"] {
            assert!(sync_period(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn health_addresses() {
        assert_eq!(optional_address("0").unwrap().0, None);
        assert_eq!(
            optional_address(":8081").unwrap().0,
            Some("0.0.0.0:8081".parse().unwrap())
        );
        assert!(optional_address("8081").is_err());
    }
}
