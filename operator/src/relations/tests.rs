//! Chains of what objects need.

use armature_generated::KINDS;
use armature_runtime::kind::KindInfo;
use armature_runtime::resource::{Kind, Object};
use kube::core::ObjectMeta;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::relations::{Id, Need};
use super::screen::Room;
use super::*;
use crate::colour::Colour;

fn info(group: &str, kind: &str) -> &'static KindInfo {
    let mut kinds = KINDS.iter();
    let found = kinds.find(|info| info.group == group && info.kind == kind);
    found.expect("it is there")
}

fn object(kind: &'static KindInfo, name: &str, spec: Value, reason: &str) -> Object {
    let is_ready = reason == "Succeeded";
    let status = if is_ready { "True" } else { "False" };
    let ready = json!({"type": "Ready", "status": status, "reason": reason, "message": "m"});
    let conditions = if reason.is_empty() {
        json!([])
    } else {
        json!([ready])
    };
    Object {
        kind: Kind(kind),
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("n".to_owned()),
            ..ObjectMeta::default()
        },
        spec: to_raw_value(&spec).ok(),
        status: to_raw_value(&json!({ "conditions": conditions })).ok(),
    }
}

fn group(reason: &str) -> Object {
    let kind = info("resources.azure.com", "ResourceGroup");
    object(kind, "rg", json!({"location": "x"}), reason)
}

fn account(reason: &str) -> Object {
    let kind = info("storage.azure.com", "StorageAccount");
    object(kind, "sa", json!({"owner": {"name": "rg"}}), reason)
}

fn id(group: &str, kind: &str, name: &str) -> Id {
    (
        group.to_owned(),
        kind.to_owned(),
        "n".to_owned(),
        name.to_owned(),
    )
}

fn account_id() -> Id {
    id("storage.azure.com", "StorageAccount", "sa")
}

fn cause(objects: &[Object]) -> Option<String> {
    let relations = Relations::of(objects);
    let why = Why::of(&relations, &account_id()).expect("it is there");
    let cause = why.cause?;
    Some(format!("{}: {}", cause.of.title(), cause.of.state()))
}

#[test]
fn the_cause_is_the_deepest_thing_in_the_way() {
    let waiting = "WaitingForOwner";
    let table = [
        (vec![account("Succeeded")], None),
        (
            vec![account(waiting)],
            Some("ResourceGroup n/rg: does not exist"),
        ),
        (
            vec![account(waiting), group("AuthorizationFailed")],
            Some("ResourceGroup n/rg: not ready (AuthorizationFailed)"),
        ),
        (
            vec![account(""), group("Succeeded")],
            Some("StorageAccount n/sa: not looked at yet"),
        ),
    ];
    for (objects, expected) in table {
        assert_eq!(cause(&objects).as_deref(), expected);
    }
}

#[test]
fn why_names_what_azure_moves_by_itself() {
    let why = |objects: &[Object], id: &Id| {
        let relations = Relations::of(objects);
        text::why(&Why::of(&relations, id).expect("it is there"))
    };
    let text = why(&[account("Succeeded")], &account_id());
    let told =
        "left alone (armature plan shows both values):\n    sku.name told while azure sku.name is ";
    assert!(text.contains(told), "{text}");
    let group_id = id("resources.azure.com", "ResourceGroup", "rg");
    let text = why(&[group("Succeeded")], &group_id);
    assert!(!text.contains("Azure moves"), "{text}");
}

#[test]
fn a_secret_that_is_missing_is_the_matter_of_who_writes_it() {
    let server = info("sql.azure.com", "Server");
    let login = json!({"name": "login", "key": "password"});
    let spec = json!({"owner": {"name": "rg"}, "administratorLoginPassword": login});
    let server = object(server, "server", spec, "SecretNotFound");
    let why = |objects: &[Object], exists: bool| {
        let mut relations = Relations::of(objects);
        relations.set_data(&id("", "Secret", "login"), exists);
        let found = Why::of(&relations, &id("sql.azure.com", "Server", "server"));
        found.expect("it is there")
    };
    let objects = [group("Succeeded"), server];
    let missing = why(&objects, false);
    let cause = missing.cause.expect("a cause");
    assert_eq!(cause.of.title(), "Secret n/login");
    assert_eq!(cause.advice, "Create the Secret in the namespace n.");
    assert_eq!(missing.chain[1].need, Need::Reads);
    assert_eq!(
        why(&objects, true).cause.expect("a cause").of.kind,
        "Server"
    );

    let mut writer = account("Reconciling");
    let secrets = json!({"key1": {"name": "login", "key": "password"}});
    let spec = json!({"owner": {"name": "rg"}, "operatorSpec": {"secrets": secrets}});
    writer.spec = to_raw_value(&spec).ok();
    let objects = [objects[0].clone(), objects[1].clone(), writer];
    let cause = why(&objects, false).cause.expect("a cause");
    assert_eq!(cause.of.title(), "StorageAccount n/sa");
}

#[test]
fn the_tree_is_by_owner_and_shows_owners_that_are_missing() {
    let relations = Relations::of(&[account("Succeeded")]);
    assert_eq!(
        text::tree(&relations.tree(None)),
        "ResourceGroup n/rg: does not exist\n    StorageAccount n/sa: ready\n"
    );
    let relations = Relations::of(&[account("Succeeded"), group("Succeeded")]);
    let tree = relations.tree(Some(&account_id()));
    assert_eq!(text::tree(&tree), "StorageAccount n/sa: ready\n");
    let objects = relations.objects();
    assert_eq!(text::summary(&objects), "2 of 2 ready");
    assert!(text::status(&objects).starts_with("NAMESPACE  KIND"));
}

#[test]
fn a_terminal_shows_what_it_has_room_for_and_first_what_is_not_ready() {
    let relations = Relations::of(&[account("AuthorizationFailed"), group("Succeeded")]);
    let shown = |lines, columns, problems: &[String]| {
        let room = Room {
            lines,
            columns,
            colour: Colour::No,
        };
        screen::status(&relations.objects(), problems, room)
    };
    assert_eq!(
        shown(24, 80, &[]),
        "NAMESPACE  KIND            NAME  READY  REASON               MESSAGE\n\
         n          StorageAccount  sa    False  AuthorizationFailed  m\n\
         n          ResourceGroup   rg    True   Succeeded            m\n\
         \n1 of 2 ready\n"
    );
    assert_eq!(
        shown(6, 40, &["no Secrets".to_owned()]),
        "NAMESPACE  KIND            NAME  READY …\n\
         and 2 more\n\
         \n1 of 2 ready\nerror: no Secrets\n"
    );
    let room = Room {
        lines: 24,
        columns: 80,
        colour: Colour::Yes,
    };
    let coloured = screen::status(&relations.objects(), &[], room);
    let lines: Vec<&str> = coloured.lines().collect();
    assert!(lines[1].starts_with("\u{1b}[33m"), "{coloured:?}");
    assert!(lines[2].starts_with("\u{1b}[32m"), "{coloured:?}");
    // Words of others bring no colours along, nor anything that hides them.
    let odd = group("Succeeded\u{1b}[8mhidden\u{202e}");
    let relations = Relations::of(&[odd]);
    let problem = "no \u{1b}[2J".to_owned();
    let text = screen::status(&relations.objects(), &[problem], room);
    let own = ["\u{1b}[1m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[0m"];
    let text = own.iter().fold(text, |text, own| text.replace(own, ""));
    assert!(
        !text.contains(['\u{1b}', '\u{202e}']) && text.contains("\\u001b[8mhidden"),
        "{text:?}"
    );
}

#[test]
fn the_tree_says_what_is_needed_and_what_a_check_has_against_it() {
    let server = info("sql.azure.com", "Server");
    let login = json!({"name": "login", "key": "password"});
    let spec = json!({"owner": {"name": "rg"}, "administratorLoginPassword": login});
    let server = object(server, "server", spec, "ReconciliationBlocked");
    let relations = Relations::of(&[group("Succeeded"), server]);
    assert_eq!(
        text::tree(&relations.tree(None)),
        "ResourceGroup n/rg: ready\n    Server n/server: not ready (ReconciliationBlocked)\n      - check: m\n      \
         - reads Secret n/login: does not exist\n"
    );
    let tree = serde_json::to_value(relations.tree(None)).expect("JSON");
    assert_eq!(tree[1]["needs"][0]["need"], "reads");
    assert_eq!(tree[1]["needs"][0]["of"]["name"], "login");
}
