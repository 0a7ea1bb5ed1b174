//! The oldest version of TLS that a server takes.

use std::fmt;
use std::str::FromStr;

use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};

static FROM_12: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
static FROM_13: [&SupportedProtocolVersion; 1] = [&TLS13];

/// A version of TLS. Older ones are taken nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[default]
    Tls12,
    /// TLS 1.3.
    Tls13,
}

/// Not a version of TLS that can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("expected 1.2 or 1.3, or Go's words for them, VersionTLS12 or VersionTLS13")]
pub struct UnknownTlsVersion;

impl TlsVersion {
    /// The versions from this one on.
    pub(super) fn and_later(self) -> &'static [&'static SupportedProtocolVersion] {
        match self {
            Self::Tls12 => &FROM_12,
            Self::Tls13 => &FROM_13,
        }
    }
}

impl FromStr for TlsVersion {
    type Err = UnknownTlsVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "1.2" | "VersionTLS12" => Ok(Self::Tls12),
            "1.3" | "VersionTLS13" => Ok(Self::Tls13),
            _ => Err(UnknownTlsVersion),
        }
    }
}

impl fmt::Display for TlsVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_two_words_each_and_older_ones_none() {
        for (text, expected) in [
            ("1.2", Ok(TlsVersion::Tls12)),
            ("VersionTLS12", Ok(TlsVersion::Tls12)),
            ("1.3", Ok(TlsVersion::Tls13)),
            ("VersionTLS13", Ok(TlsVersion::Tls13)),
            ("1.1", Err(UnknownTlsVersion)),
            ("VersionTLS11", Err(UnknownTlsVersion)),
            ("1.30", Err(UnknownTlsVersion)),
            ("1.4", Err(UnknownTlsVersion)),
            ("", Err(UnknownTlsVersion)),
        ] {
            assert_eq!(text.parse::<TlsVersion>(), expected, "{text}");
        }
        for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
            assert_eq!(version.to_string().parse(), Ok(version));
        }
    }
}
