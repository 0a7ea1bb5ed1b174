//! The result as a page of the book: `docs/replay.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::azure::Counts;
use super::course::Outcome;
use crate::exceptions::Unrepeated;

const HEAD: &str = "\
# Replay of recorded traffic

For those who ask whether objects become Ready as with Azure Service Operator (ASO): its recorded traffic, played again.

The operator against a server that answers as the real Azure answered Azure Service Operator v2, the *peer*. The server
is a recording; API server and operator are real, and only the operator's time is faster. The manifests of the recording
are applied, all objects must become Ready, and they are deleted in the recorded order. Written by
`ARMATURE_WRITE_DOCS=1 cargo test -p armature-conformance --test replay`; without the variable, that test fails when this
page is stale. With `ARMATURE_REPLAY=TEXT` it runs the recordings with that text in their names and leaves the page alone.

Writes to our kinds are strict: each must have been recorded, with an equal body, after the writes to the same URL that
came before it, and each that Azure took must come, before what it is in is deleted. What may be left out is what Azure had
refused, at once or at the end of its operation, and a PUT of the body that Azure has already: the peer sends it on every
pass, the operator may not. Bodies are compared as in [Conformance with recorded traffic](conformance.md). What was recorded
has no secrets; the Secrets that the objects take passwords from have random ones. Samples spell the name of their resource
group out in some ids; where the recorded test gave the group another name, that name stands for it in what was recorded too.

The operator reads before it writes, the peer did not always. So reads are answered as far as the recording tells:

- A read of a resource shows what was recorded between the same two writes of that URL, one after the other, and the last
  again when there are no more. Where nothing was recorded there, it shows what the write answered; before the first PUT
  and after a DELETE the resource does not exist, nor does what is below it.
- A read or action with another api-version than was recorded shows the same. The operator looks for a deleted vault and
  lists keys with the api-version of the object. Where the recording has no key, the answer has a random one.
- An operation is known by its URL without the signature: Azure signs it anew in each answer, and the operator goes on
  with the latest URL, the peer with the first. An operation that nobody read, because the answer that named it told its
  end, shows that end. Where a poll was answered with a failure of the server, the peer sent its PUT once more, which began
  another operation; the operator asks on, and gets the answers of that other one. Of operations that failed one after the
  other, because Azure was busy, the first fails here too.
- Recordings leave `x-ms-request-id` out, by which ARM's own answers are known: every answer has one.
- Anything else fails the recording.

Resources of kinds that Armature does not have are no part of this; references to them are ARM ids.
";

const NOT_RECORDED: &str = "
## Samples that were not applied

They are in the folders of samples, but nothing was recorded of any resource of their type: the recorded test did not apply
them, and what Azure would have answered nobody knows.

";

const PASSED: &str = "passed";
const EMPTY: &str = "nothing was recorded";

impl Outcome {
    fn result(&self) -> &'static str {
        match (self.problems.is_empty(), self.objects) {
            (false, _) => "not passed",
            (true, 0) => EMPTY,
            (true, _) => PASSED,
        }
    }
}

/// The page.
pub fn page(outcomes: &[Outcome], known: &[Unrepeated]) -> String {
    let mut page = HEAD.to_owned();
    let count = |result| outcomes.iter().filter(|one| one.result() == result).count();
    let (passed, empty) = (count(PASSED), count(EMPTY));
    let objects: usize = outcomes.iter().map(|one| one.objects).sum();
    let total = |of: fn(&Outcome) -> Counts| {
        outcomes
            .iter()
            .map(of)
            .fold(Counts::default(), |a, b| a + b)
    };
    let (recorded, sent) = (total(|one| one.recorded), total(|one| one.sent));
    let _ = write!(
        page,
        "\n**{passed} of {} recordings pass**, with {objects} objects; {empty} more are empty. The peer sent {} PUTs and {} DELETEs that Azure \
         took, the operator {} and {}.\n",
        outcomes.len() - empty,
        recorded.puts,
        recorded.deletes,
        sent.puts,
        sent.deletes
    );
    page.push_str("\n## Not passed\n");
    for (reason, problems) in by_reason(outcomes, known) {
        let _ = write!(page, "\nReason: {reason}\n\n");
        for problem in problems {
            let _ = writeln!(page, "- {problem}");
        }
    }
    page.push_str(NOT_RECORDED);
    for one in outcomes.iter().filter(|one| !one.not_recorded.is_empty()) {
        let _ = writeln!(page, "- {}: {}", one.recording, one.not_recorded.join(", "));
    }
    page.push_str(
        "\n## All recordings\n\n| recording | objects | PUTs of the peer | of the operator | DELETEs of the peer | \
         of the operator | result |\n|---|--:|--:|--:|--:|--:|---|\n",
    );
    for one in outcomes {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} |",
            one.recording,
            one.objects,
            one.recorded.puts,
            one.sent.puts,
            one.recorded.deletes,
            one.sent.deletes,
            one.result()
        );
    }
    page
}

fn by_reason<'a>(outcomes: &[Outcome], known: &'a [Unrepeated]) -> BTreeMap<&'a str, Vec<String>> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for outcome in outcomes {
        for problem in &outcome.problems {
            let reason = known
                .iter()
                .find(|known| known.is_of(&outcome.recording, problem))
                .map_or("none is known", |known| &known.because);
            let line = format!("{}: {problem}", outcome.recording);
            reasons.entry(reason).or_default().push(line);
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(recording: &str, puts: usize, problems: &[&str]) -> Outcome {
        Outcome {
            recording: recording.to_owned(),
            objects: 2,
            not_recorded: vec!["Cluster c".to_owned()],
            recorded: Counts {
                puts: 3,
                deletes: 1,
            },
            sent: Counts { puts, deletes: 1 },
            problems: problems.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    #[test]
    fn every_recording_is_counted_and_listed_and_each_problem_has_its_reason() {
        let outcomes = [
            outcome("storage-v1", 2, &[]),
            outcome("kusto-v1", 1, &["a", "b"]),
        ];
        let known = [Unrepeated {
            recording: "kusto-v1".to_owned(),
            problems: vec!["a".to_owned()],
            because: "because".to_owned(),
        }];
        let page = page(&outcomes, &known);
        for line in [
            "**1 of 2 recordings pass**, with 4 objects; 0 more are empty. The peer sent 6 PUTs and 2 DELETEs that Azure took, the \
             operator 3 and 2.",
            "Reason: because",
            "- storage-v1: Cluster c",
            "- kusto-v1: a",
            "Reason: none is known",
            "- kusto-v1: b",
            "| storage-v1 | 2 | 3 | 2 | 1 | 1 | passed |",
            "| kusto-v1 | 2 | 3 | 1 | 1 | 1 | not passed |",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
