//! Proposed lines: where they go in a curation file, and their text.

use std::fmt::Write as _;

use super::error::ProposeError;
use super::place::with_tables;
use super::suspect::Suspicion;
use super::versions::Versions;
use crate::curation::GroupConfig;
use crate::load::SpecRoot;
use crate::pipeline::{GeneratorError, curated_group};

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

    /// Adds rules that are known and rules that are guessed: these as remarks that say why, where the generator refuses them.
    pub(super) fn with_rules(
        &self,
        specs: &SpecRoot,
        (known, mut guessed): (&[Suspicion], Vec<Suspicion>),
        (config, text): (Option<&GroupConfig>, Option<&str>),
    ) -> Result<Self, ProposeError> {
        loop {
            let mut rules = [known, &guessed].concat();
            rules.sort();
            let mut tried = self.clone();
            tried.suspect(&rules, config);
            let error = match curated_group(specs, &tried.parse(text)?) {
                Ok(_) => return Ok(tried),
                Err(error) => error,
            };
            if !demote(&mut guessed, &tried.tried(text), &error) {
                return Err(ProposeError::from(Box::new(error)));
            }
        }
    }

    /// The file as it would be, read; errors name the lines of `text`, the file as it is.
    pub(super) fn parse(&self, text: Option<&str>) -> Result<GroupConfig, Box<GeneratorError>> {
        GroupConfig::parse(self.path.clone(), self.tried(text))
            .map_err(|error| Box::new(GeneratorError::Curate(error)))
    }

    /// The file as it would be, with what is new at its end.
    fn tried(&self, text: Option<&str>) -> String {
        self.with_tail(text, |text, tail| format!("{}\n{tail}", text.trim_end()))
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

/// Makes guesses remarks that an error is about, or all of them where it is about none; whether there were any.
fn demote(guessed: &mut [Suspicion], text: &str, error: &GeneratorError) -> bool {
    let problems = match error {
        GeneratorError::Curate(error) => error.problems.as_slice(),
        _ => &[],
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut is_blamed = false;
    for problem in problems {
        let above = &lines[..problem.line.min(lines.len())];
        let Some(line) = above.last() else { continue };
        let mut tables = above.iter().rev().filter(|line| line.starts_with('['));
        let table = tables.next().copied().unwrap_or_default();
        let is_it = |it: &&mut Suspicion| {
            let is_there = table == format!("[types.{}]", it.type_name);
            it.is_likely && is_there && it.line().trim_end() == *line
        };
        if let Some(guess) = guessed.iter_mut().find(is_it) {
            guess.is_likely = false;
            let _ = write!(guess.why.to_mut(), ", and yet: {}", problem.message);
            is_blamed = true;
        }
    }
    if is_blamed {
        return true;
    }
    let is_any = guessed.iter().any(|it| it.is_likely);
    guessed.iter_mut().for_each(|it| it.is_likely = false);
    is_any
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curation::{CurateError, Problem};

    fn guess(type_name: &str, property: &str) -> Suspicion {
        Suspicion {
            type_name: type_name.to_owned(),
            property: property.to_owned(),
            says: "\"reference\"".to_owned(),
            why: "named like an id".into(),
            is_likely: true,
        }
    }

    #[test]
    fn what_the_generator_refuses_becomes_a_remark_and_the_rest_stays() {
        let mut guessed = vec![
            guess("Link", "id"),
            guess("Pool", "id"),
            guess("Pool", "zoneId"),
        ];
        let mut text = String::new();
        for table in ["Link", "Pool"] {
            let _ = writeln!(text, "[types.{table}]");
            let own = guessed.iter().filter(|it| it.type_name == table);
            text.extend(own.map(Suspicion::line));
        }
        let fault = |line| {
            let problem = Problem {
                line,
                column: 1,
                message: "it is left out before".to_owned(),
            };
            GeneratorError::Curate(Box::new(CurateError {
                path: "specs/music/group.toml".to_owned(),
                problems: vec![problem],
            }))
        };
        assert!(demote(&mut guessed, &text, &fault(4)));
        let lines: String = guessed.iter().map(Suspicion::line).collect();
        assert_eq!(
            lines,
            "id = \"reference\" # named like an id\n\
             # id = \"reference\" # named like an id, and yet: it is left out before\n\
             zoneId = \"reference\" # named like an id\n"
        );
        // What no guess is blamed for may have come by any of them.
        assert!(demote(&mut guessed, &text, &fault(1)));
        assert!(guessed.iter().all(|it| !it.is_likely));
        assert!(!demote(&mut guessed, &text, &fault(1)));
    }
}
