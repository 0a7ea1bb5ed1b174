//! What every kind has beside ARM's own properties: `azureName`, `owner`, `operatorSpec`, `conditions` (ASO
//! behaviour §3.2, §3.4, §3.6).

use crate::curation::{GroupConfig, Side};
use crate::model::{
    ArmPlace, CommonType, ConfigMapImport, Decision, EnumType, NameRule, ObjectType, OperatorPart,
    Owner, Property, Resource, Rules, TypeDef, TypeRef, TypeTable, UuidText, Version, reachable,
};
use crate::naming::identities;

/// What a root has of the operator's own, in any version of any kind or in the stored form: no property of ARM's can have
/// such a name there.
pub(super) fn own_names(side: Side) -> &'static [&'static str] {
    match side {
        Side::Spec => &[
            "azureName",
            NAME_FROM_CONFIG,
            "operatorSpec",
            "originalVersion",
            "owner",
        ],
        Side::Status => &["conditions"],
    }
}

/// Where a name in Azure comes from a ConfigMap.
const NAME_FROM_CONFIG: &str = "azureNameFromConfig";

/// Completes the roots of a version, sorts properties, and drops what no root reaches.
pub(super) fn finish(version: &mut Version, config: &GroupConfig) {
    for resource in &version.resources {
        let rules = config.rules.kinds.get(resource.kind.as_str());
        let from_config = rules.and_then(|rules| rules.azure_name_from_config.as_ref());
        let from_config = from_config.is_some_and(|it| *it.get_ref());
        complete_spec(resource, &mut version.types, from_config);
        complete_status(resource, &mut version.types);
    }
    let roots = version.resources.iter().flat_map(|r| [&r.spec, &r.status]);
    let kept = reachable(&version.types, roots);
    version.types.retain(|id, _| kept.contains(id));
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

fn complete_spec(resource: &Resource, types: &mut TypeTable, name_from_config: bool) {
    let mut added = vec![operator_spec(resource, types)];
    let azure_name = azure_name(resource, types);
    if azure_name.is_some() && name_from_config {
        let ty = TypeRef::ConfigMap(ConfigMapImport::Optional);
        added.push(operator(NAME_FROM_CONFIG, ty));
    }
    added.extend(azure_name);
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
        NameRule::Free(rules) | NameRule::Uuid { rules, .. } => Property {
            rules: Rules {
                format: None,
                ..rules.clone()
            },
            ..operator("azureName", TypeRef::String)
        },
        NameRule::OneOf(values) => {
            let id = identities::operator(Some(&resource.kind), OperatorPart::AzureName);
            let values = EnumType {
                values: values.clone(),
                ..EnumType::default()
            };
            types.insert(id.clone(), TypeDef::Enum(values));
            operator("azureName", TypeRef::Named(id))
        }
    };
    Some(property)
}

/// The user's choice between UUIDs, where there is one.
fn naming_convention(resource: &Resource, types: &mut TypeTable) -> Option<Property> {
    let NameRule::Uuid {
        text: UuidText::WithOwnerId,
        ..
    } = &resource.name
    else {
        return None;
    };
    let id = identities::operator(Some(&resource.kind), OperatorPart::NamingConvention);
    let values = EnumType {
        values: ["random", "stable"].map(str::to_owned).to_vec(),
        ..EnumType::default()
    };
    types.insert(id.clone(), TypeDef::Enum(values));
    Some(operator("namingConvention", TypeRef::Named(id)))
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
    let destinations: [(&str, OperatorPart, CommonType, Vec<&str>); 2] = [
        (
            "configMaps",
            OperatorPart::ConfigMaps,
            CommonType::ConfigMapDestination,
            config_maps.collect(),
        ),
        (
            "secrets",
            OperatorPart::Secrets,
            CommonType::SecretDestination,
            secrets.collect(),
        ),
    ];
    for (name, part, destination, keys) in destinations {
        if keys.is_empty() {
            continue;
        }
        let id = identities::operator(Some(&resource.kind), part);
        let mut object = ObjectType::default();
        let members = keys.iter();
        object.properties = members
            .map(|key| operator(key, TypeRef::Common(destination)))
            .collect();
        types.insert(id.clone(), TypeDef::Object(object));
        properties.push(operator(name, TypeRef::Named(id)));
    }
    properties.extend(naming_convention(resource, types));
    // Kinds without anything of their own share one type.
    let is_own = properties.len() > 2;
    let kind = is_own.then_some(resource.kind.as_str());
    let id = identities::operator(kind, OperatorPart::Spec);
    let object = ObjectType {
        properties,
        ..ObjectType::default()
    };
    types.insert(id.clone(), TypeDef::Object(object));
    operator("operatorSpec", TypeRef::Named(id))
}
