//! Objects as the cache keeps them: compressed, against another object of their kind.
//!
//! Objects of one kind are most of the same text: names of members, words of conditions, the beginning of ids. Parsed, with a
//! map for labels and one for annotations, a virtual network takes 5 kB; like this, one. It is taken out again
//! for a pass in some microseconds.
//!
//! How much memory one object takes is not its author's to choose: of one that is large even so, what is asked of many objects at
//! once is kept, and the rest is read from the API server by who works on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use armature_shapes::conversion::STASH_ANNOTATION;
use armature_shapes::resource::{Kind, Object};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lz4_flex::block::{compress_prepend_size_with_dict, decompress_size_prepended_with_dict};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::stored::object::StoredObject;

/// Longest text that others are compressed against: LZ4 looks back for 64 kB at most.
const LONGEST: usize = 48 * 1024;

/// Longest text of an object that is kept whole, compressed. Clusters with all that Azure says of them take a tenth of it.
const LARGEST: usize = 64 * 1024;

/// Longest member that is kept of an object that is not.
const LARGEST_MEMBER: usize = 16 * 1024;

/// What is kept of a spec: whose it is, and what it exports.
const OF_SPECS: [&str; 4] = ["azureName", "operatorSpec", "originalVersion", "owner"];

/// What is kept of a status: whether it is done.
const OF_STATUSES: [&str; 2] = ["conditions", "observedGeneration"];

/// Annotations that are kept are ours and Azure Service Operator's.
const OF_ANNOTATIONS: [&str; 2] = ["armature.azure.com/", "serviceoperator.azure.com/"];

/// The text that objects of one kind are compressed against.
#[derive(Clone, Default)]
pub(super) struct Sample(Arc<[u8]>);

/// An object, compressed.
pub(super) struct Packed {
    text: Box<[u8]>,
    sample: Sample,
    /// All of the object is there.
    pub is_whole: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    metadata: &'a ObjectMeta,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a RawValue>,
}

impl Packed {
    /// Packs an object. A sample that is much shorter than the object is replaced for those that come after it: the first
    /// objects of a kind have no status yet.
    pub fn pack(object: &Object, sample: &mut Sample) -> Self {
        let mut text = text(object);
        let compressed = |text: &[u8], sample: &Sample| -> Box<[u8]> {
            compress_prepend_size_with_dict(text, &sample.0).into()
        };
        let is_whole = text.len() <= LARGEST || compressed(&text, sample).len() <= LARGEST;
        if !is_whole {
            text = self::text(&reduced(object));
        }
        if text.len() > sample.0.len() + sample.0.len() / 4 && sample.0.len() < LONGEST {
            *sample = Sample(text[..text.len().min(LONGEST)].into());
        }
        Self {
            text: compressed(&text, sample),
            sample: sample.clone(),
            is_whole,
        }
    }

    /// The object.
    pub fn unpack(&self, kind: Kind) -> Object {
        let text = decompress_size_prepended_with_dict(&self.text, &self.sample.0);
        let text = text.expect("it was compressed against the same sample");
        let stored: StoredObject =
            serde_json::from_slice(&text).expect("it was written from the same type");
        stored.into_object(kind)
    }
}

fn text(object: &Object) -> Vec<u8> {
    let text = Text {
        metadata: &object.metadata,
        spec: object.spec.as_deref(),
        status: object.status.as_deref(),
    };
    serde_json::to_vec(&text).expect("text, maps of text and numbers have a JSON form")
}

/// An object without what makes it large.
fn reduced(object: &Object) -> Object {
    let mut metadata = object.metadata.clone();
    if let Some(annotations) = &mut metadata.annotations {
        let is_ours = |name: &str| OF_ANNOTATIONS.iter().any(|ours| name.starts_with(ours));
        annotations.retain(|name, _| is_ours(name) && !name.starts_with(STASH_ANNOTATION));
    }
    Object {
        kind: object.kind,
        metadata,
        spec: members(object.spec.as_deref(), &OF_SPECS),
        status: members(object.status.as_deref(), &OF_STATUSES),
    }
}

/// These members of an object in JSON, where they are short.
fn members(text: Option<&RawValue>, names: &[&str]) -> Option<Box<RawValue>> {
    let mut all: BTreeMap<String, &RawValue> = serde_json::from_str(text?.get()).ok()?;
    all.retain(|name, value| names.contains(&name.as_str()) && value.get().len() <= LARGEST_MEMBER);
    to_raw_value(&all).ok()
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::kinds::STORE;
    use serde_json::{Value, json};

    use super::*;

    fn object(value: &Value) -> Object {
        let stored: StoredObject = serde_json::from_str(&value.to_string()).unwrap();
        stored.into_object(Kind(&STORE))
    }

    fn numbered(number: usize, has_status: bool) -> Value {
        let mut value = json!({
            "metadata": {
                "name": format!("store-{number}"), "namespace": "team", "uid": format!("{number:036}"), "generation": 2,
                "resourceVersion": format!("{number}7"), "creationTimestamp": "2026-01-02T03:04:05Z",
                "finalizers": ["serviceoperator.azure.com/finalizer"],
                "annotations": {"serviceoperator.azure.com/resource-id": format!("/subscriptions/s/stores/{number}")},
            },
            "spec": {"capacity": 1.50, "tags": {"a": "ä\n"}, "number": number},
        });
        if has_status {
            value["status"] =
                json!({"conditions": [{"type": "Ready", "status": "True", "reason": "Succeeded"}]});
        }
        value
    }

    #[test]
    fn what_is_packed_is_taken_out_as_it_was() {
        let mut sample = Sample::default();
        for number in 0..20 {
            let object = object(&numbered(number, number % 3 == 0));
            let packed = Packed::pack(&object, &mut sample);
            let unpacked = packed.unpack(Kind(&STORE));
            assert_eq!(unpacked.metadata, object.metadata);
            let text =
                |part: &Option<Box<RawValue>>| part.as_ref().map(|part| part.get().to_owned());
            assert_eq!(text(&unpacked.spec), text(&object.spec));
            assert_eq!(text(&unpacked.status), text(&object.status));
        }
    }

    #[test]
    fn the_second_of_a_kind_takes_a_part_of_its_text() {
        let mut sample = Sample::default();
        Packed::pack(&object(&numbered(1, false)), &mut sample);
        Packed::pack(&object(&numbered(2, true)), &mut sample);
        let text = numbered(3, true).to_string().len();
        let packed = Packed::pack(&object(&numbered(3, true)), &mut sample)
            .text
            .len();
        assert!(3 * packed < text, "{packed} of {text} bytes");
    }

    /// Text that does not get shorter.
    fn noise(length: usize) -> String {
        let numbers = (0..length as u64 / 16).map(|number| {
            let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!(
                "{:016x}",
                mixed ^ (mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
            )
        });
        numbers.collect()
    }

    #[test]
    fn a_large_object_takes_no_more_than_what_is_asked_of_many() {
        let mut value = numbered(1, true);
        value["spec"]["large"] = json!(noise(900_000));
        value["spec"]["owner"] = json!({"name": "group"});
        value["spec"]["operatorSpec"] = json!({"configMaps": {"id": {"name": "m", "key": "k"}}});
        value["status"]["large"] = json!(noise(300_000));
        value["status"]["observedGeneration"] = json!(2);
        value["metadata"]["annotations"]["example.com/note"] = json!(noise(100_000));
        value["metadata"]["annotations"]["armature.azure.com/conversion-stash.x"] =
            json!(noise(100_000));
        let (mut sample, large) = (Sample::default(), object(&value));
        let packed = Packed::pack(&large, &mut sample);
        assert!(!packed.is_whole);
        let taken = packed.text.len() + sample.0.len();
        assert!(taken < 2_000, "{taken} bytes");
        let kept = packed.unpack(Kind(&STORE));
        let json = |part: Option<Box<RawValue>>| -> Value {
            serde_json::from_str(part.unwrap().get()).unwrap()
        };
        let (spec, status) = (json(kept.spec), json(kept.status));
        for name in ["owner", "operatorSpec"] {
            assert_eq!(spec[name], value["spec"][name], "{name}");
        }
        for name in ["conditions", "observedGeneration"] {
            assert_eq!(status[name], value["status"][name], "{name}");
        }
        let annotations = kept.metadata.annotations.unwrap();
        assert_eq!(annotations.len(), 1, "{:?}", annotations.keys());
        // What is no object, or is large where nothing else is, is not kept either.
        value["spec"] = json!({"operatorSpec": {"secrets": noise(900_000)}});
        let packed = Packed::pack(&object(&value), &mut sample);
        assert!(packed.text.len() < 2_000, "{} bytes", packed.text.len());
    }

    #[test]
    fn long_objects_have_short_samples() {
        let mut value = numbered(1, true);
        value["spec"]["long"] = json!("0123456789".repeat(20_000));
        let (mut sample, long) = (Sample::default(), object(&value));
        for _ in 0..3 {
            let packed = Packed::pack(&long, &mut sample);
            assert!(packed.is_whole);
            assert_eq!(packed.unpack(Kind(&STORE)).metadata, long.metadata);
        }
        assert_eq!(sample.0.len(), LONGEST);
    }
}
