//! What expressions give, and what bounds them.

mod refusals;

use std::collections::BTreeMap;

use armature_shapes::kind::{Plan, SecretSource, Verbs};
use armature_shapes::shape::{Json as AnyJson, Shaped};
use armature_shapes::shaped;
use serde_json::{Value as Json, json};

use super::*;

shaped! {
    /// A size.
    Sku {
        /// Units.
        capacity: i64 = "capacity";
        /// Name.
        name: String = "name";
    }
}

shaped! {
    /// Desired state.
    Spec {
        /// A flag.
        enabled: bool = "enabled";
        /// A word of the grammar.
        inside: String = "in";
        /// Location.
        location: String = "location";
        /// A name with a dash.
        memory: String = "maxmemory-delta";
        /// Sizes.
        skus: Vec<Sku> = "skus";
        /// Size.
        sku: Box<Sku> = "sku";
        /// Tags.
        tags: BTreeMap<String, String> = "tags";
        /// JSON without a schema.
        untyped: BTreeMap<String, AnyJson> = "untyped";
        /// A fraction.
        weight: f64 = "weight";
        /// Texts.
        zones: Vec<String> = "zones";
    }
}

shaped! {
    /// Observed state.
    Status {
        /// Address.
        endpoint: String = "endpoint";
        /// ARM id.
        id: String = "id";
    }
}

static VERSION: VersionInfo = VersionInfo {
    name: "v20200101",
    api_version: "2020-01-01",
    sources: &[],
    is_on_request: false,
    spec: Spec::SHAPE,
    status: Status::SHAPE,
    verbs: Verbs {
        get: true,
        head: false,
        put: true,
        patch: false,
        delete: true,
        put_long_running: false,
        delete_long_running: false,
    },
    child_lists: &[],
    keep_unknown: &[],
    spec_plan: &Plan::SAME,
    status_plan: &Plan::SAME,
};

static SECRETS: &[SecretExport] = &[
    SecretExport {
        key: "primaryKey",
        source: SecretSource::Extension,
    },
    SecretExport {
        key: "endpoint",
        source: SecretSource::Extension,
    },
];

/// In `secretExpressions`.
const ALL: Scope = Scope {
    version: &VERSION,
    secrets: Some(SECRETS),
};

/// In `configMapExpressions`.
const PUBLIC: Scope = Scope {
    version: &VERSION,
    secrets: None,
};

const ID: &str = "/subscriptions/s-1/resourceGroups/g/providers/Microsoft.Toys/stores/s/boxes/b";

fn object() -> Json {
    json!({
        "apiVersion": "toys.azure.com/v20200101",
        "kind": "Store",
        "metadata": {
            "name": "s", "namespace": "default", "generation": 3,
            "annotations": {"foo": "bar", "baz": "qux"},
        },
        "spec": {
            "enabled": true, "in": "here", "location": "westus2", "maxmemory-delta": "10",
            "sku": {"name": "Premium", "capacity": 1}, "weight": 2.5,
            "skus": [{"name": "a", "capacity": 1}, {"name": "b", "capacity": 2}, {"name": "c"}],
            "tags": {"tag one": "hello", "tag two": "goodbye", "three": "four"},
            "untyped": {"mode": "Test", "list": ["foo", "bar"], "deep": {"port": 8080, "on": true, "none": null}},
            "zones": ["1", "2", "3", "4"],
        },
        "status": {"id": ID},
    })
}

fn run(source: &str) -> Result<Produced, ExpressionError> {
    let secrets = [("primaryKey", "hunter2"), ("endpoint", "https://s")];
    let secrets = secrets.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Expression::compile(source, ALL)?.evaluate(
        &object(),
        &BTreeMap::from(secrets),
        &mut Allowance::default(),
    )
}

fn text(source: &str) -> String {
    match run(source) {
        Ok(Produced::Text(text)) => text,
        Ok(Produced::Map(_)) => format!("{source}: a map"),
        Err(error) => format!("{source}: {error}"),
    }
}

#[test]
fn texts() {
    for (source, expected) in [
        ("'helloworld'", "helloworld"),
        ("\"helloworld\"", "helloworld"),
        ("self.spec.location", "westus2"),
        (
            "self.kind + '/' + self.apiVersion",
            "Store/toys.azure.com/v20200101",
        ),
        (
            "self.metadata.namespace + ':' + self.metadata.name",
            "default:s",
        ),
        ("string(self.metadata.generation)", "3"),
        ("string(self.spec.sku.capacity)", "1"),
        ("string(self.spec.weight)", "2.5"),
        ("self.metadata.annotations['foo']", "bar"),
        ("self.metadata.annotations.baz", "qux"),
        ("self.spec.zones[0]", "1"),
        ("self.spec.tags['tag two']", "goodbye"),
        ("self.spec.skus[1].name", "b"),
        (
            "self.spec.__in__ + self.spec.maxmemory__dash__delta",
            "here10",
        ),
        (
            "self.spec.`maxmemory-delta`",
            "self.spec.`maxmemory-delta`: line 1, column 10: there is no field of Spec named maxmemory-delta; did you mean maxmemory__dash__delta?",
        ),
        ("secret.primaryKey", "hunter2"),
        (
            "secret['primaryKey'] + '@' + secret.endpoint",
            "hunter2@https://s",
        ),
        ("'%s:%d'.format([self.spec.location, 7])", "westus2:7"),
        (
            "'%.2f %x %X %o %b %s %%'.format([1.5, 255, 255, 8, true, [1, 'a']])",
            "1.50 ff FF 10 1 [1, \"a\"] %",
        ),
        // JSON without a schema.
        ("string(self.spec.untyped.mode)", "Test"),
        ("string(self.spec.untyped.list[1])", "bar"),
        ("string(self.spec.untyped.deep.port)", "8080"),
        ("self.spec.untyped.deep.on ? 'on' : 'off'", "on"),
        // Absent fields are zero values.
        (
            "self.status.endpoint + '|' + string(self.spec.skus[2].capacity)",
            "|0",
        ),
        (
            "has(self.status.endpoint) ? self.status.endpoint : 'none'",
            "none",
        ),
        (
            "has(self.spec.tags.three) && !has(self.spec.tags.four) ? 'yes' : 'no'",
            "yes",
        ),
        ("self.status.?endpoint.orValue('later')", "later"),
        ("self.status.?id.orValue('later')", ID),
        ("self.spec.tags[?'nine'].orValue('no nine')", "no nine"),
        (
            "optional.ofNonZeroValue(self.status.endpoint).or(optional.of('x')).value()",
            "x",
        ),
        (
            "self.spec.?location.optMap(l, l + '!').orValue('-')",
            "westus2!",
        ),
        (
            "self.spec.?sku.name.hasValue() ? 'named' : 'nameless'",
            "named",
        ),
        // Numbers and truth.
        ("string(7 / 2) + string(7 % 2) + string(-3 * 2)", "31-6"),
        (
            "string(1e21) + ' ' + string(1000000.0) + ' ' + string(0.5)",
            "1e+21 1e+06 0.5",
        ),
        (
            "1 < 1.5 && 2u >= 2 && 1 == 1.0 ? 'numbers' : 'types'",
            "numbers",
        ),
        ("1 / 0 == 1 || true ? 'decided' : 'failed'", "decided"),
        ("string(int('12') + int(3.9) + int(2u))", "17"),
        (
            "string(bool('true')) + string(double('1.5')) + string(uint(3))",
            "true1.53",
        ),
        (
            "'a' in ['a', 'b'] && 'three' in self.spec.tags && !(2 in [1]) ? 'in' : 'out'",
            "in",
        ),
        (
            "string(size('grüße')) + string([1, 2].size()) + string(size({}))",
            "520",
        ),
        // Comprehensions, with one variable and with two.
        (
            "self.spec.zones.filter(a, int(a) % 2 == 0).join('-')",
            "2-4",
        ),
        ("self.spec.skus.map(s, s.name).join(',')", "a,b,c"),
        (
            "self.spec.skus.map(s, s.capacity > 1, s.name).join(',')",
            "b",
        ),
        (
            "self.spec.skus.transformList(i, s, string(i) + s.name).join(' ')",
            "0a 1b 2c",
        ),
        (
            "self.spec.tags.filter(k, k.startsWith('tag')).join(',')",
            "tag one,tag two",
        ),
        (
            "self.spec.tags.exists(k, v, v == 'four') && self.spec.zones.all(z, z != '9') ? 'y' : 'n'",
            "y",
        ),
        (
            "self.spec.zones.exists_one(z, z == '1') && [3, 3].existsOne(z, z == 3) == false ? 'y' : 'n'",
            "y",
        ),
        (
            "[1, 0].exists(x, 1 / x == 1) ? 'one is enough' : ''",
            "one is enough",
        ),
        // Texts.
        (
            "'abc'.charAt(1) + 'abcabc'.replace('b', 'x', 1) + 'ab'.replace('', '-')",
            "baxcabc-a-b-",
        ),
        (
            "string('hello mellow'.indexOf('ello', 2)) + string('hello mellow'.lastIndexOf('ello'))",
            "77",
        ),
        (
            "string('hello mellow'.lastIndexOf('ello', 6)) + string('abc'.indexOf('x'))",
            "1-1",
        ),
        (
            "'a,b,c'.split(',', 2).join('|') + 'grüße'.split('').join('.')",
            "a|b,cg.r.ü.ß.e",
        ),
        (
            "'tacocat'.substring(4) + 'tacocat'.substring(0, 4).upperAscii() + ' x '.trim()",
            "catTACOx",
        ),
        (
            "'Abc'.lowerAscii().reverse() + strings.quote('a\"\\n')",
            "cba\"a\\\"\\n\"",
        ),
        (
            "'a1b'.matches('^[a-z][0-9]') && matches('x', 'x') && 'ab'.contains('b') && 'ab'.endsWith('b') ? 'y' : 'n'",
            "y",
        ),
        // Resource ids.
        ("aso.parseResourceId(self.status.id).subscriptionId", "s-1"),
        ("aso.parseResourceId(self.status.id).resourceGroupName", "g"),
        ("aso.parseResourceId(self.status.id).parent.name", "s"),
        (
            "aso.parseResourceId(self.status.id).resourceType.namespace + '/' + aso.parseResourceId(self.status.id).resourceType.type",
            "Microsoft.Toys/stores/boxes",
        ),
        (
            "aso.parseResourceId('/subscriptions/a/resourceGroups/b').resourceType.type",
            "resourceGroups",
        ),
        (
            "aso.parseResourceId('/subscriptions/a/providers/P/locations/west/usages/u').location",
            "west",
        ),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn maps() {
    for (source, expected) in [
        (
            "self.metadata.annotations",
            &[("baz", "qux"), ("foo", "bar")][..],
        ),
        (
            "{'a': self.spec.location, 'b': 'x'}",
            &[("a", "westus2"), ("b", "x")],
        ),
        (
            "{?'a': self.status.?endpoint, ?'b': self.status.?id}",
            &[("b", ID)],
        ),
        (
            "self.spec.tags.transformMapEntry(k, v, {k.replace(' ', '-'): v})",
            &[
                ("tag-one", "hello"),
                ("tag-two", "goodbye"),
                ("three", "four"),
            ],
        ),
        (
            "self.spec.tags.transformMap(k, v, k != 'three', v + '!')",
            &[("tag one", "hello!"), ("tag two", "goodbye!")],
        ),
        ("self.spec.enabled ? {'on': '1'} : {}", &[("on", "1")]),
        ("{}", &[]),
    ] {
        assert_eq!(
            Expression::compile(source, PUBLIC).unwrap().output(),
            Output::Map
        );
        let expected = expected
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        match run(source) {
            Ok(Produced::Map(found)) => assert_eq!(found, expected.collect(), "{source}"),
            Ok(Produced::Text(found)) => panic!("{source}: {found}"),
            Err(error) => panic!("{source}: {error}"),
        }
    }
}

#[test]
fn work_is_bounded() {
    let double = ".map(x, x + x)".repeat(60);
    let pairs = ".map(x, [x, x])".repeat(60);
    for source in [
        format!("['aaaaaaaa']{double}.join()"),
        format!("[['a']]{pairs} == [['a']]{pairs} ? 'a' : 'b'"),
        format!("'%s'.format([['a']{pairs}])"),
        format!(
            "'{0}'.replace('', '{0}').replace('', '{0}').replace('', '{0}')",
            "a".repeat(500)
        ),
        format!(
            "{0}.map(a, {0}.map(b, {0}.map(c, {0}.map(d, 'x').join()).join()).join()).join()",
            format!("[{}]", vec!["1"; 60].join(","))
        ),
    ] {
        let error = run(&source).err().unwrap();
        assert!(error.message.contains("more than 1000000 steps"), "{error}");
    }
}

#[test]
fn size_and_depth_are_bounded_on_the_stack_of_a_worker() {
    for (source, message) in [
        (
            format!("'{}'", "a".repeat(LENGTH)),
            "longer than 4096 bytes",
        ),
        (format!("{}'a'{}", "(".repeat(2000), ")".repeat(2000)), ""),
        (
            format!("string({}1)", "1+".repeat(2000)),
            "nested deeper than 100 levels",
        ),
        (format!("{}'a'", "!".repeat(2001)), "! does not take string"),
        (format!("{}'a'", "-".repeat(2001)), "- does not take string"),
        (format!("self{}", ".a".repeat(2000)), "nested deeper"),
        (format!("true{}?1:'a'", "?'a':true".repeat(300)), ""),
    ] {
        // Tokio's workers have 2 MiB.
        let worker = std::thread::Builder::new().stack_size(2 << 20);
        let worker = worker.spawn(move || Expression::compile(&source, ALL).err());
        let error = worker.unwrap().join().unwrap().unwrap();
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn the_cache_keeps_what_is_right_and_stays_small() {
    let cache = Cache::default();
    let first = cache.compile("'a'", ALL).unwrap();
    assert!(std::sync::Arc::ptr_eq(
        &first,
        &cache.compile("'a'", ALL).unwrap()
    ));
    assert!(cache.compile("secret.endpoint", ALL).is_ok());
    assert!(cache.compile("secret.endpoint", PUBLIC).is_err());
    assert_eq!(cache.len(), 2);
    for number in 0..1_500 {
        cache.compile(&format!("'{number}'"), ALL).unwrap();
        assert!(cache.len() <= 1_000);
    }
}

#[test]
fn the_cache_tells_what_it_found_and_what_it_compiled() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Counts {
        found: AtomicUsize,
        compiled: AtomicUsize,
    }
    impl CacheObserver for Counts {
        fn found(&self) {
            self.found.fetch_add(1, Ordering::SeqCst);
        }
        fn compiled(&self, _: std::time::Duration) {
            self.compiled.fetch_add(1, Ordering::SeqCst);
        }
    }
    let counts = Arc::new(Counts::default());
    let cache = Cache::observed_by(counts.clone());
    for source in ["'a'", "'b'", "'a'", "'a'", "no such"] {
        cache.compile(source, ALL).ok();
    }
    let of = |count: &AtomicUsize| count.load(Ordering::SeqCst);
    assert_eq!((of(&counts.found), of(&counts.compiled)), (2, 3));
}
