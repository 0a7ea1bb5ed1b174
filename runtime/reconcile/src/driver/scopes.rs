//! Where the object may be and what it may refer to, as its namespace or the operator says.

use armature_shapes::id::RemoteId;
use armature_shapes::names;

use super::pass::Pass;
use crate::allowed_scopes::AllowedScopes;
use crate::claim;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::port::KubernetesError;
use crate::view::OwnerForm;

/// Who says it.
#[derive(Clone, Copy)]
enum Source {
    Namespace,
    Operator,
}

impl Pass<'_> {
    /// Whether the object may be where it is, and its owner: asked before the first request to Azure.
    pub(super) async fn check_scopes_of_place(
        &mut self,
        id: &RemoteId,
    ) -> Result<Result<(), Failure>, KubernetesError> {
        let Some((scopes, source)) = self.scopes() else {
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
        let refused = used.into_iter().find(|(_, id)| !scopes.allow(id));
        Ok(refused.map_or(Ok(()), |(what, id)| {
            Err(self.not_allowed(what, &id, &scopes, source))
        }))
    }

    /// Whether the object may refer to this ARM id.
    pub(super) fn check_scope_of_reference(&self, path: &str, id: &str) -> Result<(), Failure> {
        match self.scopes() {
            Some((scopes, source)) if !scopes.allow(id) => {
                Err(self.not_allowed(path, id, &scopes, source))
            }
            _ => Ok(()),
        }
    }

    fn scopes(&self) -> Option<(AllowedScopes, Source)> {
        // What cannot be understood ends the pass before anything is asked.
        let of_namespace = self.directives().ok()?.scopes;
        let of_namespace = of_namespace.map(|scopes| (scopes, Source::Namespace));
        of_namespace.or_else(|| {
            let default = self.reconciler.settings.default_scopes.clone()?;
            Some((default, Source::Operator))
        })
    }

    fn not_allowed(&self, what: &str, id: &str, scopes: &AllowedScopes, source: Source) -> Failure {
        let namespace = self.namespace();
        let (told, adds) = match source {
            Source::Namespace => (
                format!("annotation {} of the namespace", names::ALLOWED_SCOPES),
                "add it to the annotation".to_owned(),
            ),
            Source::Operator => (
                "the operator's setting allowed-scopes".to_owned(),
                format!("annotate the namespace with {}", names::ALLOWED_SCOPES),
            ),
        };
        Failure::error(
            reason::SCOPE_NOT_ALLOWED,
            format!(
                "{what}: '{id}' is outside of what namespace {namespace} may use, which is {scopes} ({told}); nothing is sent. \
                 Use what is below one of these, or have an administrator {adds}; to let the object go and leave Azure as it \
                 is, set {} to detach-on-delete",
                names::RECONCILE_POLICY
            ),
        )
    }
}
