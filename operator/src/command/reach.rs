//! A cluster that cannot be reached: which one, why, and what to do about it.
//!
//! kube's own errors say `client error (Connect)` and leave the rest to their sources. Here each request that does not arrive, or is
//! answered by someone who does not know us, becomes one sentence.

use std::error::Error;
use std::fmt;
use std::io;

use http::{Response, StatusCode};
use kube::client::ClientBuilder;
use rustls::CertificateError;
use tower::BoxError;
use tower::util::MapResultLayer;

/// Why an API server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the Kubernetes API server {server}, named by {origin}: {cause}; {}", cause.advice())]
pub struct Unreachable {
    /// Its address.
    pub server: String,
    /// Who names it: the kubeconfig and its context, or a flag.
    pub origin: String,
    /// What is wrong.
    pub cause: Cause,
}

/// What is wrong with the way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nobody listens.
    Refused,
    /// The name leads nowhere.
    UnknownHost,
    /// No answer.
    TimedOut,
    /// Its certificate is of an authority that is not trusted.
    Untrusted,
    /// Its certificate has expired.
    Expired,
    /// Its certificate is not valid yet.
    NotYetValid,
    /// Its certificate is for another name.
    AnotherName,
    /// Its certificate is that of an authority itself.
    IsAuthority,
    /// Its certificate is wrong in another way.
    Certificate(String),
    /// It ends the TLS handshake.
    Handshake(String),
    /// It does not know who asks.
    Unauthorized,
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Refused => "the connection is refused",
            Self::UnknownHost => "there is no host of this name",
            Self::TimedOut => "it does not answer in time",
            Self::Untrusted => "its certificate is of an authority that is not trusted",
            Self::Expired => "its certificate has expired",
            Self::NotYetValid => "its certificate is not valid yet",
            Self::AnotherName => "its certificate is for another name",
            Self::IsAuthority => {
                "its certificate is that of an authority itself, which proves no server"
            }
            Self::Certificate(what) => {
                return write!(formatter, "its certificate cannot be used ({what})");
            }
            Self::Handshake(what) => {
                return write!(formatter, "no TLS connection comes about ({what})");
            }
            Self::Unauthorized => "it does not know who asks (401)",
        };
        formatter.write_str(text)
    }
}

impl Cause {
    /// What to do.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Refused => {
                "check that the cluster runs, or name another one with --kubeconfig or --context"
            }
            Self::UnknownHost | Self::TimedOut => {
                "check network, VPN and proxy, or name another cluster with --kubeconfig or --context"
            }
            Self::Untrusted => {
                "check that it is the right cluster (--kubeconfig, --context), name its authority with \
                 --certificate-authority, or trust whoever answers with --insecure-skip-tls-verify"
            }
            Self::Expired | Self::NotYetValid => {
                "have the certificate renewed, or set the clock of this machine; --insecure-skip-tls-verify goes on without \
                 a check"
            }
            Self::AnotherName => {
                "name one that the certificate has with --tls-server-name, or another cluster with --kubeconfig or \
                 --context; --insecure-skip-tls-verify goes on without a check"
            }
            Self::IsAuthority => {
                "have the server given a certificate that its authority has issued; --insecure-skip-tls-verify goes on \
                 without a check"
            }
            Self::Certificate(_) | Self::Handshake(_) => {
                "check that --server, --kubeconfig or --context name the right cluster, and that the user's certificate is \
                 one of it"
            }
            Self::Unauthorized => {
                "sign in again as the kubeconfig wants it, or name someone else with --context, --user or --token"
            }
        }
    }

    /// What an error comes from; nothing where it tells nothing of the way to the server.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(cause) = Self::of_one(error) {
                return Some(cause);
            }
            // What an I/O error holds is no source of it.
            let held = error
                .downcast_ref::<io::Error>()
                .and_then(io::Error::get_ref);
            next = match held {
                Some(held) => Some(held),
                None => error.source(),
            };
        }
        None
    }

    fn of_one(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::of_tls(error));
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            match error.kind() {
                io::ErrorKind::ConnectionRefused => return Some(Self::Refused),
                io::ErrorKind::TimedOut => return Some(Self::TimedOut),
                _ => {}
            }
        }
        // The connector's own word for it, whose type is nobody's to see.
        error
            .to_string()
            .starts_with("dns error")
            .then_some(Self::UnknownHost)
    }

    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(what) => match what {
                CertificateError::UnknownIssuer => Self::Untrusted,
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    Self::Expired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    Self::NotYetValid
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::AnotherName,
                // The verifier's own error, whose type is nobody's to see.
                CertificateError::Other(other)
                    if format!("{other:?}").contains("CaUsedAsEndEntity") =>
                {
                    Self::IsAuthority
                }
                what => Self::Certificate(what.to_string()),
            },
            error => Self::Handshake(error.to_string()),
        }
    }
}

/// A client whose errors say which server cannot be used, and why. `origin` is who names the server.
///
/// # Errors
/// When TLS or credentials of the configuration cannot be used.
pub fn client(config: kube::Config, origin: &str) -> Result<kube::Client, kube::Error> {
    let unreachable = Unreachable {
        server: config
            .cluster_url
            .to_string()
            .trim_end_matches('/')
            .to_owned(),
        origin: origin.to_owned(),
        cause: Cause::Refused,
    };
    let layer = MapResultLayer::new(move |answer| explained(answer, &unreachable));
    Ok(ClientBuilder::try_from(config)?.with_layer(&layer).build())
}

fn explained<B>(
    answer: Result<Response<B>, BoxError>,
    of: &Unreachable,
) -> Result<Response<B>, BoxError> {
    let cause = match &answer {
        Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED => Some(Cause::Unauthorized),
        Ok(_) => None,
        Err(error) => Cause::of(error.as_ref()),
    };
    match cause {
        None => answer,
        Some(cause) => Err(Box::new(Unreachable {
            cause,
            ..of.clone()
        })),
    }
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, Error as Tls};

    use super::*;

    /// As hyper wraps what a connection fails with.
    #[derive(Debug, thiserror::Error)]
    #[error("client error (Connect)")]
    struct Connect(#[source] BoxError);

    #[derive(Debug, thiserror::Error)]
    #[error("dns error")]
    struct Dns(#[source] io::Error);

    /// As the verifier says it.
    #[derive(Debug, thiserror::Error)]
    #[error("CaUsedAsEndEntity")]
    struct CaUsedAsEndEntity;

    fn tls(error: Tls) -> BoxError {
        Box::new(io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn each_error_has_its_cause() {
        let certificate = |what| tls(Tls::InvalidCertificate(what));
        let io = |kind| -> BoxError { Box::new(io::Error::from(kind)) };
        let table: Vec<(BoxError, Option<Cause>)> = vec![
            (io(io::ErrorKind::ConnectionRefused), Some(Cause::Refused)),
            (io(io::ErrorKind::TimedOut), Some(Cause::TimedOut)),
            (io(io::ErrorKind::ConnectionReset), None),
            (
                Box::new(Dns(io::Error::other("failed to lookup"))),
                Some(Cause::UnknownHost),
            ),
            (
                certificate(CertificateError::UnknownIssuer),
                Some(Cause::Untrusted),
            ),
            (certificate(CertificateError::Expired), Some(Cause::Expired)),
            (
                certificate(CertificateError::NotValidYet),
                Some(Cause::NotYetValid),
            ),
            (
                certificate(CertificateError::NotValidForName),
                Some(Cause::AnotherName),
            ),
            (
                certificate(CertificateError::Other(rustls::OtherError(
                    std::sync::Arc::new(CaUsedAsEndEntity),
                ))),
                Some(Cause::IsAuthority),
            ),
            (
                certificate(CertificateError::Revoked),
                Some(Cause::Certificate(CertificateError::Revoked.to_string())),
            ),
            (
                tls(Tls::AlertReceived(AlertDescription::BadCertificate)),
                Some(Cause::Handshake(
                    Tls::AlertReceived(AlertDescription::BadCertificate).to_string(),
                )),
            ),
            ("something else".into(), None),
        ];
        for (error, expected) in table {
            let error = Connect(error);
            assert_eq!(Cause::of(&error), expected, "{error:?}");
        }
    }

    #[test]
    fn a_sentence_names_the_server_the_cause_and_what_to_do() {
        let of = Unreachable {
            server: "https://k:6443".to_owned(),
            origin: "the kubeconfig /k".to_owned(),
            cause: Cause::Refused,
        };
        let answer = |status: u16| Response::builder().status(status).body(()).unwrap();
        let refused = explained(Ok(answer(401)), &of).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "cannot use the Kubernetes API server https://k:6443, named by the kubeconfig /k: it does not know who \
             asks (401); sign in again as the kubeconfig wants it, or name someone else with --context, --user or --token"
        );
        assert_eq!(explained(Ok(answer(403)), &of).unwrap().status(), 403);
        let other = explained::<()>(Err("broken".into()), &of).unwrap_err();
        assert_eq!(other.to_string(), "broken");
    }
}
