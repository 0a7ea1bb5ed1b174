//! Pass 5: unions, stashes, plans, storage versions.

use armature_generator::hub::hubs;
use armature_generator::model::{Group, MissingType, Property, Rules, TypeDef, TypeId, TypeRef};
use armature_generator::naming::Names;

use crate::common::lines as render;
use crate::common::models::{
    enumeration, group, inner, list, named, object, resource, string, version,
};

type Types = Vec<(TypeId, TypeDef)>;

fn rendered(group: &Group) -> String {
    let hubs = &hubs(group).expect("hubs");
    let names = Names::of(group, &hubs.types).expect("names");
    let name = |id: &TypeId| render::hub_name(id, hubs, &names);
    let mut text = String::new();
    for (kind, hub) in &hubs.kinds {
        text.push_str(&format!(
            "# {kind} stored as {}: {}, {}\n",
            hub.storage_version,
            name(&hub.spec),
            name(&hub.status)
        ));
        for (version, (spec, status)) in &hub.plans {
            for (side, plan) in [("spec", spec), ("status", status)] {
                if !plan.is_same() {
                    text.push_str(&format!("{version} {side}: {plan:?}\n"));
                }
            }
        }
    }
    format!("{text}\n{}", render::types(&hubs.types, &name))
}

/// One kind, `Thing`, with these types per api-version beside an empty status.
fn things(versions: Vec<(&str, Types)>) -> Group {
    let versions = versions.into_iter().map(|(api_version, mut types)| {
        let mut thing = resource("Thing", "Microsoft.Test/things");
        let compact = api_version.replace('-', "");
        thing.version_names = vec![format!("v1api{compact}"), format!("v{compact}")];
        types.push(object("ThingStatus", vec![string("id")]));
        version(api_version, vec![thing], types)
    });
    group(versions.collect())
}

fn spec(properties: Vec<Property>) -> (TypeId, TypeDef) {
    object("ThingSpec", properties)
}

#[test]
fn the_hub_is_the_union_and_marks_what_the_storage_version_lacks() {
    let group = things(vec![
        (
            "2021-01-01",
            vec![
                spec(vec![
                    string("old"),
                    string("both"),
                    inner("sku", named("Sku")),
                ]),
                object("Sku", vec![string("name"), string("family")]),
            ],
        ),
        (
            "2022-01-01",
            vec![
                spec(vec![string("both"), inner("sku", named("ThingSku"))]),
                object("ThingSku", vec![string("name"), string("tier")]),
            ],
        ),
    ]);
    insta::assert_snapshot!(rendered(&group));
}

#[test]
fn the_storage_version_is_the_newest_that_is_no_preview() {
    let group = things(vec![
        ("2021-01-01", vec![spec(vec![string("a")])]),
        (
            "2022-01-01-preview",
            vec![spec(vec![string("a"), string("b")])],
        ),
    ]);
    insta::assert_snapshot!(rendered(&group));
    let previews = things(vec![("2022-01-01-preview", vec![spec(vec![string("a")])])]);
    let only = hubs(&previews).expect("hubs");
    assert_eq!(
        only.kinds["Thing"].storage_version,
        "v20220101previewstorage"
    );
}

#[test]
fn values_that_cannot_be_carried_over_travel_under_a_name_of_their_own() {
    let group = things(vec![
        (
            "2021-01-01",
            vec![
                spec(vec![
                    string("limit"),
                    inner("rules", list(named("Rule"))),
                    inner("key", TypeRef::String),
                ]),
                object("Rule", vec![string("port")]),
            ],
        ),
        (
            "2022-01-01",
            vec![
                spec(vec![
                    inner("limit", named("Limit")),
                    inner("rules", list(named("Rule"))),
                    inner("key", TypeRef::Secret),
                ]),
                object("Limit", vec![string("value")]),
                object("Rule", vec![inner("port", TypeRef::Integer(None))]),
            ],
        ),
    ]);
    insta::assert_snapshot!(rendered(&group));
}

#[test]
fn renamed_properties_are_one_in_the_hub() {
    let mut renamed = inner("address", named("Address"));
    renamed.was = Some("addr".to_owned());
    let group = things(vec![
        (
            "2021-01-01",
            vec![
                spec(vec![inner("addr", named("Addr"))]),
                object("Addr", vec![string("street"), string("zip")]),
            ],
        ),
        (
            "2022-01-01",
            vec![
                spec(vec![renamed]),
                object("Address", vec![string("street")]),
            ],
        ),
    ]);
    insta::assert_snapshot!(rendered(&group));
}

#[test]
fn enums_grow_and_constraints_hold_only_where_all_versions_have_them() {
    let name = |shortest: u64, required: bool| {
        let mut name = string("name");
        name.required = required;
        name.rules = Rules {
            min_length: Some(shortest),
            ..Rules::default()
        };
        name
    };
    let mut always = string("always");
    always.required = true;
    let types = |values: &[&str], name: Property, mode: TypeRef| {
        vec![
            spec(vec![
                always.clone(),
                inner("colour", named("Colour")),
                name,
                inner("mode", mode),
            ]),
            enumeration("Colour", values),
            enumeration("Mode", &["On"]),
        ]
    };
    let group = things(vec![
        (
            "2021-01-01",
            types(&["red", "blue"], name(3, true), named("Mode")),
        ),
        (
            "2022-01-01",
            types(&["red", "green"], name(1, true), TypeRef::String),
        ),
        (
            "2023-01-01",
            types(&["red"], name(1, false), TypeRef::String),
        ),
    ]);
    insta::assert_snapshot!(rendered(&group));
    let hubs = hubs(&group).expect("hubs");
    let Some(TypeDef::Object(root)) = hubs.types.get(&hubs.kinds["Thing"].spec) else {
        panic!("no root");
    };
    let name = root.properties.iter().find(|p| p.name == "name");
    assert_eq!(name.map(|name| &name.rules), Some(&Rules::default()));
}

#[test]
fn hub_types_of_two_kinds_share_a_name_only_when_equal() {
    let types = |size: TypeRef| {
        vec![
            object(
                "OneSpec",
                vec![inner("sku", named("Sku")), inner("x", named("Same"))],
            ),
            object("OneStatus", vec![string("id")]),
            object(
                "Sku",
                vec![string("name"), Property::new("size", &["size"], size)],
            ),
            object("Same", vec![string("x")]),
        ]
    };
    let one = |version: &str| {
        let mut one = resource("One", "Microsoft.Test/ones");
        one.version_names = vec![format!("v{}", version.replace('-', ""))];
        one
    };
    let mut two = resource("Two", "Microsoft.Test/twos");
    two.version_names = vec!["v20220101".to_owned()];
    let mut new = types(TypeRef::String);
    new.push(object(
        "TwoSpec",
        vec![inner("sku", named("Sku")), inner("x", named("Same"))],
    ));
    new.push(object("TwoStatus", vec![string("id")]));
    let group = group(vec![
        version("2021-01-01", vec![one("2021-01-01")], types(TypeRef::Bool)),
        version("2022-01-01", vec![one("2022-01-01"), two], new),
    ]);
    insta::assert_snapshot!(rendered(&group));
}

#[test]
fn a_type_that_no_version_has_is_told() {
    let dangling = things(vec![(
        "2021-01-01",
        vec![spec(vec![inner("sku", named("Sku"))])],
    )]);
    let expected = MissingType {
        ty: TypeId::of_schema("Sku"),
        place: "`Thing` of 2021-01-01".to_owned(),
    };
    assert_eq!(hubs(&dangling), Err(expected));
    let rootless = things(vec![("2021-01-01", Vec::new())]);
    let error = hubs(&rootless).expect_err("no spec").to_string();
    assert!(
        error.starts_with("`Thing` of 2021-01-01 has no type `ThingSpec`"),
        "{error}"
    );
}

#[test]
fn an_older_type_of_a_name_is_told_by_its_api_version() {
    let sku = || object("Sku", vec![string("name")]);
    let group = things(vec![
        (
            "2021-01-01",
            vec![spec(vec![inner("sku", named("Sku"))]), sku()],
        ),
        (
            "2022-01-01",
            vec![
                spec(vec![
                    inner("sku", TypeRef::Bool),
                    inner("plan", named("Sku")),
                ]),
                sku(),
            ],
        ),
    ]);
    let hubs = hubs(&group).expect("hubs");
    let names = Names::of(&group, &hubs.types).expect("names");
    let names = names.hub.by_name().into_keys().map(|it| it.as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["Sku", "SkuV20210101", "ThingSpec", "ThingStatus"]
    );
}
