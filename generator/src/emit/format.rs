//! From tokens to text, and the layout of what is no token stream.

use proc_macro2::TokenStream;

/// Longest line that is not broken.
pub const WIDTH: usize = 100;

/// A problem of the generator itself: it wrote something that is no Rust.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {what}: {source}; a name of a kind, type or property gives no valid Rust")]
pub struct FormatError {
    /// What was being written.
    pub what: String,
    /// Why it is no Rust.
    #[source]
    pub source: syn::Error,
}

/// One item as formatted text.
pub fn item(what: &str, tokens: TokenStream) -> Result<String, FormatError> {
    let item = syn::parse2(tokens).map_err(|source| FormatError {
        what: what.to_owned(),
        source,
    })?;
    Ok(joined(&prettyplease::unparse(&syn::File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![item],
    })))
}

/// Formatted text with each literal on one line where that is long enough: `prettyplease` breaks all that have more than
/// one member.
fn joined(text: &str) -> String {
    let mut done: Vec<String> = Vec::new();
    let mut open = Vec::new();
    for line in text.lines() {
        let start = line.trim_start().starts_with(['}', ')', ']']);
        done.push(line.to_owned());
        if start && let Some(first) = open.pop() {
            let last = done.len() - 1;
            if let Some(whole) = joined_lines(&done[first..=last]) {
                done.truncate(first);
                done.push(whole);
            }
        }
        if line.ends_with(['{', '(', '[']) {
            open.push(done.len() - 1);
        }
    }
    done.iter().map(|line| format!("{line}\n")).collect()
}

/// A literal in one line, if it fits and its members are each on one.
fn joined_lines(lines: &[String]) -> Option<String> {
    let [first, members @ .., last] = lines else {
        return None;
    };
    let gap = if first.ends_with('{') { " " } else { "" };
    let members: Vec<&str> = members.iter().map(|it| it.trim_start()).collect();
    let last = last.trim_start();
    let is_whole = |member: &&str| {
        let is_call = member.starts_with('.') && !member.starts_with("..");
        !member.ends_with(['{', '(', '[']) && !is_call
    };
    let all = members.join(" ");
    let whole = format!("{first}{gap}{}{gap}{last}", all.trim_end_matches(','));
    (members.iter().all(is_whole) && whole.chars().count() <= WIDTH).then_some(whole)
}

/// An identifier in generated code.
pub fn ident(name: &str) -> proc_macro2::Ident {
    proc_macro2::Ident::new(name, proc_macro2::Span::call_site())
}

/// A doc attribute, which `prettyplease` writes as a `///` line.
pub fn doc(text: &str) -> TokenStream {
    let text = format!(" {text}");
    quote::quote!(#[doc = #text])
}

/// An import of one or more names, `use path::{a, b};`, filled to the width.
pub fn import(path: &str, names: &[String]) -> String {
    if let [name] = names {
        return format!("{path}::{name};\n");
    }
    let line = format!("{path}::{{{}}};\n", names.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    let mut lines = vec![String::new()];
    for name in names {
        let last = lines.len() - 1;
        let longer = match lines[last].as_str() {
            "" => format!("    {name},"),
            line => format!("{line} {name},"),
        };
        if longer.len() <= WIDTH {
            lines[last] = longer;
        } else {
            lines.push(format!("    {name},"));
        }
    }
    format!("{path}::{{\n{}\n}};\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, import, item, joined};

    #[test]
    fn imports_fill_lines() {
        let names = |count| {
            (0..count)
                .map(|n| format!("Name{n:02}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(import("use a", &names(1)), "use a::Name00;\n");
        assert_eq!(import("use a", &names(2)), "use a::{Name00, Name01};\n");
        let text = import("use a", &names(20));
        let lines = text.lines().collect::<Vec<_>>();
        assert_eq!(lines[0], "use a::{");
        assert!(lines[1].starts_with("    Name00, Name01,"), "{text}");
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{text}");
    }

    #[test]
    fn literals_that_fit_are_on_one_line() {
        let long = "x".repeat(WIDTH);
        for (text, expected) in [
            (
                "a: A::B {\n    c: C(\n        &D {\n            e: 1,\n            ..F\n        },\n    ),\n    g: [\n        1,\n    ],\n},\n",
                "a: A::B { c: C(&D { e: 1, ..F }), g: [1] },\n".to_owned(),
            ),
            (
                &format!("a: &[\n    B {{\n        c: 1,\n    }},\n    \"{long}\",\n],\n"),
                format!("a: &[\n    B {{ c: 1 }},\n    \"{long}\",\n],\n"),
            ),
            ("const A: B = C {};\n", "const A: B = C {};\n".to_owned()),
        ] {
            assert_eq!(joined(text), expected);
        }
        let tokens = quote::quote!(
            const A: B = B { c: &[1, 2], ..D };
        );
        let text = item("a constant", tokens).expect("Rust");
        assert_eq!(text, "const A: B = B { c: &[1, 2], ..D };\n");
    }
}
