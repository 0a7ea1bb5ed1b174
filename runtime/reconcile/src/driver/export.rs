//! Secrets and ConfigMaps that the object wants written (ASO behaviour §1.6).

use std::collections::{BTreeMap, BTreeSet};

use armature_shapes::id::RemoteId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::Value;

use super::expressions::{DynamicExport, Spending};
use super::found::Found;
use super::pass::Pass;
use super::unwritten::{Missing, Unwritten, export_failure};
use crate::export_target::{Place, Targets};
use crate::extension::{Next, SecretValues};
use crate::outcome::Failure;
use crate::port::{DataExport, DataKind, KeyedData, KubernetesError};
use crate::secret_source;

/// Fields of `operatorSpec` with one destination for each value, and what they write.
const FIELDS: [(&str, DataKind); 2] = [
    ("secrets", DataKind::Secret),
    ("configMaps", DataKind::ConfigMap),
];

impl Pass<'_> {
    /// What can be said about the exports before anything is written to Azure: expressions are right, and no
    /// two fields write one key.
    pub(super) fn check_exports(&self) -> Result<(), Failure> {
        let mut targets = self.targets();
        for (field, kind) in FIELDS {
            for wanted in self.wanted(field) {
                let path = format!("spec.operatorSpec.{field}.{wanted}");
                let destination = &self.forms.spec()["operatorSpec"][field][&wanted];
                let (name, key) = (text(destination, "name"), text(destination, "key"));
                let place = Place {
                    kind,
                    name,
                    path: &path,
                };
                let added = targets.add(place, key, String::new());
                let (labels, annotations) = (
                    texts(&destination["labels"]),
                    texts(&destination["annotations"]),
                );
                added
                    .and_then(|()| targets.check(place, labels.keys(), annotations.keys()))
                    .map_err(export_failure)?;
            }
        }
        for export in self.dynamic_exports()? {
            export.announce(&mut targets).map_err(export_failure)?;
        }
        Ok(())
    }

    pub(super) fn targets(&self) -> Targets {
        Targets::within(&self.reconciler.settings.export_bounds)
    }

    /// Step 17. What can be written is written; what cannot is named and tried again. What is wrong in the manifest is
    /// found before the first target is written.
    pub(super) async fn export(&self) -> Found<()> {
        let mut missing = Missing::default();
        let targets = match self.collect_exports(&mut missing).await {
            Ok(targets) => targets,
            Err(failure) => return Ok(Err(failure)),
        };
        for (path, export) in targets.into_exports() {
            if let Err(message) = self.write(&path, export).await? {
                missing.add(message);
            }
        }
        Ok(missing.outcome())
    }

    async fn collect_exports(&self, missing: &mut Missing) -> Result<Targets, Failure> {
        let expressions = self.dynamic_exports()?;
        let mut wanted = self.wanted("secrets");
        wanted.extend(expressions.iter().flat_map(DynamicExport::secrets));
        let secrets = missing.unless_failed(self.secret_values(wanted).await.map(|found| found.0));
        let config = missing.unless_failed(self.config_map_values().await);
        let mut targets = self.targets();
        for ((field, kind), values) in FIELDS.into_iter().zip([&secrets, &config]) {
            self.place(&mut targets, kind, field, values.as_ref(), missing)?;
        }
        if expressions.is_empty() {
            return Ok(targets);
        }
        let secrets = secrets.as_ref();
        let all = expressions.iter().collect();
        for (expression, why) in self.evaluate(all, secrets, &mut targets).await? {
            targets.leave_incomplete(expression.place());
            missing.add(why.into_message());
        }
        Ok(targets)
    }

    /// Puts what expressions give into the targets: first of those to which their part of the steps is enough, then of the others.
    /// Returns what gave nothing, which is never [`Unwritten::Wrong`].
    pub(super) async fn evaluate<'e>(
        &self,
        expressions: Vec<&'e DynamicExport>,
        secrets: Option<&BTreeMap<String, String>>,
        targets: &mut Targets,
    ) -> Result<Vec<(&'e DynamicExport, Unwritten)>, Failure> {
        let object = self.served()?;
        let mut spending = Spending::of(&expressions);
        let none = BTreeMap::new();
        let (mut waiting, mut unwritten) = (expressions, Vec::new());
        for is_last in [false, true] {
            let mut short = Vec::new();
            for expression in waiting {
                // Others have their turn between two of them.
                tokio::task::yield_now().await;
                let before = spending.left();
                let evaluated = match unread(expression, secrets) {
                    Some(problem) => Err(Unwritten::Missing(problem)),
                    None => {
                        expression.add_to(targets, &object, secrets.unwrap_or(&none), &mut spending)
                    }
                };
                match evaluated {
                    Ok(()) => {}
                    Err(Unwritten::Short(_)) if !is_last => {
                        spending.refund(before);
                        short.push(expression);
                    }
                    Err(Unwritten::Wrong(failure)) => return Err(failure),
                    Err(why) => unwritten.push((expression, why)),
                }
            }
            waiting = short;
            spending.without_parts();
        }
        let mut short = unwritten.iter_mut().filter_map(|(_, why)| match why {
            Unwritten::Short(message) => Some(message),
            _ => None,
        });
        if let Some(first) = short.next() {
            first.push_str(&spending.most());
        }
        Ok(unwritten)
    }

    async fn secret_values(&self, wanted: BTreeSet<String>) -> Result<SecretValues, Failure> {
        if wanted.is_empty() {
            return Ok(SecretValues::default());
        }
        let exporter = self.points.secret_exporter.clone();
        if exporter.is_none() && secret_source::needs_extension(self.kind(), &wanted) {
            return Err(export_failure(format!(
                "spec.operatorSpec: this version cannot read some of the secrets of a {}",
                self.kind().kind
            )));
        }
        let answers = self.answers(&wanted).await?;
        let status = self.forms.hub_status();
        let arm_id = self.id().and_then(RemoteId::arm);
        let known = secret_source::values(self.kind(), &wanted, status, arm_id, &answers);
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
    ) -> Result<BTreeMap<&'static str, Value>, Failure> {
        let context = self.context();
        let mut answers = BTreeMap::new();
        for action in secret_source::actions(self.kind(), wanted) {
            let url = self.outcome(context.action_url(action)).await?;
            let main = self.ways.main.clone();
            match main.list(self.findings.credential(), &url).await {
                Ok(answer) => answers.insert(action, answer),
                Err(refusal) => return Err(self.action_failure(refusal).await),
            };
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
        let status = self.forms.hub_status();
        let exports = self.kind().config_maps.iter();
        exports
            .filter(|export| !export.status_path.is_empty())
            .filter_map(|export| {
                let text = secret_source::text_at(status, export.status_path)?;
                Some((export.key.to_owned(), text))
            })
            .collect()
    }

    /// Puts each value where the object wants it. Where the values could not be read, that is said already.
    fn place(
        &self,
        targets: &mut Targets,
        kind: DataKind,
        field: &str,
        values: Option<&BTreeMap<String, String>>,
        missing: &mut Missing,
    ) -> Result<(), Failure> {
        for wanted in self.wanted(field) {
            let path = format!("spec.operatorSpec.{field}.{wanted}");
            let destination = &self.forms.spec()["operatorSpec"][field][&wanted];
            let place = Place {
                kind,
                name: text(destination, "name"),
                path: &path,
            };
            let value = values.and_then(|values| values.get(&wanted));
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                targets.leave_incomplete(place);
                if values.is_some() {
                    missing.add(format!("{path}: Azure gives no value for it"));
                }
                continue;
            };
            let added = targets.add(place, text(destination, "key"), value.clone());
            added
                .and_then(|()| targets.label(place, texts(&destination["labels"])))
                .and_then(|()| targets.annotate(place, texts(&destination["annotations"])))
                .map_err(export_failure)?;
        }
        Ok(())
    }

    /// Writes a target that does not exist or is the object's own. `path` is the field that names it.
    async fn write(
        &self,
        path: &str,
        mut export: DataExport,
    ) -> Result<Result<(), String>, KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        let uid = self.object.metadata.uid.clone().unwrap_or_default();
        let existing = kubernetes
            .read_data(export.kind, &self.namespace(), &export.name)
            .await?;
        if let Some(existing) = existing {
            if !existing.owners.iter().any(|owner| owner.uid == uid) {
                return Ok(Err(not_ours(path, &export, &existing.owners)));
            }
            if export.incomplete {
                keep(&mut export.data, &existing);
            }
            let plain = export.labels.is_empty() && export.annotations.is_empty();
            if plain && same(&existing.data, &export.data) {
                return Ok(Ok(()));
            }
            export.target_uid = Some(existing.uid);
        }
        kubernetes.write_data(&self.object, export).await?;
        Ok(Ok(()))
    }
}

/// Why an expression cannot be evaluated: a secret that it reads has no value, or could not be read.
fn unread(
    expression: &DynamicExport,
    secrets: Option<&BTreeMap<String, String>>,
) -> Option<String> {
    let has_value = |name: &String| {
        let value = secrets.and_then(|secrets| secrets.get(name));
        value.is_some_and(|value| !value.is_empty())
    };
    let name = expression
        .secrets()
        .into_iter()
        .find(|name| !has_value(name))?;
    let path = expression.place().path;
    Some(format!("{path}: Azure gives no value for secret.{name}"))
}

/// Adds what was written to a target before: which keys are missing now is not always known, and what we no longer write
/// would go. Keys of others stay by themselves.
fn keep(data: &mut BTreeMap<String, String>, existing: &KeyedData) {
    for key in &existing.own_keys {
        let value = existing.data.get(key).cloned();
        if let Some(Ok(text)) = value.map(String::from_utf8) {
            data.entry(key.clone()).or_insert(text);
        }
    }
}

fn not_ours(path: &str, export: &DataExport, owners: &[OwnerReference]) -> String {
    let owner = match owners.first() {
        Some(owner) => format!("belongs to {} {}", owner.kind, owner.name),
        None => "was not made for this object".to_owned(),
    };
    let (kind, name) = (export.kind, &export.name);
    format!("{path}: the {kind} {name} exists and {owner}; choose another name, or delete it")
}

fn same(existing: &BTreeMap<String, Vec<u8>>, wanted: &BTreeMap<String, String>) -> bool {
    existing.len() == wanted.len()
        && wanted.iter().all(|(key, value)| {
            existing
                .get(key)
                .is_some_and(|bytes| bytes == value.as_bytes())
        })
}

fn text<'v>(destination: &'v Value, name: &str) -> &'v str {
    destination[name].as_str().unwrap_or("")
}

fn texts(value: &Value) -> BTreeMap<String, String> {
    let members = value.as_object().into_iter().flatten();
    members
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}
