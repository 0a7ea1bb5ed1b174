use super::*;
use crate::shape::Shaped;
use crate::shape::check;
use crate::testing::everything::Everything;
use crate::testing::gadget::{MODEL, VERSION};

#[test]
fn valid_values_have_no_problem() {
    for seed in 0..200 {
        let size = usize::try_from(seed % 60).unwrap();
        let spec = Arbitrary::valid(seed, size).object(VERSION.spec);
        assert_eq!(check(VERSION.spec, &spec, "spec"), [], "{spec:#}");
    }
    let least = Arbitrary::valid(7, 0).object(VERSION.spec);
    assert_eq!(least.as_object().unwrap().len(), 2, "{least}");
}

#[test]
fn every_field_is_reached_and_equal_seeds_give_equal_values() {
    for shape in [VERSION.spec, MODEL.hub.spec] {
        let mut unseen: Vec<_> = shape.fields.iter().map(|field| field.name).collect();
        for seed in 0..200 {
            let value = Arbitrary::typed(seed, 10).object(shape);
            assert_eq!(value, Arbitrary::typed(seed, 10).object(shape));
            unseen.retain(|name| value.get(name).is_none());
        }
        assert!(unseen.is_empty(), "{unseen:?}");
    }
}

/// What tests of other crates rely on to be among the values.
#[test]
fn rare_values_are_among_them() {
    let mut texts = String::new();
    for seed in 0..400 {
        texts += &Arbitrary::loose(seed, 30)
            .object(Everything::SHAPE)
            .to_string();
        texts += &Arbitrary::loose(seed, 30).object(VERSION.spec).to_string();
    }
    let rare = [
        "\"texts\":[]",
        "\"labels\":{}",
        "\"texts\":null",
        "Unheard-of",
        "9223372036854775807",
        "9007199254740993",
        "1.0",
        "18446744073709551615",
        "2016-12-31T23:59:60Z",
        "ünï ☃",
        "\"un.heard/of~1\"",
        "\"/x~1y\":",
        "\"null\":null",
        "\"source\":{}",
        "\"source\":{\"blob\":{",
        "\"name\":\"\"",
        "[{\"below\":[{\"below\":[{\"below\":",
    ];
    for text in rare {
        assert!(texts.contains(text), "no {text}");
    }
}

#[test]
fn answers_hold_what_services_get_wrong() {
    let mut texts = String::new();
    for seed in 0..1_000 {
        texts += &Arbitrary::typed(seed, 40).answer(VERSION.spec).to_string();
    }
    for text in [
        "\"LOCATION\":",
        "\"properties\":{",
        "\"kind\":\"BLOB\"",
        "\"kind\":\"Unheard-of\"",
        "\"userAssignedIdentities\":{\"/",
        "\"capacity\":18446744073709551615",
        "\"capacity\":null",
        "unheardOf",
    ] {
        assert!(texts.contains(text), "no {text}");
    }
}
