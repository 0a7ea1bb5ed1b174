//! More values than are remembered.

use super::*;
use crate::compare::MOST_MARKS;

/// Remembers as records do: the first marks, and that there were more.
#[derive(Default)]
struct Short(Option<Vec<Mark>>);

impl Short {
    fn says(&self, mark: &Mark) -> Remembered {
        let Some(marks) = &self.0 else {
            return Remembered::Nothing;
        };
        let mut kept = marks.iter().take(MOST_MARKS);
        match kept.find(|known| known.path == mark.path) {
            Some(known) if known.text == mark.text => SAME,
            Some(_) => Remembered::Other,
            None if marks.len() > MOST_MARKS => Remembered::Forgotten,
            None => Remembered::Unnamed,
        }
    }

    /// Paths that are told in this pass, and whether it is said that nothing is remembered of them.
    fn pass(&mut self, rule: &str, desired: &Value, observed: &Value) -> Vec<(String, bool)> {
        let observed = (Some(observed), Scaled::Unasked);
        let owned = {
            let memory = |mark: &Mark| self.says(mark);
            Owned::of(Cluster::SHAPE, &rules(&[rule]), desired, observed, &memory)
        };
        self.0 = Some(owned.marks);
        let told = owned.moved.into_iter();
        let told = told.filter(|moved| moved.is_told && moved.is_new && moved.differs);
        told.map(|moved| (moved.path, moved.is_forgotten)).collect()
    }
}

/// A cluster whose pools have these counts, but for some.
fn cluster(pools: usize, others: &[(usize, i64)]) -> Value {
    let count = |at: usize| {
        let other = others.iter().find(|(known, _)| *known == at);
        other.map_or(1, |(_, count)| *count)
    };
    let pools: Vec<Value> = (0..pools)
        .map(|at| json!({"name": format!("p{at}"), "count": count(at)}))
        .collect();
    json!({"properties": {"pools": pools}})
}

fn path(at: usize) -> String {
    format!("properties.pools.p{at}.count")
}

#[test]
fn what_is_not_remembered_for_want_of_room_is_told_once_and_again_when_it_is_edited() {
    let mut record = Short::default();
    let rule = "properties.pools[].count";
    let spec = cluster(300, &[]);
    assert_eq!(record.pass(rule, &spec, &spec), []);
    // One within, one beyond: the first is remembered, and nothing has to be said of it.
    let azure = cluster(300, &[(3, 9), (290, 9)]);
    assert_eq!(record.pass(rule, &spec, &azure), [(path(290), true)]);
    assert_eq!(record.pass(rule, &spec, &azure), [], "once");
    let moved = cluster(300, &[(3, 5), (290, 5)]);
    assert_eq!(record.pass(rule, &spec, &moved), [], "Azure moves it again");
    let edited = cluster(300, &[(290, 2)]);
    let told = record.pass(rule, &edited, &moved);
    assert_eq!(told, [(path(290), true)], "an edit that is not noticed");
    assert_eq!(record.pass(rule, &edited, &moved), []);
    // Of few nothing is said.
    let mut record = Short::default();
    for _ in 0..2 {
        assert_eq!(
            record.pass(rule, &cluster(200, &[]), &cluster(200, &[(190, 9)])),
            []
        );
    }
}

#[test]
fn what_somebody_did_on_purpose_is_told_once_for_each_value_also_beyond_what_is_remembered() {
    let mut record = Short::default();
    let rule = "properties.pools[].count told";
    let spec = cluster(300, &[]);
    record.pass(rule, &spec, &spec);
    for (count, told) in [(9, 1), (9, 0), (7, 1), (7, 0)] {
        let azure = cluster(300, &[(290, count)]);
        assert_eq!(record.pass(rule, &spec, &azure).len(), told, "{count}");
    }
}

#[test]
fn an_item_that_was_taken_out_of_a_long_list_is_told_to_stay() {
    let mut record = Short::default();
    let rule = "properties.taints added";
    let list = |count: usize| {
        let items: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
        json!({"properties": {"taints": items}})
    };
    let azure = list(300);
    assert_eq!(record.pass(rule, &azure, &azure), []);
    let told = record.pass(rule, &list(299), &azure);
    assert_eq!(told, [("properties.taints[\"t299\"]".to_owned(), true)]);
    assert_eq!(record.pass(rule, &list(299), &azure), []);
}
