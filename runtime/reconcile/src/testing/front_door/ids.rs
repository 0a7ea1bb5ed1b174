//! ARM ids, scopes, and ids in texts.

use armature_shapes::id::segment::{check_path, has_dots, path_from_root, subscription_of};
use armature_shapes::id::{ResourceId, ids_in_text};

use super::expect;
use crate::allowed_scopes::AllowedScopes;

/// Where ARM is, as far as ids are looked for behind its URL.
const ENDPOINT: &str = "https://management.azure.com/";

/// What parses, prints what parses to the same and leads nowhere else in a URL; scopes allow themselves; what is found in a text is
/// an id.
///
/// # Errors
/// Which of that does not hold.
pub fn check_id(text: &str) -> Result<(), String> {
    if let Ok(id) = ResourceId::parse(text) {
        check_parsed(&id)?;
    }
    if let Ok(scopes) = AllowedScopes::parse(text) {
        let again = AllowedScopes::parse(&scopes.to_string());
        expect(again.as_ref() == Ok(&scopes), || {
            format!("the scopes {scopes} are read as {again:?}")
        })?;
        for scope in scopes.to_string().split(", ") {
            expect(scopes.allow(scope), || {
                format!("{scope} is below no scope of {scopes}")
            })?;
            let above = format!("{scope}/../x");
            expect(!scopes.allow(&above), || {
                format!("{above} is below {scopes}")
            })?;
        }
    }
    let found = ids_in_text(text, ENDPOINT);
    for id in &found {
        expect(id.starts_with('/') && !id.contains(['?', '#']), || {
            format!("'{id}' was found in a text")
        })?;
        expect(!ids_in_text(id, "").is_empty(), || {
            format!("'{id}' was found in a text and is no id alone")
        })?;
    }
    Ok(())
}

fn check_parsed(id: &ResourceId) -> Result<(), String> {
    let text = id.as_str();
    let again = ResourceId::parse(text);
    let is_same = again.as_ref().is_ok_and(|again| again.as_str() == text);
    expect(is_same, || format!("'{text}' is read as {again:?}"))?;
    expect(check_path(text).is_ok(), || format!("'{text}' misleads"))?;
    let url = id.url("2020-01-01");
    expect(!has_dots(&url), || format!("{url} has dots"))?;
    let path = path_from_root(&url);
    expect(path == text, || {
        format!("'{text}' has the path '{path}' in {url}")
    })?;
    let (own, asked) = (id.subscription(), subscription_of(&url));
    // What is encoded is decoded for the comparison of subscriptions, as often as it is encoded, and then refused.
    let is_encoded = own.is_some_and(|own| own.contains('%'));
    expect(is_encoded || own == asked.as_deref(), || {
        format!("'{text}' is in {own:?}, and {url} in {asked:?}")
    })?;
    let name = id.name();
    expect(text.ends_with(name) && !name.is_empty(), || {
        format!("'{text}' is called '{name}'")
    })?;
    let arm_type = id.arm_type();
    expect(id.has_type(&arm_type), || {
        format!("'{text}' is no {arm_type}")
    })
}
