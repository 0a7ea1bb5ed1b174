//! Durations in configuration: `"250ms"`, `"2s"`, `"5m"`, or a number of seconds.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

/// Text that is no duration.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is no duration; write for example '250ms', '2s', '5m' or '0'")]
pub struct DurationError(String);

/// Reads a duration.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: f64 = digits
        .trim()
        .parse()
        .map_err(|_| DurationError(text.to_owned()))?;
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(DurationError(text.to_owned())),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| DurationError(text.to_owned()))
}

/// Writes a duration in the largest unit that holds it whole.
pub fn format(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("{}s", duration.as_secs())
    } else {
        format!("{}ms", duration.as_millis())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Seconds(f64),
}

/// For `#[serde(with = …)]` on a `Duration`.
pub mod required {
    use super::{Deserializer, Duration, Serializer};

    /// Writes the duration as text.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::format(*duration))
    }

    /// Reads the duration from text or a number of seconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let read: Option<Duration> = super::option::deserialize(deserializer)?;
        read.ok_or_else(|| serde::de::Error::custom("a duration is missing"))
    }
}

/// For `#[serde(with = …)]` on an `Option<Duration>`.
pub mod option {
    use super::{Deserialize, Deserializer, Duration, Serializer, Written};

    /// Writes the duration as text.
    pub fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.serialize_str(&super::format(*duration)),
            None => serializer.serialize_none(),
        }
    }

    /// Reads text or seconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let written = Option::<Written>::deserialize(deserializer)?;
        let parsed = match written {
            None => return Ok(None),
            Some(Written::Text(text)) => super::parse(&text),
            Some(Written::Seconds(seconds)) => super::parse(&seconds.to_string()),
        };
        parsed.map(Some).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        for (text, millis) in [
            ("0", 0),
            ("250ms", 250),
            ("2s", 2000),
            ("1.5", 1500),
            ("5m", 300_000),
        ] {
            assert_eq!(
                parse(text).unwrap(),
                Duration::from_millis(millis),
                "{text}"
            );
        }
        for text in ["", "fast", "3 days", "-1s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
