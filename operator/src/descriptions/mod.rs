//! Azure's own descriptions of properties, [their defaults](defaults), and [versions that Azure retires](retirements). They are one compressed asset of this program, made by its build from the files
//! `generated/*/descriptions.txt` (the generator's `emit::descriptions` says how these are written), and nobody pays for them who
//! does not ask.

pub mod defaults;
pub mod retirements;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use armature_runtime::kind::KindInfo;
use flate2::read::DeflateDecoder;
use serde_json::Value;

use retirements::Retirement;

/// What was asked for. It is kept because a plan or an import asks for a few groups again and again.
static READ: LazyLock<Mutex<BTreeMap<String, Arc<Descriptions>>>> = LazyLock::new(Mutex::default);

static ASSET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptions.bin"));

/// What the specs say of the kinds of a group.
#[derive(Debug, Default)]
pub struct Descriptions {
    texts: Vec<String>,
    defaults: Vec<Value>,
    objects: Vec<Vec<Entry>>,
    /// Objects of spec and status, by kind and version.
    resources: BTreeMap<(String, String), [Option<usize>; 2]>,
    /// What becomes of edits, by kind: rules that [`crate::plan::edits`] reads.
    edits: BTreeMap<String, Vec<String>>,
    /// Versions that Azure retires, by kind and version.
    retirements: BTreeMap<(String, String), Retirement>,
}

/// A property: its name, and positions of its description, of the object that it holds and of its default.
#[derive(Debug)]
struct Entry {
    name: String,
    text: Option<usize>,
    object: Option<usize>,
    default: Option<usize>,
}

impl Descriptions {
    /// Those of an API group; none where nothing is described.
    pub fn of(api_group: &str) -> Self {
        let found = sections(ASSET).find(|(group, _)| *group == api_group.as_bytes());
        let mut text = String::new();
        let read =
            found.map(|(_, compressed)| DeflateDecoder::new(compressed).read_to_string(&mut text));
        match read {
            Some(Ok(_)) => Self::read(&text),
            // The build of this program has made it, and a test reads all of it.
            Some(Err(_)) | None => Self::default(),
        }
    }

    /// As [`Self::of`], and read once however often they are asked for.
    pub fn shared(api_group: &str) -> Arc<Self> {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.entry(api_group.to_owned());
        known
            .or_insert_with(|| Arc::new(Self::of(api_group)))
            .clone()
    }

    /// Reads the text of a group.
    pub(crate) fn read(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            match line.split_at_checked(1) {
                Some(("T", text)) => found.texts.push(text.trim_start().to_owned()),
                // What cannot be read keeps its number, and is nobody's value.
                Some(("D", value)) => {
                    let value = serde_json::from_str(value);
                    found.defaults.push(value.unwrap_or_default());
                }
                Some(("O", entries)) => {
                    let entries = entries.split_whitespace().filter_map(entry);
                    found.objects.push(entries.collect());
                }
                Some(("E", edit)) => {
                    if let Some((kind, rule)) = edit.trim_start().split_once(' ') {
                        let edits = found.edits.entry(kind.to_owned()).or_default();
                        edits.push(rule.to_owned());
                    }
                }
                Some(("V", retirement)) => {
                    let mut words = retirement.split_whitespace();
                    let kind = words.next().unwrap_or_default();
                    let versions = words.next().unwrap_or_default();
                    let retirement = Retirement::parse(words);
                    for (version, retirement) in
                        versions.split(',').zip(std::iter::repeat(retirement))
                    {
                        let key = (kind.to_owned(), version.to_owned());
                        found.retirements.extend(retirement.map(|it| (key, it)));
                    }
                }
                Some(("R", resource)) => {
                    let mut words = resource.split_whitespace();
                    let kind = words.next().unwrap_or_default();
                    let versions = words.next().unwrap_or_default();
                    let sides = [words.next(), words.next()];
                    let sides = sides.map(|side| side.and_then(|side| side.parse().ok()));
                    for version in versions.split(',') {
                        let key = (kind.to_owned(), version.to_owned());
                        found.resources.insert(key, sides);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// What becomes of edits of a kind, as curation says.
    pub fn edits(&self, kind: &str) -> &[String] {
        self.edits.get(kind).map_or(&[], Vec::as_slice)
    }

    fn sides(&self, kind: &str, version: &str) -> [Option<usize>; 2] {
        let key = (kind.to_owned(), version.to_owned());
        self.resources.get(&key).copied().unwrap_or_default()
    }

    /// The description of a property of a version, by its path from `spec` or `status` down.
    pub fn text(&self, kind: &str, version: &str, path: &[String]) -> Option<&str> {
        let entry = self.entry(kind, version, path)?;
        self.texts.get(entry.text?).map(String::as_str)
    }

    fn entry(&self, kind: &str, version: &str, path: &[String]) -> Option<&Entry> {
        let (side, names) = path.split_first()?;
        let [spec, status] = self.sides(kind, version);
        let mut object = match side.as_str() {
            "status" => status,
            _ => spec,
        };
        let mut found = None;
        for name in names {
            let entry = self.member(object?, name)?;
            (found, object) = (Some(entry), entry.object);
        }
        found
    }

    fn member(&self, object: usize, name: &str) -> Option<&Entry> {
        let mut entries = self.objects.get(object)?.iter();
        entries.find(|entry| entry.name == name)
    }

    /// Puts descriptions into the schemas of a CRD.
    fn put_into(&self, kind: &str, crd: &mut Value) {
        let versions = crd
            .pointer_mut("/spec/versions")
            .and_then(Value::as_array_mut);
        for version in versions.into_iter().flatten() {
            let name = version["name"].as_str().unwrap_or_default().to_owned();
            let sides = self.sides(kind, &name);
            for (side, object) in ["spec", "status"].into_iter().zip(sides) {
                let schema = format!("/schema/openAPIV3Schema/properties/{side}");
                if let (Some(object), Some(schema)) = (object, version.pointer_mut(&schema)) {
                    self.describe(schema, object);
                }
            }
        }
    }

    fn describe(&self, schema: &mut Value, object: usize) {
        let Some(properties) = innermost(schema).get_mut("properties") else {
            return;
        };
        for entry in self.objects.get(object).into_iter().flatten() {
            let Some(property) = properties.get_mut(&entry.name) else {
                continue;
            };
            if let (Some(text), Value::Object(schema)) =
                (entry.text.and_then(|at| self.texts.get(at)), &mut *property)
            {
                schema.insert("description".to_owned(), Value::from(text.as_str()));
            }
            if let Some(below) = entry.object {
                self.describe(property, below);
            }
        }
    }
}

/// Puts Azure's descriptions into the schemas of a kind's CRD.
pub fn describe(kind: &KindInfo, crd: &mut Value) {
    Descriptions::of(kind.group).put_into(kind.kind, crd);
}

/// The schema of what a list or map holds in the end.
fn innermost(mut schema: &mut Value) -> &mut Value {
    for _ in 0..8 {
        let below = ["items", "additionalProperties"].into_iter();
        let mut below = below.filter(|name| schema.get(name).is_some_and(Value::is_object));
        match below.next() {
            Some(name) if schema.get("properties").is_none() => schema = &mut schema[name],
            _ => break,
        }
    }
    schema
}

/// `name:text:object=default`, of which the numbers may be missing.
fn entry(word: &str) -> Option<Entry> {
    let mut parts = word.rsplitn(3, ':');
    let (object, text, name) = (parts.next()?, parts.next()?, parts.next()?);
    let (object, default) = object.split_once('=').unwrap_or((object, ""));
    Some(Entry {
        name: name.to_owned(),
        text: text.parse().ok(),
        object: object.parse().ok(),
        default: default.parse().ok(),
    })
}

/// Names and compressed texts of groups.
fn sections(asset: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = asset;
    let mut part = move || {
        let (length, after) = rest.split_at_checked(4)?;
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let (part, after) = after.split_at_checked(length)?;
        rest = after;
        Some(part)
    };
    std::iter::from_fn(move || Some((part()?, part()?)))
}

#[cfg(test)]
mod tests;
