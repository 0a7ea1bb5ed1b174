//! Reading a curation file. Whether a rule matches anything is known once types are built: see [`crate::curate`].

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::error::{CurateError, Problem};
use super::group::{GroupRules, KindRules};
use super::source::SourceRules;
use super::text::Text;
use super::words::{Naming, Treatment};
use super::{check, consistency};
use crate::model::ApiVersion;
use crate::types::embedded::{ENVELOPE, Embedding};

/// One curation file.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// Path of the file, for messages.
    pub path: String,
    text: Text,
    /// Contents.
    pub rules: GroupRules,
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
        CurateError::check(&path, check::check(&text))?;
        match toml::from_str(text.as_str()) {
            Ok(rules) => {
                CurateError::check(&path, consistency::check(&rules, &text))?;
                Ok(Self { path, text, rules })
            }
            Err(error) => {
                let span = error.span().unwrap_or_default();
                let problems = vec![text.problem(span, error.message().to_owned())];
                Err(Box::new(CurateError { path, problems }))
            }
        }
    }

    /// A problem with something in the file.
    pub(crate) fn problem<T>(&self, place: &Spanned<T>, message: String) -> Problem {
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
    pub fn version_names(&self, kind: &KindRules, version: &ApiVersion) -> Vec<String> {
        let new = self.rules.new_naming_from.as_ref();
        let is_on_request = self.is_on_request(kind, version);
        let is_new =
            is_on_request || new.is_some_and(|from| *version >= ApiVersion::new(from.get_ref()));
        let of_group = if is_new {
            Naming::New
        } else {
            self.rules.naming
        };
        let naming = match is_on_request {
            true => of_group,
            false => kind.naming.unwrap_or(of_group),
        };
        naming.names(version)
    }

    /// Whether an api-version of a kind is served only when a user names it, and never stored: those of `on-request`, but
    /// where the kind names it among its own.
    pub fn is_on_request(&self, kind: &KindRules, version: &ApiVersion) -> bool {
        self.has_on_request(version) && !kind.names(version)
    }

    fn has_on_request(&self, version: &ApiVersion) -> bool {
        let mut sources = self.rules.sources.values();
        sources.any(|source| source.on_request.contains_key(version.as_str()))
    }

    /// Whether no kind has an api-version unasked.
    pub fn is_only_on_request(&self, version: &ApiVersion) -> bool {
        let mut kinds = self.rules.kinds.values();
        self.has_on_request(version) && !kinds.any(|kind| kind.names(version))
    }

    /// Whether a kind is exported from an api-version that has its ARM type.
    pub fn exports(&self, kind: &KindRules, version: &ApiVersion) -> bool {
        self.has_on_request(version) || kind.lists(version)
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
                && self.exports(kind, version)
                && kind.candidates(arm_types) == [source]
        })
    }

    /// What the file says of resources within resources, as pass 3 takes it.
    pub fn embedding(&self) -> Embedding {
        let mut whole = BTreeMap::<String, Vec<String>>::new();
        for kind in self.rules.kinds.values() {
            for part in &kind.parts {
                let arm_types = whole.entry(part.get_ref().clone()).or_default();
                arm_types.push(kind.arm_type.get_ref().to_lowercase());
            }
        }
        // No ARM type stands for all of them.
        let everywhere = self.rules.parts.iter();
        whole.extend(everywhere.map(|part| (part.get_ref().clone(), Vec::new())));
        let id_only = self.rules.id_only.iter();
        Embedding {
            whole,
            id_only: id_only.map(|it| it.get_ref().clone()).collect(),
            envelope: self.kept_envelopes(),
            unflattened: self.unflattened(),
        }
    }

    /// ARM types of kinds whose `properties` stays.
    fn unflattened(&self) -> BTreeSet<String> {
        let kinds = self.rules.kinds.values();
        kinds
            .filter(|kind| kind.envelope.is_some())
            .map(|kind| kind.arm_type.get_ref().to_lowercase())
            .collect()
    }

    /// Members of ARM's envelope that rules of a kind keep in its spec, by ARM type.
    fn kept_envelopes(&self) -> BTreeMap<String, BTreeSet<String>> {
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
    use crate::curation::PlainType;

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

    /// Azure Service Operator has an api-version of some kinds of a group only.
    #[test]
    fn an_api_version_on_request_is_any_other_for_a_kind_that_names_it() {
        let source = "versions]\n\"2023-01-01\" = [\"storage.json\"]\n";
        let text = MINIMAL
            .replace(
                "folder =",
                "on-request = { \"2026-01-01\" = \"bicep\" }\nfolder =",
            )
            .replace("naming = \"hybrid\"", "naming = \"legacy\"");
        assert!(text.contains(source) && text.contains("legacy"), "{text}");
        let config = GroupConfig::parse("specs/storage.toml", text).unwrap();
        let (_, kind) = config.rules.kinds.first_key_value().unwrap();
        let with = |versions: Option<&[&str]>| {
            let mut kind = kind.clone();
            let list = |list: &[&str]| {
                let items = list.iter();
                items
                    .map(|item| Spanned::new(0..0, (*item).to_owned()))
                    .collect()
            };
            kind.versions = versions.map(list);
            kind
        };
        let ahead = ApiVersion::new("2026-01-01");
        for (versions, is_on_request, name) in [
            (None, true, "v20260101"),
            (Some(&["2023-01-01"][..]), true, "v20260101"),
            (Some(&["2023-01-01.."]), true, "v20260101"),
            (Some(&["2023-01-01", "2026-01-01"]), false, "v1api20260101"),
        ] {
            let kind = with(versions);
            assert!(config.exports(&kind, &ahead), "{versions:?}");
            assert_eq!(
                config.is_on_request(&kind, &ahead),
                is_on_request,
                "{versions:?}"
            );
            assert_eq!(config.version_names(&kind, &ahead), [name], "{versions:?}");
        }
        assert!(config.is_only_on_request(&ahead));
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
            let (_, kind) = config.rules.kinds.first_key_value().unwrap();
            assert_eq!(config.version_names(kind, &version(name)), names);
            let mut later = kind.clone();
            later.naming = Some(Naming::New);
            assert_eq!(
                config.version_names(&later, &version(name)),
                names[names.len() - 1..]
            );
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
}
