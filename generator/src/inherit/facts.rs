//! What OpenAPI says of a schema, and what of it the schema itself does not say.

use crate::load::{Schema, SchemaType, Source, SpecSet};
use crate::model::{ApiVersion, Rules};
use crate::overlay::Addition;
use crate::types::merge::merge;

/// What OpenAPI says of a schema at its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub flatten: bool,
    pub sent: bool,
    pub answered: bool,
    secret: bool,
    written: bool,
    free_object: bool,
    fraction: bool,
    format: Option<String>,
    /// Of a string with known values, of which Bicep only says the values.
    enum_rules: Option<Rules>,
    multiple_of: Option<f64>,
    mutability: Vec<String>,
    identifiers: Vec<String>,
    pub variant_name: Option<String>,
    /// The same definition there; the first one met counts.
    pub identity: Option<Source>,
    /// As [`Self::identity`], of answers alone.
    pub answer: Option<Source>,
    /// That definition is an ARM resource.
    pub azure_resource: bool,
    /// The api-version that told it; the first one met counts.
    pub from: Option<ApiVersion>,
}

impl Facts {
    /// Adds what a schema says at its place and behind its references; the first word counts.
    pub fn learn(&mut self, set: &SpecSet, theirs: &Schema, answer: bool) {
        let mut current = Some(theirs);
        while let Some(schema) = current {
            // Bicep has one schema for both sides. Where OpenAPI has two, what users write counts.
            self.flatten |= schema.flatten && !(answer && self.sent);
            self.secret |= schema.secret;
            if self.mutability.is_empty() && !(answer && self.sent) {
                self.mutability.clone_from(&schema.mutability);
            }
            if self.identifiers.is_empty() {
                self.identifiers.clone_from(&schema.identifiers);
            }
            current = schema.reference.as_ref().and_then(|to| set.schema(to));
        }
        let merged = merge(set.into(), theirs);
        self.free_object |= merged.ty == Some(&SchemaType::Object) && merged.properties.is_empty();
        // Bicep takes a definition's word for read-only; only the place has one.
        self.written |= !answer && !theirs.read_only;
        self.fraction |= merged.ty == Some(&SchemaType::Number);
        let rules = &merged.value.rules;
        if !merged.value.values.is_empty() && self.enum_rules.is_none() {
            self.enum_rules = Some(rules.clone());
        }
        self.format = self.format.take().or_else(|| rules.format.clone());
        self.multiple_of = self.multiple_of.or(rules.multiple_of);
    }

    /// What is added to a schema: nothing that it says itself.
    pub fn addition(self, schema: &Schema) -> Addition {
        // What is behind a reference has type and constraints of its own.
        let is_value = schema.reference.is_none();
        let ty = self.ty(schema).filter(|_| is_value);
        let rules = is_value.then(|| self.rules(schema));
        let rules = rules.filter(|rules| *rules != schema.rules);
        Addition {
            news: self.news(schema, ty.as_ref(), rules.as_ref()),
            flatten: self.flatten,
            secret: self.secret,
            azure_resource: self.azure_resource,
            is_sent: self.written,
            is_answered: self.answered,
            mutability: self.mutability,
            identifiers: self.identifiers,
            name: self.variant_name,
            ty,
            rules,
            identity: self.identity,
            answer: self.answer,
            from: self.from,
        }
    }

    /// Type in place of the schema's.
    fn ty(&self, schema: &Schema) -> Option<SchemaType> {
        match &schema.ty {
            Some(SchemaType::Integer) if self.fraction => Some(SchemaType::Number),
            None if self.free_object => Some(SchemaType::Object),
            _ => None,
        }
    }

    /// Constraints of the schema, with what it does not say.
    fn rules(&self, schema: &Schema) -> Rules {
        let is_bare_enum = !schema.values.is_empty() && schema.rules == Rules::default();
        let told = self.enum_rules.as_ref().filter(|_| is_bare_enum);
        let mut rules = told.unwrap_or(&schema.rules).clone();
        rules.format = rules.format.take().or_else(|| self.format.clone());
        rules.multiple_of = rules.multiple_of.or(self.multiple_of);
        rules
    }

    /// What the schema does not say, in words for explanations.
    fn news(
        &self,
        schema: &Schema,
        ty: Option<&SchemaType>,
        rules: Option<&Rules>,
    ) -> Vec<&'static str> {
        let has_format = |rules: &Rules| rules.format.is_some();
        let has_form = |rules: &Rules| rules.multiple_of.is_some() || rules.pattern.is_some();
        let is_told = |has: &dyn Fn(&Rules) -> bool| {
            rules.is_some_and(|rules| has(rules) != has(&schema.rules))
        };
        let is_first = |own: &[String], told: &[String]| own.is_empty() && !told.is_empty();
        let news = [
            (self.flatten && !schema.flatten, "flattening"),
            (self.secret && !schema.secret, "that it is a secret"),
            (self.written && schema.read_only, "that users set it"),
            (self.answered && schema.write_only, "that Azure answers it"),
            (
                is_first(&schema.mutability, &self.mutability),
                "when it can be set",
            ),
            (
                is_first(&schema.identifiers, &self.identifiers),
                "what identifies an item",
            ),
            (is_told(&has_format), "format"),
            (is_told(&has_form), "constraints"),
            (ty.is_some(), "type"),
        ];
        let news = news.into_iter().filter(|(is_new, _)| *is_new);
        news.map(|(_, what)| what).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Facts;
    use crate::load::{Schema, SchemaType, Source};

    #[test]
    fn only_what_a_schema_does_not_say_is_news() {
        let mut schema = Schema::empty(Source {
            file: "a.json".into(),
            pointer: "/0".to_owned(),
        });
        schema.ty = Some(SchemaType::Integer);
        assert!(Facts::default().addition(&schema).news.is_empty());
        let facts = Facts {
            format: Some("arm-id".to_owned()),
            secret: true,
            fraction: true,
            ..Facts::default()
        };
        let addition = facts.clone().addition(&schema);
        assert_eq!(addition.news, ["that it is a secret", "format", "type"]);
        assert_eq!(addition.ty, Some(SchemaType::Number));
        schema.secret = true;
        schema.rules.format = Some("uuid".to_owned());
        assert_eq!(facts.addition(&schema).news, ["type"]);
    }
}
