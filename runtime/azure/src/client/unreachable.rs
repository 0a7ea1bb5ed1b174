//! A server of Azure that cannot be reached: why, and what to do about it.
//!
//! Errors of connections say `client error (Connect)` and leave the rest to their sources.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// What is wrong with the way to a server and what to do, where an error comes from that.
pub(super) fn told(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some((what, advice)) = of_one(error) {
            return Some(format!("{what}; {advice}"));
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

const WAY: &str = "check network and proxy, and AZURE_AUTHORITY_HOST and AZURE_RESOURCE_MANAGER_ENDPOINT where they are set";

const CLOCK: &str = "set the clock of this machine, or have the certificate renewed";

const AUTHORITY: &str = "where a proxy or another cloud answers with one of its own, name its authority with --arm-ca-file \
                         or ARMATURE_ARM_CA_FILE";

fn of_one(error: &(dyn Error + 'static)) -> Option<(String, &'static str)> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                return Some(("the connection is refused".to_owned(), WAY));
            }
            io::ErrorKind::TimedOut => {
                return Some(("the server does not answer in time".to_owned(), WAY));
            }
            _ => {}
        }
    }
    // The connector's own word for it, whose type is nobody's to see.
    let is_unknown = error.to_string().starts_with("dns error");
    is_unknown.then(|| ("there is no host of this name".to_owned(), WAY))
}

fn of_tls(error: &rustls::Error) -> (String, &'static str) {
    let rustls::Error::InvalidCertificate(what) = error else {
        return (format!("no TLS connection comes about ({error})"), WAY);
    };
    let (what, advice) = match what {
        // The second is an authority of the same name with another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            ("is of an authority that is not trusted", AUTHORITY)
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("has expired", CLOCK)
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("is not valid yet", CLOCK)
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ("is for another name", WAY)
        }
        _ => {
            return (
                format!("the server's certificate cannot be used ({what})"),
                WAY,
            );
        }
    };
    (format!("the server's certificate {what}"), advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    type BoxError = Box<dyn Error + Send + Sync>;

    #[derive(Debug, thiserror::Error)]
    #[error("client error (Connect)")]
    struct Connect(#[source] BoxError);

    #[derive(Debug, thiserror::Error)]
    #[error("dns error")]
    struct Dns;

    #[test]
    fn each_cause_is_told_with_what_to_do() {
        let tls = |what| -> BoxError {
            let error = rustls::Error::InvalidCertificate(what);
            Box::new(io::Error::new(io::ErrorKind::InvalidData, error))
        };
        let io = |kind| -> BoxError { Box::new(io::Error::from(kind)) };
        let table = [
            (
                io(io::ErrorKind::ConnectionRefused),
                "the connection is refused; check network",
            ),
            (
                io(io::ErrorKind::TimedOut),
                "the server does not answer in time; check network",
            ),
            (
                Box::new(Dns),
                "there is no host of this name; check network",
            ),
            (
                tls(CertificateError::UnknownIssuer),
                "the server's certificate is of an authority that is not trusted; where a proxy",
            ),
            (
                tls(CertificateError::Expired),
                "the server's certificate has expired; set the clock",
            ),
            (
                tls(CertificateError::NotValidForName),
                "the server's certificate is for another name; check network",
            ),
        ];
        for (error, expected) in table {
            let told = told(&Connect(error)).unwrap_or_default();
            assert!(told.starts_with(expected), "{told}");
        }
        assert_eq!(told(&Connect(io(io::ErrorKind::ConnectionReset))), None);
    }
}
