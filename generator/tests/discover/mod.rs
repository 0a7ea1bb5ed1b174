//! Pass 2: what paths tell.

use armature_generator::discover::discover;

use crate::common::{load_specs, outline as render};

#[test]
fn scopes_owners_and_names() {
    let set = load_specs(&["places/places.json"]).expect("loads");
    let found = discover(&set).expect("resources");
    let lines: Vec<String> = found
        .iter()
        .map(|resource| {
            format!(
                "{}: {}, {:?}, owner {:?}, name {}\n    {}",
                resource.kind,
                resource.arm_type,
                resource.scope,
                resource.owner,
                render::name(&resource.name),
                resource.path
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
