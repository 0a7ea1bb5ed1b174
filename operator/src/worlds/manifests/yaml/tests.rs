use serde_json::json;

use super::*;

#[test]
fn documents_are_read_as_kubectl_reads_them() {
    for (text, expected) in [
        ("", json!(null)),
        ("# nothing\n", json!(null)),
        (
            "a: y\nb: 'y'\nc: \"010\"\nd: 010",
            json!({"a": true, "b": "y", "c": "010", "d": 8}),
        ),
        ("a: |\n  010\nb: >-\n  no", json!({"a": "010\n", "b": "no"})),
        (
            "y: 1\n2: 3\n1.50: x",
            json!({"true": 1, "2": 3, "1.5": "x"}),
        ),
        (
            "a: !!str 010\nb: !!int '010'\nc: !!binary eA==\nd: !own 1",
            json!({"a": "010", "b": 8, "c": "x", "d": "1"}),
        ),
        ("a: &x {k: 1}\nb: *x", json!({"a": {"k": 1}, "b": {"k": 1}})),
        (
            "b: &x {k: 1, l: 2}\na:\n  <<: *x\n  k: 3",
            json!({"b": {"k": 1, "l": 2}, "a": {"k": 3, "l": 2}}),
        ),
        ("- <<: [{k: 1}, {k: 2, l: 2}]", json!([{"k": 1, "l": 2}])),
        ("- {k: 1, <<: {k: 2}}", json!([{"k": 2}])),
        ("a:\n- 1\n-\n", json!({"a": [1, null]})),
    ] {
        assert_eq!(read(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_wrong_has_a_place() {
    let bomb = {
        let levels = (1..9).map(|level| {
            format!(
                "a{level}: &a{level} [{}]\n",
                vec![format!("*a{}", level - 1); 10].join(", ")
            )
        });
        format!("a0: &a0 [x]\n{}", levels.collect::<String>())
    };
    for (text, expected) in [
        (
            "a: 1\nb: 1\na: 2",
            "line 3, column 1: `a` stands twice in one mapping",
        ),
        (
            "a: .inf",
            "line 1, column 4: `.inf` is no number that JSON has",
        ),
        ("a: *x", "line 1, column 4: "),
        ("~: 1", "line 1, column 1: this key is no text"),
        ("a: [1", "line "),
        ("a: &x [*x]", "line 1, column 8: "),
        (&"[".repeat(5000), "line 1, column "),
        (&bomb, "line "),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:.40}: {error}");
    }
}
