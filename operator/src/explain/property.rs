//! A property: type, rules, place in ARM, versions that have it.

use anyhow::{Context, bail};
use armature_runtime::kind::VersionInfo;
use armature_runtime::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type, nearest};
use serde::Serialize;
use serde_json::Value;

use super::find::Topic;
use super::fixed::is_fixed;
use super::wording;
use crate::descriptions::Descriptions;

/// A property for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyPage {
    /// API group of the kind.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// The version of what follows.
    pub version: &'static str,
    /// From `spec` or `status` down.
    pub path: String,
    /// Type in words.
    #[serde(rename = "type")]
    pub ty: String,
    /// Azure's own description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Known values.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub values: &'static [&'static str],
    /// Whether Azure may take values that are not among the known ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub takes_others: bool,
    /// What Azure takes where nothing is sent, by its own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether it must be there.
    pub required: bool,
    /// Constraints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<&'static str>,
    /// Place in ARM's JSON; nothing where it is between the user and the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arm_path: Option<String>,
    /// Versions that have it under this name.
    pub versions: Vec<&'static str>,
    /// Versions that have not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<&'static str>,
    /// Properties below.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
}

/// A property in a list of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Name.
    pub name: &'static str,
    /// Type in words.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether it must be there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

impl Member {
    /// The members of a struct.
    pub fn all(shape: &'static StructShape) -> Vec<Self> {
        let fields = shape.fields.iter();
        fields
            .map(|field| Self {
                name: field.name,
                ty: wording::of_type(field.ty),
                required: field.flags.has(Flags::REQUIRED),
            })
            .collect()
    }
}

impl PropertyPage {
    /// The property that a topic leads to.
    ///
    /// # Errors
    /// When there is none of a name on the way; names the nearest.
    pub fn new(topic: &Topic) -> anyhow::Result<Self> {
        let Topic {
            kind,
            version,
            path,
        } = topic;
        let way = Way::down(version, path)
            .with_context(|| format!("{} in version {}", kind.kind, version.name))?;
        let field = way.field;
        let (versions, lacking) = kind
            .versions
            .iter()
            .partition::<Vec<_>, _>(|other| Way::down(other, path).is_ok());
        let names = |versions: Vec<&'static VersionInfo>| {
            versions
                .iter()
                .map(|version| version.name)
                .collect::<Vec<_>>()
        };
        let shape = way.shape;
        let descriptions = Descriptions::shared(kind.group);
        Ok(Self {
            group: kind.group,
            kind: kind.kind,
            version: version.name,
            path: path.join("."),
            ty: field.map_or("object".to_owned(), |field| wording::of_type(field.ty)),
            description: descriptions
                .text(kind.kind, version.name, path)
                .map(str::to_owned),
            default: descriptions
                .default_of(kind.kind, version.name, path)
                .cloned(),
            values: field.map_or(&[], |field| wording::values(field.ty)),
            takes_others: field.is_some_and(|field| wording::takes_others(field.ty)),
            required: field.is_some_and(|field| field.flags.has(Flags::REQUIRED)),
            rules: field.map(wording::rules).unwrap_or_default(),
            facts: field.map(|field| facts(topic, field)).unwrap_or_default(),
            arm_path: way.arm,
            versions: names(versions),
            lacking: names(lacking),
            members: shape.map(Member::all).unwrap_or_default(),
        })
    }
}

/// The way from a version down to a property.
struct Way {
    field: Option<&'static Field>,
    shape: Option<&'static StructShape>,
    arm: Option<String>,
}

impl Way {
    fn down(version: &VersionInfo, path: &[String]) -> anyhow::Result<Self> {
        let Some((root, names)) = path.split_first() else {
            bail!("no property is named");
        };
        let shape = if root == "status" {
            version.status
        } else {
            version.spec
        };
        let mut way = Self {
            field: None,
            shape: Some(shape),
            arm: Some(String::new()),
        };
        let mut walked = root.clone();
        for name in names {
            // kubectl's paths name no items; ours may.
            let name = name.trim_end_matches("[]");
            let Some(shape) = way.shape else {
                bail!("{walked} has no members");
            };
            let Some(field) = field(shape, name) else {
                let hint = nearest(name, shape.fields.iter().map(|field| field.name));
                let hint = hint.map_or(String::new(), |near| format!(", did you mean '{near}'?"));
                bail!("{walked} has no member '{name}'{hint}");
            };
            walked = format!("{walked}.{}", field.name);
            way = way.step(field);
        }
        way.arm = way.arm.filter(|arm| !arm.is_empty());
        Ok(way)
    }

    fn step(self, field: &'static Field) -> Self {
        let arm = match field.arm {
            ArmPlace::Operator => None,
            ArmPlace::Variant => self.arm,
            ArmPlace::At(names) | ArmPlace::Further(names) => self.arm.map(|above| {
                let own = names.join(".");
                match (above.is_empty(), own.is_empty()) {
                    (true, _) => own,
                    (_, true) => above,
                    _ => format!("{above}.{own}"),
                }
            }),
        };
        let shape = wording::inner(field.ty);
        let is_plain = |shape: &&'static StructShape| {
            matches!(shape.semantic, Semantic::Plain | Semantic::ArmIdKeyed)
        };
        let arm = match shape.filter(is_plain) {
            Some(_) => arm.map(|arm| arm + items(field.ty).as_str()),
            None => arm,
        };
        Self {
            field: Some(field),
            shape,
            arm,
        }
    }
}

/// Facts about a field, with what the kind says of its place.
fn facts(topic: &Topic, field: &Field) -> Vec<&'static str> {
    let mut facts = wording::facts(field);
    let is_fixed = match topic.path.split_first() {
        Some((root, below)) if root == "spec" => {
            let names: Vec<&str> = below
                .iter()
                .map(|name| name.trim_end_matches("[]"))
                .collect();
            is_fixed(topic.kind, topic.version.spec, &names.join("."))
        }
        _ => false,
    };
    if is_fixed && !facts.contains(&wording::FIXED) {
        facts.push(wording::FIXED);
    }
    facts
}

fn field(shape: &'static StructShape, name: &str) -> Option<&'static Field> {
    let mut fields = shape.fields.iter();
    shape
        .field(name)
        .or_else(|| fields.find(|field| field.name.eq_ignore_ascii_case(name)))
}

/// What stands for the items on the way to their members.
fn items(ty: Type) -> String {
    match ty {
        Type::List(list) => "[]".to_owned() + &items(list.item),
        Type::Map(map) => ".*".to_owned() + &items(map.value),
        _ => String::new(),
    }
}
