//! The result as pages of the book: `docs/conformance.md` with the totals, `docs/conformance/<group>.md` with the rest.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::exceptions::OtherPuts;
use crate::run::{Put, Source, Verdict};

const HEAD: &str = "\
# Conformance with recorded traffic

For those who ask whether we send what Azure Service Operator (ASO) sends: a comparison with recorded requests.

Compared is what `armature render` makes of manifests with the PUTs that ASO sent to the real Azure for the same manifests. Every recorded PUT of a kind that Armature has is here, whatever group it was recorded for. Written by
`ARMATURE_WRITE_DOCS=1 cargo test -p armature-conformance --test render_recordings`; without the variable, that test
fails when a page is stale.

Bodies are compared member by member. Not compared: `name`, which is in the URL too; the tag `CreatedAt`, which the
recorded tests added; the casing of ARM ids; the text of values from Secrets and ConfigMaps that are in no sample.

Manifests are published samples, unless the recorded test built its objects in code: then they are ours, in
`tests/conformance/scenarios/`, written after the recorded bodies. Each recorded test also makes a resource group for
itself.

The body of a PUT that is *equal after the extension* depends on what Azure has, which the kind's extension asks for.
`armature render` takes it for absent; asked the recorded Azure, the same pass makes the recorded body, as the test
proves. It does not count as equal.
";

/// Counts of PUTs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Recorded.
    pub total: usize,
    /// Rendered alike.
    pub equal: usize,
    /// Not rendered alike for certain, but sent alike.
    pub equal_after_modifier: usize,
}

impl Counts {
    /// Counts each PUT as often as it was recorded.
    pub fn of<'a>(puts: impl IntoIterator<Item = &'a Put>) -> Self {
        let mut counts = Self::default();
        for put in puts {
            counts.total += put.times;
            match put.verdict {
                Verdict::Equal => counts.equal += put.times,
                Verdict::Different {
                    equal_after_modifier: true,
                    ..
                } => counts.equal_after_modifier += put.times,
                Verdict::Different { .. } => {}
            }
        }
        counts
    }

    /// Share of those rendered alike, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.equal as f64 / self.total.max(1) as f64
    }
}

/// The page of totals.
pub fn page(puts: &[Put]) -> String {
    let mut page = HEAD.to_owned();
    head(&mut page, "manifests");
    for (title, source) in [
        ("samples", Source::Sample),
        ("scenarios", Source::Scenario),
        ("the tests' own resource groups", Source::OwnGroup),
    ] {
        let counts = Counts::of(puts.iter().filter(|put| put.source == source));
        row(&mut page, title, counts);
    }
    row(&mut page, "**all**", Counts::of(puts));
    page.push_str("\n## Groups\n");
    head(&mut page, "group");
    for (group, puts) in groups(puts) {
        let title = format!("[{group}](conformance/{group}.md)");
        row(&mut page, &title, Counts::of(puts));
    }
    page
}

fn head(page: &mut String, first: &str) {
    let _ = writeln!(
        page,
        "\n| {first} | PUTs | equal | share | equal after the extension | different |\n|---|--:|--:|--:|--:|--:|"
    );
}

/// The page of each of these groups, by its short name.
pub fn group_pages<'g>(
    names: impl IntoIterator<Item = &'g str>,
    puts: &[Put],
    known: &[OtherPuts],
) -> BTreeMap<String, String> {
    let groups = groups(puts);
    let page = |name: &str| {
        let puts = groups.get(name).map_or(&[][..], Vec::as_slice);
        (name.to_owned(), group_page(name, puts, known))
    };
    names.into_iter().map(page).collect()
}

fn groups(puts: &[Put]) -> BTreeMap<&str, Vec<&Put>> {
    let mut groups = BTreeMap::<&str, Vec<&Put>>::new();
    for put in puts {
        groups.entry(&put.group).or_default().push(put);
    }
    groups
}

fn group_page(group: &str, puts: &[&Put], known: &[OtherPuts]) -> String {
    let mut page = format!(
        "# Conformance of {group}\n\n\
         Part of [Conformance with recorded traffic](../conformance.md), which says what is compared.\n"
    );
    if puts.is_empty() {
        page.push_str("\nNo PUT was recorded.\n");
        return page;
    }
    page.push_str("\n## Not equal\n");
    let reasons = by_reason(puts, known);
    if reasons.is_empty() {
        page.push_str("\nNothing.\n");
    } else {
        let _ = writeln!(
            page,
            "\nThe reasons are in `specs/{group}/exceptions.toml`."
        );
    }
    for (reason, lines) in reasons {
        let _ = write!(page, "\nReason: {reason}\n\n");
        for line in lines {
            let _ = writeln!(page, "- {line}");
        }
    }
    page.push_str("\n## All PUTs\n\n| recording | PUT | api-version | times | result |\n|---|---|---|--:|---|\n");
    for put in puts {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            put.recording,
            put.path,
            put.api_version,
            put.times,
            match &put.verdict {
                Verdict::Equal => "equal",
                Verdict::Different {
                    equal_after_modifier: true,
                    ..
                } => "equal after the extension",
                Verdict::Different { .. } => "different",
            }
        );
    }
    page
}

/// What is not equal, below each reason.
fn by_reason<'a>(puts: &[&Put], known: &'a [OtherPuts]) -> BTreeMap<&'a str, Vec<String>> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for put in puts {
        let Verdict::Different { what, .. } = &put.verdict else {
            continue;
        };
        let reason = known
            .iter()
            .find(|known| known.is_of(&put.recording, &put.path))
            .map_or("none is known", |known| &known.because);
        let line = format!("{} `{}`: {what}", put.recording, put.path);
        reasons.entry(reason).or_default().push(line);
    }
    reasons
}

fn row(page: &mut String, title: &str, counts: Counts) {
    let Counts {
        total,
        equal,
        equal_after_modifier,
    } = counts;
    let different = total - equal - equal_after_modifier;
    let _ = writeln!(
        page,
        "| {title} | {total} | {equal} | {:.1} % | {equal_after_modifier} | {different} |",
        counts.percent()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(source: Source, times: usize, verdict: Verdict) -> Put {
        Put {
            recording: "storage-v1".to_owned(),
            group: "storage".to_owned(),
            path: "Microsoft.Storage/storageAccounts/a".to_owned(),
            api_version: "2023-01-01".to_owned(),
            times,
            source,
            verdict,
        }
    }

    fn different(equal_after_modifier: bool) -> Verdict {
        Verdict::Different {
            what: "/sku: 1 is recorded, 2 rendered".to_owned(),
            equal_after_modifier,
        }
    }

    #[test]
    fn every_put_is_counted_and_listed_and_what_is_not_equal_has_its_reason() {
        let puts = [
            put(Source::Sample, 3, Verdict::Equal),
            put(Source::Sample, 1, different(true)),
            put(Source::Scenario, 1, different(false)),
        ];
        let put = (
            "storage-v1".to_owned(),
            "Microsoft.Storage/storageAccounts/a".to_owned(),
        );
        let known = [OtherPuts {
            puts: [put].into(),
            because: "because".to_owned(),
            equal_after_modifier: false,
        }];
        let totals = page(&puts);
        let storage = |known: &[OtherPuts]| {
            let mut pages = group_pages(["storage", "kusto"], &puts, known);
            assert!(pages["kusto"].contains("No PUT was recorded."));
            pages.remove("storage").unwrap_or_default()
        };
        let (with_reason, without) = (storage(&known), storage(&[]));
        let place =
            "storage-v1 `Microsoft.Storage/storageAccounts/a`: /sku: 1 is recorded, 2 rendered";
        for (page, line) in [
            (&totals, "| samples | 4 | 3 | 75.0 % | 1 | 0 |".to_owned()),
            (&totals, "| scenarios | 1 | 0 | 0.0 % | 0 | 1 |".to_owned()),
            (&totals, "| **all** | 5 | 3 | 60.0 % | 1 | 1 |".to_owned()),
            (
                &totals,
                "| [storage](conformance/storage.md) | 5 | 3 | 60.0 % | 1 | 1 |".to_owned(),
            ),
            (&with_reason, format!("- {place}")),
            (&with_reason, "Reason: because".to_owned()),
            (&without, "Reason: none is known".to_owned()),
            (
                &with_reason,
                "| storage-v1 | Microsoft.Storage/storageAccounts/a | 2023-01-01 | 3 | equal |"
                    .to_owned(),
            ),
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
