//! The comparison as text for people and as JSON for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::compare::{Kind, Side};

/// Paths shown of each list, unless all are asked for.
const SHOWN: usize = 10;

/// Text that ends with the line `parity: N of M paths`.
pub fn text(kinds: &[Kind], all: bool) -> String {
    let mut out = String::new();
    for kind in kinds {
        for (version, sides) in &kind.versions {
            let _ = writeln!(out, "{}/{version} {}", kind.group, kind.kind);
            side(&mut out, "spec", &sides.spec, all);
            side(&mut out, "status", &sides.status, all);
        }
    }
    for kind in kinds {
        versions(&mut out, kind, "lacks", &kind.missing_versions);
        versions(
            &mut out,
            kind,
            "has beyond the target",
            &kind.extra_versions,
        );
    }
    let totals = Totals::of(kinds);
    let _ = writeln!(out, "spec:   {}", totals.spec);
    let _ = writeln!(out, "status: {}", totals.status);
    let both = totals.both();
    let _ = writeln!(out, "parity: {} of {} paths", both.matched, both.total);
    out
}

fn side(out: &mut String, name: &str, side: &Side, all: bool) {
    let _ = writeln!(
        out,
        "  {name:<7} {} of {} matched, {} missing, {} different, {} extra",
        side.matched,
        side.total,
        side.missing.len(),
        side.different.len(),
        side.extra.len()
    );
    list(out, '-', side.missing.iter().cloned(), all);
    let different = side
        .different
        .iter()
        .map(|difference| format!("{}: {}", difference.path, difference.what));
    list(out, '~', different, all);
    list(out, '+', side.extra.iter().cloned(), all);
}

fn list(out: &mut String, mark: char, paths: impl ExactSizeIterator<Item = String>, all: bool) {
    let total = paths.len();
    let shown = if all { total } else { SHOWN };
    for path in paths.take(shown) {
        let _ = writeln!(out, "    {mark} {path}");
    }
    if total > shown {
        let _ = writeln!(out, "    {mark} and {} more (--all)", total - shown);
    }
}

fn versions(out: &mut String, kind: &Kind, what: &str, versions: &[String]) {
    if !versions.is_empty() {
        let list = versions.join(", ");
        let _ = writeln!(out, "{} {} {what}: {list}", kind.group, kind.kind);
    }
}

/// Everything, with totals.
pub fn json(kinds: &[Kind]) -> Value {
    let totals = Totals::of(kinds);
    let count = |count: Count| json!({"matched": count.matched, "total": count.total});
    json!({
        "kinds": kinds,
        "totals": {
            "spec": count(totals.spec),
            "status": count(totals.status),
            "all": count(totals.both()),
        },
    })
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    matched: usize,
    total: usize,
}

#[derive(Debug, Default)]
struct Totals {
    spec: Count,
    status: Count,
}

impl Totals {
    fn of(kinds: &[Kind]) -> Self {
        let mut totals = Self::default();
        for version in kinds.iter().flat_map(|kind| kind.versions.values()) {
            totals.spec.add(&version.spec);
            totals.status.add(&version.status);
        }
        totals
    }

    fn both(&self) -> Count {
        Count {
            matched: self.spec.matched + self.status.matched,
            total: self.spec.total + self.status.total,
        }
    }
}

impl Count {
    fn add(&mut self, side: &Side) {
        self.matched += side.matched;
        self.total += side.total;
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100.0 * self.matched as f64 / self.total.max(1) as f64;
        write!(
            f,
            "{} of {} paths, {percent:.2} %",
            self.matched, self.total
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::parity::compare::{Difference, Version};

    fn kinds() -> Vec<Kind> {
        let spec = Side {
            matched: 3,
            total: 16,
            missing: (0..12).map(|i| format!("spec.p{i}")).collect(),
            different: vec![Difference {
                path: "spec.d".into(),
                what: "required, expected optional".into(),
            }],
            extra: Vec::new(),
        };
        let status = Side {
            matched: 4,
            total: 4,
            ..Side::default()
        };
        vec![Kind {
            group: "a.azure.com".into(),
            kind: "Thing".into(),
            versions: BTreeMap::from([("v1".into(), Version { spec, status })]),
            missing_versions: vec!["v2".into()],
            extra_versions: Vec::new(),
        }]
    }

    #[test]
    fn text_shortens_lists_and_ends_with_the_total() {
        let short = text(&kinds(), false);
        let head =
            "a.azure.com/v1 Thing\n  spec    3 of 16 matched, 12 missing, 1 different, 0 extra";
        assert!(short.contains(head), "{short}");
        assert!(short.contains("and 2 more"), "{short}");
        assert!(short.contains("a.azure.com Thing lacks: v2"), "{short}");
        assert!(short.ends_with("parity: 7 of 20 paths\n"), "{short}");
        assert!(!text(&kinds(), true).contains("more"));
    }

    #[test]
    fn json_has_totals() {
        let totals = json(&kinds())["totals"]["spec"].clone();
        assert_eq!(totals, json!({"matched": 3, "total": 16}));
    }
}
