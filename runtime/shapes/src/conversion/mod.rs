//! Versions of an object: between what users write, the hub, and what is stored.
//!
//! Three forms of one object, all as JSON:
//! - *served*: a version's own words, as its CRD schema has them;
//! - *hub*: the union of all versions, what [`HubInfo`](crate::kind::HubInfo)'s shapes describe and
//!   customizations decode;
//! - *stored*: the hub's form as etcd holds it, readable by and from ASO: `spec.originalVersion` names the
//!   version that the user wrote, and fields that the storage version lacks lie in `$propertyBag`
//!   (ASO behaviour §3.2).
//!
//! Conversion is lossless both ways. What a version cannot express travels with the served object in annotations
//! ([`is_stash_annotation`]) and comes back with the next write through that version.

mod annotation;
mod earlier;
mod stash;
mod stored;
mod walk;

use serde_json::{Map, Value};

use self::stash::{Entry, Stash};
pub use self::stored::PROPERTY_BAG;
use self::walk::Level;
use crate::kind::{KindInfo, VersionInfo};
use crate::quote::shortened;

/// Annotation on served objects with what their version cannot express of the status; those of the spec have this name, a
/// dot and the path of a value.
///
/// Kubernetes bounds an object's annotations (256 KiB of keys and values). Where the stash does not fit beside the others,
/// what it has of the status is left out, since Azure says it again. If that is not enough, the annotation only says how many
/// bytes were left out: the object can be read, and a write at this version is refused, because it would lose them. The same
/// holds for what is nested too deeply to be read ([`note_depth`]).
pub const STASH_ANNOTATION: &str = "armature.azure.com/conversion-stash";

/// Whether an annotation is part of what an object's version cannot express.
pub fn is_stash_annotation(key: &str) -> bool {
    key.strip_prefix(STASH_ANNOTATION)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Member of stored and hub specs with the name of the version that the user wrote.
pub const ORIGINAL_VERSION: &str = "originalVersion";

/// The member of every status that no shape has: kstatus reads it, the reconciler writes it.
const OBSERVED_GENERATION: &str = "observedGeneration";

/// An object that cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// The kind has no such version.
    #[error("{kind} has no version `{version}`; it has {known}")]
    UnknownVersion {
        /// Kind and group.
        kind: String,
        /// What was asked for.
        version: String,
        /// The versions that exist.
        known: String,
    },
    /// A part of the document that must be an object is something else.
    #[error("{path}: expected an object")]
    NotAnObject {
        /// `spec`, `status`, or empty for the whole document.
        path: &'static str,
    },
    /// The document says that it is another version than the one it is to be read as.
    #[error("expected apiVersion {expected}, found {found}")]
    WrongVersion {
        /// What the document should say.
        expected: String,
        /// What it says.
        found: String,
    },
    /// A write through a version in which the object does not fit: see [`STASH_ANNOTATION`].
    #[error(
        "{kind} cannot be written at {version}: this object has {bytes} bytes for which {version} has no place, more than fit \
         into its annotations (256 KiB with all others), and they would be lost; write it at {newest}"
    )]
    TooMuchToStash {
        /// Kind and group.
        kind: String,
        /// The version.
        version: &'static str,
        /// Bytes of the stash that was left out.
        bytes: usize,
        /// The newest version of the kind.
        newest: &'static str,
    },
    /// A write through a version of an object that was read without what is nested too deeply: see [`STASH_ANNOTATION`].
    #[error(
        "{kind} cannot be written at {version}: {bytes} bytes of this object are nested too deeply to be read, and they would be \
         lost; delete it at {stored}, or have somebody who may write it there take them out"
    )]
    TooDeep {
        /// Kind and group.
        kind: String,
        /// The version.
        version: &'static str,
        /// Bytes that were left out.
        bytes: usize,
        /// The storage version.
        stored: &'static str,
    },
    /// Typed conversion between two kinds.
    #[error(
        "cannot convert between {from} and {to}: they are different kinds or no hub is among them"
    )]
    WrongKind {
        /// Kind and version.
        from: String,
        /// Kind and version.
        to: String,
    },
    /// The converted document does not fit the Rust type.
    #[error("cannot read the converted object: {0}")]
    Decode(#[from] crate::shape::DecodeError),
    /// Metadata that is not Kubernetes metadata.
    #[error("cannot read the object: {0}")]
    Json(String),
}

/// A served object of this version in stored form. The storage version itself is stored as it is.
///
/// `spec.originalVersion` becomes `version`: the version last written through is the one sent to ARM.
///
/// # Errors
/// [`ConversionError`] when the version is unknown or the document is no object of it.
pub fn to_hub(kind: &KindInfo, version: &str, object: Value) -> Result<Value, ConversionError> {
    if version == kind.hub.storage_version {
        return with_version(kind, version, object);
    }
    let hub = match earlier_storage(kind, version) {
        Some(version) => earlier_to_hub(kind, version, object)?,
        None => served_to_hub(kind, find(kind, version)?, object)?,
    };
    hub_to_stored(kind, hub)
}

/// Whether objects of this version can be read: one that is served or was, or a storage version of now or then.
pub fn is_readable(kind: &KindInfo, version: &str) -> bool {
    version == kind.hub.storage_version || find_by_any_name(kind, version).is_some()
}

/// Whether objects are stored at this version, now or by an earlier release.
pub fn is_stored(kind: &KindInfo, version: &str) -> bool {
    version == kind.hub.storage_version || earlier_storage(kind, version).is_some()
}

/// Notes on a served object that so many bytes of it were left out because they are nested too deeply: it is not written at this
/// version then.
pub fn note_depth(object: &mut Value, bytes: usize) {
    annotation::note_depth(object, bytes);
}

/// Where a member of a stored object's spec or status stands in another stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredPlace {
    /// Under this name.
    Member(String),
    /// As JSON text under this name of the property bag.
    Bag(String),
}

/// Where a member of the `part` (`spec` or `status`) of an object that is stored at one version stands where it is stored at
/// another one. For values that [`convert`] cannot read.
pub fn stored_place(
    kind: &KindInfo,
    (from, to): (&str, &str),
    (part, member): (&str, &str),
) -> StoredPlace {
    let shape = match part {
        "status" => kind.hub.status,
        _ => kind.hub.spec,
    };
    let level = |version: &str| {
        let version =
            earlier_storage(kind, version).filter(|_| version != kind.hub.storage_version);
        version.map(|version| match part {
            "status" => status_level(kind, version),
            _ => spec_level(kind, version),
        })
    };
    let name = level(from).map_or(member, |level| level.hub_name(member));
    match level(to) {
        Some(level) => earlier::place(level, name),
        None => stored::place(shape, name),
    }
}

/// A stored object in this version's words.
///
/// # Errors
/// [`ConversionError`] when the version is unknown or the document is no stored object.
pub fn from_hub(kind: &KindInfo, version: &str, stored: Value) -> Result<Value, ConversionError> {
    if version == kind.hub.storage_version {
        return with_version(kind, version, stored);
    }
    let hub = stored_to_hub(kind, stored)?;
    match earlier_storage(kind, version) {
        Some(api_version) => hub_to_earlier(kind, api_version, version, hub),
        None => hub_to_served(kind, find(kind, version)?, hub),
    }
}

/// An object in whatever version it says it is, in the desired version's words.
///
/// Of the metadata only the annotations count; callers may leave out the rest.
///
/// # Errors
/// [`ConversionError`] when either version is unknown or the document is no object of this kind.
pub fn convert(
    kind: &KindInfo,
    mut object: Value,
    desired: &str,
) -> Result<Value, ConversionError> {
    let api_version = object.get("apiVersion").and_then(Value::as_str);
    let api_version = api_version.unwrap_or_default();
    let version = match api_version.rsplit_once('/') {
        Some((group, version)) if group == kind.group => version.to_owned(),
        _ => {
            return Err(ConversionError::WrongVersion {
                expected: format!("{}/…", kind.group),
                found: api_version.to_owned(),
            });
        }
    };
    if version == desired {
        return Ok(object);
    }
    let is_stored = |version: &str| version == kind.hub.storage_version;
    if !is_stored(&version) {
        object = to_hub(kind, &version, object)?;
    }
    if !is_stored(desired) {
        object = from_hub(kind, desired, object)?;
    }
    Ok(object)
}

/// A stored object in the hub's form: stashed fields are back in their places.
///
/// # Errors
/// [`ConversionError::NotAnObject`].
pub fn stored_to_hub(kind: &KindInfo, stored: Value) -> Result<Value, ConversionError> {
    with_parts(
        kind,
        kind.hub.storage_version,
        stored,
        |spec| stored::unpack(kind.hub.spec, spec),
        |status| stored::unpack(kind.hub.status, status),
    )
}

/// A hub object in stored form.
///
/// # Errors
/// [`ConversionError::NotAnObject`].
pub fn hub_to_stored(kind: &KindInfo, hub: Value) -> Result<Value, ConversionError> {
    with_parts(
        kind,
        kind.hub.storage_version,
        hub,
        |spec| stored::pack(kind.hub.spec, spec),
        |status| stored::pack(kind.hub.status, status),
    )
}

/// The version that the user wrote, from a stored or hub spec: the one whose api-version is sent to ARM.
///
/// Names of ASO's earliest releases (`v1beta20210401`) mean today's (`v1api20210401`). Without a name, or with
/// one of those that is no longer served, it is the version that the storage version is named after, else the newest.
///
/// # Errors
/// [`ConversionError::UnknownVersion`] for any other name: another version lacks what only that one can say.
pub fn original_version(
    kind: &'static KindInfo,
    spec: &Value,
) -> Result<&'static VersionInfo, ConversionError> {
    let name = spec.get(ORIGINAL_VERSION).and_then(Value::as_str);
    let name = name.filter(|name| !name.is_empty());
    let is_early = |name: &str| EARLY.iter().any(|prefix| name.starts_with(prefix));
    let usual = || {
        let stored = find_by_any_name(kind, kind.hub.storage_version);
        stored.or_else(|| kind.served_unasked().next_back())
    };
    let found = match name {
        None => usual(),
        Some(name) => find_by_any_name(kind, name).or_else(|| usual().filter(|_| is_early(name))),
    };
    found.ok_or_else(|| unknown_version(kind, name.unwrap_or_default()))
}

/// What versions of ASO's earliest releases are named by. They had what later ones have.
const EARLY: [&str; 2] = ["v1alpha1api", "v1beta"];

fn find_by_any_name<'k>(kind: &'k KindInfo, name: &str) -> Option<&'k VersionInfo> {
    let name = name.strip_suffix("storage").unwrap_or(name);
    let mut versions = kind.versions.iter();
    versions.find(|version| version.name == name).or_else(|| {
        let date = EARLY.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        let today = format!("v1api{date}");
        kind.versions.iter().find(|version| version.name == today)
    })
}

/// The version of which this is the storage version of an earlier release.
fn earlier_storage<'k>(kind: &'k KindInfo, name: &str) -> Option<&'k VersionInfo> {
    let api_version = name.strip_suffix("storage")?;
    find_by_any_name(kind, api_version)
}

fn find<'k>(kind: &'k KindInfo, name: &str) -> Result<&'k VersionInfo, ConversionError> {
    let mut versions = kind.versions.iter();
    versions
        .find(|version| version.name == name)
        .ok_or_else(|| unknown_version(kind, name))
}

fn unknown_version(kind: &KindInfo, name: &str) -> ConversionError {
    let known = kind.versions.iter().map(|version| version.name);
    let known: Vec<_> = known.chain([kind.hub.storage_version]).collect();
    ConversionError::UnknownVersion {
        kind: format!("{}.{}", kind.kind, kind.group),
        version: shortened(name).into_owned(),
        known: known.join(", "),
    }
}

fn spec_level(kind: &KindInfo, version: &VersionInfo) -> Level {
    Level {
        version: version.spec,
        hub: kind.hub.spec,
        plan: version.spec_plan,
    }
}

fn status_level(kind: &KindInfo, version: &VersionInfo) -> Level {
    Level {
        version: version.status,
        hub: kind.hub.status,
        plan: version.status_plan,
    }
}

/// A served object in the hub's form.
pub(crate) fn served_to_hub(
    kind: &KindInfo,
    version: &VersionInfo,
    mut object: Value,
) -> Result<Value, ConversionError> {
    let stash = annotation::take(kind, version, &mut object)?;
    let (spec_level, status_level) = (spec_level(kind, version), status_level(kind, version));
    with_parts(
        kind,
        kind.hub.storage_version,
        object,
        |spec| {
            spec_level.to_hub(spec);
            stash::restore(spec_level, spec, &stash.spec);
            spec.insert(ORIGINAL_VERSION.to_owned(), Value::from(version.name));
        },
        |status| {
            status_level.to_hub(status);
            stash::restore(status_level, status, &stash.status);
        },
    )
}

/// An object as an earlier release stored it, in the hub's form.
fn earlier_to_hub(
    kind: &KindInfo,
    version: &VersionInfo,
    object: Value,
) -> Result<Value, ConversionError> {
    with_parts(
        kind,
        kind.hub.storage_version,
        object,
        |spec| earlier::to_hub(spec_level(kind, version), spec),
        |status| earlier::to_hub(status_level(kind, version), status),
    )
}

/// A hub object as an earlier release stored it, at the storage version of this name.
fn hub_to_earlier(
    kind: &KindInfo,
    version: &VersionInfo,
    name: &str,
    hub: Value,
) -> Result<Value, ConversionError> {
    with_parts(
        kind,
        name,
        hub,
        |spec| {
            let original = spec.shift_remove(ORIGINAL_VERSION);
            earlier::from_hub(spec_level(kind, version), spec);
            spec.extend(original.map(|original| (ORIGINAL_VERSION.to_owned(), original)));
        },
        |status| earlier::from_hub(status_level(kind, version), status),
    )
}

/// A hub object in a version's words, with the stash annotation when the version cannot express all of it.
pub(crate) fn hub_to_served(
    kind: &KindInfo,
    version: &VersionInfo,
    hub: Value,
) -> Result<Value, ConversionError> {
    let mut stash = Stash::default();
    let mut object = with_parts(
        kind,
        version.name,
        hub,
        |spec| {
            spec.shift_remove(ORIGINAL_VERSION);
            let entries = narrow(spec_level(kind, version), spec).into_iter();
            stash.spec = entries.flat_map(Entry::leaves).collect();
        },
        |status| {
            let generation = status.shift_remove(OBSERVED_GENERATION);
            stash.status = narrow(status_level(kind, version), status);
            status.extend(generation.map(|value| (OBSERVED_GENERATION.to_owned(), value)));
        },
    )?;
    annotation::put(&mut object, stash);
    Ok(object)
}

/// The hub's members in the version's words; what it has no place for is returned.
fn narrow(level: Level, members: &mut Map<String, Value>) -> Vec<Entry> {
    if level.expresses_all(members) {
        level.to_version(members);
        return Vec::new();
    }
    let whole = members.clone();
    level.to_version(members);
    let mut expressed = members.clone();
    level.to_hub(&mut expressed);
    stash::difference(level.hub, &expressed, &whole)
}

/// The document with another version's name and parts. Members other than spec and status are kept.
fn with_parts(
    kind: &KindInfo,
    version: &str,
    mut object: Value,
    spec: impl FnOnce(&mut Map<String, Value>),
    status: impl FnOnce(&mut Map<String, Value>),
) -> Result<Value, ConversionError> {
    let members = object.as_object_mut();
    let members = members.ok_or(ConversionError::NotAnObject { path: "" })?;
    members.insert(
        "apiVersion".to_owned(),
        Value::from(format!("{}/{version}", kind.group)),
    );
    if let Some(part) = part(members, "spec")? {
        spec(part);
    }
    if let Some(part) = part(members, "status")? {
        status(part);
    }
    Ok(object)
}

fn part<'a>(
    members: &'a mut Map<String, Value>,
    path: &'static str,
) -> Result<Option<&'a mut Map<String, Value>>, ConversionError> {
    match members.get_mut(path) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(part)) => Ok(Some(part)),
        Some(_) => Err(ConversionError::NotAnObject { path }),
    }
}

fn with_version(kind: &KindInfo, version: &str, object: Value) -> Result<Value, ConversionError> {
    with_parts(kind, version, object, |_| (), |_| ())
}

#[cfg(test)]
mod tests;
