//! Errors of pass 1.

use super::Source;
use super::bounds::{LONGEST_CHAIN, MOST_PARTS};

/// Why a set of spec files could not be loaded. Names the file, and the place in it where there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A listed or referenced file is not there.
    #[error("spec file `{file}` does not exist under `{root}`{}", asked_by(.referenced_from))]
    MissingFile {
        /// The file.
        file: String,
        /// Folder of the spec tree.
        root: String,
        /// Reference that asked for it; absent for a listed file.
        referenced_from: Option<Source>,
    },
    /// A file is there and cannot be read.
    #[error("spec file `{file}` cannot be read: {reason}{}", asked_by(.referenced_from))]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        reason: String,
        /// Reference that asked for it; absent for a listed file.
        referenced_from: Option<Source>,
    },
    /// A file is not JSON, or not what its format asks for.
    #[error("spec file `{file}`, line {line}, column {column}: {reason}")]
    BrokenJson {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A file is in no format that a front end reads.
    #[error(
        "spec file `{file}` is neither Swagger 2.0 (`\"swagger\": \"2.0\"` at its top) nor OpenAPI 3.0 \
         (`\"openapi\": \"3.0.x\"`) nor a list of Bicep types"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A version of OpenAPI that no front end reads.
    #[error(
        "spec file `{file}` is OpenAPI {version}; OpenAPI 3.0 and Swagger 2.0 are supported, so emit it as one of these"
    )]
    UnsupportedVersion {
        /// The file.
        file: String,
        /// What it says.
        version: String,
    },
    /// An object is not what its format asks for, or nothing that can be followed.
    #[error("{at}: {reason}")]
    Invalid {
        /// Where it stands.
        at: Source,
        /// What is wrong there.
        reason: String,
    },
    /// A reference that is not a path within the spec tree.
    #[error(
        "{from}: reference `{reference}` leaves the spec tree; expected a relative file and `#/…`"
    )]
    UnsupportedReference {
        /// Where it stands.
        from: Source,
        /// Its text.
        reference: String,
    },
    /// A reference to something that the file does not hold.
    #[error("{from}: reference to `{target}` finds nothing there{}", did_you_mean(.nearest))]
    DanglingReference {
        /// Where it stands.
        from: Source,
        /// What it points at.
        target: Source,
        /// Nearest pointer that exists in that file.
        nearest: Option<String>,
    },
    /// A variant that has no members to tell.
    #[error("{from}: variant `{target}` is not an object type")]
    VariantNotAnObject {
        /// Where the variant is named.
        from: Source,
        /// What it is.
        target: Source,
    },
    /// References or `allOf`s that lead back to where they start.
    #[error("{at}: references form a cycle and never reach a schema: {}", way(.chain))]
    ReferenceCycle {
        /// One member of the cycle.
        at: Source,
        /// All members in order, the first again at the end.
        chain: Vec<String>,
    },
    /// References or `allOf`s that lead on too often.
    #[error(
        "{at}: references and `allOf`s lead on through more than {LONGEST_CHAIN} schemas; refer to the last one directly"
    )]
    ChainTooLong {
        /// Where they start.
        at: Source,
    },
    /// References and `allOf`s that together lead to too many schemas.
    #[error(
        "{at}: references and `allOf`s make this schema of more than {MOST_PARTS} others; include each of them once"
    )]
    TooManyParts {
        /// The schema.
        at: Source,
    },
}

/// Most members of a cycle that a message names.
const MOST_MEMBERS: usize = 8;

/// The members of a cycle, those in the middle left out where they are many.
fn way(chain: &[String]) -> String {
    let (start, rest) = chain.split_at(chain.len().min(MOST_MEMBERS / 2));
    let (middle, end) = rest.split_at(rest.len().saturating_sub(MOST_MEMBERS / 2));
    let left_out = format!("({} more)", middle.len());
    let middle = (!middle.is_empty()).then_some(&left_out);
    let members: Vec<&str> = start
        .iter()
        .chain(middle)
        .chain(end)
        .map(String::as_str)
        .collect();
    members.join(" → ")
}

fn asked_by(from: &Option<Source>) -> String {
    from.as_ref()
        .map(|source| format!(" (referenced by {source})"))
        .unwrap_or_default()
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|pointer| format!("; did you mean `{pointer}`?"))
        .unwrap_or_default()
}
