//! Rules about properties. What a rule can state stands once, in one table: it gives the fields of a rule, the keys of a
//! file, and the statements one by one, so that each can be judged alone.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::key::{Form, Key, key};
use super::words::{AbsentWord, PlainType, Side, Treatment};

/// How a file writes a value.
trait Written {
    fn written(&self) -> String;
}

macro_rules! written {
    ($($type:ty: $value:ident => $text:expr,)+) => {
        $(impl Written for $type {
            fn written(&self) -> String {
                let $value = self;
                $text
            }
        })+
    };
}

written! {
    Treatment: it => format!("{:?}", it.word()),
    PlainType: it => format!("{:?}", it.word()),
    Side: it => format!("{:?}", it.word()),
    AbsentWord: it => format!("{:?}", it.word()),
    String: it => format!("{it:?}"),
    bool: it => it.to_string(),
    Vec<String>: it => format!("{it:?}"),
    Vec<Spanned<String>>: it => {
        let names: Vec<&str> = it.iter().map(|it| it.get_ref().as_str()).collect();
        format!("{names:?}")
    },
}

macro_rules! statements {
    ($(
        $key:literal => $aspect:ident, $field:ident: $type:ty {
            form: $form:expr,
            example: $example:literal,
            meaning: $meaning:literal,
        }
    )+) => {
        /// What to do with a property.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct PropertyRule {
            $(
                #[doc = $meaning]
                pub $field: Option<$type>,
            )+
            /// Why, for readers.
            pub because: Option<String>,
        }

        /// A rule that a file writes as a table.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            $(
                #[serde(rename = $key)]
                $field: Option<$type>,
            )+
            because: Option<String>,
        }

        impl From<Table> for PropertyRule {
            fn from(table: Table) -> Self {
                Self {
                    $($field: table.$field,)+
                    because: table.because,
                }
            }
        }

        /// One statement of a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Aspect {
            $(
                #[doc = $meaning]
                $aspect,
            )+
        }

        impl Aspect {
            /// All statements.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$aspect),+];
        }

        impl PropertyRule {
            /// A rule with nothing but these statements of this one.
            pub(crate) fn only(&self, aspects: &[Aspect]) -> Self {
                let mut rule = Self::default();
                for aspect in aspects {
                    match aspect {
                        $(Aspect::$aspect => rule.$field.clone_from(&self.$field),)+
                    }
                }
                rule
            }

            /// A statement as the file writes it, if the rule makes it.
            pub(crate) fn written(&self, aspect: Aspect) -> Option<String> {
                let (key, value) = match aspect {
                    $(Aspect::$aspect => ($key, self.$field.as_ref()?.written()),)+
                };
                Some(format!("{key} = {value}"))
            }
        }

        /// Keys of a rule that is a table.
        pub(super) const RULE: &[Key] = &[
            $(key($key, $form, $example, $meaning),)+
            key("because", Form::Text, r#"because = "Azure sets it""#, "why, for readers and for `gen explain`"),
        ];
    };
}

statements! {
    "as" => Treatment, treatment: Treatment {
        form: Form::Word(Treatment::WORDS),
        example: r#"as = "reference""#,
        meaning: "one of the words",
    }
    "rename" => Rename, rename: String {
        form: Form::Text,
        example: r#"rename = "tier""#,
        meaning: "name in Kubernetes",
    }
    "was" => Was, was: String {
        form: Form::Text,
        example: r#"was = "tier""#,
        meaning: "name in other api-versions, so that conversion carries the value over",
    }
    "type" => Type, ty: PlainType {
        form: Form::Word(PlainType::WORDS),
        example: r#"type = "string""#,
        meaning: "type in place of the spec's: `boolean`, `integer`, `number`, `string`, `json`, `string-map` or `json-map`",
    }
    "items" => Items, items: PlainType {
        form: Form::Word(PlainType::WORDS),
        example: r#"items = "string""#,
        meaning: "type of the items of a list or map in place of the spec's, with the words of `type`",
    }
    "values" => Values, values: Vec<String> {
        form: Form::Texts,
        example: r#"values = ["Allow", "Deny"]"#,
        meaning: "values of an enum in place of the spec's",
    }
    "required" => Required, required: bool {
        form: Form::Flag,
        example: "required = true",
        meaning: "whether it must be present, in place of what the spec says",
    }
    "absent" => Absent, absent: AbsentWord {
        form: Form::Word(AbsentWord::WORDS),
        example: r#"absent = "empty""#,
        meaning: "what Azure gets where the list or map is absent: `nothing`, `null`, or `empty` for `[]` or `{}`",
    }
    "answered" => Answered, answered: bool {
        form: Form::Flag,
        example: "answered = false",
        meaning: "whether Azure shows the value in its answers, in place of what the spec says; what it never shows is not compared",
    }
    "create-only" => CreateOnly, create_only: bool {
        form: Form::Flag,
        example: "create-only = false",
        meaning: "whether it can be set on creation only, in place of what the spec says; an edit is sent all the same",
    }
    "free-text" => FreeText, free_text: String {
        form: Form::Text,
        example: r#"free-text = "a filter compares ids and reads nothing""#,
        meaning: "why Azure uses no resource that the text may look like the id of; such a text is sent from any namespace, whatever its allowed scopes",
    }
    "side" => Side, side: Side {
        form: Form::Word(Side::WORDS),
        example: r#"side = "spec""#,
        meaning: "the only side that the rule is for: `spec` or `status`",
    }
    "versions" => Versions, versions: Vec<Spanned<String>> {
        form: Form::Texts,
        example: r#"versions = ["2023-01-01"]"#,
        meaning: "the only api-versions that the rule is for, as for kinds",
    }
}

impl Aspect {
    /// Whether it only says where the others hold.
    pub fn is_restriction(self) -> bool {
        matches!(self, Self::Side | Self::Versions)
    }
}

impl PropertyRule {
    /// What the rule states.
    pub(crate) fn aspects(&self) -> impl Iterator<Item = Aspect> {
        let stated = Aspect::ALL.iter().copied();
        stated.filter(|aspect| self.written(*aspect).is_some())
    }
}

impl<'de> Deserialize<'de> for PropertyRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

/// Reads a rule, which is a word (`id = "reference"`) or a table.
struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = PropertyRule;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a word such as \"reference\" or a table")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<PropertyRule, E> {
        let treatment = Treatment::deserialize(de::value::StrDeserializer::new(word))?;
        Ok(PropertyRule {
            treatment: Some(treatment),
            ..PropertyRule::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PropertyRule, A::Error> {
        Table::deserialize(de::value::MapAccessDeserializer::new(map)).map(PropertyRule::from)
    }
}
