//! Objects as the cache keeps them: compressed, against another object of their kind.
//!
//! Objects of one kind are most of the same text: names of members, words of conditions, the beginning of ids. Parsed, with a
//! map for labels and one for annotations, a virtual network takes 5 kB; like this, one. It is taken out again
//! for a pass in some microseconds.

use std::sync::Arc;

use armature_shapes::resource::{Kind, Object};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lz4_flex::block::{compress_prepend_size_with_dict, decompress_size_prepended_with_dict};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::stored::StoredObject;

/// Longest text that others are compressed against: LZ4 looks back for 64 kB at most.
const LONGEST: usize = 48 * 1024;

/// The text that objects of one kind are compressed against.
#[derive(Clone, Default)]
pub(super) struct Sample(Arc<[u8]>);

/// An object, compressed.
pub(super) struct Packed {
    text: Box<[u8]>,
    sample: Sample,
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
        let text = Text {
            metadata: &object.metadata,
            spec: object.spec.as_deref(),
            status: object.status.as_deref(),
        };
        let text =
            serde_json::to_vec(&text).expect("text, maps of text and numbers have a JSON form");
        if text.len() > sample.0.len() + sample.0.len() / 4 && sample.0.len() < LONGEST {
            *sample = Sample(text[..text.len().min(LONGEST)].into());
        }
        Self {
            text: compress_prepend_size_with_dict(&text, &sample.0).into(),
            sample: sample.clone(),
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

    #[test]
    fn long_objects_have_short_samples() {
        let mut value = numbered(1, true);
        value["spec"]["long"] = json!("0123456789".repeat(20_000));
        let (mut sample, long) = (Sample::default(), object(&value));
        for _ in 0..3 {
            let packed = Packed::pack(&long, &mut sample);
            assert_eq!(packed.unpack(Kind(&STORE)).metadata, long.metadata);
        }
        assert_eq!(sample.0.len(), LONGEST);
    }
}
