//! Changes to a spec as a JSON tree, then now and then to its text.

use serde_json::{Map, Value, json};

use crate::{Choices, Subject};

/// A file in place of the one on disk.
#[derive(Debug)]
pub(crate) struct Edit {
    pub file: String,
    pub text: Vec<u8>,
}

/// Members that no pass reads; a change there is none.
const PROSE: [&str; 7] = [
    "description",
    "summary",
    "title",
    "tags",
    "operationId",
    "x-ms-examples",
    "consumes",
];

/// Names and texts that are rarely thought of.
const ODD: [&str; 34] = [
    "",
    " ",
    "_",
    "-",
    "*",
    "0",
    "00",
    "1.0",
    "..",
    "/",
    "~1",
    "a/b",
    "%2F",
    "%",
    "#",
    "\n",
    "\"",
    "\\",
    "`",
    "|",
    "{x}",
    "{}",
    "{",
    "$ref",
    "Self",
    "self",
    "crate",
    "type",
    "String",
    "Option",
    "日本語",
    "é",
    "id",
    "properties",
];

/// Scalars of every kind, at the ends of their ranges.
fn odd_value(choices: &mut Choices<'_>) -> Value {
    match choices.below(14) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0),
        3 => json!(-1),
        4 => json!(0.1),
        5 => json!(-1e308),
        6 => json!(u64::MAX),
        7 => json!(i64::MIN),
        8 => json!([]),
        9 => json!({}),
        10 => json!("n".repeat(4000)),
        11 => json!(*choices.of(&[
            "object", "array", "string", "integer", "number", "boolean", "file", "any"
        ])),
        12 => json!(*choices.of(&[
            "arm-id",
            "int32",
            "int64",
            "date-time",
            "(",
            "^(a{1000}){1000}$",
            "(?!x)"
        ])),
        _ => json!(odd(choices)),
    }
}

fn odd(choices: &mut Choices<'_>) -> &'static str {
    ODD[choices.below(ODD.len())]
}

/// A scalar of the same kind, which gets further than one of another. What is none stays.
fn alike(choices: &mut Choices<'_>, value: Value) -> Value {
    match value {
        Value::Bool(value) => json!(!value),
        Value::Number(_) => json!(*choices.of(&[0, 1, 2, i64::MAX])),
        Value::String(text) => json!(new_name(&text, choices)),
        other => other,
    }
}

/// One of the subject's files, changed.
pub(crate) fn mutated(subject: &Subject, choices: &mut Choices<'_>) -> Edit {
    let files = &subject.read().files;
    let file = if choices.once_in(8) {
        choices.of(files).clone()
    } else {
        subject.file.clone()
    };
    let bytes = std::fs::read(subject.root.folder().join(&file)).unwrap_or_default();
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let text = match serde_json::from_slice::<Value>(text) {
        Ok(mut document) => {
            let targets = targets(&document, files);
            for _ in 0..=choices.below(3) {
                change(&mut document, &targets, choices);
            }
            document.to_string().into_bytes()
        }
        Err(_) => bytes,
    };
    let text = if choices.once_in(32) {
        garbled(text, choices)
    } else {
        text
    };
    Edit { file, text }
}

/// What references of a document may point at: what it names itself, and what it has not.
fn targets(document: &Value, files: &[String]) -> Vec<String> {
    let mut found: Vec<String> = [
        "#",
        "",
        "#/",
        "#/definitions/",
        "#/-1",
        "#/99999999999999999999",
        "#/0/items",
    ]
    .map(str::to_owned)
    .to_vec();
    found.extend(
        [
            "https://example.com/a.json#/definitions/A",
            "../../../../../../../a.json#/definitions/A",
        ]
        .map(str::to_owned),
    );
    found.extend(files.iter().map(|file| {
        format!(
            "{}#/definitions/Resource",
            file.rsplit('/').next().unwrap_or_default()
        )
    }));
    for (at, prefix) in [
        ("/definitions", "#/definitions"),
        ("/components/schemas", "#/components/schemas"),
    ] {
        let named = document.pointer(at).and_then(Value::as_object);
        found.extend(
            named.into_iter().flatten().map(|(name, _)| {
                format!("{prefix}/{}", name.replace('~', "~0").replace('/', "~1"))
            }),
        );
    }
    let elements = document.as_array().map_or(0, Vec::len);
    found.extend((0..elements).map(|index| format!("#/{index}")));
    found
}

fn reference(targets: &[String], choices: &mut Choices<'_>) -> Value {
    // What comes first is wrong on purpose; mostly the reference should be sound.
    let first = if choices.once_in(4) {
        0
    } else {
        9.min(targets.len() - 1)
    };
    json!({ "$ref": choices.of(&targets[first..]) })
}

/// One change somewhere.
fn change(document: &mut Value, targets: &[String], choices: &mut Choices<'_>) {
    match choices.below(16) {
        0 | 1 => remove(document, choices),
        2 => replace(document, choices, |choices, _| odd_value(choices)),
        3 => replace(document, choices, alike),
        4 => swap(document, choices),
        5 | 6 => copy_member(document, choices),
        7 => rename_member(document, choices),
        8..=10 => replace(document, choices, |choices, _| reference(targets, choices)),
        11 => replace(document, choices, nested),
        12 => grow_list(document, targets, choices),
        13 => include(document, targets, choices),
        14 => multiply(document, targets, choices),
        _ => mangle_path(document, choices),
    }
}

fn is_any(_: &Value) -> bool {
    true
}

fn has_members(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}

/// A value that `keep` holds for. Prose is left out.
fn pick<'v>(
    document: &'v mut Value,
    choices: &mut Choices<'_>,
    keep: fn(&Value) -> bool,
) -> Option<&'v mut Value> {
    let number = choices.below(count(document, keep));
    nth(document, &mut number.clone(), keep)
}

fn count(value: &Value, keep: fn(&Value) -> bool) -> usize {
    let below: usize = match value {
        Value::Object(members) => {
            let read = members.iter().filter(|(name, _)| is_read(name));
            read.map(|(_, it)| count(it, keep)).sum()
        }
        Value::Array(items) => items.iter().map(|it| count(it, keep)).sum(),
        _ => 0,
    };
    usize::from(keep(value)) + below
}

/// The value with this number among those that `keep` holds for, in the order of the text.
fn nth<'v>(
    value: &'v mut Value,
    number: &mut usize,
    keep: fn(&Value) -> bool,
) -> Option<&'v mut Value> {
    if keep(value) {
        if *number == 0 {
            return Some(value);
        }
        *number -= 1;
    }
    match value {
        Value::Object(members) => {
            let mut read = members.iter_mut().filter(|(name, _)| is_read(name));
            read.find_map(|(_, it)| nth(it, number, keep))
        }
        Value::Array(items) => items.iter_mut().find_map(|it| nth(it, number, keep)),
        _ => None,
    }
}

fn is_read(name: &str) -> bool {
    !PROSE.contains(&name)
}

fn replace<'c>(
    document: &mut Value,
    choices: &mut Choices<'c>,
    with: impl FnOnce(&mut Choices<'c>, Value) -> Value,
) {
    if let Some(slot) = pick(document, choices, is_any) {
        *slot = with(choices, slot.take());
    }
}

fn swap(document: &mut Value, choices: &mut Choices<'_>) {
    let end = count(document, is_any);
    let places = [(); 2].map(|()| choices.below(end));
    let values = places.map(|it| nth(document, &mut it.clone(), is_any).cloned());
    for (place, value) in places.into_iter().zip(values.into_iter().rev()) {
        // The first exchange may have moved the second place away.
        if let (Some(slot), Some(value)) = (nth(document, &mut place.clone(), is_any), value) {
            *slot = value;
        }
    }
}

fn remove(document: &mut Value, choices: &mut Choices<'_>) {
    let has_parts = |value: &Value| {
        has_members(value) || value.as_array().is_some_and(|items| !items.is_empty())
    };
    match pick(document, choices, has_parts) {
        Some(Value::Object(members)) => {
            let name = any_name(members, choices);
            members.shift_remove(&name);
        }
        Some(Value::Array(items)) => {
            items.remove(choices.below(items.len()));
        }
        _ => {}
    }
}

fn any_name(members: &Map<String, Value>, choices: &mut Choices<'_>) -> String {
    let number = choices.below(members.len());
    members.keys().nth(number).cloned().unwrap_or_default()
}

/// A name like another one, or like none.
fn new_name(name: &str, choices: &mut Choices<'_>) -> String {
    match choices.below(6) {
        0 => name.to_uppercase(),
        1 => name.to_lowercase(),
        2 => format!("{name}-"),
        3 => format!("{name}2"),
        4 => format!("_{name}"),
        _ => odd(choices).to_owned(),
    }
}

fn copy_member(document: &mut Value, choices: &mut Choices<'_>) {
    if let Some(Value::Object(members)) = pick(document, choices, has_members) {
        let name = any_name(members, choices);
        let copy = members[&name].clone();
        members.insert(new_name(&name, choices), copy);
    }
}

fn rename_member(document: &mut Value, choices: &mut Choices<'_>) {
    if let Some(Value::Object(members)) = pick(document, choices, has_members) {
        let name = any_name(members, choices);
        if let Some(value) = members.shift_remove(&name) {
            members.insert(new_name(&name, choices), value);
        }
    }
}

/// The value deep within schemas.
fn nested(choices: &mut Choices<'_>, mut value: Value) -> Value {
    let style = choices.below(5);
    for level in 0..*choices.of(&[1, 3, 30, 70, 110, 400]) {
        let style = if style == 4 { level % 4 } else { style };
        value = match style {
            0 => json!({"type": "array", "items": value}),
            1 => json!({"type": "object", "properties": {"inner": value}}),
            2 => json!({"type": "object", "additionalProperties": value}),
            _ => json!({"allOf": [value]}),
        };
    }
    value
}

fn grow_list(document: &mut Value, targets: &[String], choices: &mut Choices<'_>) {
    let Some(Value::Array(items)) = pick(document, choices, Value::is_array) else {
        return;
    };
    let known = items.get(choices.below(items.len())).cloned();
    let added = match (choices.below(4), known) {
        (0, _) => reference(targets, choices),
        (1, _) => odd_value(choices),
        (_, Some(Value::String(text))) => json!(new_name(&text, choices)),
        (_, known) => known.unwrap_or_default(),
    };
    items.push(added);
}

/// Lets a schema include others and tell its own variants apart.
fn include(document: &mut Value, targets: &[String], choices: &mut Choices<'_>) {
    let parts: Vec<Value> = (0..=choices.below(3))
        .map(|_| reference(targets, choices))
        .collect();
    if let Some(Value::Object(members)) = pick(document, choices, has_members) {
        members.insert("allOf".to_owned(), parts.into());
        if choices.once_in(2) {
            let name = *choices.of(&["kind", "type", "name", "@odata.type", ""]);
            members.insert("discriminator".to_owned(), json!(name));
        }
    }
}

/// Adds many schemas, each of which refers to the one before, and puts the last somewhere.
fn multiply(document: &mut Value, targets: &[String], choices: &mut Choices<'_>) {
    let first = reference(targets, choices);
    let style = choices.below(7);
    let many = *choices.of(&[5, 20, 40, 300, 3000, 20_000]);
    let last = if let Value::Array(elements) = document {
        for _ in 0..many {
            let before = format!("#/{}", elements.len().saturating_sub(1));
            elements.push(element(style, &before));
        }
        format!("#/{}", elements.len() - 1)
    } else {
        let (at, named) = match document.pointer("/components/schemas") {
            Some(_) => (
                "#/components/schemas",
                document.pointer_mut("/components/schemas"),
            ),
            None => ("#/definitions", document.get_mut("definitions")),
        };
        let Some(Value::Object(named)) = named else {
            return;
        };
        let mut before = first;
        for number in 0..many {
            named.insert(format!("Many{number}"), schema(style, &before));
            before = json!({ "$ref": format!("{at}/Many{number}") });
        }
        format!("{at}/Many{}", many - 1)
    };
    replace(document, choices, |_, _| json!({ "$ref": last }));
}

fn schema(style: usize, before: &Value) -> Value {
    match style {
        0 => before.clone(),
        1 => json!({"allOf": [before]}),
        2 => {
            json!({"allOf": [before, before], "discriminator": "kind", "properties": {"kind": {"type": "string"}}})
        }
        3 => json!({"type": "object", "properties": {"left": before, "right": before}}),
        4 => json!({"type": "array", "items": before}),
        5 => json!({"type": "object", "additionalProperties": before}),
        _ => json!({"type": "object", "properties": {"properties": before}, "allOf": [before]}),
    }
}

fn element(style: usize, before: &str) -> Value {
    let before = json!({ "$ref": before });
    match style {
        0 | 1 => json!({"$type": "ArrayType", "itemType": before}),
        2 | 3 => json!({
            "$type": "DiscriminatedObjectType", "name": "Many", "discriminator": "kind",
            "baseProperties": {"inner": {"type": before, "flags": 0}}, "elements": {"one": before, "two": before},
        }),
        4 => json!({"$type": "UnionType", "elements": [before, before]}),
        _ => json!({
            "$type": "ObjectType", "name": "Many", "additionalProperties": before,
            "properties": {"left": {"type": before, "flags": 0}, "right": {"type": before, "flags": 0}},
        }),
    }
}

/// Changes a path of OpenAPI, or the name of a resource type of Bicep.
fn mangle_path(document: &mut Value, choices: &mut Choices<'_>) {
    match document {
        Value::Array(elements) => {
            let is_resource = |it: &&mut Value| it["$type"] == "ResourceType";
            let mut resources: Vec<_> = elements.iter_mut().filter(is_resource).collect();
            let number = choices.below(resources.len());
            if let Some(resource) = resources.get_mut(number) {
                let name = resource["name"].as_str().unwrap_or_default();
                resource["name"] = json!(mangled(name, choices));
            }
        }
        _ => {
            if let Some(Value::Object(paths)) = document.get_mut("paths") {
                let path = any_name(paths, choices);
                if let Some(item) = paths.get(&path).cloned() {
                    if choices.once_in(2) {
                        paths.shift_remove(&path);
                    }
                    paths.insert(mangled(&path, choices), item);
                }
            }
        }
    }
}

fn mangled(path: &str, choices: &mut Choices<'_>) -> String {
    let mut segments: Vec<&str> = path.split('/').collect();
    let place = choices.below(segments.len());
    let other = segments[choices.below(segments.len())];
    match choices.below(5) {
        0 => {
            segments.remove(place);
        }
        1 => segments.insert(place, odd(choices)),
        2 => segments[place] = odd(choices),
        3 => segments[place] = other,
        // The same pair again and again.
        _ => {
            let pair: Vec<&str> = segments[segments.len().saturating_sub(2)..].to_vec();
            (0..choices.below(12)).for_each(|_| segments.extend(&pair));
        }
    }
    segments.join("/")
}

/// The text itself changed: cut short, with a byte-order mark, a stray byte, or a part twice.
fn garbled(mut text: Vec<u8>, choices: &mut Choices<'_>) -> Vec<u8> {
    let at = choices.below(text.len());
    match choices.below(5) {
        0 => text.truncate(at),
        1 => {
            text.splice(0..0, *b"\xef\xbb\xbf");
        }
        2 => text.insert(at, *choices.of(&[0, b'"', b'{', b'[', 0x80, 0xff])),
        3 => {
            let end = (at + choices.below(200)).min(text.len());
            let part = text[at..end].to_vec();
            text.splice(at..at, part);
        }
        _ => {
            let open = b"[".repeat(*choices.of(&[10, 200, 5000]));
            text.splice(at..at, open);
        }
    }
    text
}
