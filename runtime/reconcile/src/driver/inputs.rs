//! What the payload needs: references, Secrets, ConfigMaps (ASO behaviour §1.5).

use std::collections::BTreeMap;

use armature_engine::collect::{self, KeyReference, ReferenceTarget, inputs};
use armature_engine::compare::SecretVersion;
use armature_engine::payload;
use armature_shapes::id::segment;
use armature_shapes::quote::shortened;
use armature_shapes::resource::{Kind, ObjectKey};
use serde_json::Value;

use super::findings::Inputs;
use super::found::{Found, fatal, found};
use super::pass::Pass;
use crate::backoff::RetryClass;
use crate::claim;
use crate::condition::reason;
use crate::outcome::Failure;
use crate::port::{DataKind, KeyedData, KubernetesError};

impl Pass<'_> {
    /// Steps 4b and 4c: everything that the payload names must exist, and exports must make sense: nothing is
    /// written to Azure for an object that ASO's webhook would refuse.
    pub(super) async fn resolve_inputs(&mut self) -> Result<(), KubernetesError> {
        if let Err(failure) = self.check_exports() {
            self.findings.inputs = Inputs {
                outcome: Some(Err(failure)),
                ..Inputs::default()
            };
            return Ok(());
        }
        self.look_up_inputs().await
    }

    /// The same without a look at exports.
    pub(super) async fn look_up_inputs(&mut self) -> Result<(), KubernetesError> {
        let mut found = Inputs::default();
        found.outcome = Some(self.resolve(&mut found).await?);
        self.findings.inputs = found;
        Ok(())
    }

    async fn resolve(&mut self, found: &mut Inputs) -> Found<()> {
        if self.findings.place.id.is_none() {
            let id = found!(self.build_id().await?);
            found!(self.check_scopes_of_place(&id).await?);
            self.findings.place.id = Some(id);
        }
        let named = inputs(self.version().spec, found!(self.served_spec()));
        if let Some(path) = named.incomplete.first() {
            let message = format!("{path}: set either armId, or group, kind and name");
            return Ok(Err(fatal(message)));
        }
        found!(self.resolve_references(&named, found).await?);
        found!(self.resolve_secrets(&named, found).await?);
        found!(self.resolve_config_maps(&named, found).await?);
        Ok(Ok(()))
    }

    /// The spec in the user's version.
    pub(super) fn served_spec(&self) -> Result<&Value, Failure> {
        let served = self.forms.served_spec();
        served.map_err(|error| fatal(error.to_string()))
    }

    async fn resolve_references(&self, named: &collect::Inputs, found: &mut Inputs) -> Found<()> {
        for used in &named.plain_ids {
            found!(check_reference(&used.path, &used.target));
            found!(self.check_scope_of_reference(&used.path, &used.target));
        }
        for used in &named.references {
            let (group, kind, name) = match &used.target {
                ReferenceTarget::Named { group, kind, name } => (group, kind, name),
                ReferenceTarget::ArmId(id) => {
                    found!(check_reference(&used.path, id));
                    found!(self.check_scope_of_reference(&used.path, id));
                    continue;
                }
                // Kinds that take any text there send it as it is, ids included.
                ReferenceTarget::WellKnown(id) if id.contains('/') => {
                    found!(self.check_scope_of_reference(&used.path, id));
                    continue;
                }
                ReferenceTarget::WellKnown(_) => continue,
            };
            let missing = |what: &str| missing_reference(&used.path, kind, name, what);
            let kubernetes = &self.reconciler.kubernetes;
            let Some(info) = kubernetes.kind(group, kind) else {
                let what = format!("there is no kind {kind} in group {group}");
                return Ok(Err(missing(&what)));
            };
            let key = ObjectKey {
                kind: Kind(info),
                namespace: self.namespace(),
                name: name.clone(),
            };
            let Some(target) = kubernetes.get(&key).await? else {
                return Ok(Err(missing("it does not exist")));
            };
            let Some(id) = claim::resource_id(&target) else {
                return Ok(Err(missing("it has no ARM id yet")));
            };
            found!(check_reference(&used.path, id));
            found!(self.check_scope_of_reference(&used.path, id));
            let references = &mut found.resolved.references;
            references.insert(used.target.clone(), id.to_owned());
        }
        Ok(Ok(()))
    }

    async fn resolve_secrets(&self, named: &collect::Inputs, found: &mut Inputs) -> Found<()> {
        let mut secrets = BTreeMap::new();
        for name in named.secret_names() {
            let data = found!(self.read_keyed(DataKind::Secret, name).await?);
            found.secret_versions.push(SecretVersion {
                name: name.to_owned(),
                uid: data.uid.clone(),
                resource_version: data.resource_version.clone(),
            });
            secrets.insert(name.to_owned(), data);
        }
        for used in &named.secrets {
            let value = found!(value_of(
                DataKind::Secret,
                &secrets,
                &used.path,
                &used.target
            ));
            found.resolved.secrets.insert(used.target.clone(), value);
        }
        for used in &named.secret_maps {
            let keys = secrets.get(&used.target).into_iter();
            let mut values = BTreeMap::new();
            for key in keys.flat_map(|secret| secret.data.keys()) {
                let reference = KeyReference {
                    name: used.target.clone(),
                    key: key.clone(),
                };
                let value = value_of(DataKind::Secret, &secrets, &used.path, &reference);
                values.insert(key.clone(), found!(value));
            }
            found
                .resolved
                .secret_maps
                .insert(used.target.clone(), values);
        }
        Ok(Ok(()))
    }

    async fn resolve_config_maps(&self, named: &collect::Inputs, found: &mut Inputs) -> Found<()> {
        let mut maps = BTreeMap::new();
        for name in named.config_map_names() {
            let data = found!(self.read_keyed(DataKind::ConfigMap, name).await?);
            maps.insert(name.to_owned(), data);
        }
        for used in &named.config_maps {
            let value = found!(value_of(
                DataKind::ConfigMap,
                &maps,
                &used.path,
                &used.target
            ));
            found
                .resolved
                .config_maps
                .insert(used.target.clone(), value);
        }
        Ok(Ok(()))
    }

    pub(super) async fn read_keyed(&self, kind: DataKind, name: &str) -> Found<KeyedData> {
        let kubernetes = &self.reconciler.kubernetes;
        let found = kubernetes.read_data(kind, &self.namespace(), name).await?;
        Ok(found.ok_or_else(|| {
            let (noun, reason) = words(kind);
            let message = format!("the {noun} {}/{name} does not exist", self.namespace());
            Failure::warning(reason, RetryClass::Fast, message)
        }))
    }

    /// Step 12: the body, changed by the kind's modifier.
    pub(super) async fn build_payload(&mut self) -> Result<Value, Failure> {
        let name = self.target()?.id.name();
        let (spec, resolved) = (self.served_spec()?, &self.findings.inputs.resolved);
        let body = payload::arm_body(self.version(), name, spec, resolved);
        let body = body.map_err(|error| fatal(error.to_string()))?;
        let body = match self.points.has_modifier() {
            false => body,
            true => {
                let (context, object) = (self.context(), self.in_azure());
                let modified = self.points.modify(&context, &object, body).await;
                self.outcome(modified).await?
            }
        };
        self.check_shared(&body)?;
        self.check_scopes_of_body(&body).await?;
        Ok(body)
    }
}

/// Azure would read an id with such segments as that of another resource.
fn check_reference(path: &str, id: &str) -> Result<(), Failure> {
    let checked = segment::check_path(id);
    let id = shortened(id);
    checked.map_err(|error| fatal(format!("{path}: the ARM id '{id}': {error}")))
}

fn missing_reference(path: &str, kind: &str, name: &str, what: &str) -> Failure {
    let hint = if name.starts_with('/') {
        "; the name looks like an ARM id: write it as armId"
    } else {
        ""
    };
    let message = format!("{path}: {kind} {name}: {what}{hint}");
    Failure::warning(reason::REFERENCE_NOT_FOUND, RetryClass::Fast, message)
}

fn words(kind: DataKind) -> (&'static str, &'static str) {
    match kind {
        DataKind::Secret => ("Secret", reason::SECRET_NOT_FOUND),
        DataKind::ConfigMap => ("ConfigMap", reason::CONFIG_MAP_NOT_FOUND),
    }
}

/// The value of a key among what was read, by name.
pub(super) fn value_of(
    kind: DataKind,
    read: &BTreeMap<String, KeyedData>,
    path: &str,
    reference: &KeyReference,
) -> Result<String, Failure> {
    let (noun, missing) = words(kind);
    let bytes = read
        .get(&reference.name)
        .and_then(|data| data.data.get(&reference.key))
        .ok_or_else(|| {
            let message = format!(
                "{path}: the {noun} {} has no key {}",
                reference.name, reference.key
            );
            Failure::warning(missing, RetryClass::Fast, message)
        })?;
    String::from_utf8(bytes.clone()).map_err(|_| {
        fatal(format!(
            "{path}: key {} of the {noun} {} is no UTF-8 text",
            reference.key, reference.name
        ))
    })
}
