//! kube's errors in the words of the driver's port.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use armature_reconcile::port::KubernetesError;
use armature_shapes::quote::shortened;
use kube::core::Status;

/// Longest wait for one answer of the API server.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs one request under a time limit. `operation` is an infinitive ("read"), `object` names the target.
pub async fn request<T>(
    operation: &'static str,
    object: impl Fn() -> String,
    call: impl Future<Output = kube::Result<T>>,
) -> Result<T, KubernetesError> {
    match tokio::time::timeout(REQUEST_TIMEOUT, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(translate(operation, object(), &error)),
        Err(_) => Err(KubernetesError::Other {
            operation,
            object: object(),
            message: format!("no answer within {} seconds", REQUEST_TIMEOUT.as_secs()),
        }),
    }
}

fn translate(operation: &'static str, object: String, error: &kube::Error) -> KubernetesError {
    match error {
        kube::Error::Api(status) if status.is_not_found() => KubernetesError::Gone { object },
        kube::Error::Api(status) if status.is_conflict() => KubernetesError::Conflict { object },
        kube::Error::Api(status) if is_for_good(status) => KubernetesError::Refused {
            operation,
            object,
            message: shortened(&status.message).into_owned(),
        },
        other => KubernetesError::Other {
            operation,
            object,
            message: message(other),
        },
    }
}

/// Whether the server will not take the same another time. What is too large for etcd is an internal error for it.
fn is_for_good(status: &Status) -> bool {
    let is_too_large = || {
        let words = ["request is too large", "message larger than max"];
        words.iter().any(|word| status.message.contains(word))
    };
    matches!(status.code, 400 | 403 | 405 | 413 | 422) || (status.code == 500 && is_too_large())
}

/// What the server said, or what kept it from answering. kube's own text repeats the whole answer.
pub fn message(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        kube::Error::Service(error) => with_causes(error.as_ref()),
        other => other.to_string(),
    }
}

/// What kept a request from arriving: its first words say only that it did not.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text.push_str(&format!(": {cause}"));
        }
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("client error (Connect)")]
    struct Connect(#[source] std::io::Error);

    #[test]
    fn what_a_rule_refuses_is_refused_for_good_and_what_is_busy_is_not() {
        for (code, message, expected) in [
            (
                422,
                "ValidatingAdmissionPolicy 'p' denied the request",
                true,
            ),
            (403, "admission webhook denied the request", true),
            (413, "request entity too large", true),
            (500, "etcdserver: request is too large", true),
            (500, "etcdserver: leader changed", false),
            (429, "too many requests", false),
            (503, "apiserver is shutting down", false),
            (401, "Unauthorized", false),
        ] {
            let status = Status::failure(message, "Reason").with_code(code);
            let error = kube::Error::Api(status.boxed());
            let error = translate("change the metadata of", String::new(), &error);
            let is_refused = matches!(error, KubernetesError::Refused { .. });
            assert_eq!(is_refused, expected, "{code} {message}");
        }
    }

    #[test]
    fn what_kept_a_request_from_arriving_is_told_with_its_causes() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let error = kube::Error::Service(Box::new(Connect(refused)));
        assert_eq!(
            message(&error),
            "client error (Connect): connection refused"
        );
        let plain = kube::Error::Service("no way".into());
        assert_eq!(message(&plain), "no way");
    }
}
