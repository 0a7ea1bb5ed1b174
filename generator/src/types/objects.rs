//! Objects: their properties, and what specs say of each.

use super::bounds::DEEPEST;
use serde_json::Value;

use super::build::{Builder, Place, Position, definition};
use super::embedded::{DERIVED, NAMED_BY_AZURE};
use super::error::TypesError;
use super::flatten::{flatten, settle_names};
use super::merge::{Merged, merge};
use crate::load::{Additional, Schema, Source};
use crate::model::{
    ApiVersion, Decision, LeftOut, Meaning, ObjectType, Origin, Property, Rules, Side, TypeRef,
};

/// Pattern of a UUID.
const UUID: &str = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/// What the spec says of a property, from its place and all that it refers to.
#[derive(Default)]
pub(super) struct Facts {
    pub read_only: bool,
    write_only: bool,
    secret: bool,
    flatten: bool,
    mutability: Vec<String>,
    identifiers: Vec<String>,
    default: Option<Value>,
    description: Option<String>,
    inherited: Vec<&'static str>,
    inherited_from: Option<ApiVersion>,
}

impl<'a> Builder<'a, '_> {
    /// An object with its properties; nothing if none is left. `word` is what its members are called after.
    pub fn object(
        &mut self,
        merged: &Merged<'a>,
        word: &str,
        position: Position,
    ) -> Result<Option<ObjectType>, TypesError> {
        let mut properties = Vec::new();
        let mut left_out = Vec::new();
        for (member, schema) in &merged.properties {
            let facts = self.facts(schema);
            if let Some(why) = self.why_not(member, &facts, merged, position) {
                left_out.push(absent(member, &schema.source, vec![why]));
                continue;
            }
            let place = Place {
                owner: word,
                property: member,
            };
            let (ty, decisions) = self.member(schema, &place, facts.read_only)?;
            let Some(ty) = ty else {
                left_out.push(absent(member, &schema.source, decisions));
                continue;
            };
            // Other envelopes stay, whatever the spec says (ASO behaviour §3.5).
            let is_envelope = facts.flatten && *member == "properties";
            let mut property = self.property(member, schema, ty, facts, merged);
            property.origin.decisions.extend(decisions);
            let flat = is_envelope && !self.keeps(&mut property);
            if merged.discriminator == Some(*member) && self.side == Side::Spec {
                self.fix_discriminator(&mut property, merged, word);
            }
            match self.envelope(&property, flat) {
                Some(inner) => {
                    let why = "`x-ms-client-flatten`: moved out of `properties`";
                    let why = Decision::spec(why);
                    flatten(&property, inner, &why, &mut properties, &mut left_out);
                }
                None => properties.push(property),
            }
        }
        if let Some(further) = self.further_members(merged, word)? {
            properties.push(further);
        }
        settle_names(&mut properties);
        if properties.is_empty() {
            return Ok(None);
        }
        Ok(Some(ObjectType {
            properties,
            description: merged.schema.description.clone(),
            source: merged.schema.source.to_string(),
            left_out,
            definition: definition(self.set.said(merged.schema), self.side),
            ..ObjectType::default()
        }))
    }

    /// Whether the group's TOML keeps an envelope that would be flattened in another resource.
    fn keeps(&mut self, envelope: &mut Property) -> bool {
        let is_kept = self.rule.keeps_properties(self.resource);
        if is_kept {
            self.around.resource = true;
            envelope.origin.decisions.push(Decision::envelope());
        }
        is_kept
    }

    /// The type whose properties take the place of a flattened property. Variants stay where they are.
    fn envelope(&self, property: &Property, flat: bool) -> Option<&ObjectType> {
        match &property.ty {
            TypeRef::Named(inner) if flat => self
                .table
                .object(inner)
                .filter(|object| object.discriminated.is_none()),
            _ => None,
        }
    }

    /// Type of a member if anything of it is left, and what decided that.
    fn member(
        &mut self,
        schema: &'a Schema,
        place: &Place<'_>,
        read_only: bool,
    ) -> Result<(Option<TypeRef>, Vec<Decision>), TypesError> {
        let outside = (self.read_only, std::mem::take(&mut self.decisions));
        self.read_only |= read_only;
        let ty = self.type_of(schema, place);
        let decisions = std::mem::replace(&mut self.decisions, outside.1);
        self.read_only = outside.0;
        Ok((ty?, decisions))
    }

    /// Why a member has no place on this side, if it has none.
    fn why_not(
        &self,
        member: &str,
        facts: &Facts,
        merged: &Merged<'a>,
        position: Position,
    ) -> Option<Decision> {
        let in_variant = merged.discriminator.is_some();
        let read_only = || Decision::spec("`readOnly`: only Azure sets it");
        match (self.side, position) {
            (Side::Spec, _) if facts.read_only => Some(read_only()),
            // The name has rules of its own, and ARM knows the rest from the path.
            (Side::Spec, Position::Root) if self.rule.derives(member, self.resource) => {
                Some(Decision::heuristic(DERIVED))
            }
            (Side::Spec, Position::Part)
                if member == "id" && merged.properties.contains_key("name") =>
            {
                Some(Decision::heuristic(NAMED_BY_AZURE))
            }
            (Side::Status, _) if facts.write_only => {
                Some(Decision::spec("write-only: Azure never answers it"))
            }
            // Beside the variants, as it is the same in each.
            (Side::Status, Position::Root) if in_variant && member == "name" => {
                Some(Decision::heuristic("it stands beside the variants"))
            }
            _ => None,
        }
    }

    /// Members beside the known ones, as a map of its own.
    fn further_members(
        &mut self,
        merged: &Merged<'a>,
        word: &str,
    ) -> Result<Option<Property>, TypesError> {
        const NAME: &str = "additionalProperties";
        let item = match merged.additional {
            Additional::Of(inner) => {
                let place = Place {
                    owner: word,
                    property: NAME,
                };
                self.map_item(inner, &place)?
            }
            Additional::Any => Some(TypeRef::Json),
            Additional::Unsaid | Additional::Forbidden => None,
        };
        let further = crate::model::ArmPlace::Further(Vec::new());
        Ok(item.map(|item| Property {
            origin: Origin {
                source: merged.schema.source.to_string(),
                decisions: vec![Decision::spec("members beside the known ones")],
            },
            ..Property::with_place(NAME, further, TypeRef::Map(Box::new(item)))
        }))
    }

    /// A property with all that the spec says of it.
    pub fn property(
        &self,
        member: &str,
        schema: &'a Schema,
        ty: TypeRef,
        facts: Facts,
        merged: &Merged<'a>,
    ) -> Property {
        let spec = self.side == Side::Spec;
        let value = merge(self.set, schema).value;
        let rules = self.set.said(value).rules();
        let says = |operation: &str| facts.mutability.iter().any(|known| known == operation);
        let told = !facts.mutability.is_empty();
        let item_rules = self.item_rules(value);
        let is_arm_id = match &ty {
            TypeRef::String => is_arm_id(rules),
            TypeRef::List(item) => **item == TypeRef::String && is_arm_id(&item_rules),
            _ => false,
        };
        let decisions = words(member, schema, &facts, merged, is_arm_id);
        Property {
            meaning: if is_arm_id {
                Meaning::ArmId
            } else {
                Meaning::Plain
            },
            required: spec && merged.required.contains(member),
            read_only: facts.read_only,
            write_only: facts.write_only || told && !says("read"),
            create_only: spec && told && says("create") && !says("update"),
            secret: facts.secret,
            rules: if spec {
                with_uuid_pattern(rules.clone())
            } else {
                Rules {
                    format: rules.format.clone(),
                    ..Rules::default()
                }
            },
            item_rules: if spec {
                with_uuid_pattern(item_rules)
            } else {
                Rules::default()
            },
            identifiers: facts.identifiers,
            default: facts.default.filter(|value| spec && is_plain(value)),
            description: facts.description,
            origin: Origin {
                source: schema.source.to_string(),
                decisions,
            },
            ..Property::new(member, &[member], ty)
        }
    }

    /// Constraints of the innermost item of a list or map.
    fn item_rules(&self, schema: &'a Schema) -> Rules {
        let mut rules = Rules::default();
        let mut current = schema;
        for _ in 0..DEEPEST {
            let inner = match (&current.items, &current.additional) {
                (Some(items), _) => items.as_ref(),
                (None, Additional::Of(inner)) => inner.as_ref(),
                _ => break,
            };
            current = merge(self.set, inner).value;
            rules = self.set.said(current).rules().clone();
        }
        rules
    }

    /// Facts about a property, from the place and from every schema that its references pass.
    pub fn facts(&self, schema: &'a Schema) -> Facts {
        let mut facts = Facts {
            // Only the place can say read-only: a definition that does is meant as data elsewhere.
            read_only: self.set.said(schema).read_only(),
            write_only: self.set.said(schema).write_only(),
            ..Facts::default()
        };
        let mut current = Some(schema);
        while let Some(schema) = current {
            let said = self.set.said(schema);
            facts.secret |= said.secret();
            facts.flatten |= said.flatten();
            let (news, from) = said.news();
            facts.inherited.extend(news);
            if facts.inherited_from.is_none() && !news.is_empty() {
                facts.inherited_from = from.cloned();
            }
            if facts.mutability.is_empty() {
                facts.mutability = said.mutability().to_vec();
            }
            if facts.identifiers.is_empty() {
                facts.identifiers = said.identifiers().to_vec();
            }
            if facts.default.is_none() {
                facts.default.clone_from(&schema.default);
            }
            if facts.description.is_none() {
                facts.description.clone_from(&schema.description);
            }
            current = schema
                .reference
                .as_ref()
                .and_then(|target| self.set.loaded().schema(target));
        }
        facts
    }
}

/// Whether a default can be told apart from one that says nothing.
fn is_plain(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// A member that has no place on a side.
fn absent(member: &str, source: &Source, decisions: Vec<Decision>) -> LeftOut {
    LeftOut {
        name: member.to_owned(),
        arm: vec![member.to_owned()],
        origin: Origin {
            source: source.to_string(),
            decisions,
        },
    }
}

/// What the spec says of a property beyond its type.
fn words(
    member: &str,
    schema: &Schema,
    facts: &Facts,
    merged: &Merged<'_>,
    is_arm_id: bool,
) -> Vec<Decision> {
    let mut words = Vec::new();
    if !merged.schema.properties.contains_key(member) && schema.source != merged.schema.source {
        words.push(Decision::spec("included by `allOf`"));
    }
    let says = [
        (facts.read_only, "`readOnly`: only Azure sets it"),
        (facts.secret, "`x-ms-secret`: a secret"),
        (is_arm_id, "`format: arm-id`: an ARM id"),
    ];
    words.extend(
        says.iter()
            .filter(|(said, _)| *said)
            .map(|(_, what)| Decision::spec(*what)),
    );
    if !facts.inherited.is_empty() {
        let what = facts.inherited.join(", ");
        words.push(Decision::inherited(match &facts.inherited_from {
            Some(version) => format!("from OpenAPI {version}, the nearest version: {what}"),
            None => format!("from ARM's common envelope: {what}"),
        }));
    }
    if !facts.mutability.is_empty() {
        let operations = facts.mutability.join(", ");
        words.push(Decision::spec(format!("`x-ms-mutability`: {operations}")));
    }
    words
}

/// The API server does not look at `format: uuid`, so a pattern says it, as in ASO's CRDs.
fn with_uuid_pattern(mut rules: Rules) -> Rules {
    if rules.format.as_deref() == Some("uuid") && rules.pattern.is_none() {
        rules.pattern = Some(UUID.to_owned());
    }
    rules
}

fn is_arm_id(rules: &Rules) -> bool {
    rules.format.as_deref() == Some("arm-id")
}
