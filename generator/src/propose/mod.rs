//! Lines for a curation file that export an ARM type found in the specs.
//!
//! Here: what is proposed and its text. Finding the type is [`find`]'s part, choosing api-versions that of [`versions`],
//! guessing what the specs leave unsaid that of [`suspect`].

mod find;
mod suspect;
mod versions;

use std::fmt::Write as _;

use crate::curate::{GroupConfig, nearest};
use crate::load::{LoadError, SpecRoot};
use crate::pipeline::{GeneratorError, curated_group};
use find::Found;
use suspect::Suspicion;
use versions::Versions;

/// Lines that export an ARM type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Curation file that they are for: `specs/network.toml`.
    pub path: String,
    /// First lines of the file, where it is new.
    head: Option<String>,
    /// What becomes of the table `[versions]`.
    versions: Versions,
    /// Lines for the end of the file.
    tail: String,
    /// Remarks, one a line.
    pub notes: Vec<String>,
}

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
    #[error("no api-version of `{provider}` has `{arm_type}`; {hint}")]
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
    /// The group reads the api-versions that have the type from a source that does not have it.
    #[error(
        "only {has} have `{arm_type}` in {versions}, which {path} reads from {reads}; change the source of one, or list \
         another api-version"
    )]
    OtherSource {
        /// The type.
        arm_type: String,
        /// api-versions that have it.
        versions: String,
        /// Curation file.
        path: String,
        /// The source that has it there.
        has: &'static str,
        /// The source that the file names.
        reads: &'static str,
    },
    /// A spec file cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// With the proposed lines nothing can be generated.
    #[error("the proposed lines do not work yet: {0}")]
    Generate(#[from] Box<GeneratorError>),
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
    let home = configs
        .iter()
        .find(|(config, _)| config.rules.specs == found.folder);
    let config = home.map(|(config, _)| config);
    if let Some(config) = config {
        check_unknown(config, &found)?;
    }
    let mut proposal = Proposal {
        path: config.map_or_else(
            || format!("specs/{}.toml", found.group),
            |it| it.path.clone(),
        ),
        head: config.is_none().then(|| head(&found)),
        versions: Versions::choose(config, &found)?,
        tail: String::new(),
        notes: Vec::new(),
    };
    if !specs.folder().join(&found.folder).is_dir() {
        let note = "there are no specs of the provider here: check the folder in `specs` against Azure's repository";
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
        GroupConfig::parse(proposal.path.clone(), proposal.merged(text))
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
    format!(
        "group = \"{}\"\nspecs = \"{}\"\nnaming = \"new\"\n",
        found.group, found.folder
    )
}

impl Proposal {
    /// Adds rules for what looks like more than it says: as lines where it is likely, else as remarks beside them.
    fn suspect(&mut self, suspicions: &[Suspicion], config: Option<&GroupConfig>) {
        let mut last = None;
        for suspicion in suspicions {
            let type_name = suspicion.type_name.as_str();
            let line = format!("{} = \"{}\"", suspicion.property, suspicion.word);
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
            let mark = if suspicion.is_likely { "" } else { "# " };
            let _ = writeln!(self.tail, "{mark}{line} # {}", suspicion.why);
        }
    }

    /// The curation file with the proposal in it. `text` is the file as it is, if it exists.
    pub fn merged(&self, text: Option<&str>) -> String {
        let Some(text) = text else {
            let head = self.head.as_deref().unwrap_or_default();
            let versions = self.versions.added();
            return format!("{head}\n[versions]\n{versions}{}", self.tail);
        };
        let merged = self.versions.merged(text);
        format!("{}\n{}", merged.trim_end(), self.tail)
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
        text += &self.versions.text(&self.path);
        let _ = writeln!(text, "# {}, at the end:", self.path);
        text + &self.tail
    }
}

/// The nearest of some names, else some of them.
fn hint(name: &str, known: &[&str]) -> String {
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
