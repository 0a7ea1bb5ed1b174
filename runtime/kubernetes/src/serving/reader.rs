//! Who may read a URL that is no resource, such as `/metrics`: whoever proves itself with a token of the cluster and is
//! allowed to by its roles. The API server says both, as it does to kube-rbac-proxy and to controller-runtime.

use armature_reconcile::port::KubernetesError;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::sync::Semaphore;

use crate::error::request;

/// Readers about whom the API server is asked at the same time: whoever sends tokens here makes us ask.
const ASKED_AT_ONCE: usize = 4;

/// Why somebody may not read.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// There is no token, or the API server does not know it.
    #[error("send a token of the cluster: Authorization: Bearer TOKEN")]
    Unknown,
    /// The roles do not allow it.
    #[error("{user} may not get the URL {path}; a ClusterRole with nonResourceURLs allows it")]
    Forbidden {
        /// Who asked.
        user: String,
        /// What for.
        path: &'static str,
    },
    /// The API server does not say.
    #[error(transparent)]
    Kubernetes(#[from] KubernetesError),
}

/// Who may read one URL.
pub struct Readers {
    client: Client,
    path: &'static str,
    asked: Semaphore,
}

impl Readers {
    /// Those of this path, which begins with a slash.
    pub fn new(client: Client, path: &'static str) -> Self {
        Self {
            client,
            path,
            asked: Semaphore::new(ASKED_AT_ONCE),
        }
    }

    /// Whether somebody may read, by the value of the header `Authorization`.
    ///
    /// # Errors
    /// Why not.
    pub async fn admit(&self, authorization: Option<&str>) -> Result<(), Refused> {
        let token = authorization.and_then(bearer).ok_or(Refused::Unknown)?;
        // It is never closed; without a permit nothing is lost but the limit.
        let _permit = self.asked.acquire().await.ok();
        let user = self.who_is(token).await?.ok_or(Refused::Unknown)?;
        let name = user.username.clone().unwrap_or_default();
        if self.may_read(user).await? {
            return Ok(());
        }
        let path = self.path;
        Err(Refused::Forbidden { user: name, path })
    }

    async fn who_is(&self, token: &str) -> Result<Option<UserInfo>, KubernetesError> {
        let review = TokenReview {
            spec: TokenReviewSpec {
                token: Some(token.to_owned()),
                ..TokenReviewSpec::default()
            },
            ..TokenReview::default()
        };
        let reviews: Api<TokenReview> = Api::all(self.client.clone());
        let parameters = PostParams::default();
        let call = reviews.create(&parameters, &review);
        let answer = request("review", || "a token".to_owned(), call).await?;
        let status = answer.status.unwrap_or_default();
        let is_known = status.authenticated == Some(true);
        Ok(status.user.filter(|_| is_known))
    }

    async fn may_read(&self, user: UserInfo) -> Result<bool, KubernetesError> {
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: user.username,
                groups: user.groups,
                uid: user.uid,
                extra: user.extra,
                non_resource_attributes: Some(NonResourceAttributes {
                    path: Some(self.path.to_owned()),
                    verb: Some("get".to_owned()),
                }),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let parameters = PostParams::default();
        let call = reviews.create(&parameters, &review);
        let answer = request("review", || format!("access to {}", self.path), call).await?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }
}

/// The token of a header.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_headers() {
        for (header, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Bearer ", None),
            ("Bearer", None),
            ("Basic abc", None),
            ("", None),
        ] {
            assert_eq!(bearer(header), token, "{header}");
        }
    }
}
