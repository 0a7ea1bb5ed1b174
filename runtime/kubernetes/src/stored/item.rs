//! Objects of lists and watches, each read by itself: one that cannot be read says which one it is and why, and hides no other.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::stored::metadata;

/// An object, or who it is.
#[derive(Clone, Debug)]
pub enum Item<T> {
    /// The object.
    Read(T),
    /// An object that cannot be read.
    Unreadable(Box<Unreadable>),
}

/// What is known of an object that cannot be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// Name, namespace and version, as far as they can be read.
    pub metadata: ObjectMeta,
    /// Why, without any of its content.
    pub why: String,
}

/// Who an object is, each member of its metadata read by itself.
#[derive(Default, Deserialize)]
struct Named {
    metadata: Option<BTreeMap<String, Box<RawValue>>>,
}

impl Named {
    fn metadata(&self) -> ObjectMeta {
        let text = |name: &str| {
            let text = self.metadata.as_ref()?.get(name)?;
            serde_json::from_str(text.get()).ok()
        };
        ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Ok(match serde_json::from_str(text.get()) {
            Ok(object) => Self::Read(object),
            Err(error) => {
                let named: Named = serde_json::from_str(text.get()).unwrap_or_default();
                Self::Unreadable(Box::new(Unreadable {
                    metadata: named.metadata(),
                    why: format!("{:?} at column {}", error.classify(), error.column()),
                }))
            }
        })
    }
}

impl<T: kube::Resource> kube::Resource for Item<T> {
    type DynamicType = T::DynamicType;
    type Scope = T::Scope;

    fn kind(dynamic: &T::DynamicType) -> Cow<'_, str> {
        T::kind(dynamic)
    }

    fn group(dynamic: &T::DynamicType) -> Cow<'_, str> {
        T::group(dynamic)
    }

    fn version(dynamic: &T::DynamicType) -> Cow<'_, str> {
        T::version(dynamic)
    }

    fn plural(dynamic: &T::DynamicType) -> Cow<'_, str> {
        T::plural(dynamic)
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Read(object) => object.meta(),
            Self::Unreadable(one) => &one.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Read(object) => object.meta_mut(),
            Self::Unreadable(one) => &mut one.metadata,
        }
    }
}

/// The metadata of an object of a kind of Kubernetes: all that is read of Secrets, ConfigMaps and namespaces.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "")]
pub struct MetadataOf<K> {
    /// With the managedFields of Armature alone.
    #[serde(default, deserialize_with = "metadata::with_owners")]
    pub metadata: ObjectMeta,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

impl<K: kube::Resource<DynamicType = ()>> kube::Resource for MetadataOf<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;
    use kube::core::{ObjectList, WatchEvent};

    use super::*;
    use crate::StoredObject;

    const GOOD: &str = r#"{"metadata":{"name":"good"},"spec":{"b": 1}}"#;
    const BAD: &str =
        r#"{"metadata":{"name":"bad","namespace":"n","resourceVersion":"9","labels":{"a":{}}}}"#;
    const WORSE: &str = r#"{"metadata":{"name":"worse","namespace":"n","resourceVersion":"9"},"spec":{},"spec":"password"}"#;

    #[test]
    fn one_that_cannot_be_read_hides_no_other() {
        let page = format!(
            r#"{{"apiVersion":"v1","kind":"L","metadata":{{"resourceVersion":"7"}},"items":[{GOOD},{BAD},{WORSE},{GOOD}]}}"#
        );
        let list: ObjectList<Item<StoredObject>> = serde_json::from_str(&page).unwrap();
        let names = list.items.iter().map(|item| match item {
            Item::Read(object) => object.metadata.name.clone(),
            Item::Unreadable(one) => {
                assert!(!one.why.contains("password"), "{}", one.why);
                one.metadata.name.clone().map(|name| format!("not {name}"))
            }
        });
        let names: Vec<_> = names.map(Option::unwrap_or_default).collect();
        assert_eq!(names, ["good", "not bad", "not worse", "good"]);
    }

    #[test]
    fn a_watch_goes_on_from_the_version_of_one_that_cannot_be_read() {
        let line = format!(r#"{{"type":"MODIFIED","object":{WORSE}}}"#);
        let event: WatchEvent<Item<StoredObject>> = serde_json::from_str(&line).unwrap();
        let WatchEvent::Modified(item) = event else {
            panic!("not a modification");
        };
        let metadata = kube::Resource::meta(&item);
        assert_eq!(metadata.resource_version.as_deref(), Some("9"));
    }

    #[test]
    fn of_a_secret_the_metadata_alone_is_read() {
        let secret = r#"{"metadata":{"name":"s"},"data":{"a":"x"}}"#;
        let read: MetadataOf<Secret> = serde_json::from_str(secret).unwrap();
        assert!(!format!("{read:?}").contains("\"x\""));
        assert_eq!(read.metadata.name.as_deref(), Some("s"));
    }
}
