//! Why nothing can be proposed, and what is near.

use crate::curation::nearest;
use crate::load::LoadError;
use crate::pipeline::GeneratorError;

/// Why nothing can be proposed.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// The text is no ARM type.
    #[error(
        "`{0}` is no ARM type; expected a provider and a type, such as `Microsoft.Network/routeTables` or \
         `network/routeTables`"
    )]
    NotAType(String),
    /// No specs of the provider are here.
    #[error("there are no specs of a provider `{provider}`; {hint}")]
    UnknownProvider {
        /// What was asked for.
        provider: String,
        /// The nearest providers.
        hint: String,
    },
    /// The provider's specs do not have the type.
    #[error("no api-version of `{provider}` has `{arm_type}` with PUT and GET; {hint}")]
    UnknownType {
        /// Provider.
        provider: String,
        /// What was asked for.
        arm_type: String,
        /// The nearest ARM types.
        hint: String,
    },
    /// A file exports the type already.
    #[error("{at} exports `{arm_type}` already, as `{kind}`")]
    Known {
        /// File and line.
        at: String,
        /// The type.
        arm_type: String,
        /// Its kind.
        kind: String,
    },
    /// The group reads the api-versions that have the type from a format that does not have it.
    #[error(
        "only {has} have `{arm_type}` in {versions}, which {path} reads from {reads}; change what one is read from, or \
         list another api-version"
    )]
    OtherFormat {
        /// The type.
        arm_type: String,
        /// api-versions that have it.
        versions: String,
        /// Curation file.
        path: String,
        /// The format that has it there.
        has: &'static str,
        /// The format that the file names.
        reads: &'static str,
    },
    /// A spec file cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// With the proposed lines nothing can be generated.
    #[error("the proposed lines do not work yet: {0}")]
    Generate(Box<GeneratorError>),
}

// Not by an attribute, which would make it the source, too: whoever tells causes would say it twice.
impl From<Box<GeneratorError>> for ProposeError {
    fn from(error: Box<GeneratorError>) -> Self {
        Self::Generate(error)
    }
}

/// The nearest of some names, else some of them.
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    const SOME: usize = 8;
    match nearest(name, known.iter().copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if known.is_empty() => "there are none here".to_owned(),
        None => {
            let more = if known.len() > SOME { ", …" } else { "" };
            let some: Vec<&str> = known.iter().take(SOME).copied().collect();
            format!("there are: {}{more}", some.join(", "))
        }
    }
}
