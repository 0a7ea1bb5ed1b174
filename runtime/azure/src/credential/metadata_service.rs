//! The instance metadata service, which gives managed identities their tokens. Reached in plain HTTP at an address of
//! the machine, so no proxy and short timeouts: a machine without one must not hold a worker up.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use azure_core::error::ErrorKind;
use azure_core::http::{AsyncRawResponse, HttpClient, Request};
use url::Url;

use super::{CredentialError, Place};
use crate::body::{self, BodyError};

/// The service answers within milliseconds where there is one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// A token that it has not cached is fetched from Entra ID first.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Where Azure has it.
const ADDRESS: &str = "169.254.169.254";

/// The service, wherever it is.
#[derive(Clone, Debug)]
pub(crate) struct MetadataService {
    http: reqwest::Client,
    endpoint: Option<Url>,
}

impl MetadataService {
    /// The service at this base URL instead of Azure's address, when there is one. The builder has what all
    /// connections have.
    pub(crate) fn new(
        builder: reqwest::ClientBuilder,
        endpoint: Option<Url>,
    ) -> reqwest::Result<Self> {
        let http = builder
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .build()?;
        Ok(Self { http, endpoint })
    }

    /// The service as the transport of a managed identity that is named in this place.
    pub(super) fn transport(&self, place: Place) -> Arc<dyn HttpClient> {
        Arc::new(Transport {
            service: self.clone(),
            place,
        })
    }
}

/// One exchange per request. Whatever is no token is an error here, because the credential would ask again for more
/// than a minute, and every wait is the caller's.
#[derive(Debug)]
struct Transport {
    service: MetadataService,
    place: Place,
}

#[async_trait]
impl HttpClient for Transport {
    async fn execute_request(&self, request: &Request) -> azure_core::Result<AsyncRawResponse> {
        let mut url = request.url().clone();
        if let Some(endpoint) = &self.service.endpoint
            && url.host_str() == Some(ADDRESS)
        {
            let query = url.query().map(str::to_owned);
            let path = format!("{}{}", endpoint.path().trim_end_matches('/'), url.path());
            url = endpoint.clone();
            url.set_path(&path);
            url.set_query(query.as_deref());
        }
        let endpoint = url.origin().ascii_serialization();
        let mut call = self.service.http.get(url);
        for (name, value) in request.headers().iter() {
            call = call.header(name.as_str(), value.as_str());
        }
        let fail = |message: String, refused| {
            let error = CredentialError::ManagedIdentity {
                place: self.place.clone(),
                endpoint: endpoint.clone(),
                message,
                refused,
            };
            azure_core::Error::new(ErrorKind::Credential, error)
        };
        let silent = |error: reqwest::Error| fail(silence(&error), false);
        let answer = call.send().await.map_err(silent)?;
        let status = answer.status().as_u16();
        if let Some((message, refused)) = refusal(status) {
            return Err(fail(message, refused));
        }
        let headers = azure_core::http::headers::Headers::new();
        let body = body::read(answer, body::OF_TOKENS).await;
        let body = body.map_err(|error| match error {
            BodyError::Lost(error) => silent(error),
            too_long => fail(too_long.to_string(), false),
        })?;
        Ok(AsyncRawResponse::from_bytes(status.into(), headers, body))
    }
}

fn silence(error: &reqwest::Error) -> String {
    let what = match error.is_timeout() {
        true => "does not answer in time",
        false => "cannot be reached",
    };
    format!(
        "{what}. Only machines in Azure have this service; elsewhere use a client secret, a client certificate or a \
         workload identity"
    )
}

/// What a status other than success means, and whether the identity is refused.
fn refusal(status: u16) -> Option<(String, bool)> {
    match status {
        200..300 => None,
        400 | 403 => Some((
            format!(
                "answers HTTP {status}: the machine does not have the identity. Assign it to the machine (the node \
                 pool), or correct AZURE_CLIENT_ID"
            ),
            true,
        )),
        _ => Some((format!("answers HTTP {status}, which may pass"), false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_is_for_the_user_to_mend() {
        for (status, expected) in [
            (200, None),
            (400, Some(true)),
            (403, Some(true)),
            (404, Some(false)),
            (410, Some(false)),
            (429, Some(false)),
            (500, Some(false)),
        ] {
            let refused = refusal(status).map(|(_, refused)| refused);
            assert_eq!(refused, expected, "{status}");
        }
    }
}
