//! The form of a curation file as data: which keys may stand where, with which values. A file is checked against it
//! before it is read, so that everything wrong with its form is told at once and with a suggestion.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Problem, nearest};
use super::text::Text;

/// A key that may stand in a table.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub form: Form,
    /// Whether the table is incomplete without it.
    pub is_required: bool,
    /// A line that has it.
    pub example: &'static str,
}

/// What a value may be.
#[derive(Debug)]
pub enum Form {
    /// A string.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A list of strings.
    Texts,
    /// A table with these keys.
    Table(&'static [Key]),
    /// Any number of tables with these keys.
    Tables(&'static [Key]),
    /// A table whose keys the author chooses.
    Map(&'static Form),
    /// One of these words, or a list of strings.
    WordOrTexts(&'static [&'static str]),
    /// One of these words, or a table with these keys.
    WordOrTable(&'static [&'static str], &'static [Key]),
}

const fn key(name: &'static str, form: Form, example: &'static str) -> Key {
    Key {
        name,
        form,
        is_required: false,
        example,
    }
}

const fn required(name: &'static str, form: Form, example: &'static str) -> Key {
    Key {
        is_required: true,
        ..key(name, form, example)
    }
}

/// Keys of a file.
pub static FILE: [Key; 9] = [
    required("group", Form::Text, r#"group = "storage""#),
    required(
        "sources",
        Form::Map(&Form::Table(&SOURCE)),
        "[sources.storage]",
    ),
    required(
        "naming",
        Form::Word(&["legacy", "hybrid", "new"]),
        r#"naming = "hybrid""#,
    ),
    key(
        "new-naming-from",
        Form::Text,
        r#"new-naming-from = "2025-06-01""#,
    ),
    key(
        "explicit-collections",
        Form::Flag,
        "explicit-collections = true",
    ),
    required(
        "kinds",
        Form::Map(&Form::Table(&KIND)),
        r#"[kinds.StorageAccount]"#,
    ),
    key("parts", Form::Texts, r#"parts = ["Delegation"]"#),
    key(
        "types",
        Form::Map(&Form::Map(&Form::WordOrTable(&TREATMENTS, &RULE))),
        r#"[types.VirtualNetworkRule]"#,
    ),
    key("errors", Form::Tables(&ERROR), "[[errors]]"),
];

static SOURCE: [Key; 4] = [
    required(
        "folder",
        Form::Text,
        r#"folder = "specification/storage/resource-manager/Microsoft.Storage""#,
    ),
    key("files", Form::Texts, r#"files = ["storage.json"]"#),
    required(
        "versions",
        Form::Map(&Form::WordOrTexts(&["openapi", "bicep"])),
        r#"versions = { "2023-01-01" = "openapi" }"#,
    ),
    key(
        "inherit-from",
        Form::Texts,
        r#"inherit-from = ["2023-05-01"]"#,
    ),
];

static ERROR: [Key; 5] = [
    key("kinds", Form::Texts, r#"kinds = ["PublicIPAddress"]"#),
    required(
        "code",
        Form::Text,
        r#"code = "ReferencedResourceNotProvisioned""#,
    ),
    key("message", Form::Text, r#"message = "was not found""#),
    required(
        "class",
        Form::Word(&["fatal", "retry-fast", "retry-slow", "retry-very-slow"]),
        r#"class = "retry-slow""#,
    ),
    key(
        "because",
        Form::Text,
        r#"because = "the other resource is being made""#,
    ),
];

static KIND: [Key; 7] = [
    required(
        "type",
        Form::Text,
        r#"type = "Microsoft.Storage/storageAccounts""#,
    ),
    key("source", Form::Text, r#"source = "storage""#),
    key("versions", Form::Texts, r#"versions = ["2023-01-01"]"#),
    key(
        "secrets",
        Form::Map(&Form::Table(&SECRET)),
        r#"subscriptionId = { id = "subscription" }"#,
    ),
    key("secrets-from", Form::Text, r#"secrets-from = "2023-01-31""#),
    key(
        "config-maps",
        Form::Map(&Form::Text),
        r#"config-maps = { alias = "alias" }"#,
    ),
    key(
        "config-maps-from",
        Form::Text,
        r#"config-maps-from = "2024-04-13""#,
    ),
];

static SECRET: [Key; 4] = [
    key("status", Form::Text, r#"status = "primaryEndpoints.blob""#),
    key(
        "id",
        Form::Word(&["subscription"]),
        r#"id = "subscription""#,
    ),
    key("action", Form::Text, r#"action = "listKeys""#),
    key("value", Form::Text, r#"value = "keys[keyName=key1].value""#),
];

static TREATMENTS: [&str; 10] = [
    "reference",
    "well-known-reference",
    "plain",
    "secret",
    "secret-map",
    "config-map",
    "config-map-required",
    "child-kind",
    "remove",
    "flatten",
];

static RULE: [Key; 9] = [
    key("as", Form::Word(&TREATMENTS), r#"as = "reference""#),
    key("rename", Form::Text, r#"rename = "tier""#),
    key("was", Form::Text, r#"was = "tier""#),
    key(
        "type",
        Form::Word(&[
            "boolean",
            "integer",
            "number",
            "string",
            "json",
            "string-map",
        ]),
        r#"type = "string""#,
    ),
    key("values", Form::Texts, r#"values = ["Allow", "Deny"]"#),
    key("required", Form::Flag, "required = true"),
    key("side", Form::Word(&["spec", "status"]), r#"side = "spec""#),
    key("versions", Form::Texts, r#"versions = ["2023-01-01"]"#),
    key("because", Form::Text, r#"because = "Azure sets it""#),
];

/// Everything that is wrong with the form of a file.
pub(super) fn check(text: &Text) -> Vec<Problem> {
    let (document, errors) = DeTable::parse_recoverable(text.as_str());
    if !errors.is_empty() {
        return errors.iter().map(|error| broken(text, error)).collect();
    }
    let mut check = Check {
        text,
        problems: Vec::new(),
    };
    check.table(document.get_ref(), 0..0, &FILE, "");
    check.problems
}

/// A fault of TOML itself.
fn broken(text: &Text, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or_default();
    let message = match error.message() {
        "duplicate key" => {
            let key = text.as_str().get(span.clone()).unwrap_or_default();
            format!("`{key}` stands twice; remove or merge one of the two")
        }
        message => message.to_owned(),
    };
    text.problem(span, message)
}

struct Check<'t> {
    text: &'t Text,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn report(&mut self, span: Range<usize>, message: String) {
        self.problems.push(self.text.problem(span, message));
    }

    fn table(&mut self, table: &DeTable<'_>, span: Range<usize>, keys: &'static [Key], path: &str) {
        for (name, value) in table {
            match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(key) => {
                    let path = join(path, key.name);
                    self.value(value, &key.form, key.example, &path);
                }
                None => self.unknown_key(name, keys, path),
            }
        }
        for key in keys.iter().filter(|key| key.is_required) {
            if !table.keys().any(|name| name.get_ref() == key.name) {
                let message = format!(
                    "`{}` is missing{}; add it, for example `{}`",
                    key.name,
                    within(path),
                    key.example
                );
                self.report(span.clone(), message);
            }
        }
    }

    fn unknown_key(&mut self, name: &Spanned<impl AsRef<str>>, keys: &'static [Key], path: &str) {
        let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let advice = advice(name.get_ref().as_ref(), &known);
        let message = format!(
            "unknown key `{}`{}; {advice}",
            name.get_ref().as_ref(),
            within(path)
        );
        self.report(name.span(), message);
    }

    fn value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        form: &'static Form,
        example: &str,
        path: &str,
    ) {
        match (form, value.get_ref()) {
            (Form::Text, DeValue::String(_)) | (Form::Flag, DeValue::Boolean(_)) => {}
            (
                Form::Word(words) | Form::WordOrTexts(words) | Form::WordOrTable(words, _),
                DeValue::String(word),
            ) => {
                if !words.contains(&word.as_ref()) {
                    let advice = advice(word, words);
                    self.report(
                        value.span(),
                        format!("`{path}` cannot be `{word}`; {advice}"),
                    );
                }
            }
            (Form::Texts | Form::WordOrTexts(_), DeValue::Array(items)) => {
                for item in items {
                    self.value(item, &Form::Text, example, &format!("{path}[]"));
                }
            }
            (Form::Table(keys) | Form::WordOrTable(_, keys), DeValue::Table(table)) => {
                self.table(table, value.span(), keys, path);
            }
            (Form::Tables(keys), DeValue::Array(items))
                if items.iter().all(|item| item.get_ref().is_table()) =>
            {
                let tables = items.iter().filter_map(|item| {
                    let table = item.get_ref().as_table()?;
                    Some((table, item.span()))
                });
                for (table, span) in tables {
                    self.table(table, span, keys, path);
                }
            }
            (Form::Map(form), DeValue::Table(table)) => {
                for (name, value) in table {
                    self.value(value, form, example, &join(path, name.get_ref()));
                }
            }
            (form, found) => {
                let message = format!(
                    "`{path}` is {}; expected {}, for example `{example}`",
                    with_article(found.type_str()),
                    expected(form)
                );
                self.report(value.span(), message);
            }
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn within(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(" in `{path}`")
    }
}

fn advice(name: &str, known: &[&str]) -> String {
    let all = format!("known here: {}", known.join(", "));
    match nearest(name, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`? ({all})"),
        None => all,
    }
}

fn expected(form: &Form) -> &'static str {
    match form {
        Form::Text => "a string",
        Form::Word(_) => "a word",
        Form::Flag => "true or false",
        Form::Texts => "a list of strings",
        Form::Table(_) | Form::Map(_) => "a table",
        Form::Tables(_) => "a list of tables",
        Form::WordOrTexts(_) => "a word or a list of strings",
        Form::WordOrTable(..) => "a word or a table",
    }
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}
