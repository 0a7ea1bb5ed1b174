//! Checking a file against its form.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Problem, nearest};
use super::form::FILE;
use super::key::{Form, Key};
use super::text::Text;

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
