//! Where the resource is: its name, its owner and the id that they make (ASO behaviour §1.5).

use armature_engine::collect::KeyReference;
use armature_shapes::id::{RemoteId, ResourceId};
use armature_shapes::kind::{NameRule, OwnerRule, UuidText};
use armature_shapes::quote::shortened;
use armature_shapes::resource::ObjectKey;
use serde_json::Value;

use super::Reconciler;
use super::cluster::owner_gone;
use super::found::{Found, fatal, found};
use super::inputs::value_of;
use super::object::{AZURE_NAME, NAME_FROM_CONFIG};
use super::pass::Pass;
use crate::azure_name::{self, Named, Owner};
use crate::claim;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::port::{DataKind, KubernetesError};
use crate::view::OwnerForm;

impl Reconciler {
    /// The id that the spec of an object stands for, whatever subscription it is in; where that cannot be told, the
    /// one that the object has. Nothing is written, and nothing asked of Azure.
    ///
    /// # Errors
    /// When Kubernetes refuses, or there is no such object.
    pub async fn place(&self, key: &ObjectKey) -> Found<RemoteId> {
        let Some(object) = self.kubernetes.get(key).await? else {
            let object = key.to_string();
            return Err(KubernetesError::Gone { object });
        };
        let namespace = self.kubernetes.namespace_annotations(&key.namespace);
        let keys = self.kubernetes.note_keys().await?;
        let mut pass = match Pass::new(self, object, namespace.await?, keys) {
            Ok(pass) => pass,
            Err(unreadable) => return Ok(Err(unreadable.failure)),
        };
        let sign_in = pass.select_credential().await?;
        if let Err(failure) = sign_in.account {
            return Ok(Err(failure));
        }
        pass.findings.sign_in = Some(sign_in);
        let made = pass.make_id().await?;
        Ok(made.or_else(|failure| pass.findings.place.id.take().ok_or(failure)))
    }
}

impl Pass<'_> {
    /// The id, which must be in the credential's subscription.
    pub(super) async fn build_id(&mut self) -> Found<RemoteId> {
        let id = found!(self.make_id().await?);
        let subscription = self.findings.account();
        match id.arm().and_then(ResourceId::subscription) {
            Some(other) if !other.eq_ignore_ascii_case(subscription) => {
                let message = format!(
                    "the owner is in subscription {other}, but the credential is for {subscription}; \
                     use a credential for {other}"
                );
                Ok(Err(Failure::error(reason::SUBSCRIPTION_MISMATCH, message)))
            }
            _ => Ok(Ok(id)),
        }
    }

    /// Item 4 of ASO behaviour §1.5: below the owner, or below the credential's subscription.
    async fn make_id(&mut self) -> Found<RemoteId> {
        let name = found!(self.name_in_azure().await?);
        if let NameRule::OneOf(names) = self.kind().name
            && !names.contains(&name.as_str())
        {
            let message = format!(
                "spec.azureName: '{}' must be one of {}",
                shortened(&name),
                names.join(", ")
            );
            return Ok(Err(fatal(message)));
        }
        let owner = found!(self.owner_id().await?);
        let (kind, account) = (self.kind(), self.findings.account());
        let session = &self.ways.session;
        let id = session.identify(kind, owner.as_ref(), account, &name);
        Ok(id.map_err(fatal))
    }

    /// The last segment of the ARM id.
    async fn name_in_azure(&mut self) -> Found<String> {
        if let NameRule::Fixed(name) = self.kind().name {
            return Ok(Ok(name.to_owned()));
        }
        if let Some(name) = found!(self.name_from_config().await?) {
            return Ok(Ok(name));
        }
        let written = self.forms.spec().get(AZURE_NAME).and_then(Value::as_str);
        if let Some(name) = written.filter(|name| !name.is_empty()) {
            return Ok(Ok(name.to_owned()));
        }
        if let NameRule::Uuid { text, .. } = self.kind().name {
            if self.findings.place.new_name.is_none() {
                self.findings.place.new_name = Some(self.new_name(text));
            }
            return Ok(Ok(self.findings.place.new_name.clone().unwrap_or_default()));
        }
        Ok(Ok(self.object.metadata.name.clone().unwrap_or_default()))
    }

    /// A UUID for an object that has no name in Azure yet.
    fn new_name(&self, text: UuidText) -> String {
        let spec = self.forms.spec();
        let word = |path: &str| spec.pointer(path).and_then(Value::as_str).unwrap_or("");
        let named = match self.kind().owner {
            OwnerRule::Kind { group, kind } => (group, kind),
            OwnerRule::Any | OwnerRule::None => (word("/owner/group"), word("/owner/kind")),
        };
        let owner = match (self.owner_form(), self.owner_arm_id()) {
            (OwnerForm::None, _) => None,
            (OwnerForm::ArmId, id) => Some(Owner::ArmId(id.unwrap_or_default())),
            (OwnerForm::Named, _) => Some(Owner::Named(Named {
                group: named.0,
                kind: named.1,
                name: word("/owner/name"),
            })),
        };
        let own = Named {
            group: self.kind().group,
            kind: self.kind().kind,
            name: self.object.metadata.name.as_deref().unwrap_or_default(),
        };
        let text = azure_name::stable_text(text, &self.namespace(), own, owner);
        match word("/operatorSpec/namingConvention") {
            "random" => (self.reconciler.settings.random_name)(&text),
            _ => azure_name::stable(own.name, &text),
        }
    }

    /// The name that a ConfigMap has, where the spec says that one does.
    pub(super) async fn name_from_config(&self) -> Found<Option<String>> {
        if self.version().spec.field(NAME_FROM_CONFIG).is_none() {
            return Ok(Ok(None));
        }
        let reference = found!(self.served_spec()).get(NAME_FROM_CONFIG);
        let Some(reference) = reference.and_then(KeyReference::parse) else {
            return Ok(Ok(None));
        };
        let path = format!("spec.{NAME_FROM_CONFIG}");
        let read = self.read_keyed(DataKind::ConfigMap, &reference.name);
        let data = found!(read.await?.map_err(|mut failure| {
            failure.message = format!("{path}: {}", failure.message);
            failure
        }));
        let read = [(reference.name.clone(), data)].into();
        let value = value_of(DataKind::ConfigMap, &read, &path, &reference);
        Ok(value.map(Some))
    }

    pub(super) async fn owner_id(&mut self) -> Found<Option<RemoteId>> {
        if self.kind().owner == OwnerRule::None {
            return Ok(Ok(None));
        }
        let (id, path) = match self.owner_form() {
            OwnerForm::ArmId => {
                let id = ResourceId::parse(self.owner_arm_id().unwrap_or("")).map(RemoteId::Arm);
                (id, "spec.owner.armId")
            }
            OwnerForm::Named | OwnerForm::None => {
                let Some(owner) = self.owner_object().await? else {
                    return Ok(Err(owner_gone("the owner does not exist")));
                };
                match claim::id_for_children(&owner) {
                    Some(id) => (RemoteId::parse(owner.kind.0, id), "spec.owner"),
                    None => return Ok(Err(owner_gone("the owner has no id yet"))),
                }
            }
        };
        Ok(id
            .map(Some)
            .map_err(|error| fatal(format!("{path}: {error}"))))
    }
}
