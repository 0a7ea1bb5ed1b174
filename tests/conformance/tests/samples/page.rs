//! What became of Azure Service Operator's samples, as a page of the book: `docs/samples.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::exceptions::Exceptions;

const HEAD: &str = "\
# Samples of Azure Service Operator

For those who ask whether samples of Azure Service Operator (ASO) work here: all of them, applied.

The samples that Azure Service Operator v2 publishes, applied as they are: to a real API server with strict validation, with the
operator and the [simulated Azure](architecture.md). All objects must become Ready, be deleted one by one, and leave nothing in
Azure. Each folder of samples has a namespace and a subscription of its own. What a folder takes for granted is added: its
resource group, Secrets and ConfigMaps that no sample writes, a key vault that a sample refers to, and the approval that a private
endpoint waits for. A sample whose owner is no sample of the folder gets one that is.

Written by `ARMATURE_WRITE_DOCS=1 cargo test -p armature-conformance --test samples`; without the variable, that test fails when
this page is stale. With all tests it tries the newest samples of each group, with `cargo xtask test --all` every one. Lines of the
second table are those of `specs/<group>/exceptions.toml`: a failure without one fails the test, and so does one for a sample that
passes, so what the page says is what was found.
";

/// The page. `files` are those of samples, below the folder of all of them, and of what was added. Those fail that are known to:
/// the test has held them to that.
pub fn page(files: &BTreeSet<String>, known: &Exceptions) -> String {
    let published = |file: &&String| !file.ends_with(')');
    let tried: BTreeSet<&String> = files.iter().filter(published).collect();
    let failed = known.samples();
    let mut groups: BTreeMap<&str, (usize, usize, BTreeSet<&str>)> = BTreeMap::new();
    for file in &tried {
        let (group, rest) = file.split_once('/').unwrap_or((file, ""));
        let (folder, _) = rest.rsplit_once('/').unwrap_or_default();
        let entry = groups.entry(group).or_default();
        entry.0 += 1;
        entry.1 += usize::from(!failed.contains(*file));
        entry.2.insert(folder);
    }
    let passed = tried.len() - failed.len();
    let mut out = HEAD.to_owned();
    let _ = write!(
        out,
        "\n**{passed} of {} files pass.**\n\n| group | folders | files | pass |\n|---|---|---|---|\n",
        tried.len()
    );
    for (group, (files, passed, folders)) in groups {
        let folders = folders.len();
        let _ = writeln!(out, "| {group} | {folders} | {files} | {passed} |");
    }
    let _ = write!(out, "\n## Not passed\n\n| file | reason |\n|---|---|\n");
    for file in failed {
        let reason = known.reason(file);
        let _ = writeln!(out, "| `{file}` | {reason} |");
    }
    out
}
