//! The text of a curation file.

use std::fmt::Write as _;

use super::sources::{PlannedRead, PlannedSource};
use super::version_names::VersionNames;
use crate::curation::Naming;
use crate::model::ApiVersion;
use crate::propose::suspect::{Suspicion, key};

/// Most characters of a line.
const WIDTH: usize = 120;

/// A kind as a file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::propose) struct PlannedKind {
    pub name: String,
    pub arm_type: String,
    pub source: Option<String>,
    pub versions: Option<Vec<String>>,
    pub naming: Option<Naming>,
    pub plural: Option<String>,
}

impl PlannedKind {
    /// Its table, behind an empty line.
    pub fn table(&self) -> String {
        let mut text = format!("\n[kinds.{}]\ntype = \"{}\"\n", self.name, self.arm_type);
        if let Some(source) = &self.source {
            let _ = writeln!(text, "source = \"{source}\"");
        }
        if let Some(versions) = &self.versions {
            let _ = writeln!(text, "versions = {}", list(versions));
        }
        if let Some(naming) = self.naming {
            let _ = writeln!(text, "naming = \"{}\"", naming.word());
        }
        if let Some(plural) = &self.plural {
            let _ = writeln!(text, "plural = \"{plural}\"");
        }
        text
    }
}

/// All but the rules of types.
pub(in crate::propose) fn file(
    group: &str,
    names: &VersionNames,
    sources: &[PlannedSource],
    kinds: &[PlannedKind],
) -> String {
    let mut text = format!(
        "group = \"{group}\"\nnaming = \"{}\"\n",
        names.naming.word()
    );
    if let Some(from) = &names.new_from {
        let _ = writeln!(text, "new-naming-from = \"{from}\"");
    }
    for planned in sources {
        text += &source(planned);
    }
    text.extend(kinds.iter().map(PlannedKind::table));
    text
}

/// The tables of a source, behind an empty line.
pub(in crate::propose) fn source(source: &PlannedSource) -> String {
    let mut text = format!(
        "\n[sources.{}]\nfolder = \"{}\"\n",
        source.name, source.folder
    );
    if !source.files.is_empty() {
        text += &files("files = ", &source.files);
    }
    if !source.inherit_from.is_empty() {
        let versions: Vec<&str> = source.inherit_from.iter().map(ApiVersion::as_str).collect();
        let _ = writeln!(text, "inherit-from = {}", list(&versions));
    }
    let entries = source.versions.iter().map(|(version, read)| match read {
        PlannedRead::Bicep => (version, "\"bicep\"".to_owned()),
        PlannedRead::OpenApi => (version, "\"openapi\"".to_owned()),
        PlannedRead::Files(files) => (version, list(files)),
    });
    let entries: Vec<(&ApiVersion, String)> = entries.collect();
    let inline = entries
        .iter()
        .map(|(version, read)| format!("\"{version}\" = {read}"));
    let inline = inline.collect::<Vec<_>>().join(", ");
    let line = format!("versions = {{ {inline} }}\n");
    if line.len() <= WIDTH {
        return text + &line;
    }
    let _ = writeln!(text, "\n[sources.{}.versions]", source.name);
    for (version, read) in &source.versions {
        let before = format!("\"{version}\" = ");
        text += &match read {
            PlannedRead::Files(names) => files(&before, names),
            PlannedRead::Bicep => format!("{before}\"bicep\"\n"),
            PlannedRead::OpenApi => format!("{before}\"openapi\"\n"),
        };
    }
    text
}

/// A list of files, on several lines where it is long.
fn files(before: &str, names: &[String]) -> String {
    let line = format!("{before}{}\n", list(names));
    if line.len() <= WIDTH {
        return line;
    }
    let mut text = format!("{before}[");
    let mut width = WIDTH;
    for name in names {
        let item = format!("\"{name}\",");
        if width + 1 + item.len() > WIDTH {
            text += "\n   ";
            width = 3;
        }
        width += 1 + item.len();
        let _ = write!(text, " {item}");
    }
    text + "\n]\n"
}

/// Words as a list in TOML.
pub(in crate::propose) fn list(words: &[impl AsRef<str>]) -> String {
    let words = words.iter().map(|word| format!("\"{}\"", word.as_ref()));
    format!("[{}]", words.collect::<Vec<_>>().join(", "))
}

/// Rules as tables by type, each line that is not likely a remark. Returns the line of each rule, from 0, too.
pub(in crate::propose) fn rules(suspicions: &[Suspicion]) -> (String, Vec<usize>) {
    let (mut text, mut lines) = (String::new(), Vec::new());
    let mut last = None;
    let mut line = 0;
    for suspicion in suspicions {
        let name = suspicion.type_name.as_str();
        // A table without a line would be one without effect.
        let mut of_type = suspicions.iter().filter(|it| it.type_name == name);
        let mark = if of_type.any(|it| it.is_likely) {
            ""
        } else {
            "# "
        };
        if last != Some(name) {
            let _ = write!(text, "\n{mark}[types.{}]\n", key(name));
            line += 2;
            last = Some(name);
        }
        text += &suspicion.line();
        lines.push(line);
        line += 1;
    }
    (text, lines)
}
