//! Secrets and ConfigMaps that the object wants written (ASO behaviour §1.6).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::pass::{Pass, document};
use crate::engine::conversion;
use crate::extension::{ExtensionError, Next, SecretValues};
use crate::reconcile::backoff::RetryClass;
use crate::reconcile::classify::Failure;
use crate::reconcile::condition::reason;
use crate::reconcile::port::{DataExport, DataKind, KubernetesError};
use crate::reconcile::secret_source;

/// Targets by kind and name.
type Exports = BTreeMap<(DataKind, String), DataExport>;

impl Pass<'_> {
    /// Step 17. All values are known before the first target is written.
    pub(super) async fn export(&mut self) -> Result<Result<(), Failure>, KubernetesError> {
        let exports = match self.collect_exports().await {
            Ok(exports) => exports,
            Err(failure) => return Ok(Err(failure)),
        };
        for export in exports.into_values() {
            if let Err(failure) = self.write(export).await? {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(()))
    }

    async fn collect_exports(&self) -> Result<Exports, Failure> {
        self.refuse_expressions()?;
        let mut exports = Exports::new();
        let secrets = self.secret_values().await?.0;
        self.place(&mut exports, DataKind::Secret, "secrets", &secrets)?;
        let values = self.config_map_values().await?;
        self.place(&mut exports, DataKind::ConfigMap, "configMaps", &values)?;
        Ok(exports)
    }

    /// Expressions are not evaluated; saying nothing would leave a target missing without a reason.
    fn refuse_expressions(&self) -> Result<(), Failure> {
        for name in ["configMapExpressions", "secretExpressions"] {
            let list = self.spec.pointer(&format!("/operatorSpec/{name}"));
            if list
                .and_then(Value::as_array)
                .is_some_and(|items| !items.is_empty())
            {
                let message = format!(
                    "spec.operatorSpec.{name}: this version does not evaluate expressions; remove the field, or use operatorSpec.configMaps and operatorSpec.secrets"
                );
                return Err(Failure::warning(
                    reason::EXPORT_FAILED,
                    RetryClass::VerySlow,
                    message,
                ));
            }
        }
        Ok(())
    }

    async fn secret_values(&self) -> Result<SecretValues, Failure> {
        let wanted = self.wanted("secrets");
        if wanted.is_empty() {
            return Ok(SecretValues::default());
        }
        let exporter = self.points.secret_exporter.clone();
        if exporter.is_none() && secret_source::needs_extension(self.kind(), &wanted) {
            return Err(export_failure(format!(
                "spec.operatorSpec.secrets: this version cannot read some of the secrets of a {}",
                self.kind().kind
            )));
        }
        let answers = self.answers(&wanted).await;
        let answers = self.outcome(answers).await?;
        let status = self.hub_status();
        let known =
            secret_source::values(self.kind(), &wanted, &status, self.id.as_ref(), &answers);
        let Some(exporter) = exporter else {
            return Ok(known);
        };
        let next = Next::value(known);
        let exported = exporter
            .export(&self.context(), &self.current(), &wanted, next)
            .await;
        self.outcome(exported).await
    }

    /// Answers to the actions that the wanted secrets need.
    async fn answers(
        &self,
        wanted: &BTreeSet<String>,
    ) -> Result<BTreeMap<&'static str, Value>, ExtensionError> {
        let context = self.context();
        let mut answers = BTreeMap::new();
        for action in secret_source::actions(self.kind(), wanted) {
            let url = context.action_url(action)?;
            let answer = context.arm.post(&url, None).await?;
            answers.insert(action, answer.unwrap_or_default());
        }
        Ok(answers)
    }

    async fn config_map_values(&self) -> Result<BTreeMap<String, String>, Failure> {
        let wanted = self.wanted("configMaps");
        if wanted.is_empty() {
            return Ok(BTreeMap::new());
        }
        let from_status = self.values_in_status();
        let Some(exporter) = self.points.config_exporter.clone() else {
            return Ok(from_status);
        };
        let next = Next::value(from_status);
        let exported = exporter
            .export(&self.context(), &self.current(), &wanted, next)
            .await;
        self.outcome(exported).await
    }

    /// Values of `operatorSpec.configMaps` that status fields have.
    fn values_in_status(&self) -> BTreeMap<String, String> {
        let status = &self.hub_status();
        let exports = self.kind().config_maps.iter();
        exports
            .filter(|export| !export.status_path.is_empty())
            .filter_map(|export| {
                let mut path = export.status_path.iter();
                let value = path.try_fold(status, |at, name| at.get(*name))?;
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Null => return None,
                    other => other.to_string(),
                };
                Some((export.key.to_owned(), text))
            })
            .collect()
    }

    /// The status in the form of the hub, which rows of exports name their paths in.
    fn hub_status(&self) -> Value {
        let stored = document(&self.object, &self.spec, &self.status);
        let mut hub = conversion::stored_to_hub(self.kind(), &stored).unwrap_or(stored);
        hub["status"].take()
    }

    /// Puts each value where the object wants it; two values for one place are an error.
    fn place(
        &self,
        exports: &mut Exports,
        kind: DataKind,
        field: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        for wanted in self.wanted(field) {
            let path = format!("spec.operatorSpec.{field}.{wanted}");
            let destination = &self.spec["operatorSpec"][field][&wanted];
            let text = |name: &str| destination[name].as_str().unwrap_or("").to_owned();
            let value = values.get(&wanted).filter(|value| !value.is_empty());
            let value = value
                .ok_or_else(|| export_failure(format!("{path}: Azure gives no value for it")))?;
            let (name, key) = (text("name"), text("key"));
            let export = exports
                .entry((kind, name.clone()))
                .or_insert_with(|| DataExport {
                    kind,
                    name: name.clone(),
                    data: BTreeMap::new(),
                    labels: BTreeMap::new(),
                    annotations: BTreeMap::new(),
                });
            merge(&mut export.labels, &destination["labels"], &path)?;
            merge(&mut export.annotations, &destination["annotations"], &path)?;
            if export.data.insert(key.clone(), value.clone()).is_some() {
                let message = format!("{path}: key {key} of {name} is wanted twice");
                return Err(export_failure(message));
            }
        }
        Ok(())
    }

    async fn write(&self, export: DataExport) -> Result<Result<(), Failure>, KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        let uid = self.object.metadata.uid.clone().unwrap_or_default();
        let existing = kubernetes
            .read_data(export.kind, &self.namespace(), &export.name)
            .await?;
        if let Some(existing) = existing {
            if !existing.owner_uids.contains(&uid) {
                let message = format!(
                    "the {:?} {} exists and belongs to something else; choose another name or delete it",
                    export.kind, export.name
                );
                return Ok(Err(export_failure(message)));
            }
            let plain = export.labels.is_empty() && export.annotations.is_empty();
            if plain && same(&existing.data, &export.data) {
                return Ok(Ok(()));
            }
        }
        kubernetes.write_data(&self.object, export).await?;
        Ok(Ok(()))
    }
}

fn same(existing: &BTreeMap<String, Vec<u8>>, wanted: &BTreeMap<String, String>) -> bool {
    existing.len() == wanted.len()
        && wanted.iter().all(|(key, value)| {
            existing
                .get(key)
                .is_some_and(|bytes| bytes == value.as_bytes())
        })
}

fn merge(into: &mut BTreeMap<String, String>, from: &Value, path: &str) -> Result<(), Failure> {
    for (name, value) in from.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or("").to_owned();
        match into.insert(name.clone(), value.clone()) {
            Some(other) if other != value => {
                return Err(export_failure(format!(
                    "{path}: '{name}' is '{value}' here and '{other}' in another entry for the same target"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

fn export_failure(message: impl Into<String>) -> Failure {
    Failure::error(reason::EXPORT_FAILED, message)
}
