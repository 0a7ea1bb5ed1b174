//! The walk from schemas to types, for one side of one resource.

use std::collections::HashMap;

use super::around::Around;
use super::bounds::{DEEPEST, MOST_OBJECTS};
use super::embedded::{Rule, Standing, is_id};
use super::error::TypesError;
use super::merge::{Merged, merge};
use super::table::{Table, structure};
use super::words::Words;
use crate::discover::DiscoveredResource;
use crate::load::{Additional, Schema, SchemaType, Source};
use crate::model::{
    Decision, EnumType, Meaning, ObjectType, Origin, Property, Rules, Side, TypeDef, TypeId,
    TypeRef,
};
use crate::naming::{EMBEDDED, Stem, endings, identities, pascal};
use crate::overlay::{Overlaid, Said};

/// Builds the types of one side of one resource.
pub(super) struct Builder<'a, 'b> {
    pub set: Overlaid<'a>,
    pub rule: &'b Rule<'a>,
    pub words: &'b Words<'a>,
    pub table: &'b mut Table,
    pub resource: &'b DiscoveredResource<'a>,
    pub side: Side,
    /// Schemas being built, outermost first. One may stand twice: recursion is unrolled once.
    pub open: Vec<&'a Source>,
    /// Below something that Azure sets.
    pub read_only: bool,
    /// What decided the type that is being asked for.
    pub decisions: Vec<Decision>,
    /// What the type being built depends on.
    pub around: Around<'a>,
    done: HashMap<(&'a Source, bool, usize), (Option<TypeRef>, Around<'a>)>,
    /// Schemas opened so far.
    opened: usize,
}

/// Where a type is asked for: gives words to schemas that have none.
pub(super) struct Place<'n> {
    /// Word for the type around it.
    pub owner: &'n str,
    /// Name of the property in ARM.
    pub property: &'n str,
}

/// What an object is within its resource; some of ARM's own members are left out accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The resource itself.
    Root,
    /// A part of the resource that Azure treats as a resource: it has an id of Azure's choice.
    Part,
    /// Any other object.
    Inside,
}

impl<'a, 'b> Builder<'a, 'b> {
    /// A builder of one side of a resource; types go to `table`.
    pub fn new(
        set: Overlaid<'a>,
        (rule, words): (&'b Rule<'a>, &'b Words<'a>),
        table: &'b mut Table,
        resource: &'b DiscoveredResource<'a>,
        side: Side,
    ) -> Self {
        Self {
            set,
            rule,
            words,
            table,
            resource,
            side,
            open: Vec::new(),
            read_only: false,
            decisions: Vec::new(),
            around: Around::default(),
            done: HashMap::new(),
            opened: 0,
        }
    }

    /// Builds the root type of this side and all below it.
    pub fn root(mut self, schema: &'a Schema) -> Result<TypeId, TypesError> {
        let merged = merge(self.set, schema);
        if merged.properties.is_empty() && !matches!(merged.ty, None | Some(SchemaType::Object)) {
            return Err(TypesError::NotAnObject {
                at: merged.schema.source.clone(),
                kind: self.resource.kind.clone(),
            });
        }
        let id = identities::root(&self.resource.kind, self.side);
        self.open.push(&merged.schema.source);
        let object = if self.is_one_of(&merged) {
            self.one_of(&merged, Position::Root)?
        } else {
            self.object(&merged, &self.resource.kind.clone(), Position::Root)?
        };
        Ok(self.table.root(id, object.unwrap_or_default()))
    }

    /// What curation files put behind a definition to mean this side of it.
    pub fn suffix(&self) -> &'static str {
        endings::of_side(self.side)
    }

    /// Whether a schema stands for several variants.
    pub fn is_one_of(&self, merged: &Merged<'a>) -> bool {
        let mut variants = self.set.loaded().derived(&merged.schema.source);
        merged.discriminator.is_some() && variants.next().is_some()
    }

    /// Type of a value, or nothing if no member of it is left on this side.
    pub fn type_of(
        &mut self,
        schema: &'a Schema,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let merged = merge(self.set, schema);
        let ty = match merged.ty {
            Some(SchemaType::File) => Err("file"),
            Some(SchemaType::Unknown(text)) => Err(text.as_str()),
            other => Ok(other),
        }
        .map_err(|ty| TypesError::UnknownType {
            at: merged.value.source.clone(),
            ty: ty.to_owned(),
        })?;
        Ok(match ty {
            Some(SchemaType::Array) => self.list(&merged, place)?,
            Some(SchemaType::Boolean) => Some(TypeRef::Bool),
            Some(SchemaType::Integer) => {
                let rules = self.set.said(merged.value).rules();
                Some(TypeRef::Integer(rules.format.clone()))
            }
            Some(SchemaType::Number) => Some(self.number(self.set.said(merged.value).rules())),
            Some(SchemaType::String) => Some(self.string(&merged, place)),
            None if !merged.value.values.is_empty() => Some(self.string(&merged, place)),
            _ => self.object_like(merged, place)?,
        })
    }

    fn list(
        &mut self,
        merged: &Merged<'a>,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let Some(items) = merged.value.items.as_deref() else {
            return Ok(Some(TypeRef::List(Box::new(TypeRef::Json))));
        };
        let source = &merged.schema.source;
        if self.is_too_deep(source) {
            return Ok(None);
        }
        self.enter(source)?;
        let item = self.type_of(items, place);
        self.leave();
        Ok(item?.map(|item| TypeRef::List(Box::new(item))))
    }

    /// How often a schema is being built right now.
    pub fn times_open(&self, source: &Source) -> usize {
        self.open.iter().filter(|open| **open == source).count()
    }

    /// Whether a schema is within itself too often to be built again.
    pub fn recurs(&mut self, source: &Source) -> bool {
        let recurs = self.times_open(source) > 1;
        if let Some(first) = self.first_open(source).filter(|_| recurs) {
            self.depend_on(first);
        }
        recurs
    }

    /// Place of the outermost schema being built that is this one.
    fn first_open(&self, source: &Source) -> Option<usize> {
        self.open.iter().position(|open| *open == source)
    }

    /// Notes that a type came out otherwise because of what is being built at this place around it.
    pub fn depend_on(&mut self, place: usize) {
        if let Some(source) = self.open.get(place).copied() {
            self.around.depends.insert((place, source));
        }
    }

    /// As [`Self::recurs`], with a word about it.
    fn is_too_deep(&mut self, source: &Source) -> bool {
        let too_deep = self.recurs(source);
        if too_deep {
            let why = "recursion ends here: it is unrolled once";
            self.decisions.push(Decision::heuristic(why));
        }
        too_deep
    }

    /// Goes into a schema. [`Self::leave`] goes out again.
    pub fn enter(&mut self, source: &'a Source) -> Result<(), TypesError> {
        let here = || (source.clone(), self.resource.kind.clone());
        if self.open.len() >= DEEPEST {
            let (at, kind) = here();
            return Err(TypesError::TooDeep { at, kind });
        }
        if self.opened >= MOST_OBJECTS {
            let (at, kind) = here();
            return Err(TypesError::TooManyObjects { at, kind });
        }
        self.opened += 1;
        self.open.push(source);
        Ok(())
    }

    /// Goes out of the schema that was entered last.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// A number that the spec checks is an integer in Kubernetes, whose conventions ask not to use fractions
    /// (ASO behaviour §3.5). Status is not checked, so there it stays what it is.
    fn number(&mut self, rules: &Rules) -> TypeRef {
        let checked =
            rules.minimum.is_some() || rules.maximum.is_some() || rules.multiple_of.is_some();
        if checked && self.side == Side::Spec {
            let why = "a number with bounds is an integer in Kubernetes";
            self.decisions.push(Decision::heuristic(why));
            TypeRef::Integer(None)
        } else {
            TypeRef::Number
        }
    }

    fn string(&mut self, merged: &Merged<'a>, place: &Place<'_>) -> TypeRef {
        let schema = merged.value;
        if self.side == Side::Status || schema.values.is_empty() {
            return TypeRef::String;
        }
        let def = TypeDef::Enum(EnumType {
            values: schema.values.clone(),
            extensible: schema.extensible,
            description: schema.description.clone(),
            source: schema.source.to_string(),
        });
        let word = self.words.enumeration(self.set.said(schema));
        let word = word.unwrap_or_else(|| self.words.place(place.owner, place.property));
        TypeRef::Named(self.table.intern(TypeId::of_schema(word), def))
    }

    fn object_like(
        &mut self,
        merged: Merged<'a>,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let one_of = self.is_one_of(&merged);
        if merged.properties.is_empty() && !one_of {
            return self.free_form(&merged, place);
        }
        let (position, is_usual) = self.position(&merged, place);
        let Some(position) = position else {
            self.around.resource |= !is_usual;
            return Ok(self.id_only(&merged));
        };
        let source = &merged.schema.source;
        if self.is_too_deep(source) {
            return Ok(None);
        }
        let times = self.times_open(source);
        let key = (source, self.read_only, times);
        if let Some((done, around)) = self.done.get(&key) {
            let (done, around) = (done.clone(), around.clone());
            self.around.take_over(&around, &self.open);
            self.around.resource |= !is_usual;
            self.note_object(done.as_ref(), &merged, one_of);
            return Ok(done);
        }
        let stem = self.stem(merged.schema, Some(place));
        let outside = std::mem::take(&mut self.around);
        let is_usual = is_usual && !self.rule.is_variant_of_resource(merged.schema);
        let ty = self.enclosed(merged.schema, &stem, |it| {
            it.around.resource |= !is_usual;
            if one_of {
                it.one_of(&merged, position)
            } else {
                it.object(&merged, stem.word(), position)
            }
        })?;
        let around = std::mem::replace(&mut self.around, outside);
        self.around.add(&around);
        self.note_object(ty.as_ref(), &merged, one_of);
        self.done.insert(key, (ty.clone(), around));
        Ok(ty)
    }

    /// What a schema's type is called after, at a place that gives a word if the specs do not.
    pub fn stem(&self, schema: &Schema, place: Option<&Place<'_>>) -> Stem {
        let stem = Stem::of_schema(match (self.words.word(schema), place) {
            (Some(word), _) => word.to_owned(),
            (None, Some(place)) => self.words.place(place.owner, place.property),
            (None, None) => pascal(self.set.said(schema).definition_name()),
        });
        match self.times_open(&schema.source) {
            0 => stem,
            _ => stem.unrolled(&self.words.claims),
        }
    }

    /// Builds an object within what is around it and enters its type. `stem` is of the type which the schema gives
    /// by itself; within itself once, it counts as such, too.
    pub fn enclosed(
        &mut self,
        schema: &'a Schema,
        stem: &Stem,
        build: impl FnOnce(&mut Self) -> Result<Option<ObjectType>, TypesError>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let itself = self.first_open(&schema.source);
        let outside = std::mem::take(&mut self.around);
        self.enter(&schema.source)?;
        let object = build(self);
        self.leave();
        let mut inside = std::mem::replace(&mut self.around, outside);
        inside.leave(self.open.len());
        let is_plain = inside.is_of_schema(itself);
        inside.depends.extend(itself.map(|at| (at, &schema.source)));
        inside.within.insert(&schema.source);
        self.around.add(&inside);
        Ok(object?.map(|object| self.entered(stem, is_plain, object)))
    }

    /// Enters an object type. What is not plain has another structure than its schema gives.
    fn entered(&mut self, stem: &Stem, is_plain: bool, object: ObjectType) -> TypeRef {
        let def = TypeDef::Object(object);
        let made = (!is_plain).then(|| structure(&def));
        let id = stem.on(self.side, made, &self.words.claims);
        TypeRef::Named(self.table.intern(id, def))
    }

    /// Where an object stands in its resource, `None` where only the id of another resource stays; and whether it
    /// usually stands so.
    fn position(&mut self, merged: &Merged<'a>, place: &Place<'_>) -> (Option<Position>, bool) {
        let (resource, suffix) = (self.resource, self.suffix());
        let standing = if place.property == "properties" {
            Standing::Whole
        } else {
            self.rule
                .standing(merged.schema, resource, self.read_only, suffix)
        };
        let position = match standing {
            Standing::IdOnly => {
                let what = format!(
                    "only the id is left: `{}` is a resource with a life of its own",
                    self.set.said(merged.schema).definition_name()
                );
                self.decisions.push(Decision::heuristic(what));
                None
            }
            Standing::Reduced => {
                let name = self.rule.reduced_as(merged.schema, suffix);
                self.decisions
                    .push(Decision::id_only(name.unwrap_or_default()));
                None
            }
            Standing::Part => {
                let why = "looks like a resource and stays whole: nothing else makes it";
                self.decisions.push(Decision::heuristic(why));
                Some(Position::Part)
            }
            Standing::Whole => Some(Position::Inside),
            Standing::Kept => {
                let what = format!(
                    "stays whole: `{}` is among `parts`",
                    self.set.said(merged.schema).definition_name()
                );
                self.decisions.push(Decision::part(what));
                Some(Position::Inside)
            }
        };
        let usual = self.rule.usual(merged.schema, suffix);
        (position, standing == usual)
    }

    /// Notes what decided the type of an object.
    fn note_object(&mut self, ty: Option<&TypeRef>, merged: &Merged<'a>, one_of: bool) {
        if ty.is_none() {
            let why = "no member of it is left on this side";
            self.decisions.push(Decision::heuristic(why));
        } else if one_of {
            let discriminator = merged.discriminator.unwrap_or_default();
            let what = format!("discriminator `{discriminator}`: one property for each variant");
            self.decisions.push(Decision::spec(what));
        }
    }

    /// An object without properties: a map, or any JSON.
    fn free_form(
        &mut self,
        merged: &Merged<'a>,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        Ok(match (merged.additional, merged.ty) {
            // Users choose the keys only; all that the values hold is Azure's.
            (Additional::Of(_), _) if self.is_identity_map(place.property) => {
                let why = "a map of ARM ids: a list of references";
                self.decisions.push(Decision::heuristic(why));
                Some(TypeRef::ArmIdKeyed)
            }
            (Additional::Of(inner), _) => self
                .map_item(inner, place)?
                .map(|item| TypeRef::Map(Box::new(item))),
            (Additional::Any, _) | (Additional::Unsaid, Some(SchemaType::Object)) => {
                Some(TypeRef::Map(Box::new(TypeRef::Json)))
            }
            (Additional::Forbidden, _) => {
                self.decisions.push(Decision::spec("it has no members"));
                None
            }
            (Additional::Unsaid, _) => Some(TypeRef::Json),
        })
    }

    fn is_identity_map(&self, member: &str) -> bool {
        self.side == Side::Spec && member.eq_ignore_ascii_case("userAssignedIdentities")
    }

    /// Type of a map's values. Values of which the spec only says that they are objects can be anything.
    pub fn map_item(
        &mut self,
        schema: &'a Schema,
        place: &Place<'_>,
    ) -> Result<Option<TypeRef>, TypesError> {
        let free = TypeRef::Map(Box::new(TypeRef::Json));
        if self.is_too_deep(&schema.source) {
            return Ok(None);
        }
        self.enter(&schema.source)?;
        let item = self.type_of(schema, place);
        self.leave();
        Ok(item?.map(|item| if item == free { TypeRef::Json } else { item }))
    }

    /// What is left of a resource inside another one.
    fn id_only(&mut self, merged: &Merged<'a>) -> Option<TypeRef> {
        let (name, schema) = merged.properties.iter().find(|(name, _)| is_id(name))?;
        if self.side == Side::Spec && self.facts(schema).read_only {
            self.decisions.push(Decision::spec("its id is `readOnly`"));
            return None;
        }
        let object = ObjectType {
            properties: vec![Property {
                meaning: Meaning::ArmId,
                required: self.side == Side::Spec && merged.required.contains(name),
                origin: Origin {
                    source: schema.source.to_string(),
                    decisions: vec![Decision::heuristic("the id of a resource is an ARM id")],
                },
                ..Property::new("id", &[*name], TypeRef::String)
            }],
            // One type for the ids of all resources, whichever of them is met first.
            arm_resource: true,
            ..ObjectType::default()
        };
        let is_plain = *name == "id" && !object.properties[0].required;
        let stem = Stem::of_schema(EMBEDDED.to_owned());
        Some(self.entered(&stem, is_plain, object))
    }
}

/// Name of a schema that has one of its own, as rules have it. Bicep types call the body of a resource by its ARM type, where
/// the specs that it inherits from have a definition for each side.
pub(super) fn definition(said: Said<'_>, side: Side) -> Option<String> {
    let own = said
        .is_definition()
        .then(|| said.definition_name().to_owned());
    let is_arm_type = own.as_ref().is_some_and(|own| own.contains('/'));
    let twin = said.twin(side).filter(|_| is_arm_type);
    let folders = ["/definitions/", "/components/schemas/"];
    let name = |it: &Source| {
        folders
            .iter()
            .find_map(|at| Some(it.pointer.strip_prefix(at)?.to_owned()))
    };
    let twin = twin.and_then(name);
    twin.filter(|it| !it.contains('/')).or(own)
}
