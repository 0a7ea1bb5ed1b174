//! What can be wrong with a curation file, and how it is told.

use std::fmt;

/// A curation file that cannot be applied: everything found wrong with it, by place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurateError {
    /// The file.
    pub path: String,
    /// What is wrong; never empty.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What is wrong, what was expected, and what to do.
    pub message: String,
}

impl CurateError {
    /// An error of these problems, or none if there are none.
    pub(crate) fn check(path: &str, mut problems: Vec<Problem>) -> Result<(), Box<Self>> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort();
        problems.dedup();
        Err(Box::new(Self {
            path: path.to_owned(),
            problems,
        }))
    }
}

impl std::error::Error for CurateError {}

impl fmt::Display for CurateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            let Problem {
                line,
                column,
                message,
            } = problem;
            write!(formatter, "{}:{line}:{column}: {message}", self.path)?;
        }
        Ok(())
    }
}

/// The known name that is most like `name`, if any is like it.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.7;
    let name = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&name, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(likeness, _)| *likeness > ALIKE)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

/// What to do about a name that was not found.
pub(crate) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => "remove the line, or check the name against the spec".to_owned(),
    }
}
