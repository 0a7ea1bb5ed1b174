//! Numbers, texts and free JSON.

use regex::Regex;
use serde_json::{Map, Value, json};

use super::{Arbitrary, KEYS, Manners};
use crate::shape::check_rules;
use crate::shape::{EnumShape, IntegerFormat, Rules};

/// Integers at the edges of the types that JSON libraries keep them in.
const INTEGERS: [i64; 12] = [
    0,
    1,
    -1,
    10,
    i32::MAX as i64,
    i32::MIN as i64,
    i32::MAX as i64 + 1,
    (1 << 53) + 1,
    -(1 << 53) - 1,
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
];

/// Texts of any kind.
const TEXTS: [&str; 16] = [
    "",
    "a",
    "Hot",
    "ünï ☃ 😀 e\u{301}",
    "x y",
    " \t\r\n\u{0}\"\\</script>",
    "/subscriptions/s",
    "{\"a\":1}",
    "null",
    "0",
    "1.0",
    "$propertyBag",
    "West US 2",
    "00000000-0000-0000-0000-00000000000A",
    "P1DT0.5S",
    "=",
];

/// Points in time and what looks like them: leap seconds, offsets, more digits than a clock has, no such day.
const DATES: [&str; 10] = [
    "2030-01-01T00:00:00Z",
    "2016-12-31T23:59:60Z",
    "2024-02-29T23:59:59.1234567+05:30",
    "2024-01-01T00:00:00.123456789123Z",
    "0001-01-01T00:00:00",
    "9999-12-31T23:59:59.9999999Z",
    "2023-02-29T00:00:00Z",
    "2024-01-01",
    "2024-01-01t24:00:00z",
    "20240101T000000Z",
];

/// Texts that some rule of Azure's takes.
const CANDIDATES: [&str; 18] = [
    "abc",
    "a",
    "abcdefgh",
    "10.0.0.4",
    "10.0.0.0/24",
    "12:30",
    "+01:00",
    "AAAA",
    "00000000-0000-0000-0000-000000000000",
    "10.0.0.0/8",
    "/subscriptions/s/resourceGroups/r/providers/a.b/c/d",
    "https://a.example/b",
    "default",
    "P1D",
    "2030-01-01T00:00:00Z",
    "1",
    "a.b",
    "A",
];

/// Longest text that is made to reach a limit.
const LONGEST: usize = 300;

impl Arbitrary {
    pub(super) fn integer(&mut self, format: IntegerFormat, rules: &Rules) -> Value {
        let number = match self.manners {
            Manners::Valid => self.valid_integer(format, rules),
            _ => self.any_integer(rules),
        };
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let float = number as f64;
        if self.manners == Manners::Loose && number.unsigned_abs() <= 1 << 53 && self.one_in(4) {
            return Value::from(float);
        }
        Value::from(number)
    }

    fn any_integer(&mut self, rules: &Rules) -> i64 {
        match self.below(4) {
            0 => INTEGERS[self.below(INTEGERS.len())],
            1 => {
                let bounds = bounds(rules);
                bounds.get(self.below(bounds.len())).copied().unwrap_or(0)
            }
            _ => i64::try_from(self.below(2_000)).unwrap_or(0) - 1_000,
        }
    }

    /// A number that keeps to the rules, at the bounds as well as between them.
    fn valid_integer(&mut self, format: IntegerFormat, rules: &Rules) -> i64 {
        let known = bounds(rules);
        let fits = |number: &i64| {
            (format != IntegerFormat::Int32 || i32::try_from(*number).is_ok())
                && check_rules(rules, &Value::from(*number)).is_empty()
        };
        let candidates = known.iter().chain(&INTEGERS).copied().filter(fits);
        let candidates: Vec<_> = candidates.collect();
        let chosen = if self.plain {
            0
        } else {
            self.below(candidates.len())
        };
        candidates
            .get(chosen)
            .or(known.first())
            .copied()
            .unwrap_or(1)
    }

    /// Quarters are exact, and the codec writes whole numbers without a fraction.
    pub(super) fn number(&mut self, rules: &Rules) -> Value {
        if self.manners == Manners::Valid {
            return Value::from(self.valid_integer(IntegerFormat::Plain, rules));
        }
        const ODD: [f64; 6] = [
            1e300,
            -2.5e-7,
            0.102,
            0.102_000_000_000_000_01,
            1e15,
            f64::MIN_POSITIVE,
        ];
        if self.one_in(4) {
            let number = ODD[self.below(ODD.len())];
            let whole = number.fract() == 0.0 && number.abs() < 9e15;
            if !whole || self.manners == Manners::Loose {
                return Value::from(number);
            }
        }
        let quarters = i64::try_from(self.below(400)).unwrap_or(0) - 200;
        if quarters % 4 == 0 {
            return Value::from(quarters / 4);
        }
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let number = quarters as f64 / 4.0;
        Value::from(number)
    }

    pub(super) fn text(&mut self, rules: &Rules) -> String {
        if self.manners == Manners::Valid {
            return self.valid_text(rules);
        }
        let dated = rules
            .format
            .is_some_and(|format| format.starts_with("date"));
        let texts = if dated && !self.one_in(4) || self.one_in(4) {
            &DATES[..]
        } else {
            &TEXTS[..]
        };
        texts[self.below(texts.len())].to_owned()
    }

    /// A text that keeps to the rules, found by trying; the first candidate when none does.
    fn valid_text(&mut self, rules: &Rules) -> String {
        let bound = |bound: Option<u64>| {
            let bound = bound.and_then(|bound| usize::try_from(bound).ok());
            bound.filter(|bound| *bound <= LONGEST)
        };
        let least = bound(rules.min_length).unwrap_or(0);
        let most = bound(rules.max_length).unwrap_or(0);
        let pattern = rules.pattern.and_then(|pattern| Regex::new(pattern).ok());
        let lengths = Rules {
            pattern: None,
            ..*rules
        };
        let keeps = |text: &String| {
            let matches = pattern.as_ref();
            matches.is_none_or(|pattern| pattern.is_match(text))
                && (rules.slash.is_none() || !text.contains('/'))
                && check_rules(&lengths, &Value::from(text.as_str())).is_empty()
        };
        let of_length = |text: &str, length: usize| text.chars().cycle().take(length).collect();
        let padded = CANDIDATES.iter().flat_map(|text| {
            let whole = text.repeat(least.div_ceil(text.len()).max(1));
            [
                (*text).to_owned(),
                whole,
                of_length(text, least),
                of_length(text, most),
            ]
        });
        let odd = TEXTS.iter().chain(&DATES).map(|text| (*text).to_owned());
        let mut kept = padded.chain(odd).filter(keeps);
        if self.plain {
            return kept.next().unwrap_or_else(|| CANDIDATES[0].to_owned());
        }
        let kept: Vec<_> = kept.collect();
        let chosen = kept.get(self.below(kept.len()));
        chosen.map_or(CANDIDATES[0], String::as_str).to_owned()
    }

    /// An ARM id, in the casings that services use.
    pub(super) fn arm_id(&mut self) -> String {
        const IDS: [&str; 3] = [
            "/subscriptions/s/resourceGroups/r/providers/a.b/c/d",
            "/subscriptions/s/resourcegroups/R/providers/A.B/c/e.f",
            "/providers/a.b/c/ü",
        ];
        let chosen = if self.plain { 0 } else { self.below(IDS.len()) };
        IDS[chosen].to_owned()
    }

    pub(super) fn member(&mut self, shape: &EnumShape) -> String {
        // No draw where values are valid: histories that were found once stay the same.
        let known = self.manners == Manners::Valid || self.plain || self.below(8) > 0;
        match shape.values.get(self.below(shape.values.len().max(1))) {
            Some(value) if known => (*value).to_owned(),
            _ => "Unheard-of".to_owned(),
        }
    }

    /// Free JSON. Never null itself: a field that is null is absent.
    pub(super) fn json(&mut self) -> Value {
        match self.below(8) {
            0 => Value::from(INTEGERS[self.below(INTEGERS.len())]),
            1 => json!(["text", "", {"": {}}]),
            2 => json!([1, null, {"a": []}, 1.0, u64::MAX, [[]]]),
            3 => json!({"deep": {"null": null, "empty": {}}, "$propertyBag": {"A": "1"}}),
            4 => {
                let levels = self.below(40);
                nested(levels)
            }
            5 => {
                let keys = KEYS.iter().map(|key| ((*key).to_owned(), Value::Null));
                Value::Object(keys.collect::<Map<_, _>>())
            }
            6 => json!({}),
            _ => json!(false),
        }
    }
}

/// Lists and objects in each other.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, level| {
        if level % 2 == 0 {
            json!([inner])
        } else {
            json!({"below": inner})
        }
    })
}

/// The bounds of the rules and one step inside them.
fn bounds(rules: &Rules) -> Vec<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "any integer will do")]
    let whole = |bound: Option<f64>| bound.map(|bound| bound as i64);
    let minimum = whole(rules.minimum);
    let maximum = whole(rules.maximum);
    let inside = [
        minimum,
        maximum,
        minimum.map(|number| number.saturating_add(1)),
        maximum.map(|number| number.saturating_sub(1)),
        whole(rules.multiple_of),
    ];
    inside.into_iter().flatten().collect()
}
