//! api-versions for a type: those that its source lists already, with the type's spec files where a list lacks them, else
//! the newest stable one. Where that is one of Bicep types, the newest of the specs joins it: it tells what they leave
//! out.

use std::fmt::Write as _;
use std::ops::Range;

use super::error::ProposeError;
use super::find::{self, Found, newest, source_in};
use crate::curation::{GroupConfig, SourceRules, SpecFormat};
use crate::model::ApiVersion;

/// What becomes of the api-versions of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Versions {
    /// Name of the source, where the file has it.
    source: String,
    /// Entries to add.
    entries: Vec<String>,
    /// Where they go, where the file has the source.
    place: Option<LastEntry>,
    /// What listed api-versions are read from, to replace, by place.
    edits: Vec<Edit>,
    /// Where else the type is.
    pub notes: Vec<String>,
}

/// The last api-version of a source in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LastEntry {
    key: usize,
    end: usize,
}

/// What an api-version is read from, to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    line: usize,
    span: Range<usize>,
    /// The line as it will be.
    shown: String,
    /// What replaces the span.
    text: String,
}

impl Versions {
    /// Chooses api-versions for a type, of a group that reads its folder or for a source that is new.
    pub fn choose(config: Option<&GroupConfig>, found: &Found) -> Result<Self, ProposeError> {
        let mut versions = Self::default();
        let home = config.and_then(|config| Some((config, source_in(config, &found.folder)?)));
        if let Some((_, (name, source))) = home {
            name.clone_into(&mut versions.source);
            let last = source.versions.iter().max_by_key(|(_, it)| it.span().end);
            versions.place = last.map(|(key, it)| LastEntry {
                key: key.span().start,
                end: it.span().end,
            });
        }
        let mut others = Vec::new();
        let mut wanting = Vec::new();
        let mut served = 0;
        for found_at in &found.places {
            let listed = home.and_then(|(config, (_, source))| {
                let read_from = source.versions.get(found_at.version.as_str())?;
                Some((config, source, read_from.span()))
            });
            let Some((_, source, span)) = listed else {
                others.push(found_at);
                continue;
            };
            if source.is_bicep(&found_at.version) != found_at.is_bicep() {
                continue;
            }
            served += 1;
            let files = lacking(source, found_at, found);
            if !files.is_empty() {
                wanting.push(Wanting {
                    version: found_at.version.clone(),
                    span,
                    files,
                });
            }
        }
        if let Some((config, (_, source))) = home {
            versions.edits = edits(config, source, wanting);
        }
        versions.edits.sort_by_key(|edit| edit.span.start);
        if served == 0 {
            let added = additions(&others).ok_or_else(|| other_format(config, found))?;
            others.retain(|place| !added.iter().any(|it| it.version == place.version));
            versions.entries = added.iter().map(|place| entry(place, found)).collect();
        }
        versions.notes = notes(&found.arm_type, &others);
        Ok(versions)
    }

    /// The key `versions` of a source that is new.
    pub fn table(&self) -> String {
        format!("versions = {{ {} }}\n", self.entries.join(", "))
    }

    /// The text of a curation file with the entries and replacements of several sources in it.
    pub fn merged(all: &[Self], text: &str) -> String {
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        for versions in all {
            if let Some(place) = versions
                .place
                .as_ref()
                .filter(|_| !versions.entries.is_empty())
            {
                let (at, added) = versions.addition(text, place);
                changes.push((at..at, added));
            }
            let edits = versions.edits.iter();
            changes.extend(edits.map(|edit| (edit.span.clone(), edit.text.clone())));
        }
        // From the last one back, so that places stay what they are.
        changes.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
        let mut merged = text.to_owned();
        for (span, added) in changes {
            merged.replace_range(span, &added);
        }
        merged
    }

    /// The entries as the file writes its own, and where: in the braces of one line, or as a line each.
    fn addition(&self, text: &str, place: &LastEntry) -> (usize, String) {
        let start = text[..place.key].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[start..place.key];
        let entries = self.entries.iter();
        if before.contains('{') {
            return (place.end, entries.map(|it| format!(", {it}")).collect());
        }
        let end = text[place.end..].find('\n');
        let added = entries.map(|it| format!("\n{before}{it}")).collect();
        (end.map_or(text.len(), |at| place.end + at), added)
    }

    /// What to add and to replace where.
    pub fn text(&self, path: &str) -> String {
        let mut text = String::new();
        for edit in &self.edits {
            let _ = writeln!(text, "# {path}:{}, in place of what is there:", edit.line);
            let _ = writeln!(text, "{}", edit.shown);
        }
        if !self.entries.is_empty() {
            let _ = writeln!(
                text,
                "# {path}, in `versions` of [sources.{}]:",
                self.source
            );
            let _ = writeln!(text, "{}", self.entries.join("\n"));
        }
        text
    }
}

/// An api-version that a source lists, and that needs further files.
struct Wanting {
    version: ApiVersion,
    /// Where the source says what it is read from.
    span: Range<usize>,
    files: Vec<String>,
}

/// What gives api-versions their further files: a list of its own for each, but where that would leave none to read `files`
/// of the source, these get what most of them need.
fn edits(config: &GroupConfig, source: &SourceRules, wanting: Vec<Wanting>) -> Vec<Edit> {
    let common = common(source, &wanting);
    let mut edits = Vec::new();
    if let (Some(last), false) = (source.files.last(), common.is_empty()) {
        let known = source.files.iter().map(|it| it.get_ref().as_str());
        let all: Vec<&str> = known.chain(common.iter().map(String::as_str)).collect();
        let further = common.iter().map(|it| format!(", \"{it}\""));
        edits.push(Edit {
            line: config.line(last),
            span: last.span(),
            shown: format!("files = {}", list(&all)),
            text: format!("\"{}\"{}", last.get_ref(), further.collect::<String>()),
        });
    }
    for it in wanting {
        let is_common = it.files == common && is_plain(source, &it.version);
        if is_common {
            continue;
        }
        let text = list(&[listed_files(source, &it.version), it.files].concat());
        let named = source.place(&it.version);
        edits.push(Edit {
            line: named.map_or(1, |named| config.line(named)),
            span: it.span,
            shown: format!("\"{}\" = {text}", it.version),
            text,
        });
    }
    edits
}

/// What most of the api-versions need that are read from `files` of a source, if all of them need something.
fn common(source: &SourceRules, wanting: &[Wanting]) -> Vec<String> {
    let plain = wanting.iter().filter(|it| is_plain(source, &it.version));
    let plain: Vec<&Wanting> = plain.collect();
    let read = source.read_versions().into_iter();
    if read.filter(|version| is_plain(source, version)).count() > plain.len() {
        return Vec::new();
    }
    let count = |it: &&&Wanting| plain.iter().filter(|other| other.files == it.files).count();
    let most = plain.iter().max_by_key(count);
    most.map_or_else(Vec::new, |it| it.files.clone())
}

/// Whether an api-version is read from the files that a source lists for all.
fn is_plain(source: &SourceRules, version: &ApiVersion) -> bool {
    let mut listed = source.listed();
    let read = listed.find(|(name, _)| name.get_ref() == version.as_str());
    read.is_none_or(|(_, read)| *read.get_ref() == SpecFormat::OpenApi.into())
}

/// Spec files that a source reads an api-version from, relative to its folder.
fn listed_files(source: &SourceRules, version: &ApiVersion) -> Vec<String> {
    let folder = format!("/{version}/");
    let files = source.files(version).into_iter();
    let relative = files.filter_map(|file| Some(file.split_once(&folder)?.1.to_owned()));
    relative.collect()
}

/// Spec files of a type that a source does not list for an api-version; none if it lists the type's own.
fn lacking(source: &SourceRules, place: &find::Place, found: &Found) -> Vec<String> {
    let known = listed_files(source, &place.version);
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
fn additions<'f>(others: &[&'f find::Place]) -> Option<Vec<&'f find::Place>> {
    let last = newest(others.iter().copied())?;
    let base = newest(others.iter().copied().filter(|place| !place.is_bicep()));
    Some(match base {
        Some(base) if last.is_bicep() => vec![base, last],
        _ => vec![last],
    })
}

fn entry(place: &find::Place, found: &Found) -> String {
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

fn notes(arm_type: &str, others: &[&find::Place]) -> Vec<String> {
    let is_in_specs = |version: &ApiVersion| {
        let mut others = others.iter();
        others.any(|place| !place.is_bicep() && place.version == *version)
    };
    let (bicep, openapi): (Vec<&find::Place>, Vec<&find::Place>) =
        others.iter().copied().partition(|place| place.is_bicep());
    let mut notes = Vec::new();
    if !openapi.is_empty() {
        let versions: Vec<&str> = openapi.iter().map(|place| place.version.as_str()).collect();
        notes.push(format!("`{arm_type}` is also in {}", versions.join(", ")));
    }
    for place in bicep.iter().filter(|place| !is_in_specs(&place.version)) {
        let version = &place.version;
        notes.push(format!(
            "only Bicep types have it in {version}; to serve that, in `versions` of its source: \"{version}\" = \"bicep\""
        ));
    }
    notes
}

/// Every api-version that has the type is listed, and read from a format that lacks it.
fn other_format(config: Option<&GroupConfig>, found: &Found) -> ProposeError {
    let place = newest(found.places.iter());
    let versions = found.places.iter().map(|place| place.version.as_str());
    ProposeError::OtherFormat {
        arm_type: found.arm_type.clone(),
        versions: versions.collect::<Vec<_>>().join(", "),
        path: config.map(|it| it.path.clone()).unwrap_or_default(),
        has: format_words(place.is_some_and(find::Place::is_bicep)),
        reads: format_words(place.is_none_or(|place| !place.is_bicep())),
    }
}

fn format_words(is_bicep: bool) -> &'static str {
    if is_bicep { "Bicep types" } else { "specs" }
}
