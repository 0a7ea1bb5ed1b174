//! Types of expressions, and what fields the objects among them have.

use std::fmt;
use std::sync::Arc;

use armature_shapes::kind::VersionInfo;
use armature_shapes::shape::{self, StructShape};

/// The type of an expression, as far as it is known before evaluation.
#[derive(Clone, Debug)]
pub(super) enum Type {
    /// Any value, known only at evaluation: JSON without a schema.
    Dyn,
    /// No value yet, so any type fits: the items of `[]`.
    Unknown,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    List(Arc<Type>),
    /// Keys and values.
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    Object(ObjectType),
}

/// An object with known fields.
#[derive(Clone, Copy, Debug)]
pub(super) enum ObjectType {
    /// `self`.
    Resource(&'static VersionInfo),
    /// `self.metadata`.
    Metadata,
    /// A part of spec or status.
    Struct(&'static StructShape),
    /// What `aso.parseResourceId` gives.
    ResourceId,
    /// Its `resourceType`.
    ResourceType,
}

impl Type {
    pub fn list(item: Type) -> Type {
        Type::List(Arc::new(item))
    }

    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    pub fn optional(inner: Type) -> Type {
        Type::Optional(Arc::new(inner))
    }

    /// The type that holds values of both, if there is one.
    pub fn unify(&self, other: &Type) -> Option<Type> {
        Some(match (self, other) {
            (Type::Unknown, known) | (known, Type::Unknown) => known.clone(),
            (Type::Dyn, _) | (_, Type::Dyn) => Type::Dyn,
            (Type::List(left), Type::List(right)) => Type::list(left.unify(right)?),
            (Type::Map(key, value), Type::Map(other_key, other_value)) => {
                Type::map(key.unify(other_key)?, value.unify(other_value)?)
            }
            (Type::Optional(left), Type::Optional(right)) => Type::optional(left.unify(right)?),
            (Type::Object(left), Type::Object(right)) if left.is(*right) => self.clone(),
            (Type::Null, Type::Null)
            | (Type::Bool, Type::Bool)
            | (Type::Int, Type::Int)
            | (Type::Uint, Type::Uint)
            | (Type::Double, Type::Double)
            | (Type::String, Type::String) => self.clone(),
            _ => return None,
        })
    }

    /// Whether values may be numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Type::Int | Type::Uint | Type::Double | Type::Dyn)
    }

    /// The type of a field in spec or status.
    pub fn of_shape(ty: shape::Type) -> Type {
        match ty {
            shape::Type::Bool => Type::Bool,
            shape::Type::Integer(_) => Type::Int,
            shape::Type::Number => Type::Double,
            shape::Type::String | shape::Type::Enum(_) => Type::String,
            shape::Type::Json => Type::Dyn,
            shape::Type::Struct(shape) => Type::Object(ObjectType::Struct(shape)),
            shape::Type::List(list) => Type::list(Type::of_shape(list.item)),
            shape::Type::Map(map) => Type::map(Type::String, Type::of_shape(map.value)),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn | Type::Unknown => formatter.write_str("dyn"),
            Type::Null => formatter.write_str("null"),
            Type::Bool => formatter.write_str("bool"),
            Type::Int => formatter.write_str("int"),
            Type::Uint => formatter.write_str("uint"),
            Type::Double => formatter.write_str("double"),
            Type::String => formatter.write_str("string"),
            Type::List(item) => write!(formatter, "list({item})"),
            Type::Map(key, value) => write!(formatter, "map({key}, {value})"),
            Type::Optional(inner) => write!(formatter, "optional({inner})"),
            Type::Object(object) => formatter.write_str(object.name()),
        }
    }
}

impl ObjectType {
    fn is(self, other: ObjectType) -> bool {
        match (self, other) {
            (ObjectType::Resource(left), ObjectType::Resource(right)) => std::ptr::eq(left, right),
            (ObjectType::Struct(left), ObjectType::Struct(right)) => std::ptr::eq(left, right),
            (ObjectType::Metadata, ObjectType::Metadata)
            | (ObjectType::ResourceId, ObjectType::ResourceId)
            | (ObjectType::ResourceType, ObjectType::ResourceType) => true,
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ObjectType::Resource(_) => "resource",
            ObjectType::Metadata => "metadata",
            ObjectType::Struct(shape) => shape.name,
            ObjectType::ResourceId => "resource id",
            ObjectType::ResourceType => "resource type",
        }
    }

    /// JSON names and types of the fields.
    fn fields(self) -> Vec<(&'static str, Type)> {
        let text = |name| (name, Type::String);
        let texts = Type::map(Type::String, Type::String);
        match self {
            ObjectType::Resource(version) => vec![
                text("apiVersion"),
                text("kind"),
                ("metadata", Type::Object(ObjectType::Metadata)),
                ("spec", Type::Object(ObjectType::Struct(version.spec))),
                ("status", Type::Object(ObjectType::Struct(version.status))),
            ],
            ObjectType::Metadata => vec![
                text("name"),
                text("namespace"),
                text("generateName"),
                text("uid"),
                text("resourceVersion"),
                ("generation", Type::Int),
                ("labels", texts.clone()),
                ("annotations", texts),
                ("finalizers", Type::list(Type::String)),
            ],
            ObjectType::Struct(shape) => {
                let fields = shape.fields.iter();
                fields
                    .map(|field| (field.name, Type::of_shape(field.ty)))
                    .collect()
            }
            ObjectType::ResourceId => vec![
                ("parent", Type::Object(ObjectType::ResourceId)),
                text("subscriptionId"),
                text("resourceGroupName"),
                text("provider"),
                text("location"),
                ("resourceType", Type::Object(ObjectType::ResourceType)),
                text("name"),
            ],
            ObjectType::ResourceType => vec![text("namespace"), text("type")],
        }
    }

    /// The field that an expression writes as `name`: its JSON name and type.
    pub fn field(self, name: &str) -> Option<(&'static str, Type)> {
        if let ObjectType::Struct(shape) = self
            && let Some(field) = shape.field(name)
            && escaped(field.name) == name
        {
            return Some((field.name, Type::of_shape(field.ty)));
        }
        let mut fields = self.fields().into_iter();
        fields.find(|(field, _)| escaped(field) == name)
    }

    /// Names of all fields, as expressions write them.
    pub fn names(self) -> Vec<String> {
        let fields = self.fields().into_iter();
        fields.map(|(name, _)| escaped(name)).collect()
    }
}

/// A field's name as expressions write it: names of the CEL grammar and signs that cannot stand in a name are
/// escaped (ASO behaviour §3.4; the escapes are those of Kubernetes).
pub(super) fn escaped(name: &str) -> String {
    match name {
        "true" | "false" | "null" | "in" => format!("__{name}__"),
        _ => {
            let mut out = String::with_capacity(name.len());
            let mut rest = name;
            while let Some(first) = rest.chars().next() {
                let (text, length) = match first {
                    '_' if rest.starts_with("__") => ("__underscores__", 2),
                    '.' => ("__dot__", 1),
                    '-' => ("__dash__", 1),
                    '/' => ("__slash__", 1),
                    _ => (&rest[..first.len_utf8()], first.len_utf8()),
                };
                out.push_str(text);
                rest = &rest[length..];
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_kubernetes_does() {
        for (name, expected) in [
            ("location", "location"),
            ("in", "__in__"),
            ("null", "__null__"),
            ("const", "const"),
            ("odata.type", "odata__dot__type"),
            ("maxmemory-delta", "maxmemory__dash__delta"),
            ("a/b", "a__slash__b"),
            ("a_b", "a_b"),
            ("a__b__", "a__underscores__b__underscores__"),
            ("dash-__field", "dash__dash____underscores__field"),
        ] {
            assert_eq!(escaped(name), expected);
        }
    }

    #[test]
    fn types_unify_where_one_can_hold_both() {
        let texts = Type::list(Type::String);
        for (left, right, expected) in [
            (Type::Int, Type::Int, Some("int")),
            (Type::Int, Type::Double, None),
            (Type::Int, Type::Dyn, Some("dyn")),
            (
                Type::list(Type::Unknown),
                texts.clone(),
                Some("list(string)"),
            ),
            (texts.clone(), Type::list(Type::Int), None),
            (
                Type::map(Type::String, Type::Unknown),
                Type::map(Type::Unknown, Type::Bool),
                Some("map(string, bool)"),
            ),
            (texts, Type::String, None),
        ] {
            let unified = left.unify(&right).map(|ty| ty.to_string());
            assert_eq!(unified.as_deref(), expected, "{left} and {right}");
        }
    }
}
