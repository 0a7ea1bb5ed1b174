//! Two properties side by side: what is true of them beside what their types hold.

use super::side::Side;
use super::{Change, What, rules};
use crate::emit::facts::type_words;
use crate::model::{Absent, ArmPlace, Property, TypeDef, TypeRef, TypeTable};

/// What changed of a property. Destructured, so that a new fact is not forgotten.
pub(super) fn compare(
    (old, types_before): (&Property, &TypeTable),
    (new, types_after): (&Property, &TypeTable),
    side: Side,
) -> Vec<Change> {
    let Property {
        name: _,
        place,
        ty,
        meaning: _,
        required,
        // A spec has no read-only properties, and a status no others.
        read_only: _,
        write_only,
        create_only,
        // Says what curation should do; what it did is in the type.
        secret: _,
        rules,
        item_rules,
        identifiers,
        absent,
        // History and hub, of no version's own surface.
        was: _,
        stashed: _,
        // Of what a namespace may send, not of what a manifest says.
        free_text: _,
        // Azure's own, whatever a manifest says.
        default: _,
        description: _,
        origin: _,
    } = new;
    let mut changes = Vec::new();
    changes.extend(types((&old.ty, types_before), (ty, types_after), side));
    let is_operators = |place: &ArmPlace| *place == ArmPlace::Operator;
    if old.place != *place && !is_operators(&old.place) && !is_operators(place) {
        changes.push(Change::moved(words(&old.place), words(place)));
    }
    // A status is written by the operator: nobody has to fulfil anything there.
    if side == Side::Status {
        return changes;
    }
    if old.required != *required {
        changes.push(Change::required(old.required));
    }
    changes.extend(rules::compare(&old.rules, rules, ""));
    changes.extend(rules::compare(&old.item_rules, item_rules, "items: "));
    changes.extend(create_only_change(old.create_only, *create_only));
    changes.extend(absent_change(old.absent, *absent));
    changes.extend(write_only_change(old.write_only, *write_only));
    changes.extend(identifiers_change(&old.identifiers, identifiers));
    changes
}

impl Change {
    /// The value is elsewhere in ARM's JSON.
    pub(super) fn moved(before: String, after: String) -> Self {
        Self::compatible(What::ArmName, "manifests stay as they are").saying(before, after)
    }
}

fn words(place: &ArmPlace) -> String {
    match place.path() {
        [] => "the object itself".to_owned(),
        path => format!("`{}`", path.join(".")),
    }
}

fn create_only_change(was: bool, is: bool) -> Option<Change> {
    let words = |create_only: bool| {
        if create_only {
            "settable on creation only"
        } else {
            "changeable"
        }
    };
    let change = if is {
        Change::breaking(What::CreateOnly, "Azure refuses to change it later")
    } else {
        Change::compatible(What::CreateOnly, "")
    };
    (was != is).then(|| change.saying(words(was), words(is)))
}

fn write_only_change(was: bool, is: bool) -> Option<Change> {
    let words = |write_only: bool| {
        if write_only {
            "never returned by Azure"
        } else {
            "returned by Azure"
        }
    };
    let change = Change::compatible(What::WriteOnly, "");
    (was != is).then(|| change.saying(words(was), words(is)))
}

fn identifiers_change(was: &[String], is: &[String]) -> Option<Change> {
    let change = Change::compatible(What::Identifiers, "");
    (was != is).then(|| change.saying(was.join(", "), is.join(", ")))
}

/// Both directions change what an existing manifest does.
fn absent_change(was: Absent, is: Absent) -> Option<Change> {
    let words = |absent: Absent| match absent {
        Absent::Nothing => "not sent when absent",
        Absent::Null => "sent as null when absent",
        Absent::Empty => "sent empty when absent",
    };
    let effect = match (was, is) {
        (Absent::Nothing, _) => "leaving it out now clears what Azure has",
        (_, Absent::Nothing) => "leaving it out no longer clears what Azure has",
        _ => "leaving it out is told to Azure in another way",
    };
    (was != is).then(|| Change::breaking(What::Explicit, effect).saying(words(was), words(is)))
}

/// A change of type. Objects and enums that stay so are compared by what they hold, elsewhere.
fn types(
    (old, types_before): (&TypeRef, &TypeTable),
    (new, types_after): (&TypeRef, &TypeTable),
    side: Side,
) -> Option<Change> {
    match (old, new) {
        (TypeRef::List(old), TypeRef::List(new)) | (TypeRef::Map(old), TypeRef::Map(new)) => {
            types((old, types_before), (new, types_after), side)
        }
        _ => cores((old, types_before), (new, types_after), side),
    }
}

fn cores(
    (old, types_before): (&TypeRef, &TypeTable),
    (new, types_after): (&TypeRef, &TypeTable),
    side: Side,
) -> Option<Change> {
    let was = type_words(old, types_before);
    let is = type_words(new, types_after);
    match (was.as_str(), is.as_str()) {
        // Formats of integers are not checked in Kubernetes.
        (was, is) if was == is => None,
        ("enum", "string") => strings(side, false, true),
        ("string", "enum") => {
            let is_open = is_open_enum(new, types_after);
            strings(side, true, is_open)
        }
        (_, "any JSON") | ("integer", "number") if side == Side::Spec => {
            Some(Change::compatible(What::Retyped, "manifests stay as they are").saying(was, is))
        }
        _ => {
            let effect = match side {
                Side::Spec => "manifests with the old form are refused",
                Side::Status => "what reads it finds another form",
            };
            Some(Change::breaking(What::Retyped, effect).saying(was, is))
        }
    }
}

fn is_open_enum(ty: &TypeRef, types: &TypeTable) -> bool {
    let definition = ty.named().and_then(|id| types.get(id));
    matches!(definition, Some(TypeDef::Enum(it)) if it.is_open())
}

/// A string that took any text and takes known values now, or the other way round. In a status both are strings.
pub(super) fn strings(side: Side, was_open: bool, is_open: bool) -> Option<Change> {
    let words = ["one of known values", "any text"];
    if side == Side::Status {
        return None;
    }
    match (was_open, is_open) {
        (true, false) => {
            let effect = "manifests with other values are refused";
            Some(Change::breaking(What::Retyped, effect).saying(words[1], words[0]))
        }
        (false, true) => Some(Change::compatible(What::Retyped, "").saying(words[0], words[1])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EnumType, TypeId};

    type Edit = fn(&mut Property);

    fn table() -> TypeTable {
        let values = EnumType {
            values: vec!["A".to_owned()],
            ..EnumType::default()
        };
        TypeTable::from([(TypeId::of_schema("Letter"), TypeDef::Enum(values))])
    }

    /// Changes of a property, `!` before what breaks users.
    fn said(old: &Property, new: &Property, side: Side) -> Vec<String> {
        let table = table();
        let changes = compare((old, &table), (new, &table), side);
        let words = changes.iter().map(|change| {
            let mark = if change.breaking { "!" } else { "" };
            format!("{mark}{}", change.words())
        });
        words.collect()
    }

    #[test]
    fn types_by_side() {
        let letter = || TypeRef::Named(TypeId::of_schema("Letter"));
        let list = |item: TypeRef| TypeRef::List(Box::new(item));
        let int = |format: &str| TypeRef::Integer(Some(format.to_owned()));
        let text = || TypeRef::String;
        let [boolean, secret, number, json, texts] = [
            "!is now boolean, was string",
            "!is now key of a Secret, was string",
            "!is now number, was integer",
            "!is now any JSON, was string",
            "!is now list of strings, was string",
        ];
        let [closed, opened] = [
            "!is now one of known values, was any text",
            "is now any text, was one of known values",
        ];
        let table: [(TypeRef, TypeRef, &str, &str); 10] = [
            (text(), text(), "", ""),
            (text(), TypeRef::Bool, boolean, boolean),
            (text(), TypeRef::Secret, secret, secret),
            (int("int32"), int("int64"), "", ""),
            (int("int32"), TypeRef::Number, &number[1..], number),
            (text(), TypeRef::Json, &json[1..], json),
            (text(), letter(), closed, ""),
            (letter(), text(), opened, ""),
            (list(letter()), list(text()), opened, ""),
            (text(), list(text()), texts, texts),
        ];
        for (old, new, spec, status) in table {
            let property = |ty: &TypeRef| Property::new("a", &["a"], ty.clone());
            for (side, expected) in [(Side::Spec, spec), (Side::Status, status)] {
                let said = said(&property(&old), &property(&new), side).join("; ");
                assert_eq!(said, expected, "{old:?} to {new:?} in {side:?}");
            }
        }
    }

    #[test]
    fn facts_of_a_spec_break_when_they_ask_for_more() {
        let plain = Property::new("a", &["a"], TypeRef::String);
        let table: [(Edit, &str, &str); 7] = [
            (
                |it| it.required = true,
                "!is now required, was optional",
                "is now optional, was required",
            ),
            (
                |it| it.create_only = true,
                "!is now settable on creation only, was changeable",
                "is now changeable, was settable on creation only",
            ),
            (
                |it| it.absent = Absent::Null,
                "!is now sent as null when absent, was not sent when absent",
                "!is now not sent when absent, was sent as null when absent",
            ),
            (
                |it| it.write_only = true,
                "is now never returned by Azure, was returned by Azure",
                "is now returned by Azure, was never returned by Azure",
            ),
            (
                |it| it.identifiers = vec!["id".to_owned()],
                "what tells its items apart is now id",
                "what tells its items apart is no longer id",
            ),
            (
                |it| it.item_rules.max_length = Some(3),
                "!the rule is now items: at most 3 characters",
                "the rule is no longer items: at most 3 characters",
            ),
            (
                |it| it.place = ArmPlace::At(vec!["properties".to_owned(), "a".to_owned()]),
                "the place in ARM is now `properties.a`, was `a`",
                "the place in ARM is now `a`, was `properties.a`",
            ),
        ];
        for (edit, there, back) in table {
            let mut edited = plain.clone();
            edit(&mut edited);
            assert_eq!(said(&plain, &edited, Side::Spec), [there]);
            assert_eq!(said(&edited, &plain, Side::Spec), [back]);
        }
        let mut required = plain.clone();
        required.required = true;
        assert!(said(&plain, &required, Side::Status).is_empty());
    }
}
