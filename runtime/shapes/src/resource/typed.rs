//! The typed object of one kind and version: what `kube::Api` reads and writes in Rust programs.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Object;
use crate::conversion::{
    ConversionError, from_hub, hub_to_served, hub_to_stored, served_to_hub, stored_to_hub,
};
use crate::kind::TypedKind;
use crate::shape::{decode, encode};

/// An object of kind and version `K`, for example `TypedObject<v1api20230101::StorageAccountKind>`.
///
/// JSON goes through the shapes' codec: unknown members are ignored, absent members are `None`. Hub types read
/// and write the stored form, because that is what the API server has for the storage version.
pub struct TypedObject<K: TypedKind> {
    /// Kubernetes metadata.
    pub metadata: ObjectMeta,
    /// Desired state.
    pub spec: K::Spec,
    /// Observed state; absent until the operator has written it.
    pub status: Option<K::Status>,
}

impl<K: TypedKind> TypedObject<K> {
    /// An object of this name with this desired state.
    pub fn new(name: &str, spec: K::Spec) -> Self {
        Self {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            spec,
            status: None,
        }
    }

    /// `group/version` of the type.
    pub fn api_version() -> String {
        format!("{}/{}", K::KIND.group, K::VERSION)
    }

    /// The object as JSON with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// When the metadata cannot be written as JSON, which its own type rules out.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl<K: TypedKind> Clone for TypedObject<K> {
    fn clone(&self) -> Self {
        Self {
            metadata: self.metadata.clone(),
            spec: self.spec.clone(),
            status: self.status.clone(),
        }
    }
}

impl<K: TypedKind> Default for TypedObject<K> {
    fn default() -> Self {
        Self {
            metadata: ObjectMeta::default(),
            spec: K::Spec::default(),
            status: None,
        }
    }
}

impl<K: TypedKind> PartialEq for TypedObject<K> {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata && self.spec == other.spec && self.status == other.status
    }
}

impl<K: TypedKind> fmt::Debug for TypedObject<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct(K::KIND.kind)
            .field("metadata", &self.metadata)
            .field("spec", &self.spec)
            .field("status", &self.status)
            .finish()
    }
}

/// The members of an object around the codec.
#[derive(Serialize, Deserialize)]
struct Members {
    #[serde(rename = "apiVersion", default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<Value>,
}

impl<K: TypedKind> Serialize for TypedObject<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !Self::is_hub() {
            return self.members().serialize(serializer);
        }
        let hub = serde_json::to_value(self.members()).map_err(S::Error::custom)?;
        hub_to_stored(K::KIND, hub)
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de, K: TypedKind> Deserialize<'de> for TypedObject<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(deserializer)?;
        let object = if Self::is_hub() {
            stored_to_hub(K::KIND, object).map_err(D::Error::custom)?
        } else {
            object
        };
        Self::from_value(object).map_err(D::Error::custom)
    }
}

impl<K: TypedKind> TypedObject<K> {
    fn is_hub() -> bool {
        K::VERSION == K::KIND.hub.storage_version
    }

    fn members(&self) -> Members {
        Members {
            api_version: Self::api_version(),
            kind: K::KIND.kind.to_owned(),
            metadata: self.metadata.clone(),
            spec: Some(encode(&self.spec)),
            status: self.status.as_ref().map(encode),
        }
    }

    /// Decodes the version's own form (of a hub type: the hub's form, not the stored one).
    fn from_value(object: Value) -> Result<Self, ConversionError> {
        let members: Members = serde_json::from_value(object)
            .map_err(|error| ConversionError::Json(error.to_string()))?;
        let spec = members.spec.as_ref().map(decode).transpose();
        let status = members.status.as_ref().map(decode).transpose();
        Ok(Self {
            metadata: members.metadata,
            spec: spec
                .map_err(|error| error.below("spec"))?
                .unwrap_or_default(),
            status: status.map_err(|error| error.below("status"))?,
        })
    }

    fn to_own_value(&self) -> Result<Value, ConversionError> {
        serde_json::to_value(self.members())
            .map_err(|error| ConversionError::Json(error.to_string()))
    }

    /// The typed view of an object as the operator caches it (stored form), in this type's version: usually
    /// the hub.
    ///
    /// # Errors
    /// [`ConversionError`] when the object is of another kind or does not fit the type.
    pub fn from_object(object: &Object) -> Result<Self, ConversionError> {
        if (object.kind.group, object.kind.kind) != (K::KIND.group, K::KIND.kind) {
            return Err(ConversionError::WrongKind {
                from: format!("{:?}", object.kind),
                to: format!("{}.{}", K::KIND.kind, K::KIND.group),
            });
        }
        let parse = |part: &Option<Box<serde_json::value::RawValue>>| {
            let part = part.as_ref().map(|part| serde_json::from_str(part.get()));
            part.transpose()
                .map_err(|error| ConversionError::Json(error.to_string()))
        };
        let stored = Members {
            api_version: format!("{}/{}", K::KIND.group, K::KIND.hub.storage_version),
            kind: K::KIND.kind.to_owned(),
            metadata: object.metadata.clone(),
            spec: parse(&object.spec)?,
            status: parse(&object.status)?,
        };
        let stored = serde_json::to_value(stored)
            .map_err(|error| ConversionError::Json(error.to_string()))?;
        Self::from_value(if Self::is_hub() {
            stored_to_hub(K::KIND, stored)?
        } else {
            from_hub(K::KIND, K::VERSION, stored)?
        })
    }

    /// This object in the hub's type. `originalVersion` becomes this type's version.
    ///
    /// # Errors
    /// [`ConversionError::WrongKind`] unless `H` is the hub of this kind.
    pub fn to_hub<H: TypedKind>(&self) -> Result<TypedObject<H>, ConversionError> {
        Self::check_hub::<H>()?;
        let own = self.to_own_value()?;
        match K::KIND.version(K::VERSION) {
            Some(version) => TypedObject::from_value(served_to_hub(K::KIND, version, own)?),
            None => TypedObject::from_value(own),
        }
    }

    /// A hub object in this type's version. What the version cannot express is kept in an annotation.
    ///
    /// # Errors
    /// [`ConversionError::WrongKind`] unless `H` is the hub of this kind.
    pub fn from_hub<H: TypedKind>(hub: &TypedObject<H>) -> Result<Self, ConversionError> {
        Self::check_hub::<H>()?;
        let hub = hub.to_own_value()?;
        match K::KIND.version(K::VERSION) {
            Some(version) => Self::from_value(hub_to_served(K::KIND, version, hub)?),
            None => Self::from_value(hub),
        }
    }

    fn check_hub<H: TypedKind>() -> Result<(), ConversionError> {
        let is_kind = (K::KIND.group, K::KIND.kind) == (H::KIND.group, H::KIND.kind);
        if is_kind && TypedObject::<H>::is_hub() {
            return Ok(());
        }
        Err(ConversionError::WrongKind {
            from: format!("{} {}", K::KIND.kind, K::VERSION),
            to: format!("{} {}", H::KIND.kind, H::VERSION),
        })
    }
}

impl<K: TypedKind> kube_core::Resource for TypedObject<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::KIND.kind)
    }

    fn group((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::KIND.group)
    }

    fn version((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::VERSION)
    }

    fn plural((): &()) -> Cow<'_, str> {
        Cow::Borrowed(K::KIND.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Typed kinds of one version: `Vault: VaultKind { VaultSpec, VaultStatus } = VAULT, "v1api20230701";`, one a line.
///
/// Each gets a marker type that names kind and version, `VaultKind`, and the object type that goes with it, `Vault`.
///
/// ```
/// use armature_shapes::kind::{KindInfo, TypedKind};
/// use armature_shapes::{shaped, typed_kinds};
///
/// static STORE: KindInfo = KindInfo { kind: "Store", ..KindInfo::PLAIN };
/// shaped! { StoreSpec { location: String = "location"; } }
/// shaped! { StoreStatus { id: String = "id"; } }
/// typed_kinds! {
///     Store: StoreKind { StoreSpec, StoreStatus } = STORE, "v20230101";
/// }
///
/// assert_eq!((StoreKind::KIND.kind, StoreKind::VERSION), ("Store", "v20230101"));
/// let mut store = Store::new("shop", StoreSpec { location: Some("westus".to_owned()) });
/// store.status = Some(StoreStatus::default());
/// ```
#[macro_export]
macro_rules! typed_kinds {
    ($($kind:ident: $marker:ident { $spec:ident, $status:ident } = $info:path, $version:literal;)*) => {
        $(
            #[doc = concat!("Names `", stringify!($kind), "` in version `", $version, "`.")]
            #[derive(Clone, Copy, Debug, Default)]
            pub struct $marker;

            impl $crate::kind::TypedKind for $marker {
                type Spec = $spec;
                type Status = $status;
                const KIND: &'static $crate::kind::KindInfo = &$info;
                const VERSION: &'static str = $version;
            }

            #[doc = concat!("A `", stringify!($kind), "` as `kube::Api` takes it.")]
            pub type $kind = $crate::resource::TypedObject<$marker>;
        )*
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversion::is_stash_annotation;
    use crate::resource::Kind;
    use crate::testing::gadget::{Gadget, HubGadget, HubSpec, MODEL, OldGadget, OldSpec, Tier};

    fn hub() -> TypedObject<HubGadget> {
        TypedObject::new(
            "g",
            HubSpec {
                access_tier: Some(Tier::HOT),
                capacity: Some(3),
                capacity_text: Some("many".to_owned()),
                ..HubSpec::default()
            },
        )
    }

    #[test]
    fn json_of_a_version_is_its_own_and_json_of_the_hub_is_the_stored_form() {
        let old = TypedObject::<OldGadget>::from_hub(&hub()).unwrap();
        let value = serde_json::to_value(&old).unwrap();
        assert_eq!(value["apiVersion"], "toys.azure.com/v1api20200101");
        assert_eq!(value["spec"], json!({"tier": "Hot", "capacity": "many"}));
        let value = serde_json::to_value(hub()).unwrap();
        assert_eq!(
            value["spec"],
            json!({
                "accessTier": "Hot", "capacity": 3,
                "$propertyBag": {"Capacity": "\"many\""},
            })
        );
        let back: TypedObject<HubGadget> = serde_json::from_value(value).unwrap();
        assert_eq!(back, hub());
    }

    #[test]
    fn typed_conversion_is_lossless() {
        let old = TypedObject::<OldGadget>::from_hub(&hub()).unwrap();
        let mut annotations = old.metadata.annotations.iter().flatten();
        assert!(annotations.any(|(key, _)| is_stash_annotation(key)));
        let back = old.to_hub::<HubGadget>().unwrap();
        assert_eq!(back.spec.original_version.as_deref(), Some("v1api20200101"));
        assert_eq!(back.spec.capacity, Some(3));
        assert_eq!(back.spec.capacity_text.as_deref(), Some("many"));
        assert!(matches!(
            old.to_hub::<Gadget>(),
            Err(ConversionError::WrongKind { .. })
        ));
    }

    #[test]
    fn cached_objects_are_read_through_the_stored_form() {
        let raw = |text: &str| serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
        let object = Object {
            kind: Kind(&MODEL),
            metadata: ObjectMeta::default(),
            spec: Some(raw(
                r#"{"originalVersion":"v20210101","$propertyBag":{"Legacy":"{\"uri\":\"u\"}"}}"#,
            )),
            status: Some(raw(r#"{"id":"/x"}"#)),
        };
        let hub = TypedObject::<HubGadget>::from_object(&object).unwrap();
        assert_eq!(hub.spec.original_version.as_deref(), Some("v20210101"));
        assert_eq!(hub.spec.legacy.unwrap().uri.as_deref(), Some("u"));
        let old = TypedObject::<OldGadget>::from_object(&object).unwrap();
        assert_eq!(old.status.unwrap().id.as_deref(), Some("/x"));
    }

    #[test]
    fn errors_carry_the_path_from_the_object_down() {
        let object = json!({"metadata": {}, "spec": {"network": {"mask": "x"}}});
        let error = serde_json::from_value::<TypedObject<OldGadget>>(object).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("spec.network.mask: expected an integer, found a string")
        );
        assert_eq!(TypedObject::<OldGadget>::default().spec, OldSpec::default());
    }
}
