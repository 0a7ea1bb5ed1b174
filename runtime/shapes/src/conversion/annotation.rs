//! The stash as annotations: taken out of an object's metadata and put in, within what Kubernetes lets annotations hold.
//!
//! Of the spec each entry is an annotation of its own, so that server-side apply sees them one by one; the status, which is
//! the operator's alone, is one.

use serde_json::{Map, Value};

use super::stash::{Entry, Stash};
use super::{ConversionError, STASH_ANNOTATION, is_stash_annotation};
use crate::digest::short_digest;
use crate::kind::{KindInfo, VersionInfo};

/// Bytes of all keys and values of an object's annotations (apimachinery's `ValidateAnnotations`).
const ANNOTATIONS_LIMIT: usize = 256 << 10;

/// Letters of an annotation's name after its prefix (Kubernetes' qualified names).
const NAME_LIMIT: usize = 63;

/// Takes the stash out of the annotations. One that cannot be read is dropped: a user has edited it.
///
/// That holds for a deletion at this version, too: the API server has the object that is there converted before any write.
///
/// # Errors
/// [`ConversionError::TooMuchToStash`] and [`ConversionError::TooDeep`] when the object was read without a part of it.
pub(super) fn take(
    kind: &KindInfo,
    version: &VersionInfo,
    object: &mut Value,
) -> Result<Stash, ConversionError> {
    let stash = remove(object);
    let name = || format!("{}.{}", kind.kind, kind.group);
    match stash.omitted {
        None => Ok(stash),
        Some(bytes) if stash.is_deep => Err(ConversionError::TooDeep {
            kind: name(),
            version: version.name,
            bytes,
            stored: kind.hub.storage_version,
        }),
        Some(bytes) => Err(ConversionError::TooMuchToStash {
            kind: name(),
            version: version.name,
            bytes,
            newest: kind.versions.last().map_or("", |version| version.name),
        }),
    }
}

/// Notes that so many bytes of the object were left out because they are nested too deeply.
pub(super) fn note_depth(object: &mut Value, bytes: usize) {
    let mut stash = remove(object);
    stash.omitted = Some(bytes);
    stash.is_deep = true;
    put(object, stash);
}

fn remove(object: &mut Value) -> Stash {
    let mut stash = Stash::default();
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(metadata) = metadata else {
        return stash;
    };
    let annotations = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut);
    let Some(annotations) =
        annotations.filter(|them| them.keys().any(|key| is_stash_annotation(key)))
    else {
        return stash;
    };
    annotations.retain(|key, value| {
        let text = value.as_str().unwrap_or_default();
        if key == STASH_ANNOTATION {
            if let Ok(read) = serde_json::from_str::<Stash>(text) {
                stash.spec.extend(read.spec);
                stash.status = read.status;
                stash.omitted = read.omitted;
                stash.is_deep = read.is_deep;
            }
        } else if is_stash_annotation(key) {
            stash.spec.extend(serde_json::from_str::<Entry>(text));
        }
        !is_stash_annotation(key)
    });
    if annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
    stash
}

/// Puts the stash into the annotations, as much of it as fits.
pub(super) fn put(object: &mut Value, stash: Stash) {
    if stash.is_empty() {
        let annotations = object.pointer_mut("/metadata/annotations");
        if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
            annotations.retain(|key, _| !is_stash_annotation(key));
        }
        return;
    }
    let Some(annotations) = object.as_object_mut().and_then(annotations_of) else {
        return;
    };
    annotations.retain(|key, _| !is_stash_annotation(key));
    let others: usize = annotations.iter().map(bytes).sum();
    annotations.extend(fitting(stash, ANNOTATIONS_LIMIT.saturating_sub(others)));
}

/// Bytes of an annotation.
fn bytes((key, value): (&String, &Value)) -> usize {
    key.len() + value.as_str().map_or(0, str::len)
}

/// The annotations of an object, made where it has none.
fn annotations_of(object: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let mut place = object;
    for name in ["metadata", "annotations"] {
        let below = place.entry(name).or_insert(Value::Null);
        if below.is_null() {
            *below = Value::Object(Map::new());
        }
        place = below.as_object_mut()?;
    }
    Some(place)
}

/// The stash as annotations of at most so many bytes: whole, without the status, or only its size.
fn fitting(stash: Stash, room: usize) -> Map<String, Value> {
    let mut spec = Map::new();
    for entry in &stash.spec {
        spec.extend(text(entry).map(|text| (key(entry), text)));
    }
    let spec_bytes: usize = spec.iter().map(bytes).sum();
    let too_many = (spec_bytes > room).then_some(spec_bytes);
    let rest = Stash {
        spec: Vec::new(),
        omitted: stash.omitted.or(too_many),
        is_deep: stash.is_deep,
        status: stash.status,
    };
    let mut annotations = match rest.omitted {
        Some(_) => Map::new(),
        None => spec,
    };
    let used: usize = annotations.iter().map(bytes).sum();
    let without_status = Stash {
        status: Vec::new(),
        ..rest.clone()
    };
    let fits = |text: &Value| {
        let length = text.as_str().map_or(0, str::len);
        used + STASH_ANNOTATION.len() + length <= room
    };
    let candidates = [rest, without_status].into_iter();
    let mut candidates = candidates.filter(|stash| !stash.is_empty());
    let fitting = candidates.find_map(|stash| text(&stash).filter(fits));
    annotations.extend(fitting.map(|text| (STASH_ANNOTATION.to_owned(), text)));
    annotations
}

/// Plain data as text, which cannot fail.
fn text(data: &impl serde::Serialize) -> Option<Value> {
    serde_json::to_string(data).ok().map(Value::from)
}

/// The annotation of an entry: named after its path where that is a name, else after the path's digest too.
fn key(entry: &Entry) -> String {
    let (names, is_whole) = entry.names();
    let is_plain = |name: &&str| {
        let mut bytes = name.bytes();
        !name.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric())
    };
    let room = NAME_LIMIT - "conversion-stash.".len();
    let path = names.join(".");
    if is_whole && names.iter().all(is_plain) && path.len() <= room {
        return format!("{STASH_ANNOTATION}.{path}");
    }
    let digest = short_digest(&entry.path());
    let readable = names.iter().take_while(|name| is_plain(name));
    let mut readable: String = readable.copied().collect::<Vec<_>>().join(".");
    readable.truncate(room - digest.len() - 1);
    match readable.trim_end_matches('.') {
        "" => format!("{STASH_ANNOTATION}.{digest}"),
        readable => format!("{STASH_ANNOTATION}.{readable}.{digest}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::stash::Entry;
    use super::*;

    fn stash(spec: usize, status: usize) -> Stash {
        let entries = |bytes: usize| -> Vec<Entry> {
            let entry = json!({"p": ["a"], "v": "x".repeat(bytes)});
            let entries = (bytes > 0).then(|| serde_json::from_value(entry).unwrap());
            entries.into_iter().collect()
        };
        Stash {
            spec: entries(spec),
            status: entries(status),
            ..Stash::default()
        }
    }

    /// Bytes of an object's annotations, as Kubernetes counts them.
    fn bytes(object: &Value) -> usize {
        let annotations = object["metadata"]["annotations"].as_object().unwrap();
        let lengths = annotations
            .iter()
            .map(|(key, value)| key.len() + value.as_str().unwrap().len());
        lengths.sum()
    }

    #[test]
    fn as_much_is_put_as_kubernetes_lets_annotations_hold() {
        const KIB: usize = 1 << 10;
        // (bytes of other annotations, of the stash's spec, of its status; what comes back)
        for (others, spec, status, kept) in [
            (0, KIB, KIB, "both"),
            (0, KIB, 300 * KIB, "spec"),
            (0, 0, 300 * KIB, "nothing"),
            (0, 300 * KIB, 0, "size"),
            (200 * KIB, 100 * KIB, 0, "size"),
            (200 * KIB, 10 * KIB, 100 * KIB, "spec"),
            (256 * KIB - 10, 10 * KIB, 0, "nothing"),
        ] {
            let own = "y".repeat(others);
            let mut object = json!({"metadata": {"annotations": {"o": own}}});
            let put_stash = stash(spec, status);
            put(&mut object, put_stash.clone());
            let case = format!("{others} {spec} {status}");
            assert!(bytes(&object) <= ANNOTATIONS_LIMIT, "{case}");
            let back = remove(&mut object);
            let found = match (back.spec.len(), back.status.len(), back.omitted) {
                (1, 1, None) => "both",
                (1, 0, None) => "spec",
                (0, 0, Some(bytes)) if bytes > spec => "size",
                (0, 0, None) => "nothing",
                other => panic!("{case}: {other:?}"),
            };
            assert_eq!(found, kept, "{case}");
        }
    }

    #[test]
    fn places_that_are_not_there_are_made() {
        for mut object in [
            json!({}),
            json!({"metadata": null}),
            json!({"metadata": {}}),
            json!({"metadata": {"annotations": null}}),
        ] {
            put(&mut object, stash(1, 0));
            let annotations = object["metadata"]["annotations"].as_object();
            let keys: Vec<_> = annotations.unwrap().keys().collect();
            assert_eq!(keys, ["armature.azure.com/conversion-stash.a"]);
        }
    }

    #[test]
    fn every_entry_has_a_name_of_its_own_that_kubernetes_takes() {
        let long = "x".repeat(40);
        let mut seen = std::collections::BTreeSet::new();
        for (path, expected) in [
            (json!(["a"]), Some("a")),
            (json!(["a", "b"]), Some("a.b")),
            (json!(["a.b"]), None),
            (json!(["a", {"by": {"name": "b"}}]), None),
            (json!(["a", {"by": {"name": "c"}}]), None),
            (json!([""]), None),
            (json!(["a/b ü"]), None),
            (json!(["$propertyBag", "A"]), None),
            (json!([long, long]), None),
            (
                json!([long, "y"]),
                Some("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.y"),
            ),
        ] {
            let entry = serde_json::from_value(json!({"p": path, "v": 1})).unwrap();
            let key = key(&entry);
            let name = key.strip_prefix("armature.azure.com/").unwrap();
            assert!(name.len() <= NAME_LIMIT, "{name}");
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric();
            assert!(
                name.bytes()
                    .all(|byte| is_letter(byte) || b"-._".contains(&byte)),
                "{name}"
            );
            assert!(name.bytes().next_back().is_some_and(is_letter), "{name}");
            if let Some(expected) = expected {
                assert_eq!(name, format!("conversion-stash.{expected}"));
            }
            assert!(seen.insert(key));
        }
    }
}
