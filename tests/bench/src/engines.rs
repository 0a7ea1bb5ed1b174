//! Times of the codec and of conversion, over objects of every kind and version.

use std::hint::black_box;

use armature_runtime::conversion::{from_hub, to_hub};
use armature_runtime::shape::UnknownFields;
use serde_json::Value;

use crate::corpus::{hubs, served, types};
use crate::figure::{Figure, time};

/// An object's spec and status from JSON into the Rust types that extensions use, and back.
///
/// # Errors
/// When an object does not fit its types.
pub fn codec(runs: u32) -> anyhow::Result<Vec<Figure>> {
    let (objects, types) = (hubs(), types());
    let figure = time("decode and encode", runs, objects.len(), || {
        for one in &objects {
            let hub = &one.kind.hub;
            for (shape, value) in [(hub.spec, &one.spec), (hub.status, &one.status)] {
                black_box(types.recode(shape, value, UnknownFields::Deny)?);
            }
        }
        Ok(())
    })?;
    Ok(vec![figure])
}

/// A served object to its stored form, and back.
///
/// # Errors
/// When an object cannot be converted.
pub fn conversion(runs: u32) -> anyhow::Result<Vec<Figure>> {
    let objects = served();
    let stored = objects
        .iter()
        .map(|one| Ok(to_hub(one.kind, one.version.name, one.object.clone())?))
        .collect::<anyhow::Result<Vec<Value>>>()?;
    let to = time("served to stored", runs, objects.len(), || {
        for one in &objects {
            black_box(to_hub(one.kind, one.version.name, one.object.clone())?);
        }
        Ok(())
    })?;
    let from = time("stored to served", runs, objects.len(), || {
        for (one, stored) in objects.iter().zip(&stored) {
            black_box(from_hub(one.kind, one.version.name, stored.clone())?);
        }
        Ok(())
    })?;
    Ok(vec![to, from])
}
