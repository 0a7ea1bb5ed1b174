//! Rules of curation files are taken out and have to be proposed again: of a small group, whose CRDs are the target, and of
//! Azure's, with Azure Service Operator's.

use std::collections::BTreeSet;

use toml::Value;

use super::world::Differing;
use super::*;
use crate::parity::target;

/// The file without some lines: keys, or all that a table says.
fn without(text: &str, lines: &[(&str, &str)]) -> String {
    let is_gone = |table: &str, line: &str| {
        let is_line = |key: &str| key == "*" || line.starts_with(&format!("{key} = "));
        lines
            .iter()
            .any(|(gone, key)| *gone == table && is_line(key))
    };
    let mut table = String::new();
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            table = line.trim().trim_matches(['[', ']']).to_owned();
        }
        if !is_gone(&table, line) {
            kept.push_str(line);
        }
    }
    kept
}

/// What is proposed for a file without some of its lines, as `table key = value`.
fn proposed(
    specs: &SpecRoot,
    path: &str,
    text: &str,
    target: schema::Group,
    reasons: &[Reason],
) -> (Outcome, BTreeSet<String>) {
    let outcome = of_group(specs, path, text, target, reasons, &Progress::silent()).unwrap();
    let told = Proposals::new("group", path, &outcome);
    let lines = told.proposed.iter().flat_map(|table| {
        let lines = table.lines.iter();
        lines.map(|line| format!("{} {}", table.table, line.line))
    });
    let lines = lines.collect();
    (outcome, lines)
}

fn fixture() -> (SpecRoot, String) {
    let folder = workspace::root().unwrap().join("generator/tests/curation");
    let text = workspace::read(&folder.join("music.toml")).unwrap();
    let specs = SpecRoot::new(folder.clone()).with_bicep(folder.join("bicep"));
    (specs, text)
}

/// The CRDs of a file.
fn crds(specs: &SpecRoot, text: &str) -> schema::Group {
    let world = World::new(specs, "music.toml", text, (schema::Group::new(), &[])).unwrap();
    world.look(text, None).unwrap().ours
}

#[test]
fn every_sort_of_line_is_found_again() {
    let (specs, text) = fixture();
    let target = crds(&specs, &text);
    for (table, key) in [
        ("types.Album", "apiToken"),
        ("types.Album", "comment"),
        ("types.Album", "copies"),
        ("types.Album", "format"),
        ("types.Album", "publisher"),
        ("types.Album", "region"),
        ("types.Album", "settings"),
        ("types.Album", "storeId"),
        ("types.Album", "tracks"),
        ("types.Album", "vaultId"),
        ("types.Stage", "doors"),
        ("kinds.Singer", "envelope"),
        ("kinds.Stage", "plural"),
        ("kinds.Stage", "naming"),
        ("kinds.AlbumsTrack", "versions"),
    ] {
        let spot = edit::Spot {
            table: table.to_owned(),
            key: key.to_owned(),
        };
        let cut = without(&text, &[(table, key)]);
        let (outcome, lines) = proposed(&specs, "music.toml", &cut, target.clone(), &[]);
        assert!(!outcome.before.is_empty(), "{table} {key} changes nothing");
        assert!(
            outcome.after.is_empty(),
            "{table} {key}: {lines:?}, left {:?}, refused {:?}",
            outcome.after,
            outcome.refused
        );
        // Nobody knows why, and the order of values says nothing.
        let said = |text: &str| match edit::value(text, &spot) {
            Some(Value::Table(mut rule)) => {
                rule.remove("because");
                if let Some(Value::Array(values)) = rule.get_mut("values") {
                    values.sort_by_key(ToString::to_string);
                }
                Some(Value::Table(rule))
            }
            said => said,
        };
        assert_eq!(said(&outcome.text), said(&text), "{lines:?}");
    }
}

#[test]
fn items_become_maps_of_any_json() {
    let (specs, text) = fixture();
    let line = r#"doors = { items = "integer", because = "they have numbers" }"#;
    let wanted = text.replace(line, r#"doors = { items = "json-map" }"#);
    let target = crds(&specs, &wanted);
    let (outcome, lines) = proposed(&specs, "music.toml", &text.replace(line, ""), target, &[]);
    let expected = r#"types.Stage doors = { items = "json-map" }"#;
    assert_eq!(lines, BTreeSet::from([expected.to_owned()]));
    assert_eq!(outcome.after, Differing::new());
}

#[test]
fn a_fault_that_no_line_mends_is_told() {
    let (specs, text) = fixture();
    let target = crds(&specs, &text);
    let faulty = text.replace("doors = ", "windows = ");
    let none = Progress::silent();
    let found = of_group(&specs, "music.toml", &faulty, target, &[], &none);
    let error = found.err().map(|error| format!("{error:#}"));
    assert!(
        error.as_deref().is_some_and(|it| it.contains("`windows`")),
        "{error:?}"
    );
}

#[test]
fn what_no_line_settles_has_a_cause_and_what_has_a_reason_is_left_alone() {
    let (specs, text) = fixture();
    let mut target = crds(&specs, &text);
    let version = target
        .get_mut("Album")
        .and_then(|it| it.values_mut().next())
        .unwrap();
    version
        .paths
        .insert("spec.cymbals".to_owned(), Default::default());
    let (outcome, lines) = proposed(&specs, "music.toml", &text, target.clone(), &[]);
    assert_eq!(lines, BTreeSet::new());
    let told = Proposals::new("music", "music.toml", &outcome);
    assert_eq!(
        told.left[0].cause,
        "no property of that name is in the specs that are read"
    );
    let shown = report::text(&[told]);
    assert!(shown.contains("# Left, 1: no property"), "{shown}");
    let reason = "[[reason]]\naspect = \"missing\"\npath = \"spec.cymbals\"\nbecause = \"x\"\n";
    let reasons = reasons::parse(reason, "specs/parity.toml", None).unwrap();
    let (outcome, _) = proposed(&specs, "music.toml", &text, target, &reasons);
    assert_eq!(outcome.before, Differing::new());
}

/// Takes lines out of a group of Azure's and says which come back.
fn of_azure(group: &str, lines: &[(&str, &str)]) -> Option<(Outcome, BTreeSet<String>)> {
    let root = workspace::root().unwrap();
    let (folder, _) = target::folder(&root, None);
    if !folder.is_dir() {
        println!("skipped: no data of Azure, set ARMATURE_AZURE_DATA to their folder");
        return None;
    }
    let lock = sources::Lock::read(&root).unwrap();
    let folder_of =
        |source: &sources::Source| anyhow::Ok(sources::current(&root, source, None)?.path);
    let specs = spec_root(&lock, folder_of).unwrap();
    let path = format!("specs/{group}/group.toml");
    let text = workspace::read(&root.join(&path)).unwrap();
    let target = target::read(&folder.join(format!("{group}.azure.com.json"))).unwrap();
    let reasons = reasons::read(&root).unwrap();
    Some(proposed(
        &specs,
        &path,
        &without(&text, lines),
        target,
        &reasons,
    ))
}

#[test]
fn rules_of_storage_come_back() {
    let gone = [
        ("types.EncryptionIdentity", "federatedIdentityClientId"),
        ("types.IPRule", "*"),
        ("types.Sku", "*"),
        ("types.VirtualNetworkRule", "*"),
    ];
    let Some((outcome, lines)) = of_azure("storage", &gone) else {
        return;
    };
    let expected = [
        "types.EncryptionIdentity federatedIdentityClientId = { as = \"config-map\", versions = [\"2025-06-01..\"] }",
        "types.IPRule value = \"config-map\"",
        "types.Sku tier = { as = \"remove\", side = \"spec\", versions = [\"2025-06-01..\"] }",
        "types.VirtualNetworkRule id = \"reference\"",
    ];
    assert_eq!(lines, expected.map(str::to_owned).into());
    assert_eq!(outcome.after, Differing::new());
}

#[test]
fn rules_of_network_come_back() {
    let gone = [
        ("", "parts"),
        ("kinds.TrafficManagerProfile", "config-maps"),
        ("types.PrivateEndpoint", "*"),
        ("types.PrivateLinkServiceConnection", "*"),
        ("types.SubResource", "*"),
        ("types.TrafficManagerProfile", "*"),
        ("types.VirtualNetwork", "subnets"),
        ("types.VngClientConnectionConfiguration", "*"),
    ];
    let Some((outcome, lines)) = of_azure("network", &gone) else {
        return;
    };
    let expected = [
        " parts = [\"ApplicationGatewayLoadDistributionTarget\", \"Endpoint\", \"VngClientConnectionConfiguration\"]",
        "kinds.TrafficManagerProfile config-maps = { dnsConfigFqdn = \"dnsConfig.fqdn\" }",
        "types.PrivateEndpoint customDnsConfigs = { as = \"remove\", side = \"spec\" }",
        "types.PrivateLinkServiceConnection privateLinkServiceId = \"well-known-reference\"",
        "types.SubResource id = { as = \"reference\", required = false }",
        "types.TrafficManagerProfile endpoints = { as = \"remove\", side = \"spec\" }",
        "types.TrafficManagerProfile type = \"plain\"",
        "types.VirtualNetwork subnets = \"child-kind\"",
        "types.VngClientConnectionConfiguration id = \"reference\"",
    ];
    assert_eq!(lines, expected.map(str::to_owned).into());
    assert_eq!(outcome.after, Differing::new());
}
