//! Pass 8: the text of generated files.

mod places;

use std::collections::BTreeMap;

use armature_generator::emit::{Example, Extension, GroupKinds, LARGEST_PAGE, Notes, umbrella};
use armature_generator::model::{
    AnswerStep, ArmPlace, Discriminated, ErrorClass, ErrorRule, Group, Property, Rules,
    SecretSource, TypeDef, TypeRef, VariantType,
};
use armature_generator::pipeline::finish;
use camino::Utf8PathBuf;

use crate::common::models::{
    enumeration, group, inner, list, map, named, object, resource, string, version,
};

/// Two versions of one kind, with one of each sort of type; the newer has one property more.
fn model() -> Group {
    let types = |is_new: bool| {
        let mut name = string("type");
        name.required = true;
        name.rules = Rules {
            pattern: Some("^[a-z]+$".to_owned()),
            minimum: Some(-1.5),
            ..Rules::default()
        };
        let mut size = inner("size", TypeRef::Integer(Some("int64".to_owned())));
        size.rules.format = Some("int64".to_owned());
        let mut port = inner("port", TypeRef::Integer(Some("int32".to_owned())));
        port.rules.format = Some("int32".to_owned());
        port.rules.maximum = Some(65535.0);
        let mut spec = vec![
            name,
            size,
            port,
            inner("colour", named("Colour")),
            inner("count", TypeRef::Integer(Some("int32".to_owned()))),
            inner("ids", TypeRef::ArmIdKeyed),
            inner("notes", map(list(TypeRef::Json))),
            inner("subnetReference", TypeRef::Reference),
            inner("shapes", list(named("Shape"))),
        ];
        if is_new {
            spec.push(inner("publicIPAddress", TypeRef::Secret));
        }
        let (shape_name, mut shape) = object(
            "Shape",
            vec![
                Property::with_place("circle", ArmPlace::Variant, named("Circle")),
                Property::with_place("square", ArmPlace::Variant, named("Square")),
            ],
        );
        if let TypeDef::Object(shape) = &mut shape {
            let variant = |value: &str, property: &str| VariantType {
                value: value.to_owned(),
                property: property.to_owned(),
            };
            shape.discriminated = Some(Discriminated {
                property: "kind".to_owned(),
                variants: vec![variant("Square", "square"), variant("Circle", "circle")],
            });
        }
        vec![
            object("ThingSpec", spec),
            object("ThingStatus", vec![string("id")]),
            enumeration("Colour", &["*", "Dark Red", "dark-red"]),
            (shape_name, shape),
            object("Circle", vec![inner("radius", TypeRef::Number)]),
            object("Square", vec![inner("side", TypeRef::Number)]),
        ]
    };
    let thing = |names: &[&str]| {
        let mut thing = resource("Thing", "Microsoft.Test/things");
        thing.plural = "things".to_owned();
        thing.version_names = names.iter().map(|name| (*name).to_owned()).collect();
        thing.child_lists = vec![vec!["properties".to_owned(), "parts".to_owned()]];
        thing.secrets = vec![
            (
                "key".to_owned(),
                SecretSource::Action {
                    action: "listKeys".to_owned(),
                    value: vec![
                        AnswerStep::Member("keys".to_owned()),
                        AnswerStep::Item {
                            member: "keyName".to_owned(),
                            is: "key1".to_owned(),
                        },
                        AnswerStep::Member("value".to_owned()),
                    ],
                },
            ),
            (
                "web".to_owned(),
                SecretSource::Status(vec!["a".to_owned(), "b".to_owned()]),
            ),
            ("subscription".to_owned(), SecretSource::Subscription),
            ("kubeconfig".to_owned(), SecretSource::Extension),
        ];
        thing.config_maps = vec![("web".to_owned(), vec!["a".to_owned(), "b".to_owned()])];
        thing
    };
    let mut group = group(vec![
        version("2022-01-01", vec![thing(&["v1api20220101"])], types(false)),
        version(
            "2023-01-01",
            vec![thing(&["v1api20230101", "v20230101"])],
            types(true),
        ),
    ]);
    let rule = |kinds: &[&str], code: &str, message: Option<&str>, class| ErrorRule {
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        code: code.to_owned(),
        message: message.map(str::to_owned),
        class,
    };
    group.errors = vec![
        rule(&["Thing"], "Gone", Some("not \"here\""), ErrorClass::Fatal),
        rule(&["Other"], "NotOurs", None, ErrorClass::RetryFast),
        rule(&[], "Busy", None, ErrorClass::RetryVerySlow),
    ];
    group
}

fn notes() -> Notes {
    let mut notes = Notes::default();
    let thing = notes.of_mut("test", "Thing");
    thing.example = Some(Example {
        file: "samples/test/thing.yaml".to_owned(),
        text: "kind: Thing\nspec: {}".to_owned(),
    });
    thing.extensions.push(Extension {
        about: "Before a PUT".to_owned(),
        what: "waits until it is asked".to_owned(),
        files: "`customizations/src/test/thing.rs`".to_owned(),
    });
    notes
}

fn files() -> BTreeMap<Utf8PathBuf, String> {
    let group = model();
    finish(&group, &notes()).expect("valid names").files
}

#[test]
fn all_files_of_a_group() {
    for (path, text) in files() {
        insta::assert_snapshot!(path.as_str().replace('/', "_"), text);
    }
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    assert_eq!(files(), files());
}

#[test]
fn every_rust_file_parses() {
    for (path, text) in files() {
        if path.extension() == Some("rs") {
            let parsed = syn::parse_file(&text);
            assert!(parsed.is_ok(), "{path}: {:?}", parsed.err());
        }
    }
}

#[test]
fn the_crate_over_all_groups() {
    let kinds = |group: &str, constant: &str, plural: &str| {
        let kinds = GroupKinds {
            api_group: format!("{group}.azure.com"),
            constants: vec![constant.to_owned()],
            plurals: [plural.to_owned()].into(),
            arm_types: [(plural.to_uppercase(), format!("Microsoft.Network/{plural}"))].into(),
        };
        (group.to_owned(), kinds)
    };
    let policy = "WEB_APPLICATION_FIREWALL_POLICY";
    let groups = BTreeMap::from([
        kinds("network", "VIRTUAL_NETWORK", "virtualnetworks"),
        kinds(
            "network.frontdoor",
            policy,
            "webapplicationfirewallpolicies",
        ),
    ]);
    for (path, text) in umbrella(&groups) {
        insta::assert_snapshot!(path.as_str().replace('/', "_"), text);
    }
}

/// A version that is served on request is not what a page describes, and is told with the pattern that asks for it.
#[test]
fn a_page_describes_the_newest_version_that_is_served_unasked() {
    let types = |property: &str| {
        vec![
            object("ThingSpec", vec![inner(property, TypeRef::String)]),
            object("ThingStatus", Vec::new()),
        ]
    };
    let thing = |name: &str, is_on_request: bool| {
        let mut thing = resource("Thing", "Microsoft.Test/things");
        thing.version_names = vec![name.to_owned()];
        thing.is_on_request = is_on_request;
        vec![thing]
    };
    let group = group(vec![
        version("2023-01-01", thing("v20230101", false), types("old")),
        version("2026-01-01", thing("v20260101", true), types("ahead")),
    ]);
    let files = finish(&group, &Notes::default())
        .expect("valid names")
        .files;
    let file = |path: &str| &files[camino::Utf8Path::new(path)];
    let page = file("docs/reference/test/thing.md");
    assert!(page.contains("Of `v20230101`."), "{page}");
    assert!(page.contains("| `old` |"), "{page}");
    assert!(!page.contains("| `ahead` |"), "{page}");
    assert!(
        page.contains("| `v20260101`, on request: `test.azure.com/v20260101/Thing` | 2026-01-01 |"),
        "{page}"
    );
    let pattern = "`crdPattern: test.azure.com/*;test.azure.com/v20260101/Thing`";
    assert!(page.contains(pattern), "{page}");
    let list = file("docs/reference/test.md");
    assert!(
        list.contains("| `Microsoft.Test/things` | `v20230101` |"),
        "{list}"
    );
}

/// A kind with more properties than a page has room for.
#[test]
fn a_large_kind_has_each_type_once_on_a_page_that_can_be_read() {
    let wide = |prefix: &str, count: usize, ty: &TypeRef| {
        let properties = (0..count).map(|number| inner(&format!("{prefix}{number}"), ty.clone()));
        properties.collect::<Vec<_>>()
    };
    let types = vec![
        object("ThingSpec", wide("part", 40, &named("Part"))),
        object("ThingStatus", wide("state", 60, &named("Part"))),
        object("Part", wide("piece", 40, &TypeRef::String)),
    ];
    let mut thing = resource("Thing", "Microsoft.Test/things");
    thing.version_names = vec!["v20230101".to_owned()];
    let group = group(vec![version("2023-01-01", vec![thing], types)]);
    let files = finish(&group, &Notes::default())
        .expect("valid names")
        .files;
    let page = &files[camino::Utf8Path::new("docs/reference/test/thing.md")];
    assert!(page.len() <= LARGEST_PAGE, "{}", page.len());
    assert_eq!(page.matches("| `piece7` |").count(), 1, "{page}");
    assert!(
        page.contains("| `part3` | object |  | [Part](#type-part) |"),
        "{page}"
    );
    assert!(
        page.contains("<a id=\"type-part\"></a>\n\n### Part\n"),
        "{page}"
    );
    assert!(page.contains(" more, which `kubectl explain "), "{page}");
}
