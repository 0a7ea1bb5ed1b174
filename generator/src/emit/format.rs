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
    Ok(prettyplease::unparse(&syn::File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![item],
    }))
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
    use super::{WIDTH, import};

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
}
