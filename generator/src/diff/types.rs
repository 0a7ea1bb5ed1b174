//! Two trees of types side by side, path by path.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Collector, Place, Subject};
use super::side::Side;
use super::{Change, What, property};
use crate::emit::facts::type_words;
use crate::model::{
    ApiVersion, ArmPlace, Discriminated, EnumType, MissingType, ObjectType, Property, TypeDef,
    TypeId, TypeRef, TypeTable, VariantType, Version,
};
use crate::naming::TypeNames;
use crate::share::{Fingerprint, fingerprints};

/// The types of a version and what they are called, with what tells fast whether two are equal.
pub(super) struct Types<'a> {
    api_version: &'a ApiVersion,
    table: &'a TypeTable,
    names: TypeNames,
    prints: BTreeMap<TypeId, Fingerprint>,
}

impl<'a> Types<'a> {
    pub(super) fn new(version: &'a Version) -> Result<Self, MissingType> {
        let names = TypeNames::of_version(version);
        Ok(Self {
            api_version: &version.api_version,
            table: &version.types,
            prints: fingerprints(&version.types, &names)?,
            names,
        })
    }
}

/// One kind in one version, on one side.
pub(super) struct Walk<'a> {
    kind: &'a str,
    version: &'a str,
    side: Side,
    before: &'a Types<'a>,
    after: &'a Types<'a>,
    /// Types that the walk is in.
    open: BTreeSet<(TypeId, TypeId)>,
    collector: &'a mut Collector,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        (kind, version): (&'a str, &'a str),
        side: Side,
        (before, after): (&'a Types<'a>, &'a Types<'a>),
        collector: &'a mut Collector,
    ) -> Self {
        Self {
            kind,
            version,
            side,
            before,
            after,
            open: BTreeSet::new(),
            collector,
        }
    }

    /// Compares two object types that stand at `path`, and everything below. What is equal in structure is not
    /// entered, which keeps large groups cheap.
    pub(super) fn objects(
        &mut self,
        before: &TypeId,
        after: &TypeId,
        path: &str,
    ) -> Result<(), MissingType> {
        if self.before.prints.get(before) == self.after.prints.get(after) {
            return Ok(());
        }
        let (Some(TypeDef::Object(old)), Some(TypeDef::Object(new))) =
            (self.before.table.get(before), self.after.table.get(after))
        else {
            return Ok(());
        };
        let pair = (before.clone(), after.clone());
        if !self.open.insert(pair.clone()) {
            return Ok(());
        }
        for change in one_of(old, new, self.side) {
            self.found(change, after, None, path)?;
        }
        let pairs = pairs(old, new);
        for gone in old.properties.iter().filter(|it| !pairs.has_before(it)) {
            let change = Change::removed(self.side, &type_words(&gone.ty, self.before.table));
            self.found(change, after, Some(&gone.name), path)?;
        }
        for property in new.properties.iter().filter(|it| !pairs.has_after(it)) {
            let words = type_words(&property.ty, self.after.table);
            let change = Change::added(self.side, &words, property.required);
            self.found(change, after, Some(&property.name), path)?;
        }
        for (old, new) in pairs.0 {
            self.properties(old, new, after, path)?;
        }
        self.open.remove(&pair);
        Ok(())
    }

    fn properties(
        &mut self,
        old: &Property,
        new: &Property,
        owner: &TypeId,
        path: &str,
    ) -> Result<(), MissingType> {
        let mut changes =
            property::compare((old, self.before.table), (new, self.after.table), self.side);
        if old.name != new.name {
            // A reference in place of an id has another name because it has another type: one change for users.
            changes.retain(|change| change.what != What::Retyped);
            let words = |property: &Property, types: &Types<'_>| {
                let ty = type_words(&property.ty, types.table);
                format!("`{}` ({ty})", property.name)
            };
            let (was, is) = (words(old, self.before), words(new, self.after));
            self.found(
                Change::renamed(self.side, was, is),
                owner,
                Some(&old.name),
                path,
            )?;
        }
        for change in changes {
            self.found(change, owner, Some(&new.name), path)?;
        }
        let (Some(below_old), Some(below_new)) = (old.ty.named(), new.ty.named()) else {
            return Ok(());
        };
        let below = format!("{path}.{}{}", new.name, suffix(&new.ty));
        // From one api-version to another, names are Azure's to change.
        let was = self.before.names.get(below_old)?;
        let is = self.after.names.get(below_new)?;
        if was != is && self.before.api_version == self.after.api_version {
            let change = Change::called(was.as_str(), is.as_str());
            self.found(change, below_new, None, &below)?;
        }
        match (
            self.before.table.get(below_old),
            self.after.table.get(below_new),
        ) {
            (Some(TypeDef::Enum(old)), Some(TypeDef::Enum(new))) => {
                for change in values(old, new, self.side) {
                    self.found(change, below_new, None, &below)?;
                }
            }
            (Some(TypeDef::Object(_)), Some(TypeDef::Object(_))) => {
                self.objects(below_old, below_new, &below)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn found(
        &mut self,
        change: Change,
        owner: &TypeId,
        property: Option<&str>,
        path: &str,
    ) -> Result<(), MissingType> {
        let path = property.map_or_else(|| path.to_owned(), |name| format!("{path}.{name}"));
        let subject = Subject {
            side: self.side,
            type_name: self.after.names.get(owner)?.to_string(),
            property: property.map(str::to_owned),
        };
        let place = Place {
            kind: self.kind.to_owned(),
            version: Some(self.version.to_owned()),
            path: Some(path),
        };
        self.collector.add(change, Some(subject), place);
        Ok(())
    }
}

/// Properties that are the same before and after.
struct Pairs<'a>(Vec<(&'a Property, &'a Property)>);

impl Pairs<'_> {
    fn has_before(&self, property: &Property) -> bool {
        self.0.iter().any(|(old, _)| old.name == property.name)
    }

    fn has_after(&self, property: &Property) -> bool {
        self.0.iter().any(|(_, new)| new.name == property.name)
    }
}

/// The same are properties of one name, and then those with one place in ARM that nothing else has: a reference
/// in place of an id has another name. Names alone are never guessed from.
fn pairs<'a>(old: &'a ObjectType, new: &'a ObjectType) -> Pairs<'a> {
    let mut pairs = Pairs(Vec::new());
    for before in &old.properties {
        let after = new.properties.iter().find(|it| it.name == before.name);
        pairs.0.extend(after.map(|after| (before, after)));
    }
    let only = |properties: &'a [Property], place: &ArmPlace| {
        let mut found = properties.iter().filter(|it| it.place == *place);
        found.next().filter(|_| found.next().is_none())
    };
    for before in &old.properties {
        if !matches!(before.place, ArmPlace::At(_)) || pairs.has_before(before) {
            continue;
        }
        if let Some(before) = only(&old.properties, &before.place)
            && let Some(after) = only(&new.properties, &before.place)
            && !pairs.has_after(after)
        {
            pairs.0.push((before, after));
        }
    }
    pairs
}

fn suffix(ty: &TypeRef) -> String {
    match ty {
        TypeRef::List(item) => format!("[]{}", suffix(item)),
        TypeRef::Map(item) => format!("{{}}{}", suffix(item)),
        _ => String::new(),
    }
}

/// Whether variants became an object or the other way round, and how they are told apart in ARM.
fn one_of(old: &ObjectType, new: &ObjectType, side: Side) -> Vec<Change> {
    let (variants, object) = ("one of its variants", "an object");
    match (&old.discriminated, &new.discriminated) {
        (None, Some(_)) if side == Side::Spec => {
            let effect = "manifests that set more than one of its properties are refused";
            vec![Change::breaking(What::OneOf, effect).saying(object, variants)]
        }
        (None, Some(_)) => vec![Change::compatible(What::OneOf, "").saying(object, variants)],
        (Some(_), None) => vec![Change::compatible(What::OneOf, "").saying(variants, object)],
        (Some(old), Some(new)) => {
            let told = |by: &Discriminated, variant: &VariantType| {
                format!("`{}` = `{}`", by.property, variant.value)
            };
            let pair = |now: &VariantType| {
                let mut variants = old.variants.iter();
                let was = variants.find(|was| was.property == now.property)?;
                let (was, now) = (told(old, was), told(new, now));
                (was != now).then(|| Change::moved(was, now))
            };
            new.variants.iter().filter_map(pair).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// Values that came and went, and whether a spec takes others. Statuses take all.
fn values(old: &EnumType, new: &EnumType, side: Side) -> Vec<Change> {
    let only = |left: &EnumType, right: &EnumType| {
        let values = left.values.iter().filter(|it| !right.values.contains(it));
        values
            .map(|it| format!("`{it}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (gone, fresh) = (only(old, new), only(new, old));
    let mut changes = Vec::new();
    let (was_open, is_open) = (old.is_open(), new.is_open());
    if !gone.is_empty() && !new.values.is_empty() {
        let change = match side {
            Side::Spec if !is_open => {
                Change::breaking(What::ValuesRemoved, "manifests with them are refused")
            }
            _ => Change::compatible(What::ValuesRemoved, ""),
        };
        changes.push(change.saying(&gone, ""));
    }
    if !fresh.is_empty() && !old.values.is_empty() {
        let change = Change::compatible(What::ValuesAdded, "");
        changes.push(change.saying("", &fresh));
    }
    if was_open != is_open {
        changes.extend(property::strings(side, was_open, is_open));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enumeration(values: &[&str]) -> EnumType {
        EnumType {
            values: values.iter().map(|it| (*it).to_owned()).collect(),
            ..EnumType::default()
        }
    }

    #[test]
    fn a_lost_value_breaks_manifests_and_not_readers() {
        let (old, new) = (enumeration(&["A", "B"]), enumeration(&["B", "C"]));
        let said = |side| {
            let changes = values(&old, &new, side);
            let words = changes.iter().map(|it| (it.breaking, it.words()));
            words.collect::<Vec<_>>()
        };
        let added = (false, "values added: `C`".to_owned());
        let removed = |breaking| (breaking, "values removed: `A`".to_owned());
        assert_eq!(said(Side::Spec), [removed(true), added.clone()]);
        assert_eq!(said(Side::Status), [removed(false), added]);
    }

    #[test]
    fn a_list_that_closes_refuses_what_it_took() {
        let closed = enumeration(&["A", "B"]);
        let open = EnumType {
            extensible: true,
            ..enumeration(&["A"])
        };
        let said = |old, new, side| {
            let changes = values(old, new, side);
            let words = changes.iter().map(|it| (it.breaking, it.words()));
            words.collect::<Vec<_>>()
        };
        let [added, removed] =
            ["values added: `B`", "values removed: `B`"].map(|words| (false, words.to_owned()));
        let closes = (true, "is now one of known values, was any text".to_owned());
        let opens = (false, "is now any text, was one of known values".to_owned());
        assert_eq!(said(&open, &closed, Side::Spec), [added.clone(), closes]);
        assert_eq!(said(&closed, &open, Side::Spec), [removed.clone(), opens]);
        assert_eq!(said(&open, &closed, Side::Status), [added]);
        assert_eq!(said(&closed, &open, Side::Status), [removed]);
    }

    #[test]
    fn another_name_for_one_place_in_arm_is_a_rename_unless_two_share_the_place() {
        let property = |name: &str, arm: &[&str]| Property::new(name, arm, TypeRef::String);
        let object = |properties: Vec<Property>| ObjectType {
            properties,
            ..ObjectType::default()
        };
        let old = object(vec![property("fooId", &["foo"]), property("bar", &["bar"])]);
        let renamed = object(vec![
            property("fooReference", &["foo"]),
            property("bar", &["bar"]),
        ]);
        let twins = object(vec![property("foo1", &["foo"]), property("foo2", &["foo"])]);
        let names = |new: &ObjectType| {
            let pairs = pairs(&old, new).0.into_iter();
            let names = pairs.map(|(old, new)| format!("{}-{}", old.name, new.name));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&renamed), ["bar-bar", "fooId-fooReference"]);
        assert!(names(&twins).is_empty());
    }
}
