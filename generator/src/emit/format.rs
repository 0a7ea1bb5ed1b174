//! From tokens to text.

use proc_macro2::TokenStream;

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

/// Names of a `use`: `name` or `{a, b}`, broken into lines where it is long.
pub fn braced(names: &[&str]) -> String {
    match names {
        [name] => (*name).to_owned(),
        _ => {
            let line = names.join(", ");
            if line.len() < 70 {
                return format!("{{{line}}}");
            }
            let lines = names.iter().map(|name| format!("    {name},\n"));
            format!("{{\n{}}}", lines.collect::<String>())
        }
    }
}
