//! Plans of manifests alone, and how plans look.

use std::collections::BTreeMap;

use armature_progress::Progress;
use armature_runtime::azure::budget::Limits;
use armature_runtime::reconcile::time::Time;
use serde_json::{Value, json};

use super::edits::Takes;
use super::markdown::markdown;
use super::resource::LeftAlone;
use super::text::text;
use super::*;
use crate::colour::Colour;
use crate::installation::variables::Variables;
use crate::render::PLACEHOLDER_SUBSCRIPTION;
use crate::worlds::manifests::manifest;
use crate::worlds::manifests::problem::Origin;

fn setting() -> Setting<'static> {
    Setting {
        kinds: armature_generated::KINDS,
        extensions: armature_customizations::registry().expect("the operator's extensions"),
        way: Way::Offline(PLACEHOLDER_SUBSCRIPTION.to_owned()),
        operator_namespace: "armature-system".to_owned(),
        told: None,
        limits: Limits::default(),
        parallel: 4,
        time: Time::default(),
        progress: Progress::silent(),
    }
}

async fn offline(manifests: &str) -> Plan {
    told(manifests, None).await
}

/// The same for an operator that is told this.
async fn told(manifests: &str, told: Option<Variables>) -> Plan {
    let origin = Origin {
        file: "f.yaml".into(),
        ..Origin::default()
    };
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    manifest::parse(&origin, manifests, &mut documents, &mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    let input = Input {
        documents,
        namespace: Some("team".to_owned()),
        ..Input::default()
    };
    let setting = Setting { told, ..setting() };
    plan(&input, &setting).await.expect("a plan")
}

const GROUP: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: rg}
spec: {location: westeurope}
";

const ACCOUNT: &str = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: account}
spec:
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  owner: {name: rg}
";

#[tokio::test]
async fn owners_come_first_and_what_is_no_azure_resource_is_left_out() {
    let deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}";
    let plan = offline(&format!("{ACCOUNT}---\n{deployment}\n---\n{GROUP}")).await;
    let expected = "\
>   ResourceGroup team/rg [1]: send
      location  \"westeurope\"
    >   StorageAccount team/account [2]: send
          kind      \"StorageV2\"
          location  \"westeurope\"
          sku.name  \"Standard_LRS\"

Plan: 2 to send
";
    let found = text(&plan, Colour::No);
    assert_eq!(found, expected, "{found}");
    assert!(plan.changes_azure() && !plan.has_problems());
}

#[tokio::test]
async fn what_cannot_be_is_blocked_with_what_to_do_and_so_is_what_it_owns() {
    let broken = ACCOUNT.replace("location: westeurope", "location: 7");
    let child = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccountsBlobService
metadata: {name: service}
spec: {owner: {name: account}}
";
    let plan = offline(&format!("{broken}---{child}---\n{GROUP}")).await;
    let account = &plan.resources[1];
    assert_eq!(account.reason.as_deref(), Some("Invalid"));
    let message = account.message.as_deref().unwrap_or_default();
    assert!(
        message.starts_with("f.yaml: document 1: spec.location: "),
        "{message}"
    );
    let service = &plan.resources[2];
    assert_eq!(service.action, Action::Blocked);
    assert_eq!(service.reason.as_deref(), Some("WaitingForOwner"));
    assert!(plan.has_problems());

    let plan = offline(ACCOUNT).await;
    let message = plan.resources[0].message.as_deref().unwrap_or_default();
    assert_eq!(
        message,
        "the owner ResourceGroup team/rg does not exist; add its manifest or give its armId, or plan with --cluster if \
         it is there already"
    );
}

const SERVER: &str = "
apiVersion: sql.azure.com/v1api20211101
kind: Server
metadata: {name: server}
spec:
  location: westeurope
  owner: {name: rg}
  administratorLogin: admin1
  administratorLoginPassword: {name: login, key: password}
";

#[tokio::test]
async fn secrets_are_not_shown_and_taken_to_be_there() {
    let plan = offline(&format!("{GROUP}---{SERVER}")).await;
    let server = &plan.resources[1];
    let path = "properties.administratorLoginPassword";
    let password = server.properties.iter().find(|one| one.path == path);
    let password = password.expect("it is named");
    assert!(password.hidden && password.new.is_none());
    assert_eq!(server.assumed, ["Secret team/login"]);

    let secret = "
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: hunter2}
";
    let plan = offline(&format!("{GROUP}---{SERVER}---{secret}")).await;
    assert_eq!(plan.resources[1].assumed, [""; 0]);
    let json = serde_json::to_string(&plan).expect("JSON");
    assert!(!json.contains("hunter2") && !text(&plan, Colour::No).contains("hunter2"));
}

#[tokio::test]
async fn each_thing_that_is_wrong_has_a_line_that_names_its_file() {
    let broken = ACCOUNT.replace("location: westeurope", "location: 7\n  colour: red");
    let plan = offline(&format!("{GROUP}---{broken}")).await;
    let message = plan.resources[1].message.as_deref().unwrap_or_default();
    let mut lines = message.lines();
    assert!(lines.all(|line| line.starts_with("f.yaml: document 2: spec.")));
    assert_eq!(message.lines().count(), 2, "{message}");

    let wrong = GROUP.replace("name: rg", "name: rg, namespace: Bad_NS");
    let plan = offline(&wrong).await;
    assert_eq!(
        plan.problems,
        [
            "f.yaml: document 1: ResourceGroup rg: metadata.namespace: 'Bad_NS' is no name of a namespace; expected at \
          most 63 lower-case letters, digits and '-'"
        ]
    );
}

#[tokio::test]
async fn what_is_paused_is_held() {
    let paused = GROUP.replace(
        "{name: rg}",
        "{name: rg, annotations: {armature.azure.com/paused: \"true\"}}",
    );
    let plan = offline(&paused).await;
    assert_eq!(plan.resources[0].action, Action::Held, "{plan:?}");
}

/// What the operator leaves alone by its settings is held, and whatever Azure would say of it is not asked.
#[tokio::test]
async fn objects_are_held_by_what_the_operator_is_told() {
    for (key, value, expected, message) in [
        ("AZURE_TARGET_NAMESPACES", "team", Action::Send, None),
        (
            "AZURE_TARGET_NAMESPACES",
            "b;a",
            Action::Held,
            Some(
                "namespace team is none of those whose objects the operator manages (AZURE_TARGET_NAMESPACES: a, b)",
            ),
        ),
        ("DEFAULT_RECONCILE_POLICY", "manage", Action::Send, None),
        ("DEFAULT_RECONCILE_POLICY", "skip", Action::Blocked, None),
    ] {
        let counted = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        let variables = Variables::default().with_files(BTreeMap::new(), Some(&counted));
        let plan = told(GROUP, Some(variables)).await;
        let resource = &plan.resources[0];
        assert_eq!(resource.action, expected, "{key} {value}: {plan:?}");
        if message.is_some() {
            assert_eq!(resource.message.as_deref(), message);
        }
    }
}

fn some(action: Action, own: &str, owner: Option<&str>) -> Resource {
    let name = |name: &str| Name {
        group: "g".to_owned(),
        kind: "K".to_owned(),
        namespace: "n".to_owned(),
        name: name.to_owned(),
    };
    Resource {
        owner: owner.map(name),
        name: name(own),
        action,
        id: None,
        reason: None,
        message: None,
        properties: Vec::new(),
        left_out: Vec::new(),
        left_alone: Vec::new(),
        assumed: Vec::new(),
        warnings: Vec::new(),
    }
}

fn of(resources: Vec<Resource>) -> Plan {
    Plan {
        format: resource::FORMAT.to_owned(),
        version: "0".to_owned(),
        offline: false,
        requests: 0,
        resources,
        problems: vec!["a | b".to_owned()],
        notes: Vec::new(),
    }
}

fn changed() -> Resource {
    let property = |path: &str, old: Option<Value>, new: Option<Value>| Property {
        path: path.to_owned(),
        old,
        new,
        hidden: false,
        create_only: path == "location",
        takes: None,
        rule: None,
    };
    Resource {
        properties: vec![
            property("location", Some(json!("a")), Some(json!("b"))),
            property("properties.size", None, Some(json!(3))),
            property("tags.x", Some(json!("y")), None),
        ],
        message: Some("put it back".to_owned()),
        ..some(Action::Replace, "two", Some("one"))
    }
}

#[test]
fn a_plan_is_a_tree_whatever_the_order() {
    let plan = of(vec![
        some(Action::Unchanged, "one", None),
        some(Action::Create, "other", None),
        changed(),
        some(Action::Delete, "three", Some("two")),
    ]);
    let expected = "\
=   K n/one [1]: no change
    -/+ K n/two [3]: replace
          put it back
          location         \"a\" -> \"b\" (can be set on creation only)
          properties.size  3
          tags.x           \"y\" -> nothing
        -   K n/three [4]: delete
+   K n/other [2]: create
problem: a | b

Plan: 1 to create, 1 to replace, 1 to delete, 1 unchanged
";
    assert_eq!(text(&plan, Colour::No), expected);
    assert!(text(&plan, Colour::Yes).contains("\u{1b}[31m-/+\u{1b}[0m"));
    // Words of others bring no colours along, nor anything that hides them.
    let mut odd = changed();
    let words = "x\u{1b}[8mhidden\u{9b}31m\u{202e}".to_owned();
    (odd.message, odd.reason) = (Some(words.clone()), Some(words.clone()));
    odd.warnings = vec![words.clone()];
    odd.properties[0].new = Some(json!(words));
    odd.properties[1].path.clone_from(&words);
    let mut plan = of(vec![odd]);
    plan.notes = vec![words];
    let shown = text(&plan, Colour::No);
    let odd = ['\u{1b}', '\u{9b}', '\u{202e}'];
    assert!(
        !shown.contains(odd) && shown.contains("hidden"),
        "{shown:?}"
    );
}

#[test]
fn markdown_leaves_out_what_does_not_change() {
    let plan = of(vec![some(Action::Unchanged, "one", None), changed()]);
    let expected = "\
### Plan: 1 to replace, 1 unchanged

| | resource | what happens | |
|---|---|---|---|
| 2 | &nbsp;&nbsp;K n/two | replace | put it back |

<details><summary>K n/two: 3 properties</summary>

```diff
! location: \"a\" -> \"b\" (can be set on creation only)
+ properties.size: 3
- tags.x: \"y\" -> nothing
```

</details>

**Problems**

- a \\| b
";
    assert_eq!(markdown(&plan), expected);
}

#[test]
fn markdown_fits_into_a_comment_whatever_the_plan() {
    for (count, properties) in [(40, 60), (500, 1), (2000, 0)] {
        let resources = (0..count).map(|number| {
            let mut one = leaving_out(Action::Replace);
            one.name.name = format!("a-name-of-some-length-{number}");
            one.properties = changed().properties;
            one.properties.truncate(properties.min(1));
            let more = one.properties.first().cloned();
            one.properties
                .extend((1..properties).filter_map(|_| more.clone()));
            one
        });
        let mut plan = of(resources.collect());
        plan.problems = vec!["something is wrong with a file".to_owned(); count];
        let text = markdown(&plan);
        assert!(text.len() < 65_536, "{count}: {}", text.len());
        let rows = text.lines().filter(|line| line.starts_with("| ")).count();
        assert!(rows > 300.min(count), "{count}: {rows} rows");
        let is_cut = text.contains(" more resources, which `-o text` and `-o json` tell");
        assert!(is_cut, "{text}");
        assert_eq!(
            text.matches("<details>").count(),
            text.matches("</details>").count()
        );
        assert!(text.starts_with(&format!("### Plan: {count} to replace\n")));
    }
}

fn leaving_out(action: Action) -> Resource {
    let one = |path: &str, value: Option<Value>| LeftOut {
        path: path.to_owned(),
        hidden: value.is_none(),
        value,
        is_default: path == "default",
    };
    Resource {
        left_out: vec![
            one("properties.size", Some(json!(3))),
            one("key", None),
            one("default", Some(json!("a"))),
        ],
        ..some(action, "two", None)
    }
}

#[test]
fn what_a_put_leaves_out_is_told_where_one_is_sent_or_will_be() {
    let told = |action| text(&of(vec![leaving_out(action)]), Colour::No);
    let list = "
        properties.size  3
        key              (not shown)
problem";
    for (action, said) in [
        (Action::Update, Some("the PUT leaves out:")),
        (Action::Replace, Some("the PUT leaves out:")),
        (Action::Adopt, Some("the next PUT would leave out:")),
        (Action::Unchanged, None),
    ] {
        let text = told(action);
        match said {
            Some(said) => {
                let expected = format!("      Azure has, and {said}{list}");
                assert!(text.contains(&expected), "{text}");
            }
            None => assert!(!text.contains("properties.size"), "{text}"),
        }
    }
    let folded = "
<details><summary>K n/two: 2 values left out</summary>

Azure has, and the next PUT would leave out:

```text
properties.size: 3
key: (not shown)
```

</details>
";
    let markdown = markdown(&of(vec![leaving_out(Action::Adopt)]));
    assert!(markdown.contains(folded), "{markdown}");
}

#[test]
fn what_blocks_all_is_told_once() {
    let why = "the credential was refused: ".to_owned() + &"a long reason, ".repeat(10);
    let blocked = |name: &str, message: &str| Resource {
        message: Some(message.to_owned()),
        ..some(Action::Blocked, name, None)
    };
    let plan = of(vec![
        blocked("one", &why),
        blocked("two", &why),
        blocked("three", "its Secret is missing"),
        blocked("four", "its Secret is missing"),
    ]);
    let text = text(&plan, Colour::No);
    assert_eq!(text.matches("a long reason").count(), 10, "{text}");
    assert!(text.contains("for the same reason as [1]\n"), "{text}");
    assert_eq!(text.matches("Secret is missing").count(), 2, "{text}");
}

#[test]
fn many_values_are_told_in_part() {
    let mut resource = leaving_out(Action::Adopt);
    let one = resource.left_out[0].clone();
    resource.left_out = vec![one; 15];
    let text = text(&of(vec![resource]), Colour::No);
    assert!(
        text.contains("        and 3 more, which -o json tells\n"),
        "{text}"
    );
}

#[test]
fn what_is_told_as_a_change_is_not_told_again() {
    let told = changed().properties;
    let one = |path: &str| LeftOut {
        path: path.to_owned(),
        value: None,
        hidden: true,
        is_default: false,
    };
    let left_out = ["tags.x", "tags.xy", "location.below"].map(one).to_vec();
    let rest = left_out::beside_the_told(left_out, &told);
    assert_eq!(rest, [one("tags.xy")]);
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let plan = of(vec![
        leaving_out(Action::Update),
        changed(),
        some(Action::Held, "x", None),
    ]);
    let text = serde_json::to_string(&plan).expect("JSON");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan);
}

#[test]
fn only_what_is_sure_needs_another_resource() {
    let (old, new) = (Some(json!("a")), Some(json!("b")));
    let property = |create_only, takes, hidden, old: &Option<Value>, new: &Option<Value>| {
        let property = Property {
            path: "properties.size".to_owned(),
            old: old.clone(),
            new: new.clone(),
            hidden,
            create_only,
            takes,
            rule: takes.map(|_| "refused unless larger".to_owned()),
        };
        let note = text::values(&property);
        let note = note
            .split_once(" (")
            .map_or("", |(_, note)| note)
            .to_owned();
        (property.needs_another_resource(), note)
    };
    let fixed = "can be set on creation only)";
    let rule = "; rule: refused unless larger)";
    let table = [
        (
            property(false, None, false, &old, &new),
            false,
            String::new(),
        ),
        (
            property(true, None, false, &old, &new),
            true,
            fixed.to_owned(),
        ),
        // Azure may have it and not show it; and it may keep what the manifest no longer names.
        (
            property(true, None, false, &None, &new),
            false,
            fixed.to_owned(),
        ),
        (
            property(true, None, false, &old, &None),
            false,
            fixed.to_owned(),
        ),
        (
            property(true, None, true, &None, &None),
            true,
            fixed.to_owned(),
        ),
        (
            property(true, Some(Takes::InPlace), false, &old, &new),
            false,
            format!("in place{rule}"),
        ),
        (
            property(false, Some(Takes::Refused), false, &old, &new),
            false,
            format!("Azure refuses it{rule}"),
        ),
        (
            property(false, Some(Takes::Replacement), false, &old, &new),
            true,
            format!("only another resource can have it{rule}"),
        ),
    ];
    for (found, needs, note) in table {
        assert_eq!(found, (needs, note));
    }
}

/// Of a manifest alone it is not known whether a value that stays was edited.
#[test]
fn a_value_that_is_left_to_azure_may_be_an_edit() {
    let told = |may_be_edit| {
        super::text::left_alone_values(&LeftAlone {
            path: "sku.name".to_owned(),
            manifest: Some(json!("Standard_GRS")),
            azure: Some(json!("Standard_LRS")),
            rule: "sku.name told".to_owned(),
            may_be_edit,
        })
    };
    let values =
        r#"Azure has "Standard_LRS", the manifest says "Standard_GRS" (rule: sku.name told)"#;
    assert_eq!(told(false), values);
    let edit = "; sent all the same where the operator has sent another value before";
    assert_eq!(told(true), format!("{values}{edit}"));
}
