//! Lines for a curation file that export an ARM type found in the specs.
//!
//! Here: what is proposed and its text. Finding the type is [`find`]'s part, choosing api-versions that of [`versions`],
//! guessing what the specs leave unsaid that of [`suspect`].

mod drop_in;
mod error;
mod files;
mod find;
mod place;
mod suspect;
mod versions;

use std::fmt::Write as _;

use crate::curation::GroupConfig;
use crate::load::SpecRoot;
use crate::pipeline::{GeneratorError, curated_group};
pub use drop_in::{GroupProposal, Target, TargetKind, TargetSchema, propose_group};
pub use error::ProposeError;
use find::{Found, source_in};
use place::with_tables;
use suspect::Suspicion;
use versions::Versions;

/// Lines that export an ARM type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Curation file that they are for: `specs/network/group.toml`.
    pub path: String,
    /// First lines of the file, where it is new.
    head: Option<String>,
    /// First lines of the source, where it is new.
    source: Option<String>,
    /// What becomes of the api-versions of the source.
    versions: Versions,
    /// Lines for the end of the file.
    tail: String,
    /// Remarks, one a line.
    pub notes: Vec<String>,
}

/// Proposes lines for `wanted`, `PROVIDER/TYPE` or `GROUP/TYPE`. `texts` has the text of each curation file in
/// `configs`.
///
/// # Errors
/// When the type is unknown, exported already, or cannot be generated: see [`ProposeError`].
pub fn propose(
    specs: &SpecRoot,
    configs: &[(GroupConfig, String)],
    wanted: &str,
) -> Result<Proposal, ProposeError> {
    let found = find::find(specs, configs, wanted)?;
    let reads = |(config, _): &&(GroupConfig, String)| source_in(config, &found.folder).is_some();
    let is_group = |(config, _): &&(GroupConfig, String)| config.rules.group == found.group;
    let reading = configs.iter().find(reads);
    let home = reading.or_else(|| configs.iter().find(is_group));
    let config = home.map(|(config, _)| config);
    if let Some(config) = config {
        check_unknown(config, &found)?;
    }
    let mut proposal = Proposal {
        path: config.map_or_else(
            || format!("specs/{}/group.toml", found.group),
            |it| it.path.clone(),
        ),
        head: config.is_none().then(|| head(&found)),
        source: reading.is_none().then(|| source_head(config, &found)),
        versions: Versions::choose(reading.map(|(config, _)| config), &found)?,
        tail: String::new(),
        notes: Vec::new(),
    };
    if !specs.folder().join(&found.folder).is_dir() {
        let note =
            "there are no specs of the provider here: check `folder` against Azure's repository";
        proposal.notes.push(note.to_owned());
    }
    let kinds = found.with_parents(config);
    for place in &kinds {
        let _ = write!(
            proposal.tail,
            "\n[kinds.{}]\ntype = \"{}\"\n",
            place.kind, place.arm_type
        );
    }
    let text = home.map(|(_, text)| text.as_str());
    let parse = |proposal: &Proposal| {
        // Errors name lines of the file as it is.
        let tried = proposal.with_tail(text, |text, tail| format!("{}\n{tail}", text.trim_end()));
        GroupConfig::parse(proposal.path.clone(), tried)
            .map_err(|error| Box::new(GeneratorError::Curate(error)))
    };
    let grown = parse(&proposal)?;
    let group = curated_group(specs, &grown).map_err(Box::new)?;
    let names: Vec<&str> = kinds.iter().map(|place| place.kind.as_str()).collect();
    proposal.suspect(&suspect::suspects(&group, &names), config);
    curated_group(specs, &parse(&proposal)?).map_err(Box::new)?;
    Ok(proposal)
}

fn check_unknown(config: &GroupConfig, found: &Found) -> Result<(), ProposeError> {
    let mut kinds = config.rules.kinds.iter();
    let known = kinds.find(|(_, it)| it.arm_type.get_ref().eq_ignore_ascii_case(&found.arm_type));
    match known {
        Some((kind, _)) => Err(ProposeError::Known {
            at: config.at(kind),
            arm_type: found.arm_type.clone(),
            kind: kind.get_ref().clone(),
        }),
        None => Ok(()),
    }
}

/// The keys at the top of a new file. New groups have no names of old to keep.
fn head(found: &Found) -> String {
    format!("group = \"{}\"\nnaming = \"new\"\n", found.group)
}

/// The first lines of a new source, under the name of the last folder that is no provider's.
fn source_head(config: Option<&GroupConfig>, found: &Found) -> String {
    let is_name = |part: &&str| !part.contains('.') && *part != "resource-manager";
    let name = found.folder.rsplit('/').find(is_name);
    let name = name.unwrap_or(&found.group).to_lowercase();
    let is_taken =
        |name: &str| config.is_some_and(|config| config.rules.sources.contains_key(name));
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| !is_taken(name)).unwrap_or(name);
    format!("[sources.{free}]\nfolder = \"{}\"\n", found.folder)
}

impl Proposal {
    /// Adds rules for what looks like more than it says: as lines where it is likely, else as remarks beside them.
    fn suspect(&mut self, suspicions: &[Suspicion], config: Option<&GroupConfig>) {
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

    /// The curation file with the proposal in it. `text` is the file as it is, if it exists.
    pub fn merged(&self, text: Option<&str>) -> String {
        self.with_tail(text, with_tables)
    }

    fn with_tail(&self, text: Option<&str>, add: fn(&str, &str) -> String) -> String {
        let source = self.source();
        match (text, source) {
            (Some(text), None) => add(&self.versions.merged(text), &self.tail),
            (Some(text), Some(source)) => {
                let (before, after) = text.split_at(end_of_sources(text));
                add(&format!("{before}\n{source}{after}"), &self.tail)
            }
            (None, source) => {
                let head = self.head.as_deref().unwrap_or_default();
                format!("{head}\n{}{}", source.unwrap_or_default(), self.tail)
            }
        }
    }

    /// The lines of the source, where it is new.
    fn source(&self) -> Option<String> {
        let head = self.source.as_ref()?;
        Some(format!("{head}{}", self.versions.table()))
    }

    /// What to add where.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for note in self.versions.notes.iter().chain(&self.notes) {
            let _ = writeln!(text, "# {note}");
        }
        if self.head.is_some() {
            let _ = writeln!(text, "# {}, a new file:", self.path);
            return text + &self.merged(None);
        }
        if let Some(source) = self.source() {
            let _ = write!(text, "# {}, behind the other sources:\n{source}", self.path);
        } else {
            text += &self.versions.text(&self.path);
        }
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
