//! What made a property what it is, in every api-version of its kind.

use serde::Serialize;

use super::{ExplainError, Question, hint};
use crate::model::{
    ConfigMapImport, DecidedBy, Group, LeftOut, MissingType, ObjectType, Origin, Property,
    Resource, TypeDef, TypeId, TypeRef, TypeTable, Version,
};
use crate::naming::{Named, TypeNames};

/// All about a property.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyExplanation {
    /// Group.
    pub group: String,
    /// Kind and path, as asked.
    pub path: String,
    /// Its forms, that of the oldest api-version first.
    pub forms: Vec<Form>,
    /// api-versions of the kind that have no such property.
    pub absent_from: Vec<String>,
}

/// A form of the property that some api-versions share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    /// These api-versions.
    pub api_versions: Vec<String>,
    /// Name in Kubernetes.
    pub name: String,
    /// Whether it is left out; the last reason says why.
    pub left_out: bool,
    /// Type in Kubernetes.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// Whether it must be present.
    pub required: bool,
    /// Path in ARM's JSON, `[]` after lists and `{}` after maps; empty for what is not in it.
    pub arm_path: String,
    /// Spec file and JSON pointer of the definition in the newest of the api-versions.
    pub source: String,
    /// What decided something about it, in that order.
    pub reasons: Vec<Reason>,
    /// What stands below it.
    pub parts: Vec<Part>,
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// `spec`, `inherited`, `heuristic`, `part` or `rule`.
    pub by: String,
    /// What, and why.
    pub what: String,
    /// File and line of a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Whether it is left out.
    pub left_out: bool,
}

/// A property on the way down, or one that was left out.
enum Found<'a> {
    Root(&'a TypeId),
    Property(&'a Property),
    LeftOut(&'a LeftOut),
}

/// Why there is no form.
enum Fault {
    /// The path ends too early.
    Missing(Missing),
    /// A type refers to one that is not there.
    Type(MissingType),
}

/// Where a path ends too early.
struct Missing {
    depth: usize,
    known: Vec<String>,
}

/// Explains a property of a kind of a curated group.
pub(super) fn explain(
    group: &Group,
    question: &Question,
) -> Result<PropertyExplanation, ExplainError> {
    let mut explanation = PropertyExplanation {
        group: group.name.clone(),
        path: format!("{}.{}", question.kind, question.path.join(".")),
        forms: Vec::new(),
        absent_from: Vec::new(),
    };
    let mut deepest = None::<Missing>;
    for (api_version, version) in &group.versions {
        let mut resources = version.resources.iter();
        let Some(resource) = resources.find(|it| it.kind == question.kind) else {
            continue;
        };
        match form(version, resource, &question.path) {
            Ok(form) => explanation.add(api_version.to_string(), form),
            Err(Fault::Type(error)) => return Err(error.into()),
            Err(Fault::Missing(missing)) => {
                explanation.absent_from.push(api_version.to_string());
                let is_deeper = |known: &Missing| known.depth <= missing.depth;
                if deepest.as_ref().is_none_or(is_deeper) {
                    deepest = Some(missing);
                }
            }
        }
    }
    match deepest {
        Some(missing) if explanation.forms.is_empty() => Err(unknown(group, question, &missing)),
        _ => Ok(explanation),
    }
}

fn unknown(group: &Group, question: &Question, missing: &Missing) -> ExplainError {
    let (above, below) = question.path.split_at(missing.depth);
    let name = below.first().cloned().unwrap_or_default();
    let names = std::iter::once(question.kind.as_str()).chain(above.iter().map(String::as_str));
    let known = missing.known.iter().map(String::as_str);
    let elsewhere =
        other_side(group, question).map(|path| format!("`{}.{path}` is there", question.kind));
    ExplainError::UnknownProperty {
        at: names.collect::<Vec<_>>().join("."),
        hint: elsewhere.unwrap_or_else(|| hint(&name, known.collect())),
        name,
    }
}

/// The same path on the other side, if that has it.
fn other_side(group: &Group, question: &Question) -> Option<String> {
    let other = match question.path.first()?.as_str() {
        "spec" => "status",
        "status" => "spec",
        _ => return None,
    };
    let mut path = question.path.clone();
    other.clone_into(path.first_mut()?);
    let has = |version: &Version| {
        let mut resources = version
            .resources
            .iter()
            .filter(|it| it.kind == question.kind);
        resources.any(|resource| form(version, resource, &path).is_ok())
    };
    group.versions.values().any(has).then(|| path.join("."))
}

impl PropertyExplanation {
    /// Adds the form of an api-version to the equal ones. The definition's place differs in each; the newest counts.
    fn add(&mut self, api_version: String, form: Form) {
        let is_same = |known: &&mut Form| {
            let form = Form {
                api_versions: known.api_versions.clone(),
                source: known.source.clone(),
                ..form.clone()
            };
            **known == form
        };
        if let Some(known) = self.forms.iter_mut().find(is_same) {
            known.api_versions.push(api_version);
            known.source = form.source;
        } else {
            self.forms.push(Form {
                api_versions: vec![api_version],
                ..form
            });
        }
    }
}

/// Follows a path from the root of a side down.
fn form(version: &Version, resource: &Resource, path: &[String]) -> Result<Form, Fault> {
    let mut arm = String::new();
    let mut found = match path.first().map(String::as_str) {
        Some("spec") => Found::Root(&resource.spec),
        Some("status") => Found::Root(&resource.status),
        _ => {
            return Err(Fault::Missing(Missing {
                depth: 0,
                known: vec!["spec".to_owned(), "status".to_owned()],
            }));
        }
    };
    for (depth, name) in path.iter().enumerate().skip(1) {
        let object = object(&version.types, &found);
        let next = object.and_then(|object| member(object, name));
        let Some(next) = next else {
            // Whatever is below a property that is left out is left out with it.
            if matches!(found, Found::LeftOut(_)) {
                break;
            }
            let known = object.map(parts).unwrap_or_default();
            let known = known.into_iter().map(|part| part.name).collect();
            return Err(Fault::Missing(Missing { depth, known }));
        };
        let members = match next {
            Found::Property(property) => property.place.path(),
            Found::LeftOut(left_out) => &left_out.arm[..],
            Found::Root(_) => &[],
        };
        for member in members {
            if !arm.is_empty() {
                arm.push('.');
            }
            arm.push_str(member);
        }
        if let Found::Property(property) = next {
            arm.push_str(&brackets(&property.ty));
        }
        found = next;
    }
    describe(version, &found, arm).map_err(Fault::Type)
}

fn brackets(ty: &TypeRef) -> String {
    match ty {
        TypeRef::List(item) => format!("[]{}", brackets(item)),
        TypeRef::Map(item) => format!("{{}}{}", brackets(item)),
        _ => String::new(),
    }
}

fn object<'a>(types: &'a TypeTable, found: &Found<'a>) -> Option<&'a ObjectType> {
    let id = match found {
        Found::Root(root) => root,
        Found::Property(property) => property.ty.named()?,
        Found::LeftOut(_) => return None,
    };
    match types.get(id)? {
        TypeDef::Object(object) => Some(object),
        TypeDef::Enum(_) => None,
    }
}

/// The member of this name: in Kubernetes, else in ARM, else among those left out.
fn member<'a>(object: &'a ObjectType, name: &str) -> Option<Found<'a>> {
    let properties = || object.properties.iter();
    let is_arm = |property: &&Property| {
        property
            .place
            .path()
            .last()
            .is_some_and(|last| last == name)
    };
    let mut left_out = object.left_out.iter();
    properties()
        .find(|property| property.name == name)
        .or_else(|| properties().find(is_arm))
        .map(Found::Property)
        .or_else(|| left_out.find(|it| it.name == name).map(Found::LeftOut))
}

fn describe(version: &Version, found: &Found<'_>, arm_path: String) -> Result<Form, MissingType> {
    let names = TypeNames::of_version(version);
    let named = Named {
        types: &version.types,
        names: &names,
    };
    let object = object(&version.types, found);
    let parts = object.map(parts).unwrap_or_default();
    let form = |name: &str, origin: &Origin| Form {
        api_versions: Vec::new(),
        name: name.to_owned(),
        left_out: false,
        ty: None,
        required: false,
        arm_path,
        source: origin.source.clone(),
        reasons: reasons(origin),
        parts,
    };
    Ok(match found {
        Found::Root(root) => {
            let origin = Origin {
                source: object
                    .map(|object| object.source.clone())
                    .unwrap_or_default(),
                ..Origin::default()
            };
            Form {
                ty: Some(type_text(named, &TypeRef::Named((*root).clone()))?),
                ..form(names.get(root)?.as_str(), &origin)
            }
        }
        Found::Property(property) => Form {
            ty: Some(type_text(named, &property.ty)?),
            required: property.required,
            ..form(&property.name, &property.origin)
        },
        Found::LeftOut(left_out) => Form {
            left_out: true,
            ..form(&left_out.name, &left_out.origin)
        },
    })
}

fn reasons(origin: &Origin) -> Vec<Reason> {
    let reasons = origin.decisions.iter().map(|decision| Reason {
        by: decision.by.to_string(),
        what: decision.what.to_string(),
        at: match &decision.by {
            DecidedBy::Rule(at) => Some(at.clone()),
            _ => None,
        },
    });
    reasons.collect()
}

fn parts(object: &ObjectType) -> Vec<Part> {
    let part = |name: &String, left_out| Part {
        name: name.clone(),
        left_out,
    };
    let kept = object.properties.iter().map(|it| part(&it.name, false));
    let left_out = object.left_out.iter().map(|it| part(&it.name, true));
    kept.chain(left_out).collect()
}

fn type_text(named: Named<'_>, ty: &TypeRef) -> Result<String, MissingType> {
    Ok(match ty {
        TypeRef::Bool => "boolean".to_owned(),
        TypeRef::Integer(Some(format)) => format!("integer ({format})"),
        TypeRef::Integer(None) => "integer".to_owned(),
        TypeRef::Number => "number".to_owned(),
        TypeRef::String => "string".to_owned(),
        TypeRef::Json => "any JSON".to_owned(),
        TypeRef::Named(id) => {
            let name = named.names.get(id)?;
            match named.types.get(id) {
                Some(TypeDef::Enum(known)) => {
                    let others = if known.is_open() { ", or another" } else { "" };
                    format!("{name}, one of {}{others}", known.values.join(", "))
                }
                Some(TypeDef::Object(_)) | None => format!("object {name}"),
            }
        }
        TypeRef::List(item) => format!("list of {}", type_text(named, item)?),
        TypeRef::Map(item) => format!("map of {}", type_text(named, item)?),
        TypeRef::Reference => "reference to a resource".to_owned(),
        TypeRef::WellKnownReference => "reference to a resource, or a well-known name".to_owned(),
        TypeRef::ArmIdKeyed => "list of references to resources".to_owned(),
        TypeRef::Secret => "key of a Secret".to_owned(),
        TypeRef::SecretMap => "all keys of a Secret".to_owned(),
        TypeRef::ConfigMap(ConfigMapImport::Optional) => {
            "key of a ConfigMap, in place of the value".to_owned()
        }
        TypeRef::ConfigMap(ConfigMapImport::Required) => "key of a ConfigMap".to_owned(),
        TypeRef::Common(common) => format!("{common:?} of the operator"),
    })
}
