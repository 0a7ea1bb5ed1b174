//! The form of `specs/<group>/group.toml`: what of Azure's API a group exports, and what its specs leave unsaid.
//!
//! Here is what a file says, once [`super::form`] has found nothing wrong with its form. Whether a rule matches
//! anything is known once types are built: see [`super::rules`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::error::Problem;
use super::text::Text;
use super::{CurateError, SecretRule, SourceRules, consistency, form};
use crate::model::{ApiVersion, ErrorClass};
use crate::types::embedded::ENVELOPE;

/// One curation file.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// Path of the file, for messages.
    pub path: String,
    text: Text,
    /// Contents.
    pub rules: GroupRules,
}

/// The contents of a curation file. Every key that is not named here is an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GroupRules {
    /// Short name of the group: `storage`.
    pub group: String,
    /// Where the specs are, by a name of our choice.
    pub sources: BTreeMap<Spanned<String>, SourceRules>,
    /// How versions are named (ASO behaviour §3.1).
    pub naming: Naming,
    /// First api-version that is named as new groups are, whatever [`Self::naming`] says.
    pub new_naming_from: Option<Spanned<String>>,
    /// Lists and maps are sent to ARM as `null` when absent, because the provider takes a missing one as "keep"
    /// (ASO's `$payloadType: explicitCollections`).
    #[serde(default)]
    pub explicit_collections: bool,
    /// Exported kinds.
    pub kinds: BTreeMap<Spanned<String>, KindRules>,
    /// Types that look like ARM resources and yet are plain parts of the resource around them.
    #[serde(default)]
    pub parts: Vec<Spanned<String>>,
    /// Rules per type and property.
    #[serde(default)]
    pub types: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, PropertyRule>>,
    /// What errors of Azure mean where that differs from the rules for all kinds; the first that matches holds.
    #[serde(default)]
    pub errors: Vec<ErrorRules>,
}

/// What an error of Azure means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ErrorRules {
    /// Kinds that it is for; all of the group when there are none.
    #[serde(default)]
    pub kinds: Vec<Spanned<String>>,
    /// Error code.
    pub code: Spanned<String>,
    /// Part of the message, in any casing.
    pub message: Option<String>,
    /// What to do.
    pub class: ErrorClass,
    /// Why, for readers.
    pub because: Option<String>,
}

/// How the versions of a group are named (ASO behaviour §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Naming {
    /// `v1api20230101`.
    Legacy,
    /// `v1api20230101` and `v20230101`.
    Hybrid,
    /// `v20230101`.
    New,
}

impl Naming {
    /// Names under which an api-version is served.
    pub fn names(self, version: &ApiVersion) -> Vec<String> {
        let legacy = format!("v1api{}", version.compact());
        let plain = format!("v{}", version.compact());
        match self {
            Self::Legacy => vec![legacy],
            Self::Hybrid => vec![legacy, plain],
            Self::New => vec![plain],
        }
    }
}

/// One exported kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KindRules {
    /// ARM type.
    #[serde(rename = "type")]
    pub arm_type: Spanned<String>,
    /// The only source that it is read from, where several have its ARM type in one api-version.
    pub source: Option<Spanned<String>>,
    /// api-versions that export the kind; all that have the ARM type when absent. `2023-01-01..` stands for all from
    /// that one on.
    pub versions: Option<Vec<Spanned<String>>>,
    /// Keys of `operatorSpec.secrets`, each with the place of its value.
    #[serde(default)]
    pub secrets: BTreeMap<Spanned<String>, SecretRule>,
    /// First api-version with [`Self::secrets`].
    pub secrets_from: Option<Spanned<String>>,
    /// Keys of `operatorSpec.configMaps`, each with the dotted status path of the value; empty when a
    /// handwritten exporter finds the value.
    #[serde(default)]
    pub config_maps: BTreeMap<Spanned<String>, String>,
    /// First api-version with [`Self::config_maps`].
    pub config_maps_from: Option<Spanned<String>>,
}

impl KindRules {
    /// Whether the kind is exported from an api-version that has its ARM type.
    pub fn exports(&self, version: &ApiVersion) -> bool {
        match &self.versions {
            None => true,
            Some(versions) => covers(versions, version),
        }
    }
}

/// What follows the first api-version of an open range.
const AND_LATER: &str = "..";

/// Whether a list names an api-version, or has a range that it is in.
pub(super) fn covers(versions: &[Spanned<String>], version: &ApiVersion) -> bool {
    versions.iter().any(|item| {
        let named = ApiVersion::new(version_named(item.get_ref()));
        let is_range = item.get_ref().ends_with(AND_LATER);
        *version == named || is_range && *version > named
    })
}

/// The api-version that an item of a list names, be it a range.
pub(super) fn version_named(item: &str) -> &str {
    item.strip_suffix(AND_LATER).unwrap_or(item)
}

/// What to do with a property. In TOML either a word (`id = "reference"`) or a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PropertyRuleTable {
    #[serde(rename = "as")]
    treatment: Option<Treatment>,
    rename: Option<String>,
    was: Option<String>,
    #[serde(rename = "type")]
    ty: Option<PlainType>,
    values: Option<Vec<String>>,
    required: Option<bool>,
    side: Option<Side>,
    versions: Option<Vec<Spanned<String>>>,
    because: Option<String>,
}

/// What to do with a property.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyRule {
    /// What the value stands for.
    pub treatment: Option<Treatment>,
    /// Name in Kubernetes.
    pub rename: Option<String>,
    /// Name (in Kubernetes) that other api-versions have for the property.
    pub was: Option<String>,
    /// Type in place of the spec's.
    pub ty: Option<PlainType>,
    /// Values of an enum in place of the spec's.
    pub values: Option<Vec<String>>,
    /// Whether the property must be present, in place of what the spec says.
    pub required: Option<bool>,
    /// The only side the rule is for.
    pub side: Option<Side>,
    /// The only api-versions that the rule is for, as in [`KindRules::versions`].
    pub versions: Option<Vec<Spanned<String>>>,
    /// Why, for readers.
    pub because: Option<String>,
}

/// What a value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// ARM id here, reference in Kubernetes.
    Reference,
    /// As `Reference`, and takes a well-known name.
    WellKnownReference,
    /// A string, whatever heuristics say.
    Plain,
    /// A key of a Secret.
    Secret,
    /// All keys of a Secret.
    SecretMap,
    /// `foo` with a twin `fooFromConfig`.
    ConfigMap,
    /// Only `fooFromConfig`.
    ConfigMapRequired,
    /// A list of children that are kinds of their own.
    ChildKind,
    /// Left out on both sides.
    Remove,
    /// Its members stand in its place.
    Flatten,
}

/// Desired or observed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Desired.
    Spec,
    /// Observed.
    Status,
}

/// A type that a rule can put in place of the spec's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlainType {
    /// Boolean.
    Boolean,
    /// Integer.
    Integer,
    /// Number.
    Number,
    /// String.
    String,
    /// Any JSON.
    Json,
    /// Map of strings.
    StringMap,
}

impl<'de> Deserialize<'de> for PropertyRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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
                let table =
                    PropertyRuleTable::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(PropertyRule {
                    treatment: table.treatment,
                    rename: table.rename,
                    was: table.was,
                    ty: table.ty,
                    values: table.values,
                    required: table.required,
                    side: table.side,
                    versions: table.versions,
                    because: table.because,
                })
            }
        }

        deserializer.deserialize_any(RuleVisitor)
    }
}

impl GroupConfig {
    /// Reads a curation file.
    ///
    /// # Errors
    /// Everything that is wrong with the form: broken TOML, unknown keys, missing keys, values of the wrong type.
    pub fn parse(
        path: impl Into<String>,
        text: impl Into<String>,
    ) -> Result<Self, Box<CurateError>> {
        let (path, text) = (path.into(), Text::new(text));
        CurateError::check(&path, form::check(&text))?;
        match toml::from_str(text.as_str()) {
            Ok(rules) => {
                let config = Self { path, text, rules };
                CurateError::check(&config.path, consistency::check(&config))?;
                Ok(config)
            }
            Err(error) => {
                let span = error.span().unwrap_or_default();
                let problems = vec![text.problem(span, error.message().to_owned())];
                Err(Box::new(CurateError { path, problems }))
            }
        }
    }

    /// A problem with something in the file.
    pub(super) fn problem<T>(&self, place: &Spanned<T>, message: String) -> Problem {
        self.text.problem(place.span(), message)
    }

    /// File and line of something in the file: `specs/storage.toml:7`.
    pub fn at<T>(&self, place: &Spanned<T>) -> String {
        format!("{}:{}", self.path, self.line(place))
    }

    /// Line (from 1) of something in the file.
    pub fn line<T>(&self, spanned: &Spanned<T>) -> usize {
        self.text.place(spanned.span().start).0
    }

    /// Sources in the order of the file, which decides whose types get a name that several want.
    pub fn sources(&self) -> Vec<(&str, &SourceRules)> {
        let mut sources = self.rules.sources.iter().collect::<Vec<_>>();
        sources.sort_by_key(|(name, _)| name.span().start);
        let sources = sources.into_iter();
        sources
            .map(|(name, source)| (name.get_ref().as_str(), source))
            .collect()
    }

    /// Names under which an api-version is served.
    pub fn version_names(&self, version: &ApiVersion) -> Vec<String> {
        let new = self.rules.new_naming_from.as_ref();
        let is_new = new.is_some_and(|from| *version >= ApiVersion::new(from.get_ref()));
        let naming = if is_new {
            Naming::New
        } else {
            self.rules.naming
        };
        naming.names(version)
    }

    /// Whether a kind of the file has this ARM type, exports it from the api-version and reads it from this source.
    /// `arm_types` are those of each source in the api-version.
    pub fn reads(
        &self,
        arm_type: &str,
        version: &ApiVersion,
        source: &str,
        arm_types: &BTreeMap<String, Vec<String>>,
    ) -> bool {
        let mut kinds = self.rules.kinds.values();
        kinds.any(|kind| {
            kind.arm_type.get_ref().eq_ignore_ascii_case(arm_type)
                && kind.exports(version)
                && kind.candidates(arm_types) == [source]
        })
    }

    /// [`GroupRules::parts`] as pass 3 takes them: definition → kinds that it stays whole in, none for all.
    pub fn parts(&self) -> BTreeMap<String, Vec<String>> {
        let parts = self.rules.parts.iter();
        parts
            .map(|part| (part.get_ref().clone(), Vec::new()))
            .collect()
    }

    /// Members of ARM's envelope that rules of a kind keep in its spec, as pass 3 takes them.
    pub fn kept_envelopes(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut kept = BTreeMap::<String, BTreeSet<String>>::new();
        for (kind, rules) in &self.rules.kinds {
            let properties = self.rules.types.get(kind.get_ref().as_str());
            for (name, rule) in properties.into_iter().flatten() {
                let is_kept = rule.treatment == Some(Treatment::Plain);
                if is_kept && ENVELOPE.contains(&name.get_ref().as_str()) {
                    let arm_type = rules.arm_type.get_ref().to_lowercase();
                    kept.entry(arm_type)
                        .or_default()
                        .insert(name.get_ref().clone());
                }
            }
        }
        kept
    }

    /// Kubernetes API group.
    pub fn api_group(&self) -> String {
        format!("{}.azure.com", self.rules.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = r#"
group = "storage"
naming = "hybrid"

[sources.storage]
folder = "specification/storage/resource-manager/Microsoft.Storage"
[sources.storage.versions]
"2023-01-01" = ["storage.json"]
"2022-01-01-preview" = ["storage.json"]

[kinds.StorageAccount]
type = "Microsoft.Storage/storageAccounts"

[types.IPRule]
value = "config-map"

[types.NetworkRuleSet]
bypass = { type = "string", because = "ARM takes a list in one string" }
"#;

    #[test]
    fn reads_words_tables_and_lines() {
        let config = GroupConfig::parse("specs/storage.toml", MINIMAL).unwrap();
        let (name, properties) = config.rules.types.iter().next().unwrap();
        assert_eq!((name.get_ref().as_str(), config.line(name)), ("IPRule", 14));
        let (_, rule) = properties.iter().next().unwrap();
        assert_eq!(rule.treatment, Some(Treatment::ConfigMap));
        let (_, properties) = config.rules.types.iter().nth(1).unwrap();
        let (_, rule) = properties.iter().next().unwrap();
        assert_eq!(rule.ty, Some(PlainType::String));
        let [(name, source)] = config.sources()[..] else {
            panic!("one source");
        };
        assert_eq!(name, "storage");
        assert_eq!(
            source.files(&ApiVersion::new("2022-01-01-preview")),
            [
                "specification/storage/resource-manager/Microsoft.Storage/preview/2022-01-01-preview/storage.json"
            ]
        );
        assert_eq!(
            source
                .api_versions()
                .iter()
                .map(ApiVersion::as_str)
                .collect::<Vec<_>>(),
            ["2022-01-01-preview", "2023-01-01"]
        );
    }

    #[test]
    fn versions_say_what_they_are_read_from_and_how_they_are_named() {
        let text = MINIMAL
            .replace("naming", "new-naming-from = \"2025-06-01\"\nnaming")
            .replace(
                "folder =",
                "files = [\"blob.json\"]\ninherit-from = [\"2023-05-01\"]\nfolder =",
            )
            .replace(
                "[kinds.",
                "\"2022-09-01\" = \"openapi\"\n\"2025-06-01\" = \"bicep\"\n\n[kinds.",
            );
        let config = GroupConfig::parse("specs/storage.toml", text).unwrap();
        let (_, source) = config.sources()[0];
        let version = |name: &str| ApiVersion::new(name);
        let specs = "specification/storage/resource-manager/Microsoft.Storage/stable";
        for (name, file, names) in [
            (
                "2022-09-01",
                format!("{specs}/2022-09-01/blob.json"),
                &["v1api20220901", "v20220901"][..],
            ),
            (
                "2023-01-01",
                format!("{specs}/2023-01-01/storage.json"),
                &["v1api20230101", "v20230101"],
            ),
            (
                "2025-06-01",
                "generated/storage/microsoft.storage/2025-06-01/types.json".to_owned(),
                &["v20250601"],
            ),
        ] {
            assert_eq!(source.files(&version(name)), [file]);
            assert_eq!(config.version_names(&version(name)), names);
        }
        let read = source.read_versions();
        let read: Vec<&str> = read.iter().map(ApiVersion::as_str).collect();
        let expected = [
            "2022-01-01-preview",
            "2022-09-01",
            "2023-01-01",
            "2023-05-01",
            "2025-06-01",
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn sources_have_the_order_of_the_file() {
        let dns = "[sources.dns]\nfolder = \"dns\"\nversions = { \"2018-05-01\" = [\"dns.json\"] }\n\n[kinds.";
        let text = MINIMAL.replace("[kinds.", dns);
        let config = GroupConfig::parse("specs/storage.toml", text).unwrap();
        let names: Vec<&str> = config.sources().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["storage", "dns"]);
    }

    #[test]
    fn lists_of_versions_may_end_with_an_open_range() {
        let list = ["2020-01-01", "2022-01-01.."];
        let list = list.map(|item| Spanned::new(0..0, item.to_owned()));
        for (version, expected) in [
            ("2019-01-01", false),
            ("2020-01-01", true),
            ("2021-01-01", false),
            ("2022-01-01-preview", false),
            ("2022-01-01", true),
            ("2031-01-01-preview", true),
        ] {
            assert_eq!(
                covers(&list, &ApiVersion::new(version)),
                expected,
                "{version}"
            );
        }
    }
}
