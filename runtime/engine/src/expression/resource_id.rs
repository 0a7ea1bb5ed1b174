//! `aso.parseResourceId`: the parts of an ARM id, named as Azure's SDK for Go names them.

use std::collections::BTreeMap;

use armature_shapes::id::ResourceId;

use super::value::{Key, Value};

/// One level of an id. Fields that the level does not have are empty.
#[derive(Clone, Default)]
struct Level {
    subscription: String,
    group: String,
    provider: String,
    location: String,
    namespace: String,
    ty: String,
    name: String,
    parent: Option<Box<Level>>,
}

/// Namespace of the types that stand in an id without a provider.
const RESOURCES: &str = "Microsoft.Resources";

/// Reads an id.
pub(super) fn parse<'a>(text: &str) -> Result<Value<'a>, String> {
    if text.is_empty() {
        return Err("aso.parseResourceId: the id is empty; it may not be known yet".to_owned());
    }
    let id = ResourceId::parse(text).map_err(|_| "aso.parseResourceId: this is no ARM id")?;
    let mut level = Level {
        namespace: RESOURCES.to_owned(),
        ty: "tenants".to_owned(),
        ..Level::default()
    };
    let mut segments = id.as_str().split('/').skip(1).peekable();
    while let Some(first) = segments.next() {
        let name = segments.next().unwrap_or_default();
        if !first.eq_ignore_ascii_case("providers") {
            level = level.child(None, first, name);
            continue;
        }
        let next = segments.peek();
        if next.is_none_or(|next| next.eq_ignore_ascii_case("providers")) {
            level = level.child(Some(RESOURCES), first, name);
            level.provider = name.to_owned();
            continue;
        }
        let ty = segments.next().unwrap_or_default();
        level = level.child(Some(name), ty, segments.next().unwrap_or_default());
    }
    Ok(level.value())
}

impl Level {
    /// The level below. Without a provider of its own it is of the type `parent/segment`.
    fn child(self, provider: Option<&str>, segment: &str, name: &str) -> Level {
        let (namespace, ty) = match provider {
            Some(provider) => (provider.to_owned(), segment.to_owned()),
            None if self.namespace == RESOURCES => (RESOURCES.to_owned(), segment.to_owned()),
            None => (self.namespace.clone(), format!("{}/{segment}", self.ty)),
        };
        let mut level = Level {
            namespace,
            ty,
            name: name.to_owned(),
            parent: None,
            ..self.clone()
        };
        match segment.to_ascii_lowercase().as_str() {
            "subscriptions" => level.subscription = name.to_owned(),
            "resourcegroups" => level.group = name.to_owned(),
            "locations" => level.location = name.to_owned(),
            _ => {}
        }
        level.parent = Some(Box::new(self));
        level
    }

    fn value<'a>(self) -> Value<'a> {
        let text = |text: String| Value::text(text);
        let ty = object([("namespace", text(self.namespace)), ("type", text(self.ty))]);
        let mut entries = vec![
            ("subscriptionId", text(self.subscription)),
            ("resourceGroupName", text(self.group)),
            ("provider", text(self.provider)),
            ("location", text(self.location)),
            ("resourceType", ty),
            ("name", text(self.name)),
        ];
        if let Some(parent) = self.parent {
            entries.push(("parent", parent.value()));
        }
        object(entries)
    }
}

fn object<'a>(entries: impl IntoIterator<Item = (&'static str, Value<'a>)>) -> Value<'a> {
    let entries = entries.into_iter();
    let entries = entries.map(|(name, value)| (Key::String(name.into()), value));
    Value::map(entries.collect::<BTreeMap<_, _>>())
}
