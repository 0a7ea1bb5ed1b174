//! What is said about expressions that are wrong, and about those that fail.

use super::*;

#[test]
fn wrong_expressions_are_refused_before_they_run() {
    for (source, place, message) in [
        ("self.spec.location +", (1, 21), "Syntax error"),
        ("this is not valid", (1, 6), "Syntax error"),
        (
            "7",
            (1, 1),
            "gives int, expected string or map(string, string); write string(…)",
        ),
        ("self.spec", (1, 5), "gives Spec, expected string"),
        ("self.spec.zones", (1, 10), "gives list(string)"),
        ("self.spec.untyped.mode", (1, 18), "gives dyn"),
        ("{'a': 1}", (1, 1), "gives map(string, int)"),
        (
            "self.spec.locaton",
            (1, 10),
            "no field of Spec named locaton; did you mean location?",
        ),
        (
            "'a' +\n  self.status.addres",
            (2, 14),
            "there are endpoint, id",
        ),
        (
            "self.this.doesnt.exist",
            (1, 5),
            "no field of resource named this",
        ),
        (
            "self.spec.location.name",
            (1, 19),
            "string has no fields, so no name",
        ),
        (
            "other",
            (1, 1),
            "no variable other; there are self and secret",
        ),
        ("'a' + 1", (1, 5), "+ does not take string and int"),
        (
            "self.spec.zones[0] == 1 ? 'a' : 'b'",
            (1, 20),
            "== does not take string and int",
        ),
        (
            "self.spec.enabled ? 'a' : 1",
            (1, 19),
            "one branch gives string, the other int",
        ),
        (
            "self.spec.location ? 'a' : 'b'",
            (1, 10),
            "expected bool, found string",
        ),
        (
            "'a'.startWith('b') ? 'a' : 'b'",
            (1, 14),
            "no function named startWith; did you mean startsWith?",
        ),
        (
            "'a'.startsWith(1) ? 'a' : 'b'",
            (1, 15),
            "string.startsWith(int) does not fit; there is string.startsWith(string)",
        ),
        ("[1].join()", (1, 9), "list(int).join()"),
        (
            "self.spec.zones['a']",
            (1, 16),
            "list(string) is read with int in the brackets, found string",
        ),
        (
            "self.spec.sku.map(x, 'a').join()",
            (1, 10),
            "expected a list or a map, found Sku",
        ),
        (
            "['a'].map(1, 'a').join()",
            (1, 11),
            "a name for the element",
        ),
        ("has('a') ? 'a' : 'b'", (1, 4), "has() takes a field"),
        ("['a'].map(x, x)[0] + x", (1, 22), "no variable x"),
        (
            "secret.primarKey",
            (1, 7),
            "no secret named primarKey; did you mean primaryKey?",
        ),
        ("secret[self.spec.location]", (1, 1), "write secret.<name>"),
        ("string(type(1))", (1, 12), "no function named type"),
        ("string(b'a')", (1, 8), "bytes cannot be used here"),
    ] {
        let error = Expression::compile(source, ALL).err().expect(source);
        assert!(error.message.contains(message), "{source}: {error}");
        assert_eq!((error.line, error.column), place, "{source}: {error}");
    }
}

#[test]
fn secrets_are_for_secret_expressions() {
    let error = Expression::compile("secret.primaryKey", PUBLIC)
        .err()
        .unwrap();
    assert_eq!(
        error.message,
        "secret can be used in secretExpressions only"
    );
    let used = |source: &str| {
        let expression = Expression::compile(source, ALL).unwrap();
        expression.secrets().iter().cloned().collect::<Vec<_>>()
    };
    for (source, expected) in [
        ("self.spec.location", &[][..]),
        ("string(secret.primaryKey)", &["primaryKey"]),
        ("secret[?'primaryKey'].orValue('')", &["primaryKey"]),
        (
            "'%s'.format([['a'].map(x, secret.endpoint + x)])",
            &["endpoint"],
        ),
        (
            "{'a': secret.endpoint, secret.primaryKey: 'b'}",
            &["endpoint", "primaryKey"],
        ),
        ("['a'].map(secret, secret + 'b').join()", &[]),
    ] {
        assert_eq!(used(source), expected, "{source}");
    }
}

#[test]
fn failures_name_the_place_and_no_value() {
    for (source, place, message) in [
        ("self.spec.zones[9]", (1, 16), "there is no such item"),
        ("self.spec.tags.nine", (1, 15), "there is no key nine"),
        (
            "self.spec.tags[secret.primaryKey]",
            (1, 15),
            "there is no such item",
        ),
        (
            "string(self.spec.untyped.deep.mode)",
            (1, 30),
            "there is no key mode",
        ),
        (
            "string(self.spec.untyped.deep.none)",
            (1, 7),
            "string does not take (null)",
        ),
        (
            "self.spec.untyped.mode + 1 == 2 ? 'a' : 'b'",
            (1, 24),
            "_+_ does not take (string, int)",
        ),
        ("string(int(secret.primaryKey))", (1, 11), "no such number"),
        ("string(1 / 0)", (1, 10), "division by zero"),
        ("string(9223372036854775807 + 1)", (1, 28), "too large"),
        ("'abc'.substring(7)", (1, 16), "outside of the text"),
        (
            "'%d'.format([secret.primaryKey])",
            (1, 12),
            "%d does not take a value of type string",
        ),
        ("'%s %s'.format(['a'])", (1, 15), "fewer arguments"),
        (
            "'a'.matches('(') ? 'a' : 'b'",
            (1, 12),
            "no regular expression",
        ),
        (
            "aso.parseResourceId(secret.primaryKey).name",
            (1, 20),
            "this is no ARM id",
        ),
        (
            "aso.parseResourceId(self.status.endpoint).name",
            (1, 20),
            "the id is empty",
        ),
        (
            "string(optional.none().value())",
            (1, 29),
            "the optional has no value",
        ),
        ("{'a': 'b', 'a': 'c'}", (1, 15), "the same key"),
        (
            "self.spec.zones.all(z, 1 / int(z) > 0 && z == secret.primaryKey) ? '' : string(1 / 0)",
            (1, 82),
            "division",
        ),
    ] {
        let error = run(source).err().expect(source);
        assert!(error.message.contains(message), "{source}: {error}");
        assert!(!error.message.contains("hunter2"), "{source}: {error}");
        assert_eq!((error.line, error.column), place, "{source}: {error}");
    }
}
