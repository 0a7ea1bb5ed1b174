//! Extensions before and after the PUT.

use std::sync::Arc;

use armature_shapes::id::{RemoteId, ResourceId};
use armature_shapes::kind::OwnerRule;
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object};
use serde_json::Value;

use super::cluster::owner_gone;
use super::forms::Forms;
use super::found::{Found, found};
use super::object::raw;
use super::pass::Pass;
use super::remote::unwritable;
use crate::claim;
use crate::condition::reason;
use crate::extension::{ExtensionError, Next, PostCheck, PreCheck};
use crate::outcome::Failure;
use crate::port::MetadataPatch;
use crate::remote::Target;
use crate::view::OwnerForm;

impl Pass<'_> {
    /// Step 10: the owner with a status fresh from Azure, then the kind's checker.
    pub(super) async fn check_owner(&mut self) -> Found<PreCheck> {
        let Some(checker) = self.points.owner_checker.clone() else {
            return Ok(Ok(PreCheck::Proceed));
        };
        let owner = match self.owner_form() {
            OwnerForm::ArmId => self.owner_of_arm_id(),
            OwnerForm::Named | OwnerForm::None => match self.owner_object().await? {
                Some(owner) => Ok(Object::clone(&owner)),
                None => Err(owner_gone("the owner no longer exists in the cluster")),
            },
        };
        let fresh = match owner {
            Ok(owner) => self.refresh(owner).await,
            Err(failure) => Err(failure),
        };
        let owner = match fresh {
            Ok(owner) => Arc::new(owner),
            Err(failure) => return Ok(Err(failure)),
        };
        self.findings.owner.object = Some(owner.clone());
        let next = Next::value(PreCheck::Proceed);
        let check = checker.check(&self.context(), &owner, next).await;
        Ok(self.outcome(check).await)
    }

    /// An object for an owner that only Azure knows: its newest version, and nothing in it but the name.
    fn owner_of_arm_id(&self) -> Result<Object, Failure> {
        let id = ResourceId::parse(self.owner_arm_id().unwrap_or(""))
            .map_err(|error| Failure::error(reason::FAILED, format!("spec.owner: {error}")))?;
        let info = match self.kind().owner {
            OwnerRule::Kind { group, kind } => self.reconciler.kubernetes.kind(group, kind),
            OwnerRule::Any | OwnerRule::None => None,
        };
        let info = info.ok_or_else(|| {
            let message =
                format!("spec.owner: no kind is known for {id:?}; name the owner instead");
            Failure::error(reason::FAILED, message)
        })?;
        let mut metadata = self.object.metadata.clone();
        metadata.name = Some(id.name().to_owned());
        metadata.annotations =
            Some([(names::RESOURCE_ID.to_owned(), id.as_str().to_owned())].into());
        metadata.labels = None;
        metadata.owner_references = None;
        metadata.finalizers = Some(vec![names::FINALIZER.to_owned()]);
        metadata.uid = None;
        Ok(Object {
            kind: Kind(info),
            metadata,
            spec: raw(&Value::Object(serde_json::Map::new())),
            status: None,
        })
    }

    /// The object with its status as Azure has it now; without one when Azure has no such resource.
    async fn refresh(&self, mut object: Object) -> Result<Object, Failure> {
        let kind = object.kind.0;
        let id = claim::resource_id(&object).map(|id| RemoteId::parse(kind, id));
        let (Ok(mut forms), Some(Ok(id))) = (Forms::of(&object), id) else {
            return Err(owner_gone("the owner has no id yet"));
        };
        let session = if kind.remote.is_same(self.kind().remote) {
            self.ways.session.clone()
        } else {
            let session = self.ways.to(self.reconciler, &object);
            session.map_err(|message| Failure::error(reason::FAILED, message))?
        };
        let target = Target {
            kind,
            version: forms.version(),
            id: &id,
            credential: self.findings.credential(),
        };
        let reading = match session.read(target).await {
            Ok(reading) => reading,
            Err(refusal) => return Err(self.meaning(refusal).await),
        };
        object.status = match reading {
            Some(reading) => {
                let body = reading.body.unwrap_or_default();
                forms.show(&body).map_err(|error| unwritable(&error))?;
                forms.status_text()
            }
            None => None,
        };
        Ok(object)
    }

    /// Step 10, second half. The status is fresh; without one when Azure has no such resource.
    pub(super) async fn pre_check(&self) -> Result<PreCheck, Failure> {
        let Some(checker) = self.points.pre_checker.clone() else {
            return Ok(PreCheck::Proceed);
        };
        let next = Next::value(PreCheck::Proceed);
        let check = checker.check(&self.context(), &self.in_azure(), next).await;
        self.outcome(check).await
    }

    /// Step 16.
    pub(super) async fn post_check(&self) -> Result<PostCheck, Failure> {
        let Some(checker) = self.points.post_checker.clone() else {
            return Ok(PostCheck::Success);
        };
        let next = Next::value(PostCheck::Success);
        let check = checker.check(&self.context(), &self.current(), next).await;
        self.outcome(check).await
    }

    /// Step 18: annotations that the hook wants and that are not there yet.
    pub(super) async fn success_hook(&mut self) -> Found<()> {
        let Some(handler) = self.points.success_handler.clone() else {
            return Ok(Ok(()));
        };
        let next = Next::value(std::collections::BTreeMap::new());
        let wanted = handler
            .succeeded(&self.context(), &self.current(), next)
            .await;
        let wanted = found!(self.outcome(wanted).await);
        let annotations = wanted
            .into_iter()
            .filter(|(name, value)| self.annotation(name) != Some(value))
            .map(|(name, value)| (name, Some(value)))
            .collect();
        let patch = MetadataPatch {
            annotations,
            ..MetadataPatch::default()
        };
        if patch != MetadataPatch::default() {
            self.patch(patch).await?;
        }
        Ok(Ok(()))
    }

    pub(super) async fn outcome<T>(&self, result: Result<T, ExtensionError>) -> Result<T, Failure> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.extension_failure(error).await),
        }
    }
}
