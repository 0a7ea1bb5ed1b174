//! Which Azure: the endpoint of ARM, the authority that issues tokens and the audience they are for.

use url::{Host, Url};

use armature_shapes::id::segment;
use armature_shapes::quote::shortened;

/// Endpoints of one cloud (ASO behaviour §5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cloud {
    /// Base URL of ARM, for example `https://management.azure.com`.
    pub endpoint: Url,
    /// Base URL of Microsoft Entra ID, for example `https://login.microsoftonline.com`.
    pub authority_host: Url,
    /// What tokens are issued for, for example `https://management.azure.com`.
    pub audience: String,
}

const ENDPOINT: &str = "AZURE_RESOURCE_MANAGER_ENDPOINT";
const AUTHORITY_HOST: &str = "AZURE_AUTHORITY_HOST";
const AUDIENCE: &str = "AZURE_RESOURCE_MANAGER_AUDIENCE";

/// Endpoint, authority host and older audience of each cloud that Azure's documents name. The endpoint is an audience, too.
const KNOWN: [[&str; 3]; 3] = [
    [
        "https://management.azure.com",
        "https://login.microsoftonline.com",
        "https://management.core.windows.net",
    ],
    [
        "https://management.usgovcloudapi.net",
        "https://login.microsoftonline.us",
        "https://management.core.usgovcloudapi.net",
    ],
    [
        "https://management.chinacloudapi.cn",
        "https://login.chinacloudapi.cn",
        "https://management.core.chinacloudapi.cn",
    ],
];

/// Why the settings name no cloud.
#[derive(Debug, thiserror::Error)]
pub enum CloudSettingsError {
    /// Some of the three variables are set and others are not.
    #[error(
        "{missing} is not set: {ENDPOINT}, {AUTHORITY_HOST} and {AUDIENCE} go together, set all three or none"
    )]
    Incomplete {
        /// The variable that is missing.
        missing: &'static str,
    },
    /// A variable holds no URL.
    #[error(
        "{variable} is '{}', which is no https URL: {reason}",
        shortened(value)
    )]
    Url {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl CloudSettingsError {
    /// The variable that is missing or wrong.
    pub fn variable(&self) -> &'static str {
        match self {
            Self::Incomplete { missing } => missing,
            Self::Url { variable, .. } => variable,
        }
    }
}

impl Cloud {
    /// The variables that name a cloud.
    pub const VARIABLES: [&'static str; 3] = [ENDPOINT, AUTHORITY_HOST, AUDIENCE];

    /// The cloud that the three variables name; the public cloud when none is set.
    ///
    /// # Errors
    /// When only some are set, or one is no https URL.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, CloudSettingsError> {
        let set = |name| variable(name).filter(|value| !value.trim().is_empty());
        let values = Self::VARIABLES.map(|name| (name, set(name)));
        if values.iter().all(|(_, value)| value.is_none()) {
            return Self::new(
                "https://management.azure.com",
                "https://login.microsoftonline.com",
                "https://management.azure.com",
            );
        }
        match values {
            [
                (_, Some(endpoint)),
                (_, Some(authority_host)),
                (_, Some(audience)),
            ] => Self::new(&endpoint, &authority_host, &audience),
            _ => Err(CloudSettingsError::Incomplete {
                missing: values
                    .iter()
                    .find(|(_, value)| value.is_none())
                    .map_or(ENDPOINT, |(name, _)| name),
            }),
        }
    }

    /// The operator's own cloud: as [`Cloud::from_variables`], but where only some of the three are set, and they are those of a
    /// cloud that is known, the others are that cloud's, too. The webhook of workload identity puts `AZURE_AUTHORITY_HOST` alone
    /// into pods.
    ///
    /// # Errors
    /// When only some are set and they are of no known cloud, or one is no https URL.
    pub fn of_operator(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, CloudSettingsError> {
        let given = Self::VARIABLES.map(|name| {
            let value = variable(name).unwrap_or_default();
            value.trim().trim_end_matches('/').to_ascii_lowercase()
        });
        let mut set = given.iter().filter(|value| !value.is_empty());
        let is_whole = given.iter().all(|value| !value.is_empty()) || set.next().is_none();
        let known = KNOWN.iter().filter(|_| !is_whole);
        let mut fitting = known.filter(|[endpoint, authority_host, audience]| {
            let is_of = |at: usize, known: &[&str]| {
                given[at].is_empty() || known.contains(&given[at].as_str())
            };
            is_of(0, &[endpoint]) && is_of(1, &[authority_host]) && is_of(2, &[endpoint, audience])
        });
        match fitting.next() {
            Some([endpoint, authority_host, _]) => Self::new(endpoint, authority_host, endpoint),
            None => Self::from_variables(variable),
        }
    }

    /// A cloud by its URLs.
    ///
    /// # Errors
    /// When the endpoint or the authority host is no https URL: tokens are not sent in the clear.
    pub fn new(
        endpoint: &str,
        authority_host: &str,
        audience: &str,
    ) -> Result<Self, CloudSettingsError> {
        Ok(Self {
            endpoint: https(ENDPOINT, endpoint)?,
            authority_host: https(AUTHORITY_HOST, authority_host)?,
            audience: audience.trim().to_owned(),
        })
    }

    /// The OAuth scope of tokens for ARM.
    pub fn scope(&self) -> String {
        format!("{}/.default", self.audience.trim_end_matches('/'))
    }

    /// The absolute URL of a request: path and query below the endpoint, or an absolute URL that is below it or below a
    /// host of its domain, as the regional endpoints of ARM are.
    ///
    /// # Errors
    /// [`RefusedUrl`] for URLs of other hosts, which must never see a token, and for those that would ask for something else
    /// than they say.
    pub fn resolve(&self, url: &str) -> Result<Url, RefusedUrl> {
        let base = self.endpoint.as_str().trim_end_matches('/');
        let outside = || RefusedUrl::Outside {
            endpoint: base.to_owned(),
        };
        let (parsed, prefix) = if url.starts_with('/') {
            // Not joined: a joined '//host/path' would leave the endpoint.
            (Url::parse(&format!("{base}{url}")), self.prefix())
        } else {
            (Url::parse(url), "")
        };
        let parsed = parsed.map_err(|_| outside())?;
        if !segment::is_path_of(url, prefix, &parsed) || segment::has_dots(url) {
            return Err(RefusedUrl::Elsewhere);
        }
        self.holds(&parsed).then_some(parsed).ok_or_else(outside)
    }

    /// Path of the endpoint, without a slash at its end.
    fn prefix(&self) -> &str {
        self.endpoint.path().trim_end_matches('/')
    }

    fn holds(&self, url: &Url) -> bool {
        self.has_host(url)
            && url.username().is_empty()
            && url.password().is_none()
            && url
                .path()
                .strip_prefix(self.prefix())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The endpoint itself, or a host below its domain: that domain is ARM's alone.
    fn has_host(&self, url: &Url) -> bool {
        if url.origin() == self.endpoint.origin() {
            return true;
        }
        let is_alike = url.scheme() == self.endpoint.scheme()
            && url.port_or_known_default() == self.endpoint.port_or_known_default();
        let (Some(Host::Domain(host)), Some(Host::Domain(own))) =
            (url.host(), self.endpoint.host())
        else {
            return false;
        };
        let below = host
            .strip_suffix(own)
            .and_then(|rest| rest.strip_suffix('.'));
        is_alike && below.is_some_and(|labels| labels.split('.').all(|label| !label.is_empty()))
    }
}

/// Why a request is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedUrl {
    /// The URL is not ARM's.
    #[error("refused: the URL is not below the ARM endpoint {endpoint}")]
    Outside {
        /// The endpoint.
        endpoint: String,
    },
    /// The path changes when the URL is read, or may change on the way.
    #[error(
        "refused: the path of the URL has segments such as '..' that lead to something else than it names"
    )]
    Elsewhere,
}

fn https(variable: &'static str, value: &str) -> Result<Url, CloudSettingsError> {
    let error = |reason: String| CloudSettingsError::Url {
        variable,
        value: value.to_owned(),
        reason,
    };
    let url = Url::parse(value.trim()).map_err(|reason| error(reason.to_string()))?;
    if url.scheme() != "https" {
        return Err(error("the scheme must be https".to_owned()));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_variables_or_none() {
        let from = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            Cloud::from_variables(move |name| {
                let pair = pairs.iter().find(|(key, _)| key == name);
                pair.map(|(_, value)| value.clone())
            })
        };
        let public = from(&[]).expect("the public cloud");
        assert_eq!(public.scope(), "https://management.azure.com/.default");
        let error = from(&[(ENDPOINT, "https://a.test")]).expect_err("incomplete");
        assert!(error.to_string().starts_with(AUTHORITY_HOST), "{error}");
        let all = |endpoint| {
            [
                (ENDPOINT, endpoint),
                (AUTHORITY_HOST, "https://b.test"),
                (AUDIENCE, "https://c.test/"),
            ]
        };
        let own = from(&all("https://a.test:8443")).expect("a cloud");
        assert_eq!(own.scope(), "https://c.test/.default");
        for wrong in ["http://a.test", "a.test"] {
            assert!(from(&all(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_of_a_known_cloud_is_that_cloud() {
        let of = |at: usize, value: &str| {
            let (name, value) = (Cloud::VARIABLES[at], value.to_owned());
            Cloud::of_operator(move |asked| (asked == name).then(|| value.clone()))
        };
        let public = Cloud::of_operator(|_| None).expect("the public cloud");
        let injected = of(1, "https://login.microsoftonline.com/").expect("the public cloud");
        assert_eq!(injected, public);
        let older = of(2, "https://management.core.windows.net/").expect("the public cloud");
        assert_eq!(older, public);
        let government = of(1, "https://login.microsoftonline.us/").expect("a cloud");
        assert_eq!(
            government.endpoint.as_str(),
            "https://management.usgovcloudapi.net/"
        );
        assert!(of(1, "https://login.test").is_err());
        // The endpoint of one and the authority of another are no cloud.
        let mixed = Cloud::of_operator(|name| match name {
            ENDPOINT => Some("https://management.azure.com".to_owned()),
            AUTHORITY_HOST => Some("https://login.microsoftonline.us".to_owned()),
            _ => None,
        });
        assert!(mixed.is_err());
    }

    #[test]
    fn only_urls_below_the_endpoint_are_resolved() {
        let cloud =
            Cloud::new("https://arm.test:8443/base/", "https://login.test", "a").expect("a cloud");
        for (url, expected) in [
            (
                "/subscriptions/s?api-version=1",
                Some("https://arm.test:8443/base/subscriptions/s?api-version=1"),
            ),
            (
                "https://arm.test:8443/base/x?y",
                Some("https://arm.test:8443/base/x?y"),
            ),
            (
                "https://arm.test:8443/base/West US/%41%2Fb?y=../z",
                Some("https://arm.test:8443/base/West%20US/%41%2Fb?y=../z"),
            ),
            ("https://arm.test:8443/other", None),
            ("https://arm.test:8443/baseless", None),
            ("https://arm.test:8443/base/../other", None),
            ("https://arm.test/base/x", None),
            ("http://arm.test:8443/base/x", None),
            ("https://user@arm.test:8443/base/x", None),
            ("https://evil.test/base/x", None),
            (
                "//evil.test/x",
                Some("https://arm.test:8443/base//evil.test/x"),
            ),
            ("/../../x", None),
            ("subscriptions/s", None),
        ] {
            let found = cloud.resolve(url).map(String::from).ok();
            assert_eq!(found.as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_url_that_leads_elsewhere_than_it_says_is_never_sent() {
        let cloud = Cloud::new("https://arm.test", "https://login.test", "a").expect("a cloud");
        for path in [
            "/subscriptions/s/resourceGroups/../x",
            "/subscriptions/s/./x",
            "/subscriptions/s/x/..",
            "/subscriptions/s/%2e%2E/x",
            "/subscriptions/s/.%2e/x",
            "/subscriptions/s/%252e%252e/x",
            "/subscriptions/s/a%2f..%2fb",
            "/subscriptions/s/a\\b",
            "/subscriptions/s/a\tb",
            "/subscriptions/s/..\\x?api-version=1",
        ] {
            for url in [path.to_owned(), format!("https://arm.test{path}")] {
                assert_eq!(cloud.resolve(&url), Err(RefusedUrl::Elsewhere), "{url}");
            }
        }
    }

    #[test]
    fn hosts_below_the_endpoints_domain_are_arms_too() {
        let cloud = Cloud::new(
            "https://management.azure.com",
            "https://login.microsoftonline.com",
            "a",
        )
        .expect("a cloud");
        for (url, expected) in [
            ("https://westeurope.management.azure.com/x", true),
            ("https://a.b.management.azure.com:443/x", true),
            ("https://WestEurope.Management.Azure.com/x", true),
            ("https://evilmanagement.azure.com/x", false),
            ("https://.management.azure.com/x", false),
            ("https://a..management.azure.com/x", false),
            ("https://management.azure.com.evil.test/x", false),
            ("https://westeurope.management.azure.com.evil.test/x", false),
            ("https://azure.com/x", false),
            ("https://westeurope.management.azure.com:8443/x", false),
            ("http://westeurope.management.azure.com/x", false),
            ("https://evil.test@westeurope.management.azure.com/x", false),
            ("https://westeurope.management.azure.com@evil.test/x", false),
            (
                "https://westus3.rp.kubernetesconfiguration.azure.com/x",
                false,
            ),
        ] {
            assert_eq!(cloud.resolve(url).is_ok(), expected, "{url}");
        }
        let address = Cloud::new("https://10.0.0.1", "https://login.test", "a").expect("a cloud");
        assert!(address.resolve("https://1.10.0.0.1/x").is_err());
    }
}
