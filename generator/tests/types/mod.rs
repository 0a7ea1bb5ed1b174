//! Pass 3: goldens.

mod names;

use armature_generator::discover::discover;
use armature_generator::model::{ApiVersion, TypeDef};
use armature_generator::types::embedded::Embedding;
use armature_generator::types::{build, build_with};

use crate::common::{load_specs, outline as render};

fn golden(files: &[&str]) -> String {
    let set = load_specs(files).expect("loads");
    let found = discover(&set).expect("resources");
    let version = build(&set, ApiVersion::new("2024-01-01"), &found).expect("types");
    render::version(&version)
}

#[test]
fn plain_types() {
    insta::assert_snapshot!(golden(&["widgets/widgets.json"]));
}

#[test]
fn variants_at_the_root_and_below() {
    insta::assert_snapshot!(golden(&["variants/stores.json"]));
}

#[test]
fn resources_within_resources() {
    insta::assert_snapshot!(golden(&["embedded/network.json", "embedded/gateway.json"]));
}

#[test]
fn recursion_is_unrolled_once() {
    insta::assert_snapshot!(golden(&["recursion/trees.json"]));
}

#[test]
fn choices_overrule_the_embedding_rule() {
    let set = load_specs(&["embedded/network.json", "embedded/gateway.json"]).expect("loads");
    let found = discover(&set).expect("resources");
    let spec = |embedding: &Embedding| {
        let api_version = ApiVersion::new("2024-01-01");
        let version = build_with(&set, api_version, &found, embedding).expect("types");
        render::version(&version)
    };
    let plain = spec(&Embedding::default());
    assert!(plain.contains("fronts: [Front] at"), "{plain}");
    assert!(plain.contains("subnets: [EmbeddedResource] at"), "{plain}");

    let mut embedding = Embedding::default();
    embedding.id_only.insert("Front".to_owned());
    embedding.whole.insert(
        "Subnet".to_owned(),
        vec!["microsoft.example/networks".to_owned()],
    );
    let chosen = spec(&embedding);
    assert!(chosen.contains("fronts: [EmbeddedResource] at"), "{chosen}");
    assert!(chosen.contains("subnets: [SubnetValueX"), "{chosen}");
    assert!(chosen.contains("  subnet: EmbeddedResource\n"), "{chosen}");
}

#[test]
fn what_cannot_be_read_has_nothing_in_its_status() {
    let set = load_specs(&["places/places.json"]).expect("loads");
    let found = discover(&set).expect("resources");
    let version = build(&set, ApiVersion::new("2024-01-01"), &found).expect("types");
    let members = |id| match &version.types[id] {
        TypeDef::Object(object) => object.properties.len(),
        TypeDef::Enum(_) => 0,
    };
    let (read, unread): (Vec<_>, Vec<_>) = version.resources.iter().partition(|it| it.verbs.get);
    assert!(!read.is_empty() && !unread.is_empty());
    for resource in unread {
        assert_eq!(members(&resource.status), 0, "{}", resource.kind);
        assert_ne!(members(&resource.spec), 0, "{}", resource.kind);
    }
    assert!(read.iter().all(|it| members(&it.status) > 0));
}

#[test]
fn two_runs_give_the_same_model() {
    let files = ["embedded/network.json", "embedded/gateway.json"];
    assert_eq!(golden(&files), golden(&files));
}
