//! The report as text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Finding, Place, Report};

/// Places of one finding that are named; the others are counted.
const NAMED: usize = 3;
/// Marks what breaks users.
const MARK: &str = "BREAKS";

pub(super) fn text(report: &Report) -> String {
    if report.changes.is_empty() {
        return "nothing changes for users\n".to_owned();
    }
    let mut sections = Vec::<(Heading, Vec<&Finding>)>::new();
    for finding in &report.changes {
        let heading = Heading::of(finding);
        match sections.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, findings)) => findings.push(finding),
            None => sections.push((heading, vec![finding])),
        }
    }
    sections.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut text = String::new();
    for (heading, findings) in sections {
        let _ = writeln!(text, "{}", heading.words());
        for finding in findings {
            let _ = writeln!(text, "  {}", line(finding));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{}", summary(report));
    text
}

fn summary(report: &Report) -> String {
    let groups: BTreeSet<&str> = report.changes.iter().map(|it| it.group.as_str()).collect();
    let count = |number: usize, one: &str, more: &str| {
        format!("{number} {}", if number == 1 { one } else { more })
    };
    format!(
        "{} in {}: {} users, {} not",
        count(report.changes.len(), "change", "changes"),
        count(groups.len(), "group", "groups"),
        count(report.breaking, "breaks", "break"),
        count(report.compatible, "does", "do"),
    )
}

/// What a section is about. In this order: the group, its kinds, what several kinds share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Heading {
    group: String,
    about: About,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Group,
    Kind(String, Vec<String>),
    Kinds,
}

impl Heading {
    fn of(finding: &Finding) -> Self {
        let kinds: BTreeSet<&str> = finding.places.iter().map(|it| it.kind.as_str()).collect();
        let mut kinds = kinds.into_iter();
        let about = match (kinds.next(), kinds.next()) {
            (None, _) => About::Group,
            (Some(kind), None) => {
                let versions = finding.places.iter().filter_map(|it| it.version.clone());
                let versions = versions.collect::<BTreeSet<_>>().into_iter().collect();
                About::Kind(kind.to_owned(), versions)
            }
            (Some(_), Some(_)) => About::Kinds,
        };
        Self {
            group: finding.group.clone(),
            about,
        }
    }

    fn words(&self) -> String {
        let group = &self.group;
        match &self.about {
            About::Group => group.clone(),
            About::Kind(kind, versions) if versions.is_empty() => format!("{group}: {kind}"),
            About::Kind(kind, versions) => format!("{group}: {kind} {}", versions.join(", ")),
            About::Kinds => format!("{group}: several kinds"),
        }
    }
}

fn line(finding: &Finding) -> String {
    let mark = if finding.change.breaking { MARK } else { "" };
    let subject = subject(finding).map_or_else(String::new, |subject| format!("{subject}: "));
    let mut line = format!("{mark:<6}  {subject}{}", finding.change.words());
    if !finding.change.effect.is_empty() {
        let _ = write!(line, "; {}", finding.change.effect);
    }
    if finding.places.len() > 1 {
        let _ = write!(line, "\n          {}", places(&finding.places));
    }
    line
}

/// The path where there is one, else the type.
fn subject(finding: &Finding) -> Option<String> {
    if let (1, Some(path)) = (
        finding.places.len(),
        finding.places.first().and_then(|it| it.path.as_ref()),
    ) {
        return Some(path.clone());
    }
    let subject = finding.subject.as_ref()?;
    let side = subject.side.root();
    Some(match &subject.property {
        Some(property) => format!("`{}.{property}` in {side}", subject.type_name),
        None => format!("`{}` in {side}", subject.type_name),
    })
}

fn places(places: &BTreeSet<Place>) -> String {
    let kinds: BTreeSet<&str> = places.iter().map(|it| it.kind.as_str()).collect();
    let versions: BTreeSet<_> = places.iter().map(|it| &it.version).collect();
    let name = |place: &Place| {
        let mut parts = Vec::new();
        if kinds.len() > 1 {
            parts.push(place.kind.as_str());
        }
        if versions.len() > 1 {
            parts.extend(place.version.as_deref());
        }
        parts.extend(place.path.as_deref());
        parts.join(" ")
    };
    let mut words = if kinds.len() > 1 {
        format!("at {} places in {} kinds: ", places.len(), kinds.len())
    } else {
        format!("at {} places: ", places.len())
    };
    let named: Vec<String> = places.iter().take(NAMED).map(name).collect();
    words.push_str(&named.join(", "));
    if places.len() > NAMED {
        words.push_str(", …");
    }
    words
}
