//! What Azure's records call who a token was given to.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// Claims that name who asks: the application, and the service principal or managed identity. Azure writes one or the other into
/// what it records of changes.
const CLAIMS: [&str; 3] = ["appid", "azp", "oid"];

/// The names in an access token; none where it cannot be read. Nothing is decided by them but which changes are our own, so the
/// signature, which only Azure can check, is not looked at.
pub(super) fn names(token: &str) -> Vec<String> {
    let claims = token.split('.').nth(1);
    let claims = claims.and_then(|part| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok());
    let claims: Option<Value> = claims.and_then(|json| serde_json::from_slice(&json).ok());
    let Some(claims) = claims else {
        return Vec::new();
    };
    let named = CLAIMS.iter().filter_map(|name| claims.get(*name)?.as_str());
    named
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_application_and_its_principal() {
        let token = |claims: &str| format!("h.{}.s", URL_SAFE_NO_PAD.encode(claims));
        for (token, expected) in [
            (
                token(r#"{"appid": "a", "oid": "o", "tid": "t"}"#),
                vec!["a", "o"],
            ),
            (token(r#"{"azp": "a", "oid": ""}"#), vec!["a"]),
            (token(r#"{"appid": 7}"#), vec![]),
            (token("no json"), vec![]),
            ("opaque".to_owned(), vec![]),
            ("a.%.c".to_owned(), vec![]),
        ] {
            assert_eq!(names(&token), expected, "{token}");
        }
    }
}
