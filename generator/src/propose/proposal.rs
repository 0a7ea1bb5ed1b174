//! Proposed lines: where they go in a curation file, and their text.

use std::fmt::Write as _;

use super::error::ProposeError;
use super::place::with_tables;
use super::suspect::Suspicion;
use super::versions::Versions;
use crate::curation::GroupConfig;
use crate::pipeline::GeneratorError;

/// Lines that export an ARM type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Curation file that they are for: `specs/network/group.toml`.
    pub path: String,
    /// First lines of the file, where it is new.
    pub(super) head: Option<String>,
    /// Tables of sources that are new.
    pub(super) sources: String,
    /// What becomes of sources that the file has.
    pub(super) versions: Vec<Versions>,
    /// Lines for the end of the file.
    pub(super) tail: String,
    /// Remarks, one a line.
    pub notes: Vec<String>,
}

/// Checks that a file does not export a type already.
pub(super) fn check_unknown(config: &GroupConfig, arm_type: &str) -> Result<(), ProposeError> {
    let mut kinds = config.rules.kinds.iter();
    let known = kinds.find(|(_, it)| it.arm_type.get_ref().eq_ignore_ascii_case(arm_type));
    match known {
        Some((kind, _)) => Err(ProposeError::Known {
            at: config.at(kind),
            arm_type: arm_type.to_owned(),
            kind: kind.get_ref().clone(),
        }),
        None => Ok(()),
    }
}

impl Proposal {
    /// Adds rules for what looks like more than it says: as lines where it is likely, else as remarks beside them.
    pub(super) fn suspect(&mut self, suspicions: &[Suspicion], config: Option<&GroupConfig>) {
        let mut last = None;
        for suspicion in suspicions {
            let type_name = suspicion.type_name.as_str();
            let line = suspicion.rule();
            if config.is_some_and(|it| it.rules.types.contains_key(type_name)) {
                let note = format!("under [types.{type_name}]: {line} ({})", suspicion.why);
                self.notes.push(note);
                continue;
            }
            // A table without a line would be one without effect.
            let mut of_type = suspicions.iter().filter(|it| it.type_name == type_name);
            let mark = if of_type.any(|it| it.is_likely) {
                ""
            } else {
                "# "
            };
            if last != Some(type_name) {
                let _ = write!(self.tail, "\n{mark}[types.{type_name}]\n");
                last = Some(type_name);
            }
            self.tail += &suspicion.line();
        }
    }

    /// The file as it would be, read; errors name the lines of `text`, the file as it is.
    pub(super) fn parse(&self, text: Option<&str>) -> Result<GroupConfig, Box<GeneratorError>> {
        let tried = self.with_tail(text, |text, tail| format!("{}\n{tail}", text.trim_end()));
        GroupConfig::parse(self.path.clone(), tried)
            .map_err(|error| Box::new(GeneratorError::Curate(error)))
    }

    /// The curation file with the proposal in it. `text` is the file as it is, if it exists.
    pub fn merged(&self, text: Option<&str>) -> String {
        self.with_tail(text, with_tables)
    }

    fn with_tail(&self, text: Option<&str>, add: fn(&str, &str) -> String) -> String {
        let Some(text) = text else {
            let head = self.head.as_deref().unwrap_or_default();
            let gap = if self.sources.is_empty() { "" } else { "\n" };
            return format!("{head}{gap}{}{}", self.sources, self.tail);
        };
        let mut merged = Versions::merged(&self.versions, text);
        if !self.sources.is_empty() {
            let end = end_of_sources(&merged);
            merged.insert_str(end, &format!("\n{}", self.sources));
        }
        add(&merged, &self.tail)
    }

    /// What to add where.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            let _ = writeln!(text, "# {note}");
        }
        if self.head.is_some() {
            let _ = writeln!(text, "# {}, a new file:", self.path);
            return text + &self.merged(None);
        }
        if !self.sources.is_empty() {
            let _ = writeln!(text, "# {}, behind the other sources:", self.path);
            text += &self.sources;
        }
        text.extend(self.versions.iter().map(|it| it.text(&self.path)));
        let _ = writeln!(text, "# {}, among the others by name:", self.path);
        text + &self.tail
    }
}

/// Offset behind the last line of the last source.
fn end_of_sources(text: &str) -> usize {
    let mut is_in_source = false;
    let (mut end, mut offset) = (0, 0);
    for line in text.split_inclusive('\n') {
        offset += line.len();
        if line.starts_with('[') {
            is_in_source = line.starts_with("[sources");
        }
        if is_in_source && !line.trim().is_empty() && !line.starts_with('#') {
            end = offset;
        }
    }
    end
}
