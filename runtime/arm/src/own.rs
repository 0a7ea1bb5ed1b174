//! Whether an operation is followed at its resource's own place.

use armature_shapes::id::ResourceId;
use armature_shapes::id::segment::{has_dots, subscription_of};

use super::free::tells_of_an_operation;

/// Whether an operation is followed at the resource, or where Azure keeps those of its subscription.
pub(super) fn is_own(url: &str, id: &ResourceId) -> bool {
    is_below(url, id.as_str()) || is_beside(url, id)
}

/// Whether a URL is that of an operation in the subscription of a resource, which Azure keeps beside its resources.
fn is_beside(url: &str, id: &ResourceId) -> bool {
    let path = path_of(url);
    let subscription = subscription_of(path);
    let is_same = |other: &str| {
        id.subscription()
            .is_some_and(|own| own.eq_ignore_ascii_case(other))
    };
    tells_of_an_operation(path) && subscription.is_some_and(|other| is_same(&other))
}

fn path_of(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url,
    }
}

/// Whether a URL is that of a resource, or of something below it.
fn is_below(url: &str, id: &str) -> bool {
    let path = path_of(url);
    let (path, id) = (path.to_ascii_lowercase(), id.to_ascii_lowercase());
    let rest = path.strip_prefix(&id);
    !has_dots(url) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use armature_shapes::id::ResourceId;

    use super::{is_below, is_beside};

    #[test]
    fn an_operation_is_beside_the_resources_of_its_subscription() {
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.P/stores/a";
        let id = ResourceId::parse(id).unwrap();
        for (path, expected) in [
            (
                "/subscriptions/S/providers/Microsoft.P/locations/l/operations/1",
                true,
            ),
            ("/subscriptions/s/operationresults/1", true),
            (
                "/subscriptions/t/providers/Microsoft.P/locations/l/operations/1",
                false,
            ),
            ("/subscriptions/s/resourceGroups/other", false),
            (
                "/subscriptions/s/operationresults/%2e%2e/resourceGroups/x",
                false,
            ),
            ("/providers/Microsoft.P/operations/1", false),
        ] {
            let url = format!("https://arm{path}?api-version=1");
            assert_eq!(is_beside(&url, &id), expected, "{url}");
        }
    }

    #[test]
    fn an_operation_of_ones_own_is_below_the_resource() {
        const ID: &str = "/subscriptions/s/resourceGroups/g/providers/P/stores/a";
        for (url, expected) in [
            (ID.to_owned(), true),
            (format!("https://arm{ID}?api-version=1"), true),
            (
                format!("https://arm{}/operations/1", ID.to_uppercase()),
                true,
            ),
            (format!("{ID}b"), false),
            (format!("{ID}/../../../x"), false),
            (format!("https://arm{ID}/%2e%2e/%2E./x"), false),
            (format!("https://arm{ID}/..%5c..%5cx"), false),
            (
                "https://arm/subscriptions/s/resourceGroups/other".to_owned(),
                false,
            ),
            (
                "https://arm/subscriptions/s/providers/P/locations/l/operations/1".to_owned(),
                false,
            ),
            (format!("https://arm?x={ID}"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_below(&url, ID), expected, "{url}");
        }
    }
}
