//! What the stages record of a rule, one row for each way in which a statement does something or nothing.

use std::collections::BTreeSet;

use super::{Exit, Outcome, STAGES, Site, run};
use crate::curation::{Aspect, PropertyRule, Side};
use crate::model::{EnumType, Meaning, Property, TypeDef, TypeId, TypeRef, TypeTable};

/// What becomes of a property of the root of a kind.
fn outcome(side: Side, property: &Property, rule: &str) -> Outcome {
    let sku = EnumType {
        values: vec!["Basic".to_owned()],
        ..EnumType::default()
    };
    let site = Site {
        types: &TypeTable::from([(TypeId::of_schema("Sku"), TypeDef::Enum(sku))]),
        words: &BTreeSet::from(["Sku".to_owned()]),
        owner: &TypeId::of_schema("Thing"),
        side,
        is_root: true,
        explicit_collections: false,
    };
    let rule: PropertyRule = toml::from_str(rule).expect("a rule");
    run(site, property, Some(&rule))
}

fn property(name: &str) -> Property {
    Property::new(name, &[name], TypeRef::String)
}

#[test]
fn every_statement_that_does_something_belongs_to_a_stage() {
    for aspect in Aspect::ALL.iter().filter(|it| !it.is_restriction()) {
        let heeding = STAGES.iter().filter(|stage| stage.heeds.contains(aspect));
        assert_ne!(heeding.count(), 0, "{aspect:?}");
    }
}

#[test]
fn effects_in_the_spec() {
    use Aspect::{
        Absent, Answered, CreateOnly, FreeText, Items, Rename, Required, Treatment, Type, Values,
        Was,
    };
    let text = property("text");
    let id = property("id");
    let sku = Property::new("sku", &["sku"], TypeRef::Named(TypeId::of_schema("Sku")));
    let secret = Property {
        secret: true,
        ..property("key")
    };
    let arm_id = Property {
        meaning: Meaning::ArmId,
        ..property("vaultId")
    };
    let list = Property {
        ty: TypeRef::List(Box::new(TypeRef::String)),
        ..property("list")
    };
    let rows: [(&Property, &str, &[Aspect]); 31] = [
        (&text, r#"free-text = "a filter""#, &[FreeText]),
        (&text, "answered = false", &[Answered]),
        (&text, "answered = true", &[]),
        (&text, "create-only = true", &[CreateOnly]),
        (&text, "create-only = false", &[]),
        (&list, r#"absent = "empty""#, &[Absent]),
        (&list, r#"absent = "nothing""#, &[]),
        (&text, r#"absent = "empty""#, &[]),
        (&list, r#"items = "json""#, &[Items]),
        (&list, r#"items = "string""#, &[]),
        (&text, r#"items = "json""#, &[]),
        (&list, r#"type = "json-map""#, &[Type]),
        (&text, r#"as = "remove""#, &[Treatment]),
        (&text, r#"as = "plain""#, &[]),
        (&text, r#"as = "secret""#, &[Treatment]),
        (&text, r#"type = "integer""#, &[Type]),
        (&text, r#"type = "string""#, &[]),
        (&text, r#"rename = "other""#, &[Rename]),
        (&text, r#"was = "other""#, &[Was]),
        (&text, "required = true", &[Required]),
        // A value may come from a config map, so the property is optional anyway.
        (&text, "as = \"config-map\"\nrequired = false", &[Treatment]),
        // The operator makes ids; a rule keeps one, and nobody can say which of two statements does.
        (&id, r#"as = "remove""#, &[]),
        (&id, r#"as = "plain""#, &[Treatment]),
        (&id, r#"rename = "id""#, &[Rename]),
        (&id, "as = \"plain\"\nrename = \"id\"", &[]),
        (&sku, r#"values = ["Basic"]"#, &[]),
        (&sku, r#"values = ["Premium"]"#, &[Values]),
        // What takes the place of the type hides it.
        (&secret, r#"type = "integer""#, &[]),
        (&arm_id, r#"values = ["Basic"]"#, &[]),
        (&arm_id, r#"rename = "vaultReference""#, &[]),
        (&arm_id, r#"as = "plain""#, &[Treatment]),
    ];
    for (property, rule, expected) in rows {
        let outcome = outcome(Side::Spec, property, rule);
        let effects: Vec<Aspect> = outcome.effects.iter().copied().collect();
        assert_eq!(effects, expected, "{rule} for {}", property.name);
    }
    assert!(outcome(Side::Spec, &id, "as = \"plain\"\nrename = \"id\"").is_ruled());
    assert!(!outcome(Side::Spec, &id, r#"as = "remove""#).is_ruled());
}

#[test]
fn effects_in_the_status() {
    use Aspect::{Rename, Treatment, Values};
    let text = property("text");
    let id = property("id");
    let secret = Property {
        secret: true,
        ..property("key")
    };
    let rows: [(&Property, &str, &[Aspect]); 8] = [
        (&text, r#"as = "reference""#, &[]),
        (&text, r#"as = "secret""#, &[Treatment]),
        (&text, "required = true", &[]),
        (&text, r#"values = ["Basic"]"#, &[Values]),
        (&id, r#"rename = "azureId""#, &[Rename]),
        (&id, r#"as = "remove""#, &[Treatment]),
        (&secret, r#"as = "remove""#, &[]),
        (&secret, r#"rename = "other""#, &[]),
    ];
    for (property, rule, expected) in rows {
        let outcome = outcome(Side::Status, property, rule);
        let effects: Vec<Aspect> = outcome.effects.iter().copied().collect();
        assert_eq!(effects, expected, "{rule} for {}", property.name);
    }
}

#[test]
fn what_leaves_a_property_out() {
    let property = property("parts");
    for (side, word, expected) in [
        (Side::Spec, "remove", Exit::Gone),
        (Side::Status, "remove", Exit::Gone),
        (Side::Spec, "child-kind", Exit::ChildList),
        (Side::Status, "child-kind", Exit::Gone),
        (Side::Spec, "flatten", Exit::Flattened),
        (Side::Status, "flatten", Exit::Flattened),
        (Side::Status, "secret", Exit::Gone),
    ] {
        let outcome = outcome(side, &property, &format!("as = {word:?}"));
        assert_eq!(outcome.exit, Some(expected), "{word} on {side:?}");
        assert_eq!(outcome.into_properties().count(), 0);
    }
}
