//! The whole installation of the operator as manifests, as the chart in `deploy/chart` makes them.
//!
//! Helm renders the chart once, with a token in the place of each value that people set and of the lists of kinds and groups;
//! the outcome lies beside this file (`installation.yaml`, and in `workload-identity.yaml` what differs with it). What lives
//! here puts values in the place of tokens, and takes out what a token without a value stands in, as the chart does with empty
//! values. So nothing is said twice about what an installation is. A test renders the chart anew and compares, and writes the
//! files (`operator/tests/chart/export.rs`).

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::kind::KindInfo;
use serde_json::{Map, Value, json};

/// The chart with its defaults, and tokens.
const INSTALLATION: &str = include_str!("installation.yaml");

/// Documents that take the place of others with workload identity.
const WORKLOAD_IDENTITY: &str = include_str!("workload-identity.yaml");

/// Image of the operator unless another one is named.
pub const IMAGE: &str = concat!("ghcr.io/armature/armature:", env!("CARGO_PKG_VERSION"));

/// Namespace of the operator unless another one is named.
pub const NAMESPACE: &str = "armature-system";

/// Token for the namespace of the release.
pub const NAMESPACE_TOKEN: &str = "<namespace>";

/// Token for the names of all CRDs, as the only item of a list.
pub const CRDS_TOKEN: &str = "<crds>";

/// Token for the names of all API groups, as the only item of a list.
pub const GROUPS_TOKEN: &str = "<groups>";

/// Argument that stands in the files and goes unless it is asked for, with the value of the chart that puts it there.
pub const DEPRECATIONS: (&str, &str) = ("crdDeprecations", "--crd-deprecations");

/// Values of the chart that can be set, with the token for each.
pub const TOKENS: [(&str, &str); 8] = [
    ("image.repository", "<image.repository>"),
    ("image.tag", "<image.tag>"),
    ("crdPattern", "<crdPattern>"),
    ("crdVersions", "<crdVersions>"),
    ("azureSubscriptionID", "<azureSubscriptionID>"),
    ("azureTenantID", "<azureTenantID>"),
    ("azureClientID", "<azureClientID>"),
    ("azureClientSecret", "<azureClientSecret>"),
];

/// What people set of an installation. What is absent is as the chart has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installation {
    /// Namespace of the operator.
    pub namespace: Option<String>,
    /// Image with its tag or digest.
    pub image: Option<String>,
    /// CRDs to install, as `--crd-pattern` of `armature run`.
    pub crd_pattern: Option<String>,
    /// API versions to serve: `all` or `latest`.
    pub crd_versions: Option<String>,
    /// Subscription of the operator's credential.
    pub subscription: Option<String>,
    /// Tenant of the operator's identity.
    pub tenant: Option<String>,
    /// Client id of the operator's identity.
    pub client: Option<String>,
    /// Secret of the client.
    pub client_secret: Option<String>,
    /// Whether CRDs mark versions that Azure retires.
    pub crd_deprecations: bool,
    /// Whether the identity proves itself with the service account's token.
    pub has_workload_identity: bool,
}

impl Installation {
    /// All manifests, in the order in which they can be applied: the namespace, then those of the chart.
    ///
    /// # Errors
    /// When the files beside this one are no YAML, which is a defect.
    pub fn manifests(&self, kinds: &[&KindInfo]) -> Result<Vec<Value>, serde_saphyr::Error> {
        let mut documents: Vec<Value> = serde_saphyr::from_multiple(INSTALLATION)?;
        if self.has_workload_identity {
            let others: Vec<Value> = serde_saphyr::from_multiple(WORKLOAD_IDENTITY)?;
            for other in others {
                let same = |one: &&mut Value| identity(one) == identity(&other);
                if let Some(document) = documents.iter_mut().find(same) {
                    *document = other;
                }
            }
        }
        let filling = Filling::new(self, kinds);
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE_TOKEN},
        });
        let documents = [namespace].into_iter().chain(documents);
        Ok(documents.filter_map(|one| filling.fill(&one)).collect())
    }

    /// Values by their tokens.
    fn values(&self) -> BTreeMap<&'static str, Option<String>> {
        let image = self.image.as_deref().unwrap_or(IMAGE);
        let (repository, tag) = split_image(image);
        let or = |value: &Option<String>, default: &str| {
            Some(value.clone().unwrap_or_else(|| default.to_owned()))
        };
        let given = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
        BTreeMap::from([
            (NAMESPACE_TOKEN, or(&self.namespace, NAMESPACE)),
            ("<image.repository>", Some(repository.to_owned())),
            ("<image.tag>", Some(tag.to_owned())),
            ("<crdPattern>", given(&self.crd_pattern)),
            ("<crdVersions>", or(&self.crd_versions, "all")),
            ("<azureSubscriptionID>", given(&self.subscription)),
            ("<azureTenantID>", given(&self.tenant)),
            ("<azureClientID>", given(&self.client)),
            ("<azureClientSecret>", given(&self.client_secret)),
        ])
    }
}

/// An image without its tag, and the tag: the version of this program when there is none. Of a digest, what the chart joins
/// to it again.
fn split_image(image: &str) -> (&str, &str) {
    let tagged = image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
    tagged.unwrap_or((image, env!("CARGO_PKG_VERSION")))
}

/// What tells a document from others.
pub fn identity(document: &Value) -> (Option<&str>, Option<&str>) {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
    (text("/kind"), text("/metadata/name"))
}

/// Names of the CRDs of kinds, in order.
pub fn crds(kinds: &[&KindInfo]) -> Vec<Value> {
    let names = kinds
        .iter()
        .map(|kind| format!("{}.{}", kind.plural, kind.group));
    let names: BTreeSet<String> = names.collect();
    names.into_iter().map(Value::from).collect()
}

/// API groups of kinds, in order.
pub fn groups(kinds: &[&KindInfo]) -> Vec<Value> {
    let groups: BTreeSet<&str> = kinds.iter().map(|kind| kind.group).collect();
    groups.into_iter().map(Value::from).collect()
}

/// What stands in the place of tokens.
struct Filling {
    values: BTreeMap<&'static str, Option<String>>,
    crds: Vec<Value>,
    groups: Vec<Value>,
    /// Arguments that nobody has asked for.
    without: Option<&'static str>,
}

impl Filling {
    fn new(installation: &Installation, kinds: &[&KindInfo]) -> Self {
        Self {
            values: installation.values(),
            crds: crds(kinds),
            groups: groups(kinds),
            without: (!installation.crd_deprecations).then_some(DEPRECATIONS.1),
        }
    }

    /// A value without tokens; nothing when a token in it has no value.
    fn fill(&self, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => self.text(text).map(Value::String),
            Value::Array(items) => Some(Value::Array(self.list(items))),
            Value::Object(members) => {
                let members = members.iter();
                let filled =
                    members.filter_map(|(name, one)| Some((name.clone(), self.fill(one)?)));
                Some(Value::Object(filled.collect::<Map<_, _>>()))
            }
            other => Some(other.clone()),
        }
    }

    /// An item goes when a text of its own does: a variable without its value is nothing.
    fn list(&self, items: &[Value]) -> Vec<Value> {
        match items {
            [Value::String(only)] if only == CRDS_TOKEN => return self.crds.clone(),
            [Value::String(only)] if only == GROUPS_TOKEN => return self.groups.clone(),
            _ => {}
        }
        let is_wanted = |item: &&Value| self.without.is_none_or(|argument| **item != *argument);
        let is_whole = |item: &&Value| {
            let mut members = item.as_object().into_iter().flatten();
            members.all(|(_, one)| one.as_str().is_none_or(|text| self.text(text).is_some()))
        };
        let items = items.iter().filter(is_wanted).filter(is_whole);
        items.filter_map(|item| self.fill(item)).collect()
    }

    fn text(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        for (token, value) in &self.values {
            if text.contains(token) {
                text = text.replace(token, value.as_deref()?);
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_their_tags() {
        let version = env!("CARGO_PKG_VERSION");
        for (image, repository, tag) in [
            ("armature:1", "armature", "1"),
            (
                "localhost:5000/armature",
                "localhost:5000/armature",
                version,
            ),
            ("localhost:5000/armature:2", "localhost:5000/armature", "2"),
            ("a/b@sha256:0f", "a/b@sha256", "0f"),
        ] {
            assert_eq!(split_image(image), (repository, tag), "{image}");
        }
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let filling = Filling::new(&Installation::default(), armature_generated::KINDS);
        let value = json!({
            "env": [{"name": "CRD_PATTERN", "value": "<crdPattern>"}, {"name": "A", "value": "b"}],
            "stringData": {"AZURE_CLIENT_ID": "<azureClientID>", "X": "y"},
            "args": ["--versions=<crdVersions>", "--crd-deprecations"],
            "namespace": "<namespace>",
        });
        let expected = json!({
            "env": [{"name": "A", "value": "b"}],
            "stringData": {"X": "y"},
            "args": ["--versions=all"],
            "namespace": "armature-system",
        });
        assert_eq!(filling.fill(&value), Some(expected));
    }

    #[test]
    fn no_token_is_left() {
        for has_workload_identity in [false, true] {
            let installation = Installation {
                has_workload_identity,
                ..Installation::default()
            };
            let manifests = installation.manifests(armature_generated::KINDS).unwrap();
            let text = serde_json::to_string(&manifests).unwrap();
            let mut tokens = TOKENS.iter().map(|(_, token)| *token);
            let mut others = [NAMESPACE_TOKEN, CRDS_TOKEN, GROUPS_TOKEN].into_iter();
            let left = tokens.find(|token| text.contains(token));
            assert_eq!(
                left.or_else(|| others.find(|token| text.contains(token))),
                None
            );
        }
    }
}
