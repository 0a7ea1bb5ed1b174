//! Schemas of types of the model.

use serde_json::{Map, Number, Value, json};

use super::checks::Checks;
use super::common::{self, Form};
use crate::model::{
    MissingType, ObjectType, Property, Rules, TypeDef, TypeId, TypeRef, TypeTable, Version,
};

/// Types of an api-version, and how much of them is checked.
struct Table<'a> {
    version: &'a Version,
    checks: Checks,
}

/// Schema of one side of a resource.
pub(super) fn root(version: &Version, id: &TypeId, checks: Checks) -> Result<Value, MissingType> {
    let table = Table { version, checks };
    table.named(id)
}

impl Table<'_> {
    fn types(&self) -> &TypeTable {
        &self.version.types
    }

    fn named(&self, id: &TypeId) -> Result<Value, MissingType> {
        match self.types().get(id) {
            Some(TypeDef::Object(object)) => self.object(object),
            Some(TypeDef::Enum(known)) if self.checks == Checks::All && !known.is_open() => {
                Ok(json!({"type": "string", "enum": known.values}))
            }
            Some(TypeDef::Enum(known)) if self.checks == Checks::All && known.extensible => {
                Ok(json!({"type": "string", "anyOf": [{"enum": known.values}, {}]}))
            }
            Some(TypeDef::Enum(_)) => Ok(json!({"type": "string"})),
            None => Err(MissingType {
                ty: id.clone(),
                place: self.version.api_version.to_string(),
            }),
        }
    }

    fn object(&self, object: &ObjectType) -> Result<Value, MissingType> {
        let mut properties = Map::new();
        for property in &object.properties {
            properties.insert(property.name.clone(), self.property(property)?);
        }
        let mut schema = json!({"type": "object"});
        if !properties.is_empty() {
            schema["properties"] = Value::Object(properties);
        }
        let required = object.properties.iter().filter(|it| it.required);
        let required: Vec<&str> = required.map(|property| property.name.as_str()).collect();
        if self.checks == Checks::All && !required.is_empty() {
            schema["required"] = json!(required);
        }
        Ok(schema)
    }

    fn property(&self, property: &Property) -> Result<Value, MissingType> {
        let mut schema = self.value(&property.ty, &property.item_rules)?;
        if self.checks == Checks::All {
            constrain(&mut schema, &property.ty, &property.rules);
        }
        Ok(schema)
    }

    fn value(&self, ty: &TypeRef, item_rules: &Rules) -> Result<Value, MissingType> {
        let checks = self.checks;
        Ok(match ty {
            TypeRef::Bool => json!({"type": "boolean"}),
            TypeRef::Integer(_) => json!({"type": "integer"}),
            TypeRef::Number => json!({"type": "number"}),
            TypeRef::String => json!({"type": "string"}),
            TypeRef::Json => json!({"x-kubernetes-preserve-unknown-fields": true}),
            TypeRef::Named(id) => self.named(id)?,
            TypeRef::List(item) => {
                json!({"type": "array", "items": self.item(item, item_rules)?})
            }
            TypeRef::Map(item) => {
                json!({"type": "object", "additionalProperties": self.item(item, item_rules)?})
            }
            TypeRef::Reference => common::reference(Form::Any, checks),
            TypeRef::WellKnownReference => common::reference(Form::WellKnown, checks),
            TypeRef::ArmIdKeyed => json!({"type": "array", "items": common::identity(checks)}),
            TypeRef::Secret | TypeRef::ConfigMap(_) => common::input(&["key", "name"], checks),
            TypeRef::SecretMap => common::input(&["name"], checks),
            TypeRef::Common(ty) => common::common(*ty, checks),
        })
    }

    fn item(&self, item: &TypeRef, rules: &Rules) -> Result<Value, MissingType> {
        let mut schema = self.value(item, rules)?;
        let is_innermost = !matches!(item, TypeRef::List(_) | TypeRef::Map(_));
        if self.checks == Checks::All && is_innermost {
            constrain(&mut schema, item, rules);
        }
        Ok(schema)
    }
}

/// Adds the constraints that apply to values of the type.
fn constrain(schema: &mut Value, ty: &TypeRef, rules: &Rules) {
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema[name] = value;
        }
    };
    match ty {
        TypeRef::String => {
            // Curation has dropped what the API server cannot read.
            set(
                "pattern",
                rules.pattern.as_ref().map(|pattern| json!(pattern)),
            );
            set("minLength", rules.min_length.map(Value::from));
            set("maxLength", rules.max_length.map(Value::from));
        }
        TypeRef::Integer(_) | TypeRef::Number => {
            set("minimum", rules.minimum.and_then(number));
            set("maximum", rules.maximum.and_then(number));
            set("multipleOf", rules.multiple_of.and_then(number));
        }
        TypeRef::List(_) | TypeRef::ArmIdKeyed => {
            set("minItems", rules.min_items.map(Value::from));
            set("maxItems", rules.max_items.map(Value::from));
        }
        _ => {}
    }
}

/// A JSON number, without a fraction when it has none.
fn number(value: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}
