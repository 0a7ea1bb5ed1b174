//! Where the object may be and what it may refer to, as its namespace or the operator says.

use armature_azure::Transport;
use armature_engine::named_ids::ids_named;
use armature_shapes::id::RemoteId;
use armature_shapes::names;
use serde_json::Value;

use super::pass::Pass;
use crate::action::warning;
use crate::allowed_scopes::{Bound, Enforcement, Source};
use crate::claim;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::port::KubernetesError;
use crate::view::OwnerForm;

impl Pass<'_> {
    /// Whether the object may be where it is, and its owner: asked before the first request to Azure.
    pub(super) async fn check_scopes_of_place(
        &mut self,
        id: &RemoteId,
    ) -> Result<Result<(), Failure>, KubernetesError> {
        let Some(bound) = self.bound() else {
            return Ok(Ok(()));
        };
        let mut used: Vec<(&str, String)> = Vec::new();
        if let Some(id) = id.arm() {
            used.push(("the resource", id.as_str().to_owned()));
        }
        match self.owner_form() {
            OwnerForm::None => {}
            OwnerForm::ArmId => {
                let id = self.owner_arm_id().unwrap_or_default().to_owned();
                used.push(("spec.owner.armId", id));
            }
            OwnerForm::Named => {
                let owner = self.owner_object().await?;
                let is_arm = |id: &&str| id.starts_with('/');
                let id = owner.as_deref().and_then(claim::resource_id);
                if let Some(id) = id.filter(is_arm) {
                    used.push(("spec.owner", id.to_owned()));
                }
            }
        }
        let refused = used.into_iter().find(|(_, id)| !bound.scopes.allow(id));
        Ok(refused.map_or(Ok(()), |(what, id)| {
            Err(not_allowed(bound.refusal(what, &id)))
        }))
    }

    /// Whether the object may refer to this ARM id.
    pub(super) fn check_scope_of_reference(&self, path: &str, id: &str) -> Result<(), Failure> {
        match self.bound() {
            Some(bound) if !bound.scopes.allow(id) => Err(not_allowed(bound.refusal(path, id))),
            _ => Ok(()),
        }
    }

    /// Whether all ids may be sent that the finished body names: in texts that are no references, in keys of maps, and from
    /// ConfigMaps and Secrets.
    pub(super) async fn check_scopes_of_body(&mut self, body: &Value) -> Result<(), Failure> {
        let Some(bound) = self.bound() else {
            return Ok(());
        };
        let gate = &self.ways.gate;
        let endpoint = gate.endpoint(self.findings.credential()).await;
        let named = ids_named(self.version().spec, body, &endpoint);
        let own = self.id().map(|id| format!("{id}/")).unwrap_or_default();
        let is_own = |id: &str| {
            let id = format!("{id}/");
            let start = id.get(..own.len());
            !own.is_empty() && start.is_some_and(|start| start.eq_ignore_ascii_case(&own))
        };
        let mut refused = named.iter().filter(|named| {
            let id = named.id.as_str();
            !bound.scopes.allow_in_body(id) && !is_own(id)
        });
        let Some(named) = refused.next() else {
            return Ok(());
        };
        let message = match named.is_hidden {
            true => bound.silent_refusal(&named.path),
            false => bound.refusal(&named.path, &named.id),
        };
        match bound.enforcement {
            Enforcement::Enforce => Err(not_allowed(message)),
            Enforcement::Warn => {
                self.warn_of_scopes(&message).await;
                Ok(())
            }
        }
    }

    /// Binds the requests of the pass to what the namespace may use by now.
    pub(super) fn bind_requests(&self) {
        self.ways.gate.bind(self.bound());
    }

    /// Tells of requests that would be refused where scopes are enforced.
    pub(super) async fn tell_outside(&self) {
        for message in self.ways.gate.take_outside() {
            self.warn_of_scopes(&message).await;
        }
    }

    async fn warn_of_scopes(&self, message: &str) {
        let sent = message.replace(
            "nothing is sent",
            "it is sent all the same, by the setting allowed-scopes-mode=warn",
        );
        self.record(warning(names::event::OUTSIDE_SCOPES, sent))
            .await;
    }

    fn bound(&self) -> Option<Bound> {
        // What cannot be understood ends the pass before anything is asked.
        let of_namespace = self.directives().ok()?.scopes;
        let settings = &self.reconciler.settings;
        let (scopes, source) = match of_namespace {
            Some(scopes) => (scopes, Source::Namespace),
            None => (settings.default_scopes.clone()?, Source::Operator),
        };
        Some(Bound {
            scopes,
            source,
            namespace: self.namespace(),
            enforcement: settings.scopes_enforcement,
        })
    }
}

fn not_allowed(message: String) -> Failure {
    Failure::error(reason::SCOPE_NOT_ALLOWED, message)
}
