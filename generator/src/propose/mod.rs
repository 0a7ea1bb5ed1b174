//! Lines for a curation file that export an ARM type found in the specs.
//!
//! Here: the newest api-version of a type. Finding the type is [`find`]'s part, choosing api-versions that of [`versions`],
//! guessing what the specs leave unsaid that of [`suspect`], and the text that of [`proposal`].

mod error;
mod files;
mod find;
pub mod place;
mod proposal;
mod suspect;
mod versions;

use std::fmt::Write as _;

use crate::curation::GroupConfig;
use crate::load::SpecRoot;
use crate::pipeline::curated_group;
pub use error::ProposeError;
use find::{Found, source_in};
pub use proposal::Proposal;
use proposal::check_unknown;
use versions::Versions;

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
        check_unknown(config, &found.arm_type)?;
    }
    let mut proposal = Proposal {
        path: config.map_or_else(
            || format!("specs/{}/group.toml", found.group),
            |it| it.path.clone(),
        ),
        head: config.is_none().then(|| head(&found)),
        sources: String::new(),
        versions: Vec::new(),
        tail: String::new(),
        notes: Vec::new(),
    };
    let mut versions = Versions::choose(reading.map(|(config, _)| config), &found)?;
    proposal.notes.append(&mut versions.notes);
    if reading.is_none() {
        proposal.sources = source_head(config, &found) + &versions.table();
    } else {
        proposal.versions.push(versions);
    }
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
    let grown = proposal.parse(text)?;
    let group = curated_group(specs, &grown).map_err(Box::new)?;
    let names: Vec<&str> = kinds.iter().map(|place| place.kind.as_str()).collect();
    let guessed = suspect::suspects(&group, &names);
    proposal.with_rules(specs, (&[], guessed), (config, text))
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
