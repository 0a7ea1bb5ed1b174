//! Below which ARM ids everything must be that the objects of a namespace are for and refer to.
//!
//! | module | what lives here |
//! |---|---|
//! | `bound` | the scopes of one namespace: who said them, and what is told of an id outside |
//! | `definitions` | ids that are allowed without asking |
//!
//! What does not live here: what a pass asks about, see [`crate::driver`], and the way of its requests, see [`crate::remote`].

mod bound;
mod definitions;

use std::fmt;

use armature_shapes::id::segment::{self, MisleadingSegment};
use armature_shapes::quote::shortened;

pub use bound::{Bound, Source};

/// First segments of ARM ids: below a subscription, and of the tenant.
const ROOTS: [&str; 2] = ["subscriptions", "providers"];

/// What becomes of ids that only the whole request shows: in its path, and in texts of its body that are no references.
/// References and the resource's own place are refused either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// Nothing is sent.
    #[default]
    Enforce,
    /// It is sent, and told by an event.
    Warn,
}

impl Enforcement {
    /// Reads `enforce` or `warn`.
    ///
    /// # Errors
    /// When it is another word.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "enforce" => Ok(Self::Enforce),
            "warn" => Ok(Self::Warn),
            _ => Err("expected 'enforce' or 'warn'".to_owned()),
        }
    }
}

/// The text that names no scope on purpose.
const NONE: &str = "none";

/// ARM ids below which something is allowed. Where there are none, nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedScopes(Vec<String>);

/// Why a text names no scopes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopesError {
    /// It is empty, which must not pass for everything.
    #[error(
        "it names no scope: write ARM ids such as /subscriptions/ID/resourceGroups/NAME, none to allow nothing, or leave it out to allow everything"
    )]
    Empty,
    /// One of them is no ARM id, or one of too much.
    #[error(
        "'{}' is no scope: write /subscriptions/ID or /providers/NAMESPACE, and what is below it, without wildcards",
        shortened(scope)
    )]
    NoScope {
        /// As it is written.
        scope: String,
    },
    /// One of them would be read as another.
    #[error("'{}' is no scope: {misleading}", shortened(scope))]
    Misleading {
        /// As it is written.
        scope: String,
        /// The segment.
        misleading: MisleadingSegment,
    },
}

impl AllowedScopes {
    /// Reads ARM ids with commas or blanks between them, or `none`.
    ///
    /// # Errors
    /// When the text is empty, or one of them is not understood: then none counts.
    pub fn parse(text: &str) -> Result<Self, ScopesError> {
        let scopes = text.split(|letter: char| letter == ',' || letter.is_whitespace());
        let scopes: Vec<&str> = scopes.filter(|scope| !scope.is_empty()).collect();
        match scopes.as_slice() {
            [] => Err(ScopesError::Empty),
            [NONE] => Ok(Self(Vec::new())),
            scopes => scopes
                .iter()
                .map(|text| scope(text))
                .collect::<Result<_, _>>()
                .map(Self),
        }
    }

    /// Whether an ARM id is one of the scopes or below one: segment by segment, in any casing. An id that might be read
    /// as another is below none.
    pub fn allow(&self, id: &str) -> bool {
        let is_above = |scope: &String| {
            let mut segments = id.split('/');
            let mut above = scope.split('/');
            above.all(|above| {
                segments
                    .next()
                    .is_some_and(|at| at.eq_ignore_ascii_case(above))
            })
        };
        segment::check_path(id).is_ok() && self.0.iter().any(is_above)
    }
}

impl AllowedScopes {
    /// Whether the finished body of a PUT may name an ARM id: one that is below a scope, or a definition of a role or a policy
    /// that is the same for everybody.
    pub fn allow_in_body(&self, id: &str) -> bool {
        self.allow(id) || segment::check_path(id).is_ok() && definitions::is_definition(id)
    }
}

impl fmt::Display for AllowedScopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => formatter.write_str(NONE),
            false => formatter.write_str(&self.0.join(", ")),
        }
    }
}

fn scope(text: &str) -> Result<String, ScopesError> {
    let scope = text.to_owned();
    let kept = text.strip_suffix('/').unwrap_or(text);
    let segments: Vec<&str> = kept.split('/').collect();
    let is_scope = match segments.as_slice() {
        ["", root, rest @ ..] => {
            let is_root = ROOTS.iter().any(|known| known.eq_ignore_ascii_case(root));
            is_root && !rest.is_empty() && rest.iter().all(|at| !at.is_empty() && !at.contains('*'))
        }
        _ => false,
    };
    if !is_scope {
        return Err(ScopesError::NoScope { scope });
    }
    match segment::check_path(kept) {
        Ok(()) => Ok(kept.to_owned()),
        Err(misleading) => Err(ScopesError::Misleading { scope, misleading }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_scope() {
        let scopes = "/subscriptions/S/resourceGroups/team/, /providers/Microsoft.Authorization/roleDefinitions";
        let scopes = AllowedScopes::parse(scopes).unwrap();
        let vault = "/subscriptions/s/resourcegroups/TEAM/providers/Microsoft.KeyVault/vaults/v";
        let of_vault = format!("{vault}/providers/Microsoft.Authorization/locks/l");
        for (id, expected) in [
            ("/subscriptions/s/resourceGroups/team", true),
            (vault, true),
            (&of_vault, true),
            ("/providers/microsoft.authorization/roleDefinitions/r", true),
            ("/subscriptions/s", false),
            ("/subscriptions/s/resourceGroups", false),
            ("/subscriptions/s/resourceGroups/team2", false),
            ("/subscriptions/other/resourceGroups/team", false),
            (
                "/subscriptions/s/providers/Microsoft.Authorization/locks/l",
                false,
            ),
            ("/providers/Microsoft.Management/managementGroups/m", false),
            ("/subscriptions/s/resourceGroups/team/../other", false),
            ("/subscriptions/s/resourceGroups/team/%2e%2e/other", false),
            ("/subscriptions/s//resourceGroups/team", false),
            ("subscriptions/s/resourceGroups/team", false),
            ("", false),
        ] {
            assert_eq!(scopes.allow(id), expected, "{id}");
        }
    }

    #[test]
    fn nothing_is_below_none() {
        let none = AllowedScopes::parse("none").unwrap();
        for id in [
            "/subscriptions/s",
            "/subscriptions/s/resourceGroups/g",
            "none",
            "",
            "/",
        ] {
            assert!(!none.allow(id), "{id}");
        }
    }

    #[test]
    fn how_scopes_are_written() {
        for (text, expected) in [
            ("/subscriptions/a", Some("/subscriptions/a")),
            (
                "/subscriptions/a,/subscriptions/b",
                Some("/subscriptions/a, /subscriptions/b"),
            ),
            (
                " /subscriptions/a \n /subscriptions/b ",
                Some("/subscriptions/a, /subscriptions/b"),
            ),
            (
                "/providers/Microsoft.Management/managementGroups/m/",
                Some("/providers/Microsoft.Management/managementGroups/m"),
            ),
            ("none", Some("none")),
            (" none\n", Some("none")),
            // It is not to be seen whether nothing or the id is meant.
            ("none, /subscriptions/a", None),
            ("None", None),
            ("", None),
            (" , ", None),
            ("/", None),
            ("/subscriptions", None),
            ("/subscriptions/", None),
            ("/subscriptions/*", None),
            ("/subscriptions//resourceGroups/a", None),
            ("subscriptions/a", None),
            ("/resourceGroups/a", None),
            ("/subscriptions/a/resourceGroups/..", None),
            ("/subscriptions/a everything", None),
        ] {
            let read = AllowedScopes::parse(text).map(|scopes| scopes.to_string());
            assert_eq!(read.ok().as_deref(), expected, "'{text}'");
        }
    }
}
