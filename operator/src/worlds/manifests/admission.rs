//! What an API server makes of a manifest: the schema is kept, metadata and stored form are its own.

use std::collections::BTreeMap;

use armature_runtime::conversion;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule, VersionInfo};
use armature_runtime::names;
use armature_runtime::reconcile::annotations::{Annotations, Directives};
use armature_runtime::reconcile::claim;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::signature::SIGNATURE;
use armature_runtime::resource::{Kind, Object};
use armature_runtime::shape::{self, ProblemKind};
use kube::core::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::metadata;
use super::mistakes;
use super::never_sent::never_sent;
pub use super::problem::Wrong;

/// Members of a manifest.
const MEMBERS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
/// Path of the owner.
const OWNER: &str = "spec.owner";
/// Field with the name in Azure.
const AZURE_NAME: &str = "azureName";

/// Which manifest.
#[derive(Clone, Copy, Debug)]
pub struct Admitted<'a> {
    /// Its kind.
    pub kind: &'static KindInfo,
    /// The version that it is written in.
    pub version: &'static VersionInfo,
    /// Namespace.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
    /// Its position among all.
    pub position: usize,
    /// Whether it may be paused.
    pub keeps_pause: bool,
}

impl Admitted<'_> {
    /// The object that an API server would store. It is new: nothing of it is in Azure, so notes of an operator that had
    /// an object of the same manifest say nothing, but for the claim of its ARM id.
    ///
    /// # Errors
    /// What makes it no object at all.
    pub fn object(&self, manifest: &Value) -> Result<Object, Wrong> {
        let stored = conversion::to_hub(self.kind, self.version.name, manifest.clone());
        let mut stored = stored.map_err(|error| (String::new(), error.to_string()))?;
        let mut object = Object {
            kind: Kind(self.kind),
            metadata: self.metadata(&stored)?,
            spec: None,
            status: None,
        };
        let spec = stored["spec"].take();
        if !spec.is_null() {
            let spec = to_raw_value(&spec);
            object.spec = Some(spec.map_err(|error| ("spec".to_owned(), error.to_string()))?);
        }
        forget_notes(&mut object);
        Ok(object)
    }

    fn metadata(&self, stored: &Value) -> Result<ObjectMeta, Wrong> {
        let mut annotations = annotations(stored)?;
        if !self.keeps_pause {
            without_pause(&mut annotations);
        }
        Ok(ObjectMeta {
            name: Some(self.name.to_owned()),
            namespace: Some(self.namespace.to_owned()),
            annotations: Some(annotations),
            labels: Some(texts(stored, "labels")?),
            finalizers: member(stored, "finalizers")?,
            // In the order of the manifests: of two objects for one resource the older one writes it.
            uid: Some(format!("{:08}", self.position)),
            generation: Some(1),
            resource_version: Some("1".to_owned()),
            ..ObjectMeta::default()
        })
    }

    /// Unknown fields, wrong types and broken rules. A name that is taken over from the metadata has to keep the rules of
    /// the Azure name as well.
    pub fn check(&self, manifest: &Value) -> Vec<Wrong> {
        let members = manifest.as_object().into_iter().flatten();
        let unknown = members
            .filter(|(member, _)| !MEMBERS.contains(&member.as_str()))
            .map(|(member, _)| (member.clone(), unknown_member(member)));
        let written = manifest.get("spec");
        let nulls = written.map_or_else(Vec::new, |spec| mistakes::nulls(self.version.spec, spec));
        let mut spec = written.cloned().unwrap_or_default();
        let is_taken_over = self.take_name_over(&mut spec);
        let problems = shape::check(self.version.spec, &spec, "spec");
        let problems = mistakes::once(problems, &spec, &nulls).into_iter();
        let problems = problems.map(|problem| match problem.kind {
            ProblemKind::UnknownField { .. } => {
                let meant = mistakes::instead_of_properties(self.version.spec, &spec, &problem);
                let message = meant.unwrap_or_else(|| problem.kind.to_string());
                (problem.path, message)
            }
            ProblemKind::Missing if problem.path == OWNER => {
                (problem.path, missing_owner(self.kind.owner).to_owned())
            }
            kind if is_taken_over && problem.path == format!("spec.{AZURE_NAME}") => {
                let message = format!("as the Azure name: {kind}; set spec.{AZURE_NAME}");
                ("metadata.name".to_owned(), message)
            }
            ProblemKind::WrongType { expected, found } => {
                let quotes = mistakes::needs_quotes(expected, found);
                (problem.path, format!("{}{quotes}", problem.kind))
            }
            kind => (problem.path, kind.to_string()),
        });
        let metadata = metadata::problems(manifest).into_iter();
        metadata
            .chain(unknown)
            .chain(nulls)
            .chain(problems)
            .collect()
    }

    /// What an API server takes and what may be a slip all the same.
    pub fn warnings(&self, manifest: &Value) -> Vec<Wrong> {
        let spec = manifest.get("spec").unwrap_or(&Value::Null);
        let told = shape::warnings(self.version.spec, spec, "spec").into_iter();
        let told = told.map(|problem| (problem.path, problem.kind.to_string()));
        told.chain(never_sent(self.kind, self.version, spec))
            .collect()
    }

    fn take_name_over(&self, spec: &mut Value) -> bool {
        let is_made_up = matches!(self.kind.name, NameRule::Uuid { .. });
        let takes_name = !is_made_up && self.version.spec.field(AZURE_NAME).is_some();
        match spec.as_object_mut().filter(|_| takes_name) {
            Some(members)
                if !members.contains_key(AZURE_NAME)
                    && !members.contains_key("azureNameFromConfig") =>
            {
                members.insert(AZURE_NAME.to_owned(), Value::from(self.name));
                true
            }
            _ => false,
        }
    }
}

/// What is said of a member of the manifest that is none.
fn unknown_member(name: &str) -> String {
    match name {
        mistakes::PROPERTIES => mistakes::no_properties("spec"),
        _ => mistakes::no_such_field(name, &MEMBERS),
    }
}

/// That it is required says less than what to set.
fn missing_owner(rule: OwnerRule) -> &'static str {
    match rule {
        OwnerRule::Any => "is missing: set armId, or group, kind and name",
        OwnerRule::Kind { .. } | OwnerRule::None => "is missing: set name or armId",
    }
}

/// Annotations of a manifest. One without a text has an empty one, as an API server reads it.
///
/// # Errors
/// When they are no texts.
pub fn annotations(manifest: &Value) -> Result<Annotations, Wrong> {
    texts(manifest, "annotations")
}

fn texts(manifest: &Value, name: &str) -> Result<BTreeMap<String, String>, Wrong> {
    let found: Option<BTreeMap<String, Option<String>>> = member(manifest, name)?;
    let found = found.unwrap_or_default().into_iter();
    Ok(found
        .map(|(name, text)| (name, text.unwrap_or_default()))
        .collect())
}

/// No time passes in a world of manifests: what is paused is sent after the pause.
pub fn without_pause(annotations: &mut Annotations) {
    // A text that means nothing stays, to be told.
    let none = Annotations::new();
    if Directives::read(annotations, ("", &none), Policy::Manage).is_ok() {
        annotations.remove(names::PAUSED);
    }
}

fn member<T: DeserializeOwned>(manifest: &Value, name: &str) -> Result<T, Wrong> {
    let found = manifest.get("metadata").and_then(|found| found.get(name));
    let found = found.cloned().unwrap_or_default();
    serde_json::from_value(found).map_err(|error| (format!("metadata.{name}"), error.to_string()))
}

fn forget_notes(object: &mut Object) {
    let is_claimed = claim::is_claimed(object);
    let annotations = object.metadata.annotations.get_or_insert_default();
    let others = [names::OPERATOR_NAMESPACE, names::CLAIMED_SPEC, SIGNATURE];
    for name in claim::OF_A_CLAIM.iter().chain(&others) {
        if !is_claimed || *name != names::CHILD_RESOURCE_ID_OVERRIDE {
            annotations.remove(*name);
        }
    }
}
