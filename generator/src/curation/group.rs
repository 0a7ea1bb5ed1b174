//! What a curation file says about its group, once [`super::check`] has found nothing wrong with its form.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::property::PropertyRule;
use super::secret::SecretRule;
use super::source::SourceRules;
use super::versions::covers;
use super::words::{EnvelopeWord, ErrorWord, NameWord, Naming};
use crate::model::ApiVersion;

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
    /// Types stand in a file for each first letter: they are too many for one.
    #[serde(default)]
    pub types_by_letter: bool,
    /// Exported kinds.
    pub kinds: BTreeMap<Spanned<String>, KindRules>,
    /// Types that look like ARM resources and yet are plain parts of the resource around them.
    #[serde(default)]
    pub parts: Vec<Spanned<String>>,
    /// Types that are no ARM resources, and of which only the id stays inside a resource.
    #[serde(default)]
    pub id_only: Vec<Spanned<String>>,
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
    pub class: ErrorWord,
    /// Why, for readers.
    pub because: Option<String>,
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
    /// How its versions are named, in place of what is said for the group.
    pub naming: Option<Naming>,
    /// Plural in lower case, where grammar gives another one.
    pub plural: Option<Spanned<String>>,
    /// What the resource is called where the user gives no name; as the object when absent.
    pub azure_name: Option<Spanned<NameWord>>,
    /// Whether `spec.azureNameFromConfig` stands beside `spec.azureName`.
    pub azure_name_from_config: Option<Spanned<bool>>,
    /// Regular expression of names in Azure, in place of the spec's.
    pub name_pattern: Option<Spanned<String>>,
    /// What ARM writes where the service's own name has a slash.
    pub name_slash: Option<Spanned<String>>,
    /// What becomes of its envelope, and of those in it, in place of what the spec says.
    pub envelope: Option<Spanned<EnvelopeWord>>,
    /// As [`GroupRules::parts`], inside this kind alone.
    #[serde(default)]
    pub parts: Vec<Spanned<String>>,
    /// Spec paths of lists and maps in which a PUT keeps what the spec never named.
    #[serde(default)]
    pub keep_unknown: Vec<Spanned<String>>,
    /// Values that Azure moves by itself: ARM paths with whose value is right, and while which condition.
    #[serde(default)]
    pub azure_owned: Vec<Spanned<String>>,
    /// Values that Azure answers in other words: ARM paths with what is the same.
    #[serde(default)]
    pub equal: Vec<Spanned<String>>,
    /// What becomes of an edit, where its value decides: ARM paths with what Azure makes of it.
    #[serde(default)]
    pub edits: Vec<Spanned<String>>,
    /// Keys of `operatorSpec.secrets`, each with the place of its value.
    #[serde(default)]
    pub secrets: BTreeMap<Spanned<String>, SecretRule>,
    /// First api-version with [`Self::secrets`].
    pub secrets_from: Option<Spanned<String>>,
    /// Last api-version with [`Self::secrets`].
    pub secrets_until: Option<Spanned<String>>,
    /// Keys of `operatorSpec.configMaps`, each with the dotted status path of the value; empty when a
    /// handwritten exporter finds the value.
    #[serde(default)]
    pub config_maps: BTreeMap<Spanned<String>, String>,
    /// First api-version with [`Self::config_maps`].
    pub config_maps_from: Option<Spanned<String>>,
    /// Last api-version with [`Self::config_maps`].
    pub config_maps_until: Option<Spanned<String>>,
}

impl KindRules {
    /// Whether the kind is exported from an api-version of `versions` that has its ARM type.
    pub(super) fn lists(&self, version: &ApiVersion) -> bool {
        match &self.versions {
            None => true,
            Some(versions) => covers(versions, version),
        }
    }

    /// Whether the kind names an api-version, not only by a range that it is in.
    pub(super) fn names(&self, version: &ApiVersion) -> bool {
        let mut named = self.versions.iter().flatten();
        named.any(|name| name.get_ref() == version.as_str())
    }

    /// Which of the sources of an api-version the kind may be read from: those that have its ARM type, and only the one
    /// that the kind names, if it names one. `arm_types` are those of each source.
    pub(crate) fn candidates<'v>(
        &self,
        arm_types: &'v BTreeMap<String, Vec<String>>,
    ) -> Vec<&'v str> {
        let named = self.source.as_ref().map(Spanned::get_ref);
        arm_types
            .iter()
            .filter(|(source, _)| named.is_none_or(|named| named == *source))
            .filter(|(_, arm_types)| self.is_among(arm_types))
            .map(|(source, _)| source.as_str())
            .collect()
    }

    /// Whether the kind's ARM type is one of these.
    pub(crate) fn is_among(&self, arm_types: &[String]) -> bool {
        let mut known = arm_types.iter();
        known.any(|known| known.eq_ignore_ascii_case(self.arm_type.get_ref()))
    }
}
