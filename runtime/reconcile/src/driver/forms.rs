//! An object's spec and status in the forms that a pass needs them in, each made when it is first asked for and then kept:
//! as stored, as the hub has them, as the version that the user wrote has them, and as text.
//!
//! Spec and status are converted each by itself: no step changes the spec, while each look at the remote gives another status.

use std::sync::OnceLock;

use armature_engine::status::status_from_arm;
use armature_shapes::conversion::{self, ConversionError};
use armature_shapes::kind::{KindInfo, VersionInfo};
use armature_shapes::resource::Object;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::object::{AZURE_NAME, name_in_azure, parse, raw};

/// What the reconciler writes into a status; the rest is what a remote shows.
const OWN_MEMBERS: [&str; 2] = ["conditions", "observedGeneration"];

/// An object's spec and status in all forms.
pub(super) struct Forms {
    kind: &'static KindInfo,
    version: &'static VersionInfo,
    spec: Part,
    status: Part,
}

impl Forms {
    /// Those of an object as the cluster has it.
    ///
    /// # Errors
    /// A sentence on why its stored form makes no sense.
    pub fn of(object: &Object) -> Result<Self, String> {
        let kind = object.kind.0;
        let mut spec = parse(object.spec.as_deref(), "spec")?;
        let status = parse(object.status.as_deref(), "status")?;
        let version = conversion::original_version(kind, &spec).map_err(|error| {
            format!(
                "the object was last written in a version that this release of the operator does not have, and nothing is sent \
                 in another one: {error}. Run a release that has it, or apply the manifest in one of these versions"
            )
        })?;
        name_in_azure(object, &mut spec);
        Ok(Self {
            kind,
            version,
            spec: Part::new("spec", spec),
            status: Part::new("status", status),
        })
    }

    /// Version that the user wrote: its api-version is sent to ARM.
    pub fn version(&self) -> &'static VersionInfo {
        self.version
    }

    /// Puts a name in Azure into the spec that the cluster has it in from now on.
    pub fn set_name(&mut self, name: &str) {
        let mut spec = std::mem::take(&mut self.spec.stored);
        if let Value::Object(members) = &mut spec {
            members.insert(AZURE_NAME.to_owned(), Value::from(name));
        }
        self.spec = Part::new("spec", spec);
    }

    /// The spec, stored form.
    pub fn spec(&self) -> &Value {
        &self.spec.stored
    }

    /// The spec in the user's version.
    ///
    /// # Errors
    /// When it is no object of the kind.
    pub fn served_spec(&self) -> Result<&Value, &ConversionError> {
        self.spec.served(self.kind, self.version)
    }

    /// The status as it will be written, stored form.
    pub fn status(&self) -> &Value {
        &self.status.stored
    }

    /// The status in the form of the hub, which rows of exports name their paths in; null where it cannot be read.
    pub fn hub_status(&self) -> &Value {
        self.status.hub(self.kind)
    }

    /// The object in the user's version, with this metadata.
    ///
    /// # Errors
    /// When it is no object of the kind.
    pub fn served(&self, metadata: Value) -> Result<Value, &ConversionError> {
        let mut served = json!({
            "apiVersion": format!("{}/{}", self.kind.group, self.version.name),
            "kind": self.kind.kind,
            "metadata": metadata,
            "spec": self.served_spec()?,
        });
        let status = self.status.served(self.kind, self.version)?;
        if !status.is_null() {
            served["status"] = status.clone();
        }
        Ok(served)
    }

    /// The spec as text, stored form.
    pub fn spec_text(&self) -> Option<Box<RawValue>> {
        self.spec.text()
    }

    /// The status as text, stored form.
    pub fn status_text(&self) -> Option<Box<RawValue>> {
        self.status.text()
    }

    /// Whether a remote has shown the resource: then the status has more than what we say of the object.
    pub fn was_shown(&self) -> bool {
        let mut members = self.status.stored.as_object().into_iter().flatten();
        members.any(|(name, _)| !OWN_MEMBERS.contains(&name.as_str()))
    }

    /// Takes the status over that a remote shows. What we say of the object stays.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn show(&mut self, body: &Value) -> Result<(), ConversionError> {
        let mut status = status_from_arm(self.version, body);
        for name in OWN_MEMBERS {
            if let Some(kept) = self.status.stored.get(name) {
                status[name] = kept.clone();
            }
        }
        let stored = self.status.convert(status, |status| {
            conversion::to_hub(self.kind, self.version.name, status)
        })?;
        self.set_status(stored);
        Ok(())
    }

    /// Another status, stored form.
    pub fn set_status(&mut self, stored: Value) {
        self.status = Part::new("status", stored);
    }
}

/// Spec or status.
struct Part {
    name: &'static str,
    stored: Value,
    hub: OnceLock<Value>,
    served: OnceLock<Result<Value, ConversionError>>,
    text: OnceLock<Option<Box<RawValue>>>,
}

impl Part {
    fn new(name: &'static str, stored: Value) -> Self {
        Self {
            name,
            stored,
            hub: OnceLock::new(),
            served: OnceLock::new(),
            text: OnceLock::new(),
        }
    }

    fn hub(&self, kind: &KindInfo) -> &Value {
        self.hub.get_or_init(|| {
            let hub = self.convert(self.stored.clone(), |part| {
                conversion::stored_to_hub(kind, part)
            });
            hub.unwrap_or_default()
        })
    }

    fn served(&self, kind: &KindInfo, version: &VersionInfo) -> Result<&Value, &ConversionError> {
        let served = self.served.get_or_init(|| {
            self.convert(self.stored.clone(), |part| {
                conversion::from_hub(kind, version.name, part)
            })
        });
        served.as_ref()
    }

    fn text(&self) -> Option<Box<RawValue>> {
        self.text.get_or_init(|| raw(&self.stored)).clone()
    }

    /// Converts an object that has nothing but this part.
    fn convert(
        &self,
        part: Value,
        conversion: impl FnOnce(Value) -> Result<Value, ConversionError>,
    ) -> Result<Value, ConversionError> {
        let object = Map::from_iter([(self.name.to_owned(), part)]);
        let mut converted = conversion(Value::Object(object))?;
        Ok(converted[self.name].take())
    }
}

#[cfg(test)]
mod tests;
