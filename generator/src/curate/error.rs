//! What can be wrong with curation.

/// A curation file that cannot be applied. Every message names file and line.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum CurateError {
    /// The file is not valid TOML or not of the known form.
    #[error("{path}:{line}: {message}")]
    Form {
        /// File.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A rule names something that no api-version of the group has.
    #[error("{path}:{line}: no {what} `{name}` in any api-version of the group; {hint}")]
    NoMatch {
        /// File.
        path: String,
        /// Line, from 1.
        line: usize,
        /// `ARM type`, `type`, `property of …`.
        what: String,
        /// What the file names.
        name: String,
        /// The nearest names, or that the rule should go.
        hint: String,
    },
    /// A rule matches and cannot be applied there.
    #[error("{path}:{line}: {message}")]
    Inapplicable {
        /// File.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Why.
        message: String,
    },
}

/// A hint for a name that was not found.
pub(super) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = known
        .into_iter()
        .map(|candidate| {
            let (left, right) = (name.to_lowercase(), candidate.to_lowercase());
            (strsim::jaro_winkler(&left, &right), candidate)
        })
        .max_by(|(left, _), (right, _)| left.total_cmp(right));
    match nearest {
        Some((_, candidate)) if candidate == name => {
            "it exists only where the rule does not apply: on the other side, in other api-versions, or \
             in no exported kind"
                .to_owned()
        }
        Some((score, candidate)) if score > 0.7 => format!("did you mean `{candidate}`?"),
        _ => "remove the rule, or check the name against the spec".to_owned(),
    }
}
