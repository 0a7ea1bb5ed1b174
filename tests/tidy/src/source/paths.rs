//! Paths in the tokens of macro calls and of `macro_rules!`, which `syn` does not parse.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Mention;

/// All paths in the tokens. A lone name counts if it may be a type; others are mostly fields and variables.
pub(super) fn mentions(tokens: TokenStream) -> Vec<Mention> {
    let mut found = Vec::new();
    collect(tokens, &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<Mention>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => {
                collect(group.stream(), found);
                at += 1;
            }
            TokenTree::Ident(first) => {
                let line = first.span().start().line;
                let after_separator = at >= 2 && separator(&tokens[at - 2..]);
                let mut path = vec![first.to_string()];
                at += 1;
                while at + 2 < tokens.len() && separator(&tokens[at..]) {
                    let TokenTree::Ident(next) = &tokens[at + 2] else {
                        break;
                    };
                    path.push(next.to_string());
                    at += 3;
                }
                let called_as_macro = is_call(&tokens[at..]);
                let type_like = path[0].starts_with(char::is_uppercase);
                if !after_separator && (path.len() > 1 || type_like || called_as_macro) {
                    found.push(Mention {
                        path,
                        line,
                        called_as_macro,
                    });
                }
            }
            _ => at += 1,
        }
    }
}

fn separator(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(one), TokenTree::Punct(two), ..] if one.as_char() == ':' && two.as_char() == ':')
}

/// `!` and a group; `a != (b)` has a joint `!`.
fn is_call(tokens: &[TokenTree]) -> bool {
    matches!(
        tokens,
        [TokenTree::Punct(mark), TokenTree::Group(group), ..]
            if mark.as_char() == '!' && group.delimiter() != Delimiter::None
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_groups_and_behind_dollars() {
        let tokens = "a.b, (crate::c::D::e(), $crate::f!{G}), x != (y), ::std::h"
            .parse()
            .unwrap();
        let found: Vec<(String, bool)> = mentions(tokens)
            .into_iter()
            .map(|mention| (mention.path.join("::"), mention.called_as_macro))
            .collect();
        assert_eq!(
            found,
            [
                ("crate::c::D::e".to_owned(), false),
                ("crate::f".to_owned(), true),
                ("G".to_owned(), false),
            ]
        );
    }
}
