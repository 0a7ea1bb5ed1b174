//! kube's errors in the words of the driver's port.

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
        other => other.to_string(),
    }
}
