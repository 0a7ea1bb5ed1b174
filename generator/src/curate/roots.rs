//! What every kind has beside ARM's own properties: `azureName`, `owner`, `operatorSpec`, `conditions` (ASO
//! behaviour §3.2, §3.4, §3.6); and the names of root types.

use std::collections::BTreeMap;

use crate::curation::Side;
use crate::model::{
    ArmPlace, CommonType, Decision, EnumType, NameRule, ObjectType, Owner, Property, Resource,
    Rules, TypeDef, TypeName, TypeRef, TypeTable, Version, reachable,
};
use crate::naming::{OPERATOR_SPEC, of_kind};

/// What a root has of the operator's own, in any version of any kind or in the stored form: no property of ARM's can have
/// such a name there.
pub(super) fn own_names(side: Side) -> &'static [&'static str] {
    match side {
        Side::Spec => &["azureName", "operatorSpec", "originalVersion", "owner"],
        Side::Status => &["conditions"],
    }
}

/// Completes the roots of a version, names them after their kinds, sorts properties, and drops what no root
/// reaches.
pub(super) fn finish(version: &mut Version) {
    rename_roots(version);
    for resource in &version.resources {
        complete_spec(resource, &mut version.types);
        complete_status(resource, &mut version.types);
    }
    let roots = version.resources.iter().flat_map(|r| [&r.spec, &r.status]);
    let kept = reachable(&version.types, roots);
    version.types.retain(|name, _| kept.contains(name));
    for definition in version.types.values_mut() {
        if let TypeDef::Object(object) = definition {
            sort(object);
        }
    }
}

/// `conditions` first, the rest by name: the order in which ASO's types have them.
fn sort(object: &mut ObjectType) {
    object.properties.sort_by(|left, right| {
        let key = |p: &Property| (p.name != "conditions", p.name.clone());
        key(left).cmp(&key(right))
    });
}

fn complete_spec(resource: &Resource, types: &mut TypeTable) {
    let mut added = vec![operator_spec(resource, types)];
    added.extend(azure_name(resource, types));
    added.extend(owner(resource));
    let Some(TypeDef::Object(root)) = types.get_mut(&resource.spec) else {
        return;
    };
    root.properties.extend(added);
}

fn complete_status(resource: &Resource, types: &mut TypeTable) {
    let conditions = operator("conditions", list(CommonType::Condition));
    if let Some(TypeDef::Object(root)) = types.get_mut(&resource.status) {
        root.properties.push(conditions);
    }
}

/// A property that is no part of ARM's JSON.
fn operator(name: &str, ty: TypeRef) -> Property {
    let mut property = Property::with_place(name, ArmPlace::Operator, ty);
    let why = "the operator's own, beside what Azure has";
    property.origin.decisions.push(Decision::heuristic(why));
    property
}

fn list(item: CommonType) -> TypeRef {
    TypeRef::List(Box::new(TypeRef::Common(item)))
}

fn azure_name(resource: &Resource, types: &mut TypeTable) -> Option<Property> {
    let property = match &resource.name {
        NameRule::Fixed(_) => return None,
        NameRule::Free(rules) => Property {
            rules: Rules {
                format: None,
                ..rules.clone()
            },
            ..operator("azureName", TypeRef::String)
        },
        NameRule::OneOf(values) => {
            let name = TypeName::new(format!("{}AzureName", resource.kind));
            let values = EnumType {
                values: values.clone(),
                ..EnumType::default()
            };
            types.insert(name.clone(), TypeDef::Enum(values));
            operator("azureName", TypeRef::Named(name))
        }
    };
    Some(property)
}

fn owner(resource: &Resource) -> Option<Property> {
    let ty = match resource.owner {
        Owner::None => return None,
        Owner::ResourceGroup | Owner::Parent(_) => CommonType::KnownResourceReference,
        Owner::Any => CommonType::ArbitraryOwnerReference,
    };
    let mut property = operator("owner", TypeRef::Common(ty));
    property.required = true;
    Some(property)
}

fn operator_spec(resource: &Resource, types: &mut TypeTable) -> Property {
    let mut properties = vec![
        operator(
            "configMapExpressions",
            list(CommonType::DestinationExpression),
        ),
        operator("secretExpressions", list(CommonType::DestinationExpression)),
    ];
    let config_maps = resource.config_maps.iter().map(|(key, _)| key.as_str());
    let secrets = resource.secrets.iter().map(|(key, _)| key.as_str());
    let destinations: [(&str, &str, CommonType, Vec<&str>); 2] = [
        (
            "configMaps",
            "OperatorConfigMaps",
            CommonType::ConfigMapDestination,
            config_maps.collect(),
        ),
        (
            "secrets",
            "OperatorSecrets",
            CommonType::SecretDestination,
            secrets.collect(),
        ),
    ];
    for (name, suffix, destination, keys) in destinations {
        if keys.is_empty() {
            continue;
        }
        let type_name = TypeName::new(format!("{}{suffix}", resource.kind));
        let mut object = ObjectType::default();
        let members = keys.iter();
        object.properties = members
            .map(|key| operator(key, TypeRef::Common(destination)))
            .collect();
        types.insert(type_name.clone(), TypeDef::Object(object));
        properties.push(operator(name, TypeRef::Named(type_name)));
    }
    // Kinds without exports of their own share one type.
    let is_own = properties.len() > 2;
    let type_name = if is_own {
        TypeName::new(format!("{}{OPERATOR_SPEC}", resource.kind))
    } else {
        TypeName::new(OPERATOR_SPEC)
    };
    let object = ObjectType {
        properties,
        ..ObjectType::default()
    };
    types.insert(type_name.clone(), TypeDef::Object(object));
    operator("operatorSpec", TypeRef::Named(type_name))
}

/// Calls the roots of a kind `<Kind>Spec` and `<Kind>Status`. Names of types are off those of kinds already, but where
/// the file calls a kind neither as its ARM type nor as its definition.
fn rename_roots(version: &mut Version) {
    let mut names = BTreeMap::<TypeName, TypeName>::new();
    for resource in &version.resources {
        let spec = TypeName::new(format!("{}Spec", resource.kind));
        let status = TypeName::new(format!("{}Status", resource.kind));
        names.insert(resource.spec.clone(), spec);
        names.insert(resource.status.clone(), status);
    }
    let mut taken = names.values().cloned().collect::<Vec<_>>();
    taken.push(TypeName::new(OPERATOR_SPEC));
    let kinds = version.resources.iter().map(|it| it.kind.as_str());
    taken.extend(kinds.flat_map(of_kind).map(TypeName::new));
    for name in version.types.keys() {
        if taken.contains(name) && !names.contains_key(name) {
            let mut other = TypeName::new(format!("{name}Value"));
            while version.types.contains_key(&other) || taken.contains(&other) {
                other = TypeName::new(format!("{other}Value"));
            }
            names.insert(name.clone(), other);
        }
    }
    let renamed = |name: &TypeName| names.get(name).unwrap_or(name).clone();
    for resource in &mut version.resources {
        resource.spec = renamed(&resource.spec);
        resource.status = renamed(&resource.status);
    }
    let types = std::mem::take(&mut version.types);
    version.types = types
        .into_iter()
        .map(|(name, mut definition)| {
            if let TypeDef::Object(object) = &mut definition {
                for property in &mut object.properties {
                    if let Some(core) = property.ty.named() {
                        property.ty = property.ty.with_core(TypeRef::Named(renamed(core)));
                    }
                }
            }
            (renamed(&name), definition)
        })
        .collect();
}
