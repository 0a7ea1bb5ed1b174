//! Applying rules and heuristics to the types of one api-version.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::roots;
use super::rules::{Entry, RuleBook, rule_names};
use super::stages::{self, Exit, Outcome, Site, core, holds_object, misfit, object_of};
use crate::curation::{GroupConfig, Side, Treatment};
use crate::model::{
    ApiVersion, Decision, LeftOut, ObjectType, Property, TypeDef, TypeId, TypeRef, TypeTable,
    Version, reachable,
};
use crate::types::flatten::flatten;

/// Curates the types of one api-version.
pub(super) struct Transform<'a> {
    config: &'a GroupConfig,
    book: &'a RuleBook<'a>,
    api_version: ApiVersion,
    sides: BTreeMap<TypeId, Side>,
    kinds: BTreeMap<TypeId, String>,
    before: TypeTable,
    words: BTreeSet<String>,
    /// Types in secrets of which no member says by itself that it is one.
    secrets: BTreeSet<TypeId>,
}

/// An object on its way through curation.
struct Draft<'a, 'd> {
    id: &'d TypeId,
    side: Side,
    /// With the properties so far.
    object: ObjectType,
    /// Rules by the names that they led to.
    ruled: BTreeMap<String, Entry<'a>>,
    /// Types that rules added.
    added: TypeTable,
    /// Lists that are kinds of their own, by path in ARM.
    child_lists: Vec<Vec<String>>,
}

impl<'a> Transform<'a> {
    pub(super) fn new(config: &'a GroupConfig, book: &'a RuleBook<'a>, version: &Version) -> Self {
        let mut sides = BTreeMap::new();
        let mut kinds = BTreeMap::new();
        let roots = |side: Side| {
            version.resources.iter().map(move |resource| match side {
                Side::Spec => &resource.spec,
                Side::Status => &resource.status,
            })
        };
        for side in [Side::Status, Side::Spec] {
            for id in reachable(&version.types, roots(side)) {
                sides.insert(id, side);
            }
        }
        for resource in &version.resources {
            kinds.insert(resource.spec.clone(), resource.kind.clone());
            kinds.insert(resource.status.clone(), resource.kind.clone());
        }
        let mut transform = Self {
            config,
            book,
            api_version: version.api_version.clone(),
            sides,
            kinds,
            before: version.types.clone(),
            words: version.words.clone(),
            secrets: BTreeSet::new(),
        };
        transform.secrets = transform.secret_types();
        transform
    }

    /// Types in objects that the spec calls secret, where nothing in such an object is called so itself and no rule calls
    /// the object `plain`.
    fn secret_types(&self) -> BTreeSet<TypeId> {
        let mut secrets = BTreeSet::new();
        for (id, side) in &self.sides {
            let Some(TypeDef::Object(object)) = self.before.get(id) else {
                continue;
            };
            let secret = |it: &&Property| it.secret && holds_object(&self.before, &it.ty);
            for property in object.properties.iter().filter(secret) {
                let kind = self.kinds.get(id).map(String::as_str);
                let names = rule_names(id, object, *side, kind);
                let here = (*side, &self.api_version);
                if self.book.calls_plain(&names, &property.name, here) {
                    continue;
                }
                let inside = reachable(&self.before, property.ty.named());
                let says_so = inside.iter().any(|id| match self.before.get(id) {
                    Some(TypeDef::Object(object)) => object.properties.iter().any(|it| it.secret),
                    _ => false,
                });
                if !says_so {
                    secrets.extend(inside);
                }
            }
        }
        secrets
    }

    /// A property, as a secret if it is a string in an object that is one.
    fn in_secret<'p>(&self, owner: &TypeId, property: &'p Property) -> Cow<'p, Property> {
        let is_text = *core(&property.ty) == TypeRef::String;
        if !is_text || !self.secrets.contains(owner) {
            return Cow::Borrowed(property);
        }
        let mut property = property.clone();
        property.secret = true;
        let why = "in an object that is a secret and does not say what of it";
        property.origin.decisions.push(Decision::heuristic(why));
        Cow::Owned(property)
    }

    /// Rewrites every reachable type of the version.
    pub(super) fn apply(&self, version: &mut Version) {
        for (id, side) in &self.sides {
            let Some(TypeDef::Object(object)) = self.before.get(id) else {
                continue;
            };
            let draft = self.object(id, *side, object);
            let resource = version.resources.iter_mut().find(|r| r.spec == *id);
            if let Some(resource) = resource {
                resource.child_lists.extend(draft.child_lists);
            }
            version
                .types
                .insert(id.clone(), TypeDef::Object(draft.object));
            version.types.extend(draft.added);
        }
        drop_empty(&mut version.types, &self.kinds);
    }

    fn object<'d>(&self, id: &'d TypeId, side: Side, object: &ObjectType) -> Draft<'a, 'd> {
        let kind = self.kinds.get(id).map(String::as_str);
        let names = rule_names(id, object, side, kind);
        let entries = self.book.entries(&names);
        let mut draft = Draft {
            id,
            side,
            object: ObjectType {
                properties: Vec::new(),
                ..object.clone()
            },
            ruled: BTreeMap::new(),
            added: TypeTable::new(),
            child_lists: Vec::new(),
        };
        for property in &object.properties {
            self.property(&mut draft, &entries, property);
        }
        self.check_names(&draft);
        self.check_own_names(&draft);
        let object = &mut draft.object;
        if let Some(one_of) = &mut object.discriminated {
            let kept = |name: &str| object.properties.iter().any(|p| p.name == name);
            one_of.variants.retain(|variant| kept(&variant.property));
        }
        draft
    }

    fn property(&self, draft: &mut Draft<'a, '_>, entries: &[Entry<'a>], property: &Property) {
        let site = Site {
            types: &self.before,
            words: &self.words,
            owner: draft.id,
            side: draft.side,
            is_root: self.kinds.contains_key(draft.id),
            explicit_collections: self.config.rules.explicit_collections,
        };
        let here = (draft.side, &self.api_version);
        let property = &*self.in_secret(draft.id, property);
        let found = self.book.find(entries, &property.name, here, |rule| {
            stages::run(site, property, Some(rule))
        });
        match found {
            Some((entry, outcome)) => {
                self.check_fit(draft, &entry, property);
                match outcome.exit {
                    Some(Exit::Flattened) => self.flatten(draft, &entry, property),
                    _ => self.take(draft, Some(entry), property, outcome),
                }
            }
            None => self.take(draft, None, property, stages::run(site, property, None)),
        }
    }

    /// Takes over what became of a property.
    fn take(
        &self,
        draft: &mut Draft<'a, '_>,
        entry: Option<Entry<'a>>,
        property: &Property,
        mut outcome: Outcome,
    ) {
        let mut origin = property.origin.clone();
        origin.decisions.append(&mut outcome.decisions);
        origin
            .decisions
            .extend(entry.map(|entry| self.decision(&entry)));
        if outcome.exit == Some(Exit::ChildList) {
            draft.child_lists.push(property.place.path().to_vec());
        }
        if let Some((id, known)) = outcome.added.take() {
            draft.added.insert(id, TypeDef::Enum(known));
        }
        if outcome.exit.is_some() {
            draft.object.left_out.push(LeftOut {
                name: property.name.clone(),
                arm: property.place.path().to_vec(),
                origin: origin.clone(),
            });
        }
        for property in outcome.into_properties() {
            draft
                .ruled
                .extend(entry.map(|entry| (property.name.clone(), entry)));
            let origin = origin.clone();
            draft
                .object
                .properties
                .push(Property { origin, ..property });
        }
    }

    /// Puts the curated members of an object in its place.
    fn flatten(&self, draft: &mut Draft<'a, '_>, entry: &Entry<'a>, property: &Property) {
        let Some((id, inner)) = object_of(&self.before, &property.ty) else {
            return;
        };
        let inner = self.object(id, draft.side, inner);
        let why = self.decision(entry);
        let object = &mut draft.object;
        flatten(
            property,
            &inner.object,
            &why,
            &mut object.properties,
            &mut object.left_out,
        );
        draft.ruled.extend(inner.ruled);
        draft.added.extend(inner.added);
    }

    /// What a rule decides, for explanations.
    fn decision(&self, entry: &Entry<'_>) -> Decision {
        let rule = entry.rule;
        let written = rule.aspects().filter_map(|aspect| rule.written(aspect));
        let mut what = written.collect::<Vec<_>>().join(", ");
        if let Some(because) = &rule.because {
            what = format!("{what}: {because}");
        }
        Decision::rule(self.config.at(entry.property), what)
    }

    /// Tells of a treatment or a type that does not fit the property.
    fn check_fit(&self, draft: &Draft<'a, '_>, entry: &Entry<'a>, property: &Property) {
        let is_collection = matches!(property.ty, TypeRef::List(_) | TypeRef::Map(_));
        if let Some(word) = entry
            .rule
            .ty
            .filter(|word| is_collection && word.is_single())
        {
            let (name, word) = (&property.name, word.word());
            let message = format!(
                "`{name}` of `{}` is a list or map, and `type = \"{word}\"` would make one value of it; use \
                 `items = \"{word}\"` for what is in it, or `type = \"json\"`",
                entry.type_name.get_ref()
            );
            self.book.misfit(entry, message);
        }
        let Some(treatment) = entry.rule.treatment.filter(|_| draft.side == Side::Spec) else {
            return;
        };
        let (name, word) = (&property.name, treatment.word());
        if let Some(needed) = misfit(&self.before, treatment, &property.ty) {
            let message = format!(
                "`{word}` needs {needed}, and `{name}` of `{}` is something else; remove the rule, or give another \
                 property",
                entry.type_name.get_ref()
            );
            self.book.misfit(entry, message);
        }
        if treatment == Treatment::ChildKind && !self.kinds.contains_key(draft.id) {
            let message = format!(
                "`{word}` works for properties of an exported kind, and `{}` is none; use `remove`",
                draft.id
            );
            self.book.misfit(entry, message);
        }
    }

    /// Tells of properties that share a name because of a rule or a heuristic.
    fn check_names(&self, draft: &Draft<'a, '_>) {
        let mut seen = BTreeSet::new();
        for property in &draft.object.properties {
            if seen.insert(&property.name) {
                continue;
            }
            let message = format!(
                "`{}` has two properties `{}`; give one of them another name with `rename`",
                draft.id, property.name
            );
            self.book.clash(draft.ruled.get(&property.name), message);
        }
    }

    /// Tells of properties of a root that have the name of what the operator adds to it.
    fn check_own_names(&self, draft: &Draft<'a, '_>) {
        let kind = self.kinds.get(draft.id);
        let kinds = &self.config.rules.kinds;
        let Some((kind, _)) = kind.and_then(|kind| kinds.get_key_value(kind.as_str())) else {
            return;
        };
        let own = roots::own_names(draft.side);
        let properties = draft.object.properties.iter();
        for property in properties.filter(|it| own.contains(&it.name.as_str())) {
            let name = &property.name;
            let entry = draft.ruled.get(name);
            let advice = match entry.and_then(|entry| entry.rule.rename.as_ref()) {
                Some(_) => {
                    "so no rule can give it to another property; choose another name".to_owned()
                }
                None => format!(
                    "and Azure has a property of that name; give Azure's another: `{name} = {{ rename = \"…\" }}` under \
                     [types.{}]",
                    kind.get_ref()
                ),
            };
            let side = match draft.side {
                Side::Spec => "spec",
                Side::Status => "status",
            };
            let message = format!(
                "`{}.{side}.{name}` is the operator's own, {advice}",
                kind.get_ref()
            );
            self.book
                .report(entry.map_or(kind, |entry| entry.property), message);
        }
    }
}

/// Removes properties whose type is an object without properties, until none is left.
fn drop_empty(types: &mut TypeTable, roots: &BTreeMap<TypeId, String>) {
    loop {
        let empty = types
            .iter()
            .filter(|(id, definition)| {
                let is_empty =
                    matches!(definition, TypeDef::Object(object) if object.properties.is_empty());
                is_empty && !roots.contains_key(*id)
            })
            .map(|(id, _)| id.clone())
            .collect::<BTreeSet<_>>();
        if empty.is_empty() {
            return;
        }
        types.retain(|id, _| !empty.contains(id));
        for definition in types.values_mut() {
            if let TypeDef::Object(object) = definition {
                let is_kept = |p: &Property| p.ty.named().is_none_or(|id| !empty.contains(id));
                let gone = object
                    .properties
                    .extract_if(.., |property| !is_kept(property));
                object.left_out.extend(gone.map(|property| {
                    let mut origin = property.origin;
                    let why = "no property of it is left";
                    origin.decisions.push(Decision::heuristic(why));
                    LeftOut {
                        name: property.name,
                        arm: property.place.path().to_vec(),
                        origin,
                    }
                }));
            }
        }
    }
}
