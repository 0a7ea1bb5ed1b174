//! Where a file is wrong.
//!
//! The parser of a whole document says what is wrong and not where, and takes twice as long with each object around
//! the fault. So each object is parsed by itself first, without those inside it: a fault is found at once, and has a
//! pointer. Members that nothing reads are removed on the way.

use openapiv3::{
    Components, MediaType, OpenAPI, Operation, Parameter, PathItem, ReferenceOr, RequestBody,
    Response, Schema,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{inside, invalid};
use crate::load::{LoadError, Source};

/// Deepest nesting of objects that can be parsed on the stack of any thread; far beyond any real spec.
const DEEPEST: usize = 40;

/// What an object is, and so what stands in it.
struct Kind {
    /// Parses an object of this kind.
    parse: fn(Value) -> Result<(), serde_json::Error>,
    /// Members that are objects, lists or maps of objects.
    members: &'static [(&'static str, Holds, &'static Kind)],
    /// Members that nothing reads.
    unread: &'static [&'static str],
}

/// How a member holds objects.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    /// It is one. `{}` stands for it in the object around it.
    One,
    /// It is one that may be left out.
    Optional,
    List,
    MapOf,
    /// A map that may also have extensions in it.
    Extensible,
}

use Holds::{Extensible, List, MapOf, One, Optional};

static DOCUMENT: Kind = Kind {
    parse: parse::<OpenAPI>,
    members: &[
        ("components", One, &COMPONENTS),
        ("paths", Extensible, &PATH_ITEM),
    ],
    unread: &["servers", "security", "tags", "externalDocs"],
};
static COMPONENTS: Kind = Kind {
    parse: parse::<Components>,
    members: &[
        ("schemas", MapOf, &SCHEMA),
        ("responses", MapOf, &RESPONSE),
        ("parameters", MapOf, &PARAMETER),
        ("requestBodies", MapOf, &REQUEST_BODY),
    ],
    unread: &[
        "examples",
        "headers",
        "securitySchemes",
        "links",
        "callbacks",
    ],
};
static PATH_ITEM: Kind = Kind {
    parse: parse::<ReferenceOr<PathItem>>,
    members: &[
        ("parameters", List, &PARAMETER),
        ("get", Optional, &OPERATION),
        ("head", Optional, &OPERATION),
        ("put", Optional, &OPERATION),
        ("patch", Optional, &OPERATION),
        ("delete", Optional, &OPERATION),
    ],
    unread: &["post", "options", "trace", "servers"],
};
static OPERATION: Kind = Kind {
    parse: parse::<Operation>,
    members: &[
        ("parameters", List, &PARAMETER),
        ("requestBody", One, &REQUEST_BODY),
        ("responses", Extensible, &RESPONSE),
    ],
    unread: &["callbacks", "servers", "security", "tags", "externalDocs"],
};
static PARAMETER: Kind = Kind {
    parse: parse::<ReferenceOr<Parameter>>,
    members: &[("schema", One, &SCHEMA), ("content", MapOf, &MEDIA_TYPE)],
    unread: &["example", "examples"],
};
static REQUEST_BODY: Kind = Kind {
    parse: parse::<ReferenceOr<RequestBody>>,
    members: &[("content", MapOf, &MEDIA_TYPE)],
    unread: &[],
};
static RESPONSE: Kind = Kind {
    parse: parse::<ReferenceOr<Response>>,
    members: &[("content", MapOf, &MEDIA_TYPE)],
    unread: &["headers", "links"],
};
static MEDIA_TYPE: Kind = Kind {
    parse: parse::<MediaType>,
    members: &[("schema", One, &SCHEMA)],
    unread: &["example", "examples", "encoding"],
};
static SCHEMA: Kind = Kind {
    parse: parse::<ReferenceOr<Schema>>,
    members: &[
        ("properties", MapOf, &SCHEMA),
        ("items", One, &SCHEMA),
        ("additionalProperties", One, &SCHEMA),
        ("allOf", List, &SCHEMA),
        ("oneOf", List, &SCHEMA),
        ("anyOf", List, &SCHEMA),
    ],
    unread: &["not", "example", "externalDocs"],
};

fn parse<T: DeserializeOwned>(value: Value) -> Result<(), serde_json::Error> {
    serde_json::from_value::<T>(value).map(drop)
}

/// Checks a whole document and removes what nothing reads.
pub(super) fn check(document: &mut Value, at: &Source) -> Result<(), LoadError> {
    object(&DOCUMENT, document, at, 0)
}

fn object(kind: &Kind, value: &mut Value, at: &Source, depth: usize) -> Result<(), LoadError> {
    if depth > DEEPEST {
        return Err(invalid(at.clone(), "objects are nested too deep"));
    }
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| !kind.unread.contains(&name.as_str()));
    }
    (kind.parse)(alone(kind, value)).map_err(|error| invalid(at.clone(), error))?;
    for (name, holds, inner) in kind.members {
        let Some(member) = value.get_mut(*name) else {
            continue;
        };
        let place = inside(at, name);
        match (holds, member) {
            (One | Optional, member @ Value::Object(_)) => {
                object(inner, member, &place, depth + 1)?;
            }
            (List, Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    object(inner, item, &inside(&place, &index.to_string()), depth + 1)?;
                }
            }
            (MapOf | Extensible, Value::Object(items)) => {
                let is_item = |key: &str| *holds == MapOf || !key.starts_with("x-");
                for (key, item) in items.iter_mut().filter(|(key, _)| is_item(key)) {
                    object(inner, item, &inside(&place, key), depth + 1)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The object without those inside it.
fn alone(kind: &Kind, value: &Value) -> Value {
    let Some(members) = value.as_object() else {
        return value.clone();
    };
    let mut rest = Map::new();
    for (name, member) in members {
        let known = kind.members.iter().find(|(known, ..)| known == name);
        let stand_in = match (known.map(|(_, holds, _)| *holds), member) {
            (Some(Optional), Value::Object(_)) => continue,
            (Some(One | MapOf | Extensible), Value::Object(_)) => json!({}),
            (Some(List), Value::Array(_)) => json!([]),
            _ => member.clone(),
        };
        rest.insert(name.clone(), stand_in);
    }
    Value::Object(rest)
}
