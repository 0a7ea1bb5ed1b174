//! Objects, Secrets and ConfigMaps as the API server sends them: whatever they hold, they are read, or named as left out.

use armature_shapes::kind::KindInfo;
use armature_shapes::resource::Kind;
use k8s_openapi::api::core::v1::Namespace;
use kube::Resource;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cache::references::targets;
use crate::stored::data::{ConfigMapData, SecretData};
use crate::stored::item::{Item, MetadataOf, Unreadable};
use crate::stored::object::StoredObject;
use crate::stored::written::WrittenObject;

/// Bytes of the longest reason for what is left out: a place, and nothing of what is there.
const LONGEST_REASON: usize = 64;

/// A list of any text, as pages are read: what is JSON is a list of items of which each is read or named, and none hides another;
/// says how many were read, and how many left out.
///
/// # Errors
/// What does not hold.
pub fn check_stored(text: &[u8], kind: &'static KindInfo) -> Result<(usize, usize), String> {
    let objects = items::<StoredObject>(text)?;
    let mut read = 0;
    for item in &objects {
        if let Item::Read(object) = item {
            read += 1;
            let object = object.clone().into_object(Kind(kind));
            let _ = (object.key(), targets(&object));
        }
    }
    for item in items::<WrittenObject>(text)? {
        if let Item::Read(object) = item {
            let _ = object.versions(kind).count();
        }
    }
    for item in items::<SecretData>(text)? {
        if let Item::Read(secret) = item {
            let _ = secret.into_parts().1.count();
        }
    }
    for item in items::<ConfigMapData>(text)? {
        if let Item::Read(map) = item {
            let _ = map.into_parts().1.count();
        }
    }
    for item in items::<MetadataOf<Namespace>>(text)? {
        let _ = item.meta();
    }
    Ok((read, objects.len() - read))
}

#[derive(Deserialize)]
struct List<T> {
    items: Vec<T>,
}

/// The items of a list, each of them checked. A text that is no list has none.
fn items<T: DeserializeOwned>(text: &[u8]) -> Result<Vec<Item<T>>, String> {
    let texts = serde_json::from_slice::<List<Box<RawValue>>>(text);
    let list = serde_json::from_slice::<List<Item<T>>>(text);
    let (Ok(texts), Ok(list)) = (&texts, &list) else {
        return match texts.is_ok() || list.is_ok() {
            true => Err(format!("a list is not read: {:?}", list.err())),
            false => Ok(Vec::new()),
        };
    };
    if texts.items.len() != list.items.len() {
        return Err(format!(
            "{} of {} items are there",
            list.items.len(),
            texts.items.len()
        ));
    }
    for (item, text) in list.items.iter().zip(&texts.items) {
        if let Item::Unreadable(one) = item {
            check_named(one, text.get())?;
        }
    }
    Ok(
        serde_json::from_slice::<List<Item<T>>>(text)
            .map_or_else(|_| Vec::new(), |list| list.items),
    )
}

/// What is left out is named as far as its name is one, and told without any of its content.
fn check_named(one: &Unreadable, text: &str) -> Result<(), String> {
    if one.why.len() > LONGEST_REASON {
        return Err(format!("'{}' is no place", one.why));
    }
    // Which of two members of one name counts is nobody's promise.
    let is_repeated = |name: &str| text.matches(name).count() > 1;
    let repeats = ["metadata", "name", "namespace"].map(|name| is_repeated(&format!("\"{name}\"")));
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Ok(());
    };
    if repeats.contains(&true) || text.contains("\\u") {
        return Ok(());
    }
    for (name, known) in [
        ("name", &one.metadata.name),
        ("namespace", &one.metadata.namespace),
    ] {
        let said = &value["metadata"][name];
        if said.as_str() != known.as_deref() {
            return Err(format!("{name} is {known:?} and not {said}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use armature_reconcile::testing::front_door::mutation::Mutations;
    use armature_shapes::testing::kinds::STORE;

    use super::check_stored;

    /// Lists per run: seconds of a development build.
    const CASES: u64 = 20_000;

    const LISTS: [&str; 4] = [
        r#"{"kind":"List","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","annotations":{"serviceoperator.azure.com/credential-from":"c","x":null},"managedFields":[{"manager":"armature","operation":"Apply","apiVersion":"toys.azure.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}],"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"u"}],"finalizers":["f"],"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"owner":{"name":"g"},"peerReference":{"group":"toys.azure.com","kind":"Store","name":"p"},"originalVersion":"v1"},"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"Pending"}]}}]}"#,
        r#"{"items":[{"metadata":{"name":"s","namespace":"n"},"type":"Opaque","data":{"AZURE_CLIENT_ID":"eA==","k":"aGlkZGVu"}},{"metadata":{"name":"m"},"data":{"a":"text"},"binaryData":{"b":"eA=="}}]}"#,
        r#"{"items":[{"metadata":{"name":"a","labels":{"l":1}},"spec":1},{"spec":[]},null,{"metadata":null}]}"#,
        r#"{"items":[]}"#,
    ];

    #[test]
    fn items_of_any_text_are_read_or_named() {
        let (mut read, mut left_out) = (0, 0);
        for seed in 0..CASES {
            let text = Mutations::new(seed).bytes(&LISTS);
            match check_stored(&text, &STORE) {
                Ok(counts) => (read, left_out) = (read + counts.0, left_out + counts.1),
                Err(broken) => panic!("seed {seed}: {broken}: {}", String::from_utf8_lossy(&text)),
            }
        }
        // Else the lists would be noise, of which nothing is said.
        assert!(read > 1000 && left_out > 1000, "{read} {left_out}");
    }
}
