//! Where the object may be and what it may refer to, as its namespace or the operator says.

use std::collections::BTreeSet;

use armature_engine::named_ids::ids_named;
use armature_shapes::id::RemoteId;
use armature_shapes::names;
use serde_json::Value;

use super::named::some;
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
                // What it is, and what the ids of its children begin with: both are notes in the owner.
                let ids = owner.iter().flat_map(|owner| {
                    let ids = [claim::resource_id(owner), claim::id_for_children(owner)];
                    ids.into_iter().flatten().map(str::to_owned)
                });
                let ids = ids.filter(|id| id.starts_with('/'));
                used.extend(ids.map(|id| ("spec.owner", id)));
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
            Some(bound) if !bound.scopes.allow_in_body(id) => {
                Err(not_allowed(bound.refusal(path, id)))
            }
            _ => Ok(()),
        }
    }

    /// Whether all ids may be sent that the finished body names: in texts that are no references, in keys of maps, and from
    /// ConfigMaps and Secrets.
    pub(super) async fn check_scopes_of_body(&mut self, body: &Value) -> Result<(), Failure> {
        let Some(bound) = self.bound() else {
            return Ok(());
        };
        let main = &self.ways.main;
        let endpoint = main.endpoint(self.findings.credential()).await;
        let named = ids_named(self.version().spec, body, &endpoint);
        let mut refused = named
            .iter()
            .filter(|named| !bound.scopes.allow_in_body(&named.id));
        let Some(first) = refused.next() else {
            self.findings.payload.outside = None;
            return Ok(());
        };
        let mut message = match first.is_hidden {
            true => bound.silent_refusal(&first.path),
            false => bound.refusal(&first.path, &first.id),
        };
        let others: BTreeSet<String> = refused.map(|named| named.path.clone()).collect();
        if !others.is_empty() {
            let others: Vec<String> = others.into_iter().collect();
            message.push_str(&format!("; as well as what is at {}", some(&others, ", ")));
        }
        match bound.enforcement {
            Enforcement::Enforce => Err(not_allowed(message)),
            Enforcement::Warn => {
                self.findings.payload.outside = Some(message);
                Ok(())
            }
        }
    }

    /// Tells of ids in the body that is about to be sent, which would be refused where scopes are enforced.
    pub(super) async fn tell_outside_body(&mut self) {
        if let Some(message) = self.findings.payload.outside.take() {
            self.warn_of_scopes(&message).await;
        }
    }

    /// The same for whoever asks before it is sent.
    pub(super) fn outside_body(&self) -> Option<String> {
        self.findings.payload.outside.as_deref().map(sent_anyway)
    }

    /// Binds the requests of the pass to what the namespace may use by now.
    pub(super) fn bind_requests(&self) {
        self.ways.main.bind(self.bound());
    }

    /// Tells of requests that would be refused where scopes are enforced.
    pub(super) async fn tell_outside(&self) {
        for message in self.ways.main.take_outside() {
            self.warn_of_scopes(&message).await;
        }
    }

    async fn warn_of_scopes(&self, message: &str) {
        let event = warning(names::event::OUTSIDE_SCOPES, sent_anyway(message));
        self.record(event).await;
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

/// What is told of an id outside that is sent.
fn sent_anyway(message: &str) -> String {
    message.replace(
        "nothing is sent",
        "it is sent all the same, by the setting allowed-scopes-mode=warn",
    )
}

fn not_allowed(message: String) -> Failure {
    Failure::error(reason::SCOPE_NOT_ALLOWED, message)
}
