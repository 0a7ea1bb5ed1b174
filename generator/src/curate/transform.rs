//! Applying rules and heuristics to the properties of one api-version.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{PlainType, PropertyRule, Side, Treatment};
use super::naming;
use super::pattern::keep_re2;
use super::rules::{RuleBook, rule_names};
use super::{CurateError, GroupConfig};
use crate::model::{
    ApiVersion, ConfigMapImport, EnumType, Meaning, ObjectType, Property, Rules, TypeDef, TypeName,
    TypeRef, TypeTable, Version, reachable,
};

/// Curates the types of one api-version.
pub(super) struct Transform<'a> {
    pub(super) config: &'a GroupConfig,
    pub(super) book: &'a RuleBook<'a>,
    pub(super) api_version: ApiVersion,
    sides: BTreeMap<TypeName, Side>,
    kinds: BTreeMap<TypeName, String>,
    before: TypeTable,
}

/// Types that rules add, and lists that they move out of the spec.
#[derive(Default)]
struct Effects {
    types: TypeTable,
    child_lists: Vec<Vec<String>>,
}

impl<'a> Transform<'a> {
    pub(super) fn new(config: &'a GroupConfig, book: &'a RuleBook<'a>, version: &Version) -> Self {
        let mut sides = BTreeMap::new();
        let mut kinds = BTreeMap::new();
        let roots = |side: Side| {
            version.resources.iter().map(move |resource| match side {
                Side::Spec => &resource.spec,
                Side::Status => &resource.status,
            })
        };
        for side in [Side::Status, Side::Spec] {
            for name in reachable(&version.types, roots(side)) {
                sides.insert(name, side);
            }
        }
        for resource in &version.resources {
            kinds.insert(resource.spec.clone(), resource.kind.clone());
            kinds.insert(resource.status.clone(), resource.kind.clone());
        }
        Self {
            config,
            book,
            api_version: version.api_version.clone(),
            sides,
            kinds,
            before: version.types.clone(),
        }
    }

    /// Rewrites every reachable type of the version.
    pub(super) fn apply(&self, version: &mut Version) -> Result<(), Box<CurateError>> {
        for (name, side) in &self.sides {
            let Some(TypeDef::Object(object)) = self.before.get(name) else {
                continue;
            };
            let mut effects = Effects::default();
            let object = self.object(name, *side, object, &mut effects);
            version.types.insert(name.clone(), TypeDef::Object(object));
            version.types.extend(effects.types);
            if !effects.child_lists.is_empty() {
                let resource = version.resources.iter_mut().find(|r| r.spec == *name);
                match resource {
                    Some(resource) => resource.child_lists.extend(effects.child_lists),
                    None => return Err(self.child_kind_below_root(name)),
                }
            }
        }
        drop_empty(&mut version.types, &self.kinds);
        Ok(())
    }

    fn child_kind_below_root(&self, name: &TypeName) -> Box<CurateError> {
        let types = &self.config.rules.types;
        let line = types
            .keys()
            .find(|key| key.get_ref() == name.as_str())
            .map_or(1, |key| self.config.line(key));
        Box::new(CurateError::Inapplicable {
            path: self.config.path.clone(),
            line,
            message: format!(
                "`child-kind` works for properties of an exported kind, and `{name}` is none"
            ),
        })
    }

    fn object(
        &self,
        name: &TypeName,
        side: Side,
        object: &ObjectType,
        effects: &mut Effects,
    ) -> ObjectType {
        let kind = self.kinds.get(name).map(String::as_str);
        let names = rule_names(name, object, side, kind);
        self.book.note_part(&names);
        let mut properties = Vec::new();
        for property in &object.properties {
            let rule = self
                .book
                .find(&names, &property.name, side, &self.api_version);
            if is_removed(rule) {
                self.note_child_list(rule, side, property, effects);
                continue;
            }
            properties.extend(self.property(name, side, property, rule, effects));
        }
        let mut object = ObjectType {
            properties,
            ..object.clone()
        };
        if let Some(one_of) = &mut object.discriminated {
            let kept = |name: &str| object.properties.iter().any(|p| p.name == name);
            one_of.variants.retain(|variant| kept(&variant.property));
        }
        object
    }

    fn note_child_list(
        &self,
        rule: Option<&PropertyRule>,
        side: Side,
        property: &Property,
        effects: &mut Effects,
    ) {
        let is_child_kind = rule.and_then(|rule| rule.treatment) == Some(Treatment::ChildKind);
        if is_child_kind && side == Side::Spec {
            effects.child_lists.push(property.arm.clone());
        }
    }

    fn property(
        &self,
        owner: &TypeName,
        side: Side,
        property: &Property,
        rule: Option<&PropertyRule>,
        effects: &mut Effects,
    ) -> Vec<Property> {
        let mut property = property.clone();
        if side == Side::Status {
            property.required = false;
            property.rules = status_rules(&property.rules);
            property.item_rules = status_rules(&property.item_rules);
        }
        keep_re2(&mut property.rules);
        keep_re2(&mut property.item_rules);
        if property.name == "location" && property.ty == TypeRef::String {
            property.meaning = Meaning::Location;
        }
        if let Some(rule) = rule {
            retype(owner, &mut property, rule, effects);
        }
        let treatment = rule.and_then(|rule| rule.treatment);
        let mut properties = match side {
            Side::Spec => treat(property, treatment),
            // Secrets never come back from ARM; the rest of the status is as ARM has it.
            Side::Status if property.secret || is_secret(treatment) => Vec::new(),
            Side::Status => vec![property],
        };
        if let (Some(rule), Some(first)) = (rule, properties.first_mut()) {
            if let Some(name) = &rule.rename {
                first.name.clone_from(name);
            }
            first.was.clone_from(&rule.was);
            if let (Some(required), Side::Spec) = (rule.required, side) {
                first.required = required;
            }
        }
        for property in &mut properties {
            let is_collection = matches!(property.ty, TypeRef::List(_) | TypeRef::Map(_));
            property.explicit = side == Side::Spec
                && self.config.rules.explicit_collections
                && is_collection
                && !property.arm.is_empty();
        }
        properties
    }
}

fn is_removed(rule: Option<&PropertyRule>) -> bool {
    let treatment = rule.and_then(|rule| rule.treatment);
    matches!(treatment, Some(Treatment::Remove | Treatment::ChildKind))
}

fn is_secret(treatment: Option<Treatment>) -> bool {
    matches!(treatment, Some(Treatment::Secret | Treatment::SecretMap))
}

/// Statuses are never validated; what remains says how to read the value.
fn status_rules(rules: &Rules) -> Rules {
    Rules {
        format: rules.format.clone(),
        ..Rules::default()
    }
}

/// The property as users of the spec see it, with its `FromConfig` twin if it has one.
fn treat(property: Property, treatment: Option<Treatment>) -> Vec<Property> {
    match treatment {
        Some(Treatment::Reference) => vec![reference(property, TypeRef::Reference)],
        Some(Treatment::WellKnownReference) => {
            vec![reference(property, TypeRef::WellKnownReference)]
        }
        Some(Treatment::Secret) => vec![secret(property)],
        Some(Treatment::SecretMap) => vec![with_type(property, TypeRef::SecretMap)],
        Some(Treatment::ConfigMap) => config_map(property, ConfigMapImport::Optional),
        Some(Treatment::ConfigMapRequired) => config_map(property, ConfigMapImport::Required),
        Some(Treatment::Plain) => vec![property],
        Some(Treatment::Remove | Treatment::ChildKind) => Vec::new(),
        None if property.secret => vec![secret(property)],
        None if property.meaning == Meaning::ArmId => vec![reference(property, TypeRef::Reference)],
        None => vec![property],
    }
}

fn with_type(property: Property, core: TypeRef) -> Property {
    Property {
        ty: core,
        rules: Rules::default(),
        item_rules: Rules::default(),
        meaning: Meaning::Plain,
        ..property
    }
}

fn reference(property: Property, core: TypeRef) -> Property {
    let is_list = matches!(property.ty, TypeRef::List(_));
    let ty = property.ty.with_core(core);
    Property {
        name: naming::reference(&property.name, is_list),
        ..with_type(property, ty)
    }
}

fn secret(property: Property) -> Property {
    let ty = match &property.ty {
        TypeRef::Map(_) => TypeRef::SecretMap,
        other => other.with_core(TypeRef::Secret),
    };
    Property {
        secret: true,
        ..with_type(property, ty)
    }
}

fn config_map(property: Property, import: ConfigMapImport) -> Vec<Property> {
    let mut twin = with_type(property.clone(), TypeRef::ConfigMap(import));
    twin.name = naming::from_config(&property.name);
    twin.required = property.required && import == ConfigMapImport::Required;
    match import {
        ConfigMapImport::Required => vec![twin],
        ConfigMapImport::Optional => vec![
            Property {
                required: false,
                ..property
            },
            twin,
        ],
    }
}

fn retype(owner: &TypeName, property: &mut Property, rule: &PropertyRule, effects: &mut Effects) {
    if let Some(ty) = rule.ty {
        property.ty = match ty {
            PlainType::Boolean => TypeRef::Bool,
            PlainType::Integer => TypeRef::Integer(None),
            PlainType::Number => TypeRef::Number,
            PlainType::String => TypeRef::String,
            PlainType::Json => TypeRef::Json,
            PlainType::StringMap => TypeRef::Map(Box::new(TypeRef::String)),
        };
    }
    if let Some(values) = &rule.values {
        let mut letters = property.name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let pascal = first.into_iter().chain(letters).collect::<String>();
        let name = TypeName::new(format!("{owner}{pascal}"));
        let definition = TypeDef::Enum(EnumType {
            values: values.clone(),
            ..EnumType::default()
        });
        effects.types.insert(name.clone(), definition);
        property.ty = property.ty.with_core(TypeRef::Named(name));
    }
}

/// Removes properties whose type is an object without properties, until none is left.
fn drop_empty(types: &mut TypeTable, roots: &BTreeMap<TypeName, String>) {
    loop {
        let empty = types
            .iter()
            .filter(|(name, definition)| {
                let is_empty =
                    matches!(definition, TypeDef::Object(object) if object.properties.is_empty());
                is_empty && !roots.contains_key(*name)
            })
            .map(|(name, _)| name.clone())
            .collect::<BTreeSet<_>>();
        if empty.is_empty() {
            return;
        }
        types.retain(|name, _| !empty.contains(name));
        for definition in types.values_mut() {
            if let TypeDef::Object(object) = definition {
                let is_kept = |p: &Property| p.ty.named().is_none_or(|name| !empty.contains(name));
                object.properties.retain(is_kept);
            }
        }
    }
}
