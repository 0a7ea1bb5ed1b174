//! Azure Resource Manager as a remote: its verbs, what its answers say, and its operations in annotations.

use std::sync::Arc;
use std::time::Duration;

use armature_azure::operation::{self, Style};
use armature_azure::{CloudError, Method, Request, Response, Transport, absence};
use armature_reconcile::allowed_scopes::Bound;
use armature_reconcile::backoff::RetryClass;
use armature_reconcile::condition::reason;
use armature_reconcile::extension::ExtensionError;
use armature_reconcile::outcome::Failure;
use armature_reconcile::remote::{
    Access, Begun, Credential, CredentialRef, Operation, Progress, Provisioning, Reading, Refusal,
    Session, Target, Verb,
};
use armature_shapes::id::{RemoteId, ResourceId};
use armature_shapes::kind::KindInfo;
use armature_shapes::quote::shortened;
use armature_shapes::shape::{Rules, misleading_name};
use async_trait::async_trait;
use serde_json::Value;

use super::access::ArmAccess;
use super::credential::key_of;
use super::error::{ArmError, transport_failure};
use super::gate::Gate;
use super::own::is_own;

/// States of `provisioningState` that say without doubt that something is going on. Services invent others, and
/// some of those are lasting (`Running`, `Pending`): only these hold a PUT back.
const RUNNING: &[&str] = &[
    "accepted",
    "creating",
    "deleting",
    "inprogress",
    "provisioning",
    "updating",
];

/// Members of which every resource has one beside its id, or more.
const MEMBERS: [&str; 5] = ["name", "type", "location", "properties", "kind"];

/// api-version of the registration of providers.
const REGISTRATION_VERSION: &str = "2019-05-01";

/// HTTP status for an etag that no longer holds (RFC 9110, section 13.1.1).
const PRECONDITION_FAILED: u16 = 412;

#[async_trait]
impl Session for Gate {
    async fn sign_in(&self, credential: &CredentialRef) -> Result<Credential, Failure> {
        let credential = key_of(credential);
        let subscription = self.subscription(&credential).await;
        self.charge(&credential).await;
        // No request was sent whose path would tell anything.
        let subscription = subscription.map_err(|error| Failure {
            message: error.message.clone(),
            ..transport_failure(&error)
        })?;
        self.confine(&subscription);
        Ok(Credential { subscription })
    }

    fn identify(
        &self,
        kind: &'static KindInfo,
        owner: Option<&RemoteId>,
        account: &str,
        name: &str,
    ) -> Result<RemoteId, String> {
        let rules = kind.name.rules().unwrap_or(&Rules::NONE);
        if let Some(why) = misleading_name(rules, name) {
            return Err(format!("spec.azureName: {why}"));
        }
        let owner = owner.and_then(RemoteId::arm);
        let id = ResourceId::of(kind, owner, account, name);
        id.map(RemoteId::Arm).map_err(|error| error.to_string())
    }

    /// GET, or HEAD where that is all there is.
    async fn read(&self, target: Target<'_>) -> Result<Option<Reading>, Refusal> {
        let verbs = target.version.verbs;
        let method = match (verbs.get, verbs.head) {
            (true, _) => Method::Get,
            (false, true) => Method::Head,
            (false, false) => {
                let message = "Azure cannot read resources of this type";
                return Err(Failure::error(reason::FAILED, message).into());
            }
        };
        let request = request(target.credential, method, url(target)?, None);
        let asked = self.now();
        let response = self.ask(request).await?;
        let ahead = operation::clock_ahead(&response, self.now());
        match response.status {
            _ if absence::is_gone(&response) => Ok(None),
            200..300 if method == Method::Head => Ok(Some(Reading {
                provisioning: Provisioning::Settled,
                body: None,
                etag: None,
                at: None,
            })),
            200..300 => {
                let etag = etag_of(&response);
                let body = response.body.unwrap_or_default();
                check_resource(&body, target.id)?;
                Ok(Some(Reading {
                    provisioning: provisioning(&body),
                    etag,
                    at: ahead.and_then(|ahead| asked.checked_add(ahead).ok()),
                    body: Some(body),
                }))
            }
            _ => Err(self.refused(&response)),
        }
    }

    async fn write(&self, target: Target<'_>, body: Value, etag: Option<String>) -> Begun {
        let url = match url(target) {
            Ok(url) => url,
            Err(refusal) => return Begun::Refused(refusal),
        };
        let is_conditional = etag.is_some();
        let request = Request {
            if_match: etag,
            ..request(target.credential, Method::Put, url.clone(), Some(body))
        };
        let begun = match self.send(request).await {
            Err(error) => Begun::Refused(transport_failure(&error).into()),
            Ok(response) => match self.begun(Method::Put, &url, &response) {
                Begun::Refused(refusal)
                    if is_conditional && response.status == PRECONDITION_FAILED =>
                {
                    Begun::Overtaken(refusal)
                }
                begun => begun,
            },
        };
        match begun {
            Begun::Refused(refusal) if self.has_unanswered_put() => Begun::Unheard(refusal),
            // Such a state is followed by a GET of the resource, which Azure does not have here: it took the PUT, and that is all
            // that can be known.
            Begun::Running { operation, .. }
                if !operation.is_reported && !target.version.verbs.get =>
            {
                Begun::Done
            }
            begun => begun,
        }
    }

    async fn remove(&self, target: Target<'_>) -> Begun {
        match url(target) {
            Ok(url) => self.begin(target.credential, Method::Delete, url).await,
            Err(refusal) => Begun::Refused(refusal),
        }
    }

    async fn follow(&self, target: Target<'_>, operation: &Operation) -> Progress {
        let resumed = armature_azure::Operation::resume(&operation.id, &operation.token);
        let (Ok(running), Some(id)) = (resumed, target.id.arm()) else {
            return Progress::Lost;
        };
        if running.is_silent() {
            return Progress::Unreported { after: None };
        }
        let request = request(target.credential, Method::Get, running.url.clone(), None);
        let response = match self.send(request).await {
            Ok(response) => response,
            Err(error) if error.refused.is_some() => {
                return Progress::Doubtful(transport_failure(&error).into());
            }
            Err(error) => return Progress::Unknown(transport_failure(&error)),
        };
        match operation::poll(&running, id, &response, self.now()) {
            operation::Progress::Running { operation, after } => Progress::Running {
                operation: kept(&operation),
                after,
            },
            operation::Progress::Unreported { after } => Progress::Unreported { after },
            operation::Progress::Doubtful(_) => Progress::Doubtful(self.refused(&response)),
            operation::Progress::Succeeded => Progress::Succeeded,
            operation::Progress::Failed(error) | operation::Progress::Canceled(error) => {
                Progress::Failed(plain(error, None))
            }
            operation::Progress::Lost => Progress::Lost,
        }
    }

    fn resume(&self, id: &str, token: &str) -> Option<Operation> {
        let operation = armature_azure::Operation::resume(id, token).ok()?;
        Some(kept(&operation))
    }

    /// Asks Azure to let the subscription use the type's provider; that takes minutes (ASO behaviour §1.7).
    async fn enrol(&self, target: Target<'_>, account: &str) -> Result<(), Refusal> {
        let subscription = target.id.arm().and_then(ResourceId::subscription);
        let subscription = subscription.unwrap_or(account);
        let provider = target.kind.provider();
        let url = format!(
            "/subscriptions/{subscription}/providers/{provider}/register?api-version={REGISTRATION_VERSION}"
        );
        let request = request(target.credential, Method::Post, url, None);
        let response = self.ask(request).await?;
        match response.status {
            200..300 => Ok(()),
            _ => Err(self.refused(&response)),
        }
    }

    /// POST of something that has to come before a PUT.
    async fn prepare(&self, credential: &CredentialRef, url: &str) -> Begun {
        self.begin(credential, Method::Post, url.to_owned()).await
    }

    async fn list(
        self: Arc<Self>,
        credential: &CredentialRef,
        url: &str,
    ) -> Result<Value, Refusal> {
        let access = ArmAccess::new(self, key_of(credential));
        access.post_all(url).await.map_err(refusal)
    }

    fn is_own(&self, id: &RemoteId, operation: &Operation) -> bool {
        let resumed = armature_azure::Operation::resume(&operation.id, &operation.token);
        match (resumed, id.arm()) {
            (Ok(resumed), Some(id)) => is_own(&resumed.url, id),
            _ => false,
        }
    }

    async fn endpoint(&self, credential: &CredentialRef) -> String {
        Transport::endpoint(self, &key_of(credential)).await
    }

    fn bind(&self, bound: Option<Bound>) {
        Gate::bind(self, bound);
    }

    fn take_outside(&self) -> Vec<String> {
        Gate::take_outside(self)
    }

    fn take_correlation(&self) -> Option<String> {
        Gate::take_correlation(self)
    }

    fn ends_writes(&self) -> bool {
        Gate::ends_writes(self)
    }

    fn access(self: Arc<Self>, credential: &CredentialRef) -> Access {
        ArmAccess::new(self, key_of(credential)).into()
    }

    fn commit(&self) {
        Gate::commit(self);
    }

    fn put_off(&self) -> Option<Duration> {
        Gate::put_off(self)
    }
}

impl Gate {
    async fn begin(&self, credential: &CredentialRef, method: Method, url: String) -> Begun {
        let request = request(credential, method, url.clone(), None);
        match self.send(request).await {
            Ok(response) => self.begun(method, &url, &response),
            Err(error) => Begun::Refused(transport_failure(&error).into()),
        }
    }

    fn begun(&self, method: Method, url: &str, response: &Response) -> Begun {
        match operation::begin(method, url, response, self.now()) {
            operation::Begun::Done => Begun::Done,
            operation::Begun::Running { operation, after } => Begun::Running {
                operation: kept(&operation),
                after,
            },
            operation::Begun::Failed { .. }
                if method == Method::Delete && absence::is_not_found(response) =>
            {
                Begun::Refused(self.refused(response))
            }
            operation::Begun::Failed { error, after } => Begun::Refused(plain(error, after)),
        }
    }

    async fn ask(&self, request: Request) -> Result<Response, Refusal> {
        let answer = self.send(request).await;
        answer.map_err(|error| transport_failure(&error).into())
    }

    /// What an error answer says. One of "not found" that does not mean the resource is doubted.
    fn refused(&self, response: &Response) -> Refusal {
        let is_doubtful = absence::is_not_found(response) && !absence::is_gone(response);
        Refusal::Told {
            error: Arc::new(ArmError(CloudError::from_response(response))),
            retry_after: operation::retry_after(response, self.now()),
            doubt: is_doubtful.then(|| absence::doubt(response).to_owned()),
        }
    }
}

/// Why an action was not answered.
fn refusal(error: ExtensionError) -> Refusal {
    match error {
        ExtensionError::Azure {
            error, retry_after, ..
        } => Refusal::Told {
            error,
            retry_after,
            doubt: None,
        },
        ExtensionError::Unanswered { failure, .. } => Refusal::Known(*failure),
        other => Failure::warning(reason::FAILED, RetryClass::Slow, other.to_string()).into(),
    }
}

fn plain(error: CloudError, retry_after: Option<Duration>) -> Refusal {
    Refusal::Told {
        error: Arc::new(ArmError(error)),
        retry_after,
        doubt: None,
    }
}

fn url(target: Target<'_>) -> Result<String, Refusal> {
    match target.id.arm() {
        Some(id) => Ok(id.url(target.version.api_version)),
        None => {
            let message = format!("'{}' is no ARM id", target.id);
            Err(Failure::error(reason::FAILED, message).into())
        }
    }
}

fn request(
    credential: &CredentialRef,
    method: Method,
    url: String,
    body: Option<Value>,
) -> Request {
    Request {
        method,
        url,
        body,
        if_match: None,
        credential: key_of(credential),
    }
}

/// What an object keeps of an operation.
fn kept(operation: &armature_azure::Operation) -> Operation {
    Operation {
        verb: match operation.method {
            Method::Delete => Verb::Remove,
            Method::Post => Verb::Prepare,
            _ => Verb::Write,
        },
        is_reported: operation.style != Style::Resource,
        id: operation.resume_id().to_owned(),
        token: operation.resume_token(),
    }
}

fn provisioning(body: &Value) -> Provisioning {
    let state = body.pointer("/properties/provisioningState");
    let Some(state) = state.and_then(Value::as_str) else {
        return Provisioning::Settled;
    };
    let word = state.to_ascii_lowercase();
    match word.as_str() {
        "failed" | "canceled" | "cancelled" => Provisioning::Failed(state.to_owned()),
        word if RUNNING.contains(&word) => Provisioning::Running(state.to_owned()),
        _ => Provisioning::Settled,
    }
}

/// The ETag of a resource: that of the answer, which is the one that `If-Match` is about; else the one that it shows.
fn etag_of(response: &Response) -> Option<String> {
    let header = response.headers.get("etag").map(String::as_str);
    let shown = || etag_in(response.body.as_ref()?);
    header.or_else(shown).map(str::to_owned)
}

/// The ETag in a resource, where services put it and as they spell it.
fn etag_in(body: &Value) -> Option<&str> {
    let places = ["/etag", "/eTag", "/properties/etag", "/properties/eTag"];
    let mut found = places
        .into_iter()
        .filter_map(|place| body.pointer(place)?.as_str());
    found.next()
}

/// Refuses an answer that is not the resource that was asked for (ARM RPC, "GET resource": the body is the resource, with its id).
/// A gateway or a provider that fails may answer 200 with anything, and what such an answer lacks would be taken for what Azure
/// lacks.
fn check_resource(body: &Value, id: &RemoteId) -> Result<(), Refusal> {
    let why = match body {
        Value::Object(members) if members.is_empty() => "an empty object".to_owned(),
        Value::Object(members) => match members.get("id").and_then(Value::as_str) {
            Some(found) if is_same_resource(found, id) => return Ok(()),
            Some(found) => format!("that of {}", shortened(found)),
            None if MEMBERS.iter().any(|name| members.contains_key(*name)) => return Ok(()),
            None => "an object without an id".to_owned(),
        },
        Value::Null => "empty".to_owned(),
        _ => "no object".to_owned(),
    };
    let message = format!(
        "Azure answered that the resource exists, and the answer is not the resource: the body is {why}. It is asked again"
    );
    Err(Failure::warning(reason::FAILED, RetryClass::Slow, message).into())
}

/// Whether an id in an answer is that of a resource. A role definition tells another scope than the one that it was read in, so type
/// and name decide.
fn is_same_resource(found: &str, id: &RemoteId) -> bool {
    let Some(id) = id.arm() else {
        return false;
    };
    // Services write ids of children without the first slash, with two, or with a revision: what cannot be read accuses nobody.
    let segments: Vec<&str> = found
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let found = format!("/{}", segments.join("/"));
    let found = found.split(";rev=").next().unwrap_or_default();
    let Ok(found) = ResourceId::parse(found) else {
        return true;
    };
    let is_same_name = found.name().eq_ignore_ascii_case(id.name());
    found == *id || is_same_name && found.has_type(&id.arm_type())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_accuses_an_answer_only_where_it_is_another_resources() {
        let id = "/subscriptions/s/resourceGroups/g/providers/Toys.Azure/stores/a";
        let own = RemoteId::Arm(ResourceId::parse(id).unwrap());
        for (found, expected) in [
            (id.to_owned(), true),
            (id.to_uppercase(), true),
            (format!("{id}/"), true),
            (id[1..].to_owned(), true),
            (id.replace("/providers", "//providers"), true),
            (format!("{id};rev=1"), true),
            // Another scope, as role definitions have it.
            (
                "/subscriptions/s/providers/Toys.Azure/stores/a".to_owned(),
                true,
            ),
            ("current".to_owned(), true),
            (id.replace("/a", "/victim"), false),
            ("/subscriptions/s/resourceGroups/a".to_owned(), false),
        ] {
            assert_eq!(is_same_resource(&found, &own), expected, "{found}");
        }
    }

    /// The last two as AKS spells it.
    #[test]
    fn an_etag_is_found_where_services_put_it() {
        for body in [
            serde_json::json!({"etag": "1", "properties": {"etag": "2"}}),
            serde_json::json!({"properties": {"etag": "1"}}),
            serde_json::json!({"eTag": "1"}),
            serde_json::json!({"properties": {"eTag": "1"}}),
        ] {
            assert_eq!(etag_in(&body), Some("1"), "{body}");
        }
        assert_eq!(etag_in(&serde_json::json!({"etag": 1})), None);
    }

    #[test]
    fn the_etag_of_the_answer_comes_before_the_one_that_the_resource_shows() {
        let etag = |headers: &[(&str, &str)], body: Option<Value>| {
            etag_of(&super::super::testing::response(200, headers, body))
        };
        let body = || Some(serde_json::json!({"properties": {"eTag": "shown"}}));
        let header = [("etag", "of the answer")];
        assert_eq!(etag(&header, body()).as_deref(), Some("of the answer"));
        assert_eq!(etag(&header, None).as_deref(), Some("of the answer"));
        assert_eq!(etag(&[], body()).as_deref(), Some("shown"));
        assert_eq!(etag(&[], None), None);
    }
}
