//! Edits of a spec under which Azure may own a value, or may no longer: along the simulator's own table of what moves.

use armature_runtime::shape::{ArmPlace, ListShape, StructShape, Type};
use armature_runtime::testing::arbitrary::Arbitrary;
use armature_simulator::autonomy::{Bound, How, Row, When, rows};
use serde_json::{Map, Value, json};

use crate::plan::Draw;

/// What is put at a place: it depends on the type there; nothing where the type takes no such value.
type New<'n> = &'n dyn Fn(Type) -> Option<Value>;

/// Edits a spec of an ARM type so that the conditions of one row hold, or no longer hold; says of which row.
pub fn permit(
    shape: &'static StructShape,
    arm_type: &str,
    spec: &mut Value,
    is_on: bool,
    draw: Draw,
) -> Option<String> {
    let all: Vec<&Row> = rows(arm_type).filter(|row| !is_of_setting(row)).collect();
    let pick = usize::try_from(draw.seed >> 7).unwrap_or(0);
    let row = all.get(pick.checked_rem(all.len())?)?;
    let before = spec.clone();
    let mut hand = Hand { shape, spec, draw };
    match is_on {
        true => hand.allow(row),
        false => hand.forbid(row),
    }
    let word = if is_on { "may own" } else { "may not own" };
    (*spec != before).then(|| format!("Azure {word} {}", row.in_words()))
}

/// Whether an autoscale setting, which is another resource, is among the conditions.
fn is_of_setting(row: &Row) -> bool {
    row.when.iter().any(|when| matches!(when, When::Scaled))
}

struct Hand<'s> {
    shape: &'static StructShape,
    spec: &'s mut Value,
    draw: Draw,
}

impl Hand<'_> {
    fn allow(&mut self, row: &Row) {
        let draw = self.draw;
        for when in row.when {
            match when {
                When::On(path) => self.put(path, &|ty| on(ty, draw)),
                When::Is(path, words) => {
                    let word = json!(self.picked(words));
                    self.put(path, &|_| Some(word.clone()));
                }
                When::Scaled => {}
            }
        }
        let number = i64::try_from(self.draw.seed % 5).unwrap_or(0);
        match row.how {
            How::Within(least, most) => {
                self.bound(least, 1);
                self.bound(most, 9 + number);
                self.start(row, json!(3 + number));
            }
            How::Upward(most) => {
                self.bound(most, 9 + number);
                self.start(row, json!(1 + number));
            }
            How::Larger => self.start(row, json!(64)),
            How::Later => self.start(row, json!(format!("1.{number}.3"))),
            How::Tail => self.start(
                row,
                json!(format!("https://v.vault.azure.net/keys/k/{number}")),
            ),
            How::Anew => self.start(row, json!(format!("v{number}"))),
            How::Becomes(pairs) => {
                let pairs: Vec<&str> = pairs.iter().map(|(from, _)| *from).collect();
                let word = json!(self.picked(&pairs));
                self.put(row.path, &|_| Some(word.clone()));
            }
            How::Swapped(other) => {
                self.put(row.path, &|_| Some(json!("1")));
                self.put(other, &|_| Some(json!("2")));
            }
            // The item that is given something must be there.
            How::Turned(_) | How::Item(_) | How::Entry(_) => {
                self.reach(row);
            }
        }
    }

    /// The first condition no longer holds.
    fn forbid(&mut self, row: &Row) {
        match row.when.first() {
            Some(When::On(path) | When::Is(path, _)) => {
                let is_set_to = self.draw.seed.is_multiple_of(2);
                self.put(path, &|ty| match ty {
                    Type::Bool if is_set_to => Some(json!(false)),
                    _ => None,
                });
            }
            Some(When::Scaled) | None => {}
        }
    }

    fn bound(&mut self, bound: Bound, number: i64) {
        if let Bound::At(path) = bound {
            self.put(path, &|_| Some(json!(number)));
        }
    }

    /// The value from which it moves, half of the times where there is one already.
    fn start(&mut self, row: &Row, value: Value) {
        let is_kept = self.draw.size.is_multiple_of(2);
        let is_there = self.reach(row);
        if !(is_kept && is_there) {
            self.put(row.path, &|_| Some(value.clone()));
        }
    }

    /// Makes the items of lists above the value, and says whether there is a value.
    fn reach(&mut self, row: &Row) -> bool {
        let mut is_there = false;
        let at = (self.shape, &mut *self.spec);
        walk(
            at,
            &steps(row.path),
            &mut Aim::Look(&mut is_there),
            self.draw,
        );
        is_there
    }

    fn put(&mut self, path: &str, new: New<'_>) {
        let at = (self.shape, &mut *self.spec);
        walk(at, &steps(path), &mut Aim::Set(new), self.draw);
    }

    fn picked<'w>(&self, words: &[&'w str]) -> &'w str {
        let pick = usize::try_from(self.draw.seed).unwrap_or(0);
        let pick = pick.checked_rem(words.len()).unwrap_or(0);
        words.get(pick).copied().unwrap_or_default()
    }
}

/// A value that counts as on.
fn on(ty: Type, draw: Draw) -> Option<Value> {
    match ty {
        Type::Bool => Some(json!(true)),
        Type::Integer(_) | Type::Number => Some(json!(1)),
        Type::Enum(shape) => shape.values.first().map(|word| json!(word)),
        Type::String => Some(json!("yes")),
        Type::Struct(shape) => {
            let drawn = Arbitrary::valid(draw.seed, usize::from(draw.size.max(8))).object(shape);
            Some(drawn)
        }
        Type::List(ListShape {
            item: Type::Struct(shape),
        }) => Some(json!([Arbitrary::valid(draw.seed, 4).object(shape)])),
        _ => None,
    }
}

/// What is done at the end of a path.
enum Aim<'p> {
    Set(New<'p>),
    Look(&'p mut bool),
}

/// Member names, those of lists of which an item is meant with `[]` after them.
fn steps(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

/// Goes along an ARM path through a spec, making what is required on the way. Of lists the first item is meant.
fn walk(
    (shape, spec): (&'static StructShape, &mut Value),
    steps: &[&str],
    aim: &mut Aim<'_>,
    draw: Draw,
) {
    let Some(members) = spec.as_object_mut() else {
        return;
    };
    for field in shape.fields {
        match field.arm {
            ArmPlace::Variant => {
                if let (Type::Struct(shape), Some(below)) = (field.ty, members.get_mut(field.name))
                {
                    walk((shape, below), steps, aim, draw);
                }
            }
            ArmPlace::At(names) => {
                let mut pairs = names.iter().zip(steps);
                let is_on_way = names.len() <= steps.len()
                    && pairs.all(|(name, step)| *name == step.trim_end_matches("[]"));
                // A list that comes from one source does not come from another.
                if is_on_way && !field.name.ends_with("FromConfig") {
                    let has_item = steps[names.len() - 1].ends_with("[]");
                    let rest = &steps[names.len()..];
                    go_on((field.name, field.ty), members, (has_item, rest), aim, draw);
                }
            }
            ArmPlace::Operator | ArmPlace::Further(_) => {}
        }
    }
}

fn go_on(
    (name, ty): (&str, Type),
    members: &mut Map<String, Value>,
    (has_item, rest): (bool, &[&str]),
    aim: &mut Aim<'_>,
    draw: Draw,
) {
    let made = |shape| Arbitrary::valid(draw.seed, 0).object(shape);
    match (ty, rest) {
        (ty, []) => match aim {
            Aim::Look(found) => **found |= members.contains_key(name),
            Aim::Set(new) => {
                members.shift_remove(&format!("{name}FromConfig"));
                match new(ty) {
                    Some(value) => members.insert(name.to_owned(), value),
                    None => members.shift_remove(name),
                };
            }
        },
        (Type::Struct(shape), rest) => {
            if let (Aim::Look(_), None) = (&aim, members.get(name)) {
                return;
            }
            let below = members.entry(name).or_insert_with(|| made(shape));
            walk((shape, below), rest, aim, draw);
        }
        (Type::List(list), rest) if has_item => {
            let Type::Struct(shape) = list.item else {
                return;
            };
            let items = members.entry(name).or_insert_with(|| json!([]));
            if let Some(items) = items.as_array_mut() {
                if items.is_empty() {
                    items.push(made(shape));
                }
                walk((shape, &mut items[0]), rest, aim, draw);
            }
        }
        (Type::Map(_), [key]) => {
            let entries = members.entry(name).or_insert_with(|| json!({}));
            match aim {
                Aim::Look(found) => **found |= entries.get(*key).is_some(),
                Aim::Set(new) => {
                    if let (Some(value), Some(entries)) =
                        (new(Type::String), entries.as_object_mut())
                    {
                        entries.insert((*key).to_owned(), value);
                    } else if let Some(entries) = entries.as_object_mut() {
                        entries.shift_remove(*key);
                    }
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::subject::kind;

    #[test]
    fn conditions_are_made_and_taken_away() {
        let pool = kind("ManagedClustersAgentPool").expect("a kind");
        let shape = pool.versions[0].spec;
        let mut spec = json!({});
        let mut edit = |is_on, odd| {
            for seed in 0..40_u64 {
                let seed = seed << 7 | odd;
                let draw = Draw { seed, size: 1 };
                permit(shape, pool.remote_type(), &mut spec, is_on, draw);
            }
            spec.clone()
        };
        let spec = edit(true, 0);
        assert_eq!(spec["enableAutoScaling"], true);
        assert!(spec["count"].is_i64() && spec["minCount"].is_i64() && spec["maxCount"].is_i64());
        assert_eq!(edit(false, 0)["enableAutoScaling"], false);
        assert_eq!(edit(false, 1).get("enableAutoScaling"), None);
    }
}
