//! Kinds and properties as people ask for them.

use armature_generated::KINDS;

use super::*;

fn topic(text: &str, version: Option<&str>) -> Result<Topic, String> {
    Topic::read(text, version, KINDS).map_err(|error| format!("{error:#}"))
}

fn page(text: &str, version: Option<&str>) -> Result<PropertyPage, String> {
    PropertyPage::new(&topic(text, version)?).map_err(|error| format!("{error:#}"))
}

#[test]
fn a_kind_has_many_names_and_one_of_several_groups_must_be_named() {
    for text in [
        "StorageAccount",
        "storageaccounts",
        "storage/StorageAccount",
        "storage.azure.com/storageaccount",
    ] {
        let found = topic(text, None).expect(text);
        assert_eq!(found.kind.kind, "StorageAccount", "{text}");
        assert!(found.path.is_empty());
    }
    let several = topic("Namespace", None).unwrap_err();
    assert!(
        several.starts_with("several groups have a kind 'Namespace': say "),
        "{several}"
    );
    let near = topic("StorageAcount", None).unwrap_err();
    assert_eq!(
        near,
        "there is no kind 'StorageAcount', did you mean 'StorageAccount'?"
    );
    for (text, told) in [
        (
            "servicebus/Queue",
            "there is no kind 'Queue' in group 'servicebus', did you mean 'NamespacesQueue'?",
        ),
        (
            "storag/StorageAccount",
            "there is no group 'storag', did you mean 'storage'?",
        ),
        (
            "storage/StorageAcount",
            "there is no kind 'StorageAcount' in group 'storage', did you mean 'StorageAccount'?",
        ),
    ] {
        assert_eq!(topic(text, None).unwrap_err(), told);
    }
    let version = topic("StorageAccount", Some("v1")).unwrap_err();
    assert!(version.contains("it has v1api20210401"), "{version}");
}

#[test]
fn kinds_are_found_by_group_kind_or_arm_type() {
    let names = |pattern: &str| -> Vec<&str> {
        matching(pattern, KINDS)
            .iter()
            .map(|kind| kind.kind)
            .collect()
    };
    assert_eq!(
        names("blobServices/containers"),
        ["StorageAccountsBlobServicesContainer"]
    );
    assert_eq!(names("search*service"), ["SearchService"]);
    assert!(names("keyvault").contains(&"Vault"));
    assert_eq!(names("").len(), KINDS.len());
    assert!(names("no such thing").is_empty());
    assert_eq!(find::meant("StorageAcount", KINDS), Some("StorageAccount"));
    assert_eq!(find::meant("storag", KINDS), Some("storage"));
}

#[test]
fn a_property_says_where_it_is_and_which_versions_have_it() {
    let sku = page("StorageAccount.sku.name", Some("v1api20230101")).expect("a property");
    assert_eq!(sku.path, "spec.sku.name");
    assert_eq!(sku.arm_path.as_deref(), Some("sku.name"));
    assert!(sku.required && sku.lacking.is_empty());
    assert!(sku.values.contains(&"Standard_LRS"), "{sku:?}");
    assert!(sku.takes_others, "the spec calls the list open");
    let identity = page("eventhub/Namespace.identity.type", None).expect("a property");
    assert!(!identity.values.is_empty() && !identity.takes_others);

    let rules = page("StorageAccount.spec.networkAcls.ipRules.value", None).expect("a property");
    assert_eq!(
        rules.arm_path.as_deref(),
        Some("properties.networkAcls.ipRules[].value")
    );

    let owner = page("StorageAccount.owner", None).expect("a property");
    assert_eq!((owner.arm_path, owner.required), (None, true));

    let wrong = page("StorageAccount.spec.acessTier", None).unwrap_err();
    assert!(
        wrong.ends_with("spec has no member 'acessTier', did you mean 'accessTier'?"),
        "{wrong}"
    );
    let end = page("StorageAccount.accessTier.x", None).unwrap_err();
    assert!(end.ends_with("spec.accessTier has no members"), "{end}");
}

#[test]
fn every_property_of_every_version_can_be_explained() {
    for kind in KINDS {
        for version in kind.versions {
            let whole = KindPage::new(kind, version);
            assert!(!text::kind(&whole).is_empty());
            for member in &whole.spec {
                let topic = Topic {
                    kind,
                    version,
                    path: vec!["spec".to_owned(), member.name.to_owned()],
                };
                let page = PropertyPage::new(&topic).expect(member.name);
                assert!(page.versions.contains(&version.name), "{}", kind.kind);
                assert!(text::property(&page).contains(member.name));
            }
        }
    }
}

/// The page of a kind and `armature explain` say the same of what cannot be changed. Pages mark lists and maps.
#[test]
fn pages_of_kinds_say_the_same_of_what_cannot_be_changed() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference");
    for kind in KINDS {
        let group = kind.group.strip_suffix(".azure.com").unwrap();
        let path = format!("{docs}/{group}/{}.md", kind.kind.to_lowercase());
        let page = std::fs::read_to_string(&path).unwrap();
        let (_, section) = page
            .split_once("## What cannot be changed after creation\n")
            .unwrap();
        let section = section.split("\n## ").next().unwrap();
        let told = section.split('`').skip(1).step_by(2);
        let told: Vec<String> = told
            .map(|path| path.replace("[]", "").replace("{}", ""))
            .collect();
        let version = find::newest(kind).unwrap();
        assert_eq!(told, KindPage::new(kind, version).cannot_change, "{path}");
        assert!(
            page.contains(&format!("\nOf `{}`. ", version.name)),
            "{path}"
        );
    }
}
#[test]
fn what_a_kind_says_cannot_change_its_properties_say_too() {
    let fixed = "can be set on creation only";
    for name in ["location", "azureName", "owner", "owner.name"] {
        let page = page(&format!("StorageAccount.{name}"), None).expect(name);
        assert!(page.facts.contains(&fixed), "{name}: {page:?}");
        assert!(text::property(&page).contains(fixed));
    }
    for name in ["tags", "status.location", "sku.name"] {
        let page = page(&format!("StorageAccount.{name}"), None).expect(name);
        assert!(!page.facts.contains(&fixed), "{name}: {page:?}");
    }
    for kind in KINDS {
        let version = find::newest(kind).expect("a version");
        for path in KindPage::new(kind, version).cannot_change {
            let path: Vec<String> = format!("spec.{path}")
                .split('.')
                .map(str::to_owned)
                .collect();
            let topic = Topic {
                kind,
                version,
                path,
            };
            let page = PropertyPage::new(&topic).expect("a property");
            assert!(page.facts.contains(&fixed), "{} {}", kind.kind, page.path);
        }
    }
}

#[test]
fn the_whole_spec_is_not_told_to_be_optional_or_unsent() {
    let told = text::property(&page("StorageAccount.spec", None).expect("the spec"));
    assert!(
        !told.contains("REQUIRED") && !told.contains("ARM PATH"),
        "{told}"
    );
}
