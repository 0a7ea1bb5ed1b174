//! Which Azure: the endpoint of ARM, the authority that issues tokens and the audience they are for.

use url::Url;

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
    #[error("{variable} is '{value}', which is no https URL: {reason}")]
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

    /// The absolute URL of a request: path and query below the endpoint, or an absolute URL that is below
    /// it. `None` for URLs of other hosts, which must never see a token.
    pub fn resolve(&self, url: &str) -> Option<Url> {
        let base = self.endpoint.as_str().trim_end_matches('/');
        if url.starts_with('/') {
            // Not joined: a joined '//host/path' would leave the endpoint.
            let url = Url::parse(&format!("{base}{url}")).ok()?;
            return self.holds(&url).then_some(url);
        }
        let url = Url::parse(url).ok()?;
        self.holds(&url).then_some(url)
    }

    fn holds(&self, url: &Url) -> bool {
        let prefix = self.endpoint.path().trim_end_matches('/');
        url.origin() == self.endpoint.origin()
            && url.username().is_empty()
            && url.password().is_none()
            && url
                .path()
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
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
            let found = cloud.resolve(url).map(String::from);
            assert_eq!(found.as_deref(), expected, "{url}");
        }
    }
}
