//! What a schema did not say before, in words for explanations.

use crate::load::{Schema, SchemaType};

/// What a schema says of the things that can be inherited.
pub(super) struct Said {
    flatten: bool,
    secret: bool,
    read_only: bool,
    write_only: bool,
    mutability: bool,
    identifiers: bool,
    format: bool,
    rules: bool,
    ty: Option<SchemaType>,
}

impl Said {
    /// Takes down what `schema` says now.
    pub fn by(schema: &Schema) -> Self {
        let rules = &schema.rules;
        Self {
            flatten: schema.flatten,
            secret: schema.secret,
            read_only: schema.read_only,
            write_only: schema.write_only,
            mutability: !schema.mutability.is_empty(),
            identifiers: !schema.identifiers.is_empty(),
            format: rules.format.is_some(),
            rules: rules.multiple_of.is_some() || rules.pattern.is_some(),
            ty: schema.ty.clone(),
        }
    }

    /// What `later` says beyond this.
    pub fn news(&self, later: &Self) -> Vec<&'static str> {
        let news = [
            (self.flatten != later.flatten, "flattening"),
            (self.secret != later.secret, "that it is a secret"),
            (self.read_only != later.read_only, "that users set it"),
            (self.write_only != later.write_only, "that Azure answers it"),
            (self.mutability != later.mutability, "when it can be set"),
            (
                self.identifiers != later.identifiers,
                "what identifies an item",
            ),
            (self.format != later.format, "format"),
            (self.rules != later.rules, "constraints"),
            (self.ty != later.ty, "type"),
        ];
        let news = news.into_iter().filter(|(is_new, _)| *is_new);
        news.map(|(_, what)| what).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Said;
    use crate::load::{Schema, SchemaType, Source};

    #[test]
    fn only_what_changed_is_news() {
        let mut schema = Schema::empty(Source {
            file: "a.json".into(),
            pointer: "/0".to_owned(),
        });
        let before = Said::by(&schema);
        assert!(before.news(&Said::by(&schema)).is_empty());
        schema.rules.format = Some("arm-id".to_owned());
        schema.secret = true;
        schema.ty = Some(SchemaType::Number);
        let news = before.news(&Said::by(&schema));
        assert_eq!(news, ["that it is a secret", "format", "type"]);
    }
}
