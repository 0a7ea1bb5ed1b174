//! kube's errors in the words of the driver's port.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use armature_reconcile::port::KubernetesError;

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
        other => KubernetesError::Other {
            operation,
            object,
            message: message(other),
        },
    }
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
