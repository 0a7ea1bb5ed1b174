//! api-versions for a type: those that the group lists already, with the type's spec files where a list lacks them, else
//! the newest stable one. Where that is one of Bicep types, the newest of the specs joins it: it tells what they leave
//! out.

use std::fmt::Write as _;
use std::ops::Range;

use super::ProposeError;
use super::find::{Found, Place, newest};
use crate::curate::GroupConfig;
use crate::model::ApiVersion;

/// What becomes of the table `[versions]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Versions {
    /// Lines to add.
    lines: Vec<String>,
    /// Sources of listed api-versions to replace, by place.
    edits: Vec<Edit>,
    /// Where else the type is.
    pub notes: Vec<String>,
}

/// A source to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    version: ApiVersion,
    line: usize,
    span: Range<usize>,
    files: String,
}

impl Versions {
    /// Chooses api-versions for a type, of a group that exists or of a new one.
    pub fn choose(config: Option<&GroupConfig>, found: &Found) -> Result<Self, ProposeError> {
        let mut versions = Self::default();
        let mut others = Vec::new();
        let mut served = 0;
        for place in &found.places {
            let Some((config, source)) = listed(config, &place.version) else {
                others.push(place);
                continue;
            };
            if config.is_bicep(&place.version) != place.is_bicep() {
                continue;
            }
            served += 1;
            let files = lacking(config, place, found);
            if !files.is_empty() {
                versions.edits.push(Edit {
                    version: place.version.clone(),
                    line: config.version_line(&place.version),
                    span: source,
                    files: list(&[listed_files(config, &place.version), files].concat()),
                });
            }
        }
        versions.edits.sort_by_key(|edit| edit.span.start);
        if served == 0 {
            let added = additions(&others).ok_or_else(|| other_source(config, found))?;
            others.retain(|place| !added.iter().any(|it| it.version == place.version));
            versions.lines = added.iter().map(|place| line(place, found)).collect();
        }
        versions.notes = notes(&found.arm_type, &others);
        Ok(versions)
    }

    /// The lines to add.
    pub fn added(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The text of a curation file with the lines and replacements in it.
    pub fn merged(&self, text: &str) -> String {
        let mut merged = text.to_owned();
        for edit in self.edits.iter().rev() {
            merged.replace_range(edit.span.clone(), &edit.files);
        }
        merged.insert_str(end_of_versions(&merged), &self.added());
        merged
    }

    /// What to add and to replace where.
    pub fn text(&self, path: &str) -> String {
        let mut text = String::new();
        for edit in &self.edits {
            let _ = writeln!(text, "# {path}:{}, in place of that line:", edit.line);
            let _ = writeln!(text, "\"{}\" = {}", edit.version, edit.files);
        }
        if !self.lines.is_empty() {
            let _ = write!(text, "# {path}, under [versions]:\n{}", self.added());
        }
        text
    }
}

/// Where a file names the source of an api-version, if it lists that.
fn listed<'c>(
    config: Option<&'c GroupConfig>,
    version: &ApiVersion,
) -> Option<(&'c GroupConfig, Range<usize>)> {
    let config = config?;
    let source = config.rules.versions.get(version.as_str())?;
    Some((config, source.span()))
}

/// Spec files that a group reads an api-version from, relative to its folder.
fn listed_files(config: &GroupConfig, version: &ApiVersion) -> Vec<String> {
    let folder = format!("/{version}/");
    let files = config.files(version).into_iter();
    let relative = files.filter_map(|file| Some(file.split_once(&folder)?.1.to_owned()));
    relative.collect()
}

/// Spec files of a type that a group does not list for an api-version; none if it lists the type's own.
fn lacking(config: &GroupConfig, place: &Place, found: &Found) -> Vec<String> {
    let known = listed_files(config, &place.version);
    let is_known = |file: &str| known.iter().any(|it| it == file);
    if place.files().first().is_none_or(|own| is_known(own)) {
        return Vec::new();
    }
    let files = found.files(place).into_iter();
    files
        .filter(|file| !is_known(file))
        .map(str::to_owned)
        .collect()
}

/// The newest stable api-version; before it the newest of the specs, where Bicep types have the former only.
fn additions<'f>(others: &[&'f Place]) -> Option<Vec<&'f Place>> {
    let last = newest(others.iter().copied())?;
    let base = newest(others.iter().copied().filter(|place| !place.is_bicep()));
    Some(match base {
        Some(base) if last.is_bicep() => vec![base, last],
        _ => vec![last],
    })
}

fn line(place: &Place, found: &Found) -> String {
    let source = if place.is_bicep() {
        "\"bicep\"".to_owned()
    } else {
        list(&found.files(place))
    };
    format!("\"{}\" = {source}", place.version)
}

/// File names as a list in TOML.
fn list(files: &[impl AsRef<str>]) -> String {
    let files = files.iter().map(|it| format!("\"{}\"", it.as_ref()));
    format!("[{}]", files.collect::<Vec<_>>().join(", "))
}

fn notes(arm_type: &str, others: &[&Place]) -> Vec<String> {
    let is_in_specs = |version: &ApiVersion| {
        let mut others = others.iter();
        others.any(|place| !place.is_bicep() && place.version == *version)
    };
    let (bicep, openapi): (Vec<&Place>, Vec<&Place>) =
        others.iter().copied().partition(|place| place.is_bicep());
    let mut notes = Vec::new();
    if !openapi.is_empty() {
        let versions: Vec<&str> = openapi.iter().map(|place| place.version.as_str()).collect();
        notes.push(format!("`{arm_type}` is also in {}", versions.join(", ")));
    }
    for place in bicep.iter().filter(|place| !is_in_specs(&place.version)) {
        let version = &place.version;
        notes.push(format!(
            "only Bicep types have it in {version}; to serve that, under [versions]: \"{version}\" = \"bicep\""
        ));
    }
    notes
}

/// Every api-version that has the type is listed, with a source that lacks it.
fn other_source(config: Option<&GroupConfig>, found: &Found) -> ProposeError {
    let place = newest(found.places.iter());
    let versions = found.places.iter().map(|place| place.version.as_str());
    ProposeError::OtherSource {
        arm_type: found.arm_type.clone(),
        versions: versions.collect::<Vec<_>>().join(", "),
        path: config.map(|it| it.path.clone()).unwrap_or_default(),
        has: source_words(place.is_some_and(Place::is_bicep)),
        reads: source_words(place.is_none_or(|place| !place.is_bicep())),
    }
}

fn source_words(is_bicep: bool) -> &'static str {
    if is_bicep { "Bicep types" } else { "specs" }
}

/// Offset behind the last line of the table `[versions]`.
fn end_of_versions(text: &str) -> usize {
    let start = text
        .find("[versions]")
        .map_or(text.len(), |at| at + "[versions]".len());
    let is_header = |line: &str| line.starts_with('[');
    let mut end = start;
    let mut offset = start;
    for line in text[start..].split_inclusive('\n') {
        if is_header(line) {
            break;
        }
        offset += line.len();
        if !line.trim().is_empty() && !line.starts_with('#') {
            end = offset;
        }
    }
    end
}
