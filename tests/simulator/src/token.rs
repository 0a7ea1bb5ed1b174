//! Sign-in: the token endpoints of Microsoft Entra ID and the metadata that Azure SDKs read before them.
//!
//! Tokens are JWTs signed with a key of this process (HS256). Nobody but the simulator can check them, which is
//! all that an access token for ARM needs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::error::ArmError;
use crate::exchange::{Answer, Request};
use crate::json;
use crate::options::Settings;
use crate::sign_in::{self, Proof};
use crate::store::stable_uuid;

/// Time that a token is valid, as Entra ID has it.
const LIFETIME: SignedDuration = SignedDuration::from_secs(3599);

/// Audiences that ARM accepts beside the simulator's own address.
const AUDIENCES: [&str; 3] = [
    "https://management.azure.com",
    "https://management.core.windows.net",
    "797f4846-ba00-4fd7-ba43-dac1f8f63013",
];

/// Issues and checks tokens.
pub struct Tokens {
    key: Vec<u8>,
    issued: u64,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Tokens({} issued)", self.issued)
    }
}

impl Tokens {
    /// Signs with this key.
    pub fn new(key: Vec<u8>) -> Self {
        Self { key, issued: 0 }
    }

    /// Tokens issued so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// A token for a client, valid for an hour.
    pub fn issue(
        &mut self,
        settings: &Settings,
        client: &str,
        audience: &str,
        now: Timestamp,
    ) -> String {
        self.issued += 1;
        let tenant = &settings.tenant;
        let claims = json!({
            "aud": audience,
            "iss": format!("https://sts.windows.net/{tenant}/"),
            "iat": now.as_second(),
            "nbf": now.as_second(),
            "exp": (now + LIFETIME).as_second(),
            "appid": client,
            "oid": stable_uuid(&format!("{client}#oid")),
            "sub": stable_uuid(&format!("{client}#oid")),
            "tid": tenant,
            "idtyp": "app",
            "uti": self.issued.to_string(),
            "ver": "1.0",
        });
        let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"HS256"}"#);
        let body = URL_SAFE_NO_PAD.encode(claims.to_string());
        let signed = format!("{head}.{body}");
        let signature = URL_SAFE_NO_PAD.encode(self.mac(&signed).finalize().into_bytes());
        format!("{signed}.{signature}")
    }

    fn mac(&self, signed: &str) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(signed.as_bytes());
        mac
    }

    fn claims(&self, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(signed).verify_slice(&signature).ok()?;
        let (_, body) = signed.split_once('.')?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()
    }

    /// The client id of whoever sent an ARM request, or the refusal.
    pub fn check(
        &self,
        settings: &Settings,
        request: &Request,
        now: Timestamp,
    ) -> Result<String, Answer> {
        let refuse = |code: &str, message: &str| refusal(settings, request, code, message);
        let Some(header) = request.header("authorization") else {
            return Err(refuse(
                "AuthenticationFailed",
                "Authentication failed. The 'Authorization' header is missing.",
            ));
        };
        let claims = header
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .and_then(|(_, token)| self.claims(token.trim()));
        let Some(claims) = claims else {
            return Err(refuse(
                "InvalidAuthenticationToken",
                "The access token is invalid.",
            ));
        };
        if claims["exp"]
            .as_i64()
            .is_none_or(|end| end <= now.as_second())
        {
            return Err(refuse(
                "ExpiredAuthenticationToken",
                "The access token expiry UTC time is earlier than current UTC time.",
            ));
        }
        let audience = json::text(&claims, &["aud"]).unwrap_or_default();
        let audience = audience.trim_end_matches('/');
        if audience != request.origin && !AUDIENCES.contains(&audience) {
            return Err(refuse(
                "InvalidAuthenticationTokenAudience",
                &format!(
                    "The access token has been obtained for wrong audience or resource '{audience}'."
                ),
            ));
        }
        Ok(json::text(&claims, &["appid"])
            .unwrap_or_default()
            .to_owned())
    }
}

fn refusal(settings: &Settings, request: &Request, code: &str, message: &str) -> Answer {
    let challenge = format!(
        "Bearer authorization_uri=\"{}/{}\", error=\"invalid_token\", error_description=\"{message}\"",
        request.origin, settings.tenant
    );
    Answer::from(ArmError::gateway(401, code, message)).with("www-authenticate", challenge)
}

/// Whether ARM answers without a token.
pub fn is_anonymous(request: &Request) -> bool {
    request
        .path
        .trim_end_matches('/')
        .eq_ignore_ascii_case("/metadata/endpoints")
}

/// Answers sign-in and metadata requests. `None` when the path is another one.
pub fn answer(
    settings: &Settings,
    tokens: &mut Tokens,
    request: &Request,
    now: Timestamp,
) -> Option<Answer> {
    let path = request.path.to_ascii_lowercase();
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let get = request.method == Method::GET;
    match segments.as_slice() {
        ["common", "discovery", "instance"] if get => Some(instance_discovery(request)),
        ["metadata", "endpoints"] if get => Some(endpoints(settings, request)),
        ["metadata", "identity", "oauth2", "token"] if get => {
            Some(managed_identity(settings, tokens, request, now))
        }
        ["metadata", "instance"] if get => Some(instance(settings)),
        [tenant, "v2.0", ".well-known", "openid-configuration"] if get => {
            Some(openid(settings, request, tenant, "/v2.0"))
        }
        [tenant, ".well-known", "openid-configuration"] if get => {
            Some(openid(settings, request, tenant, ""))
        }
        [_, "discovery", "v2.0", "keys"] | [_, "discovery", "keys"] if get => {
            Some(Answer::json(200, json!({"keys": []})))
        }
        [tenant, "oauth2", "v2.0", "token"] if !get => {
            Some(grant(settings, tokens, request, tenant, true, now))
        }
        [tenant, "oauth2", "token"] if !get => {
            Some(grant(settings, tokens, request, tenant, false, now))
        }
        _ => None,
    }
}

/// Entra ID's error body (RFC 6749 §5.2 with its own members).
fn oauth_error(status: u16, error: &str, code: u32, message: &str, now: Timestamp) -> Answer {
    let trace = stable_uuid(&format!("{error}{now}"));
    Answer::json(
        status,
        json!({
            "error": error,
            "error_description": format!("AADSTS{code}: {message} Trace ID: {trace}"),
            "error_codes": [code],
            "timestamp": now.to_string(),
            "trace_id": trace,
            "correlation_id": trace,
        }),
    )
    .with("x-ms-error-code", format!("AADSTS{code}"))
}

fn grant(
    settings: &Settings,
    tokens: &mut Tokens,
    request: &Request,
    tenant: &str,
    is_v2: bool,
    now: Timestamp,
) -> Answer {
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&request.body)
        .into_owned()
        .collect();
    let field = |name: &str| {
        form.iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    };
    if !tenant.eq_ignore_ascii_case(&settings.tenant) {
        let message =
            format!("Tenant '{tenant}' not found. Check that you have the correct tenant ID.");
        return oauth_error(400, "invalid_request", 90002, &message, now);
    }
    if field("grant_type") != Some("client_credentials") {
        let message = "The app requested an unsupported grant type. Use client_credentials.";
        return oauth_error(400, "unsupported_grant_type", 70003, message, now);
    }
    let Some(client) = field("client_id") else {
        let message = "The request body must contain the following parameter: 'client_id'.";
        return oauth_error(400, "invalid_request", 900_144, message, now);
    };
    let proof = Proof {
        client,
        secret: field("client_secret"),
        assertion: field("client_assertion"),
        endpoint: format!("{}{}", request.origin, request.path),
    };
    if let Err((error, code, message)) = sign_in::check(settings, &proof, now) {
        return oauth_error(401, error, code, &message, now);
    }
    let scope = field("scope")
        .and_then(|scope| scope.split(' ').find(|part| part.ends_with("/.default")))
        .map(|scope| scope.trim_end_matches(".default").trim_end_matches('/'));
    let Some(audience) = scope.or(field("resource")) else {
        let wanted = if is_v2 { "scope" } else { "resource" };
        let message = format!("The request body must contain the following parameter: '{wanted}'.");
        return oauth_error(400, "invalid_request", 900_144, &message, now);
    };
    let token = tokens.issue(settings, client, audience, now);
    token_answer(&token, audience, is_v2, now)
}

fn token_answer(token: &str, audience: &str, is_v2: bool, now: Timestamp) -> Answer {
    let seconds = LIFETIME.as_secs();
    let body = if is_v2 {
        json!({
            "token_type": "Bearer",
            "expires_in": seconds,
            "ext_expires_in": seconds,
            "access_token": token,
        })
    } else {
        json!({
            "token_type": "Bearer",
            "expires_in": seconds.to_string(),
            "ext_expires_in": seconds.to_string(),
            "expires_on": (now + LIFETIME).as_second().to_string(),
            "not_before": now.as_second().to_string(),
            "resource": audience,
            "access_token": token,
        })
    };
    Answer::json(200, body)
        .with("cache-control", "no-store, no-cache")
        .with("pragma", "no-cache")
}

/// The token endpoint of the instance metadata service and of App Service's managed identity.
fn managed_identity(
    settings: &Settings,
    tokens: &mut Tokens,
    request: &Request,
    now: Timestamp,
) -> Answer {
    let refuse = |description: &str| {
        Answer::json(
            400,
            json!({"error": "invalid_request", "error_description": description}),
        )
    };
    let is_of_machine = request.header("metadata") == Some("true");
    if !is_of_machine && request.header("x-identity-header").is_none() {
        return refuse("Required metadata header not specified");
    }
    // What does not come from the machine itself went through a proxy.
    if request.header("x-forwarded-for").is_some() {
        return refuse("Requests must not contain an X-Forwarded-For header");
    }
    if request.api_version().is_err() {
        return refuse("Required query variable 'api-version' is missing");
    }
    let Some(resource) = request.parameter("resource") else {
        return refuse("Required query variable 'resource' is missing");
    };
    let named = request.parameter("client_id");
    if named.is_some_and(|client| settings.client(client).is_err()) {
        return refuse("Identity not found");
    }
    let client = named.map_or_else(|| stable_uuid("system-assigned"), str::to_owned);
    let token = tokens.issue(settings, &client, resource, now);
    token_answer(&token, resource, false, now)
}

fn instance(settings: &Settings) -> Answer {
    let subscription = settings.subscriptions.first().cloned().unwrap_or_default();
    Answer::json(
        200,
        json!({
            "compute": {
                "azEnvironment": "AzureSimulator",
                "location": "westus2",
                "name": "simulator",
                "subscriptionId": subscription,
            },
        }),
    )
}

fn openid(settings: &Settings, request: &Request, tenant: &str, version: &str) -> Answer {
    let origin = &request.origin;
    let tenant = match tenant {
        "common" | "organizations" => settings.tenant.as_str(),
        named => named,
    };
    let (oauth, keys) = match version {
        "" => ("oauth2", "discovery/keys"),
        _ => ("oauth2/v2.0", "discovery/v2.0/keys"),
    };
    Answer::json(
        200,
        json!({
            "issuer": format!("{origin}/{tenant}{version}"),
            "authorization_endpoint": format!("{origin}/{tenant}/{oauth}/authorize"),
            "token_endpoint": format!("{origin}/{tenant}/{oauth}/token"),
            "device_authorization_endpoint": format!("{origin}/{tenant}/{oauth}/devicecode"),
            "jwks_uri": format!("{origin}/{tenant}/{keys}"),
            "token_endpoint_auth_methods_supported":
                ["client_secret_post", "private_key_jwt", "client_secret_basic"],
            "response_types_supported": ["code", "token"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "tenant_region_scope": null,
            "cloud_instance_name": host_of(origin),
        }),
    )
}

fn instance_discovery(request: &Request) -> Answer {
    let host = host_of(&request.origin);
    let tenant_path = request
        .parameter("authorization_endpoint")
        .and_then(|endpoint| url::Url::parse(endpoint).ok())
        .and_then(|endpoint| endpoint.path_segments()?.next().map(str::to_owned))
        .unwrap_or_else(|| "common".to_owned());
    Answer::json(
        200,
        json!({
            "tenant_discovery_endpoint": format!(
                "{}/{tenant_path}/v2.0/.well-known/openid-configuration",
                request.origin
            ),
            "api-version": "1.1",
            "metadata": [{
                "preferred_network": host,
                "preferred_cache": host,
                "aliases": [host],
            }],
        }),
    )
}

fn host_of(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, host)| host)
}

/// What a client learns about the cloud before it signs in. The form depends on the api-version.
fn endpoints(settings: &Settings, request: &Request) -> Answer {
    let Some(version) = request.parameter("api-version") else {
        return ArmError::missing_api_version().into();
    };
    let origin = &request.origin;
    let audiences = json!([
        format!("{origin}/"),
        "https://management.azure.com/",
        "https://management.core.windows.net/",
    ]);
    if version.starts_with("2015") {
        return Answer::json(
            200,
            json!({
                "galleryEndpoint": origin,
                "graphEndpoint": origin,
                "portalEndpoint": origin,
                "authentication": {"loginEndpoint": origin, "audiences": audiences},
            }),
        );
    }
    let cloud = json!({
        "name": "AzureSimulator",
        "portal": origin,
        "resourceManager": format!("{origin}/"),
        "authentication": {
            "loginEndpoint": format!("{origin}/"),
            "audiences": audiences,
            "tenant": settings.tenant,
            "identityProvider": "AAD",
        },
        "graph": origin,
        "graphAudience": origin,
        "microsoftGraphResourceId": origin,
        "suffixes": {
            "acrLoginServer": "azurecr.io",
            "keyVaultDns": "vault.azure.net",
            "sqlServerHostname": "database.windows.net",
            "storage": "core.windows.net",
        },
    });
    // The first version with this form answered with a list of clouds.
    let body = match version.starts_with("2019") {
        true => json!([cloud]),
        false => cloud,
    };
    Answer::json(200, body)
}
