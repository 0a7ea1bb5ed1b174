//! Whole files: anchors, merged keys, blocks, brackets, and where documents begin and end.

use serde_json::Value;

use crate::oracle::{Kubectl, ours, same};

/// What begins an object.
const HEAD: &str = "apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: a}\n";

/// Members of an object's `values`, between lines with `---`.
const MEMBERS: &str = "
k: &a {x: 1}
l: {<<: *a, y: 2}
---
k: &a {x: 1}
l: {x: 3, <<: *a, y: 2}
---
k: &a {x: 1}
l: {<<: *a, x: 3}
---
k: &a {x: 1}
m: &b {x: 2, z: 1}
l: {<<: [*a, *b], y: 2}
---
k: &a {x: 1}
m: &b {x: 2, z: 1}
l: {<<: *a, <<: *b, y: 2}
---
k: &a [x]
l: {<<: *a}
---
l: {<<: ~}
---
l: {<<: {a: 1, b: }}
---
l: {\"<<\": {a: 1}}
---
l: {!!merge <<: {a: 1}}
---
l: {!!merge x: {a: 1}}
---
l: &a [*a]
---
l: &a {b: *a}
---
l: *nope
---
k: &a 5
l: {*a : 1}
---
k: &a x
k2: &a y
l: *a
---
k: &a
l: *a
---
k: |
  a
   b

l: >-
  a
  b

  c
---
k: |+
  a

---
k: |2
   a
---
k:
- a
-  - b
   - c
- d: e
  f: g
---
k:
\ta: b
---
k:\ta
---
k: {\ta: b,
\tc: d}
---
k: a
  b
  c
---
k: \"a
  b\\
  c

  d\"
---
? a
: b
---
? {a: b}
: c
---
? [a]
: c
---
~: c
---
k: [a, b
]
---
k: [
  a, # c
  b
  ]
---
k: x
 l: y
---
k: [a]: b
---
k:x
---
{\"k\":x}
---
k: |
 a
  b
 c
l: d
---
k: [? a : b]
---
k: [http://x.y/z?q=1#f, b]
---
k: [http://x.y/z#f, b]
---
k: {a: http://x, b: c?}
---
k: {a: \"b?\"}
---
k: [a, b, c
---
k: {a: 1,}
---
k: [a,,b]
---
k: 010
l: y
m: {n: off, 'n2': \"off\"}
";

/// Files; `HEAD` stands for the lines above.
const FILES: &[&str] = &[
    "HEAD---\nHEAD",
    "HEAD---  # second\nHEAD",
    "HEAD---\t\nHEAD",
    "---\nHEAD---\n---\n# nothing\n---\nHEAD---\n",
    "HEAD---\nkind: {\n---\nHEAD",
    "HEAD--- x\nHEAD",
    "HEAD--- {a: b}\n",
    "HEAD----\nHEAD",
    "HEAD...\n---\nHEAD",
    "HEAD...\n# the end\n",
    "HEADvalues: |\n  x\n  ---\n  y\n",
    "HEADvalues: \"x\n---\ny\"\n",
    "HEADvalues: \"\\0\"\n",
    "%YAML 1.1\n---\nHEAD",
    "\u{feff}HEAD",
    "JSON\nJSON\n",
    "JSONJSON",
    "HEAD---\nJSON\n",
    "HEAD---\n\n  JSON\n",
    "{\"apiVersion\": \"v\", \"kind\": \"Odd\", \"metadata\": {\"name\": \"a\"}, \"values\": [1.0, 1e3, \"\\/\"]}",
];

fn file(text: &str) -> String {
    let json =
        "{\"apiVersion\": \"example.com/v1\", \"kind\": \"Odd\", \"metadata\": {\"name\": \"j\"}}";
    text.replace("HEAD", HEAD).replace("JSON", json)
}

/// The members of each part as an object's `values`.
fn members() -> impl Iterator<Item = String> {
    MEMBERS.trim_start().split("\n---\n").map(|members| {
        let lines = members.lines().map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("  {line}\n"),
        });
        format!("{HEAD}values:\n{}", lines.collect::<String>())
    })
}

/// Objects without the label by which kubectl was made to print them.
fn plain(mut objects: Vec<Value>) -> Value {
    for object in &mut objects {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.shift_remove("labels");
        }
    }
    Value::Array(objects)
}

#[tokio::test]
async fn files_are_what_kubectl_makes_of_them() {
    let kubectl = Kubectl::new().await;
    let mut wrong = Vec::new();
    for text in members().chain(FILES.iter().map(|text| file(text))) {
        let (ours, theirs) = (ours(&text), kubectl.objects(&text).await);
        let agree = match (&ours, &theirs) {
            (Ok(ours), Some(theirs)) => same(&plain(ours.clone()), &plain(theirs.clone())),
            (ours, theirs) => ours.is_err() && theirs.is_none(),
        };
        if !agree {
            wrong.push(format!("{text}\n here: {ours:?}\n kubectl: {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn what_kubectl_would_lose_without_a_word_is_refused() {
    let kubectl = Kubectl::new().await;
    for (text, expected) in [
        ("HEADvalues: {x: 1, x: 2}\n", "`x` stands twice"),
        ("HEADvalues: {1: a, \"1\": b}\n", "`1` stands twice"),
        ("HEADvalues: [?a]\n", "kubectl does not read `?a`"),
        ("HEAD...\nHEAD", "kubectl reads nothing between `...`"),
    ] {
        let error = ours(&file(text)).unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert!(kubectl.objects(&file(text)).await.is_some(), "{text:?}");
    }
}

/// A list of lists nine deep stands for a thousand million texts.
#[tokio::test]
async fn a_few_aliases_that_stand_for_millions_are_refused() {
    let mut text = format!("{HEAD}values:\n  k0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for number in 1..9 {
        let items = vec![format!("*a{}", number - 1); 10].join(", ");
        text.push_str(&format!("  k{number}: &a{number} [{items}]\n"));
    }
    let error = ours(&text).unwrap_err();
    assert!(error.contains("more than 1000000 values"), "{error}");
    assert_eq!(Kubectl::new().await.objects(&text).await, None);
}
