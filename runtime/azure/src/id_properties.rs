//! Ids made from arbitrary text, found again in the URL of a request.

use armature_shapes::id::ResourceId;
use armature_shapes::kind::Scope;
use armature_shapes::testing::plain::kind;
use percent_encoding::percent_decode_str;
use proptest::prelude::*;

use super::Cloud;

const RESOURCE_GROUP_TYPE: &str = "Microsoft.Resources/resourceGroups";

/// Names made of what URL parsers treat in a way of their own, and of anything else.
fn name() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        ".", "..", "%", "%2e", "%2E", "%2f", "%5C", "%25", "/", "\\", "?", "#", "&", "=", ":",
        "//", ";", "@", " ", "\t", "\n", "\u{0}", "a", "B", "ü", "\u{202e}",
    ]);
    let pieces = prop::collection::vec(special, 1..5).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => pieces, 1 => any::<String>()]
}

/// Segments of the URL that is sent for an id, decoded as a server does it.
fn sent_segments(id: &ResourceId) -> Vec<String> {
    let cloud = Cloud::new("https://arm.test/base", "https://login.test", "a").expect("a cloud");
    let url = cloud.resolve(&id.url("2020-01-01")).expect("a URL");
    assert_eq!(url.query(), Some("api-version=2020-01-01"));
    assert_eq!((url.host_str(), url.fragment()), (Some("arm.test"), None));
    let path = url
        .path()
        .strip_prefix("/base/")
        .expect("below the endpoint");
    let decoded = |segment| percent_decode_str(segment).decode_utf8().expect("UTF-8");
    path.split('/')
        .map(|segment| decoded(segment).into_owned())
        .collect()
}

/// What no name may be.
fn is_refused(name: &str) -> bool {
    let lower = name.to_lowercase();
    let encodes = lower.contains('%');
    name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\']) || encodes
}

proptest! {
    #[test]
    fn names_are_the_segments_of_the_url_or_are_refused(group in name(), first in name(), second in name()) {
        use Scope::{ResourceGroup, Subscription};
        let group_kind = kind(RESOURCE_GROUP_TYPE, Subscription);
        let parent_kind = kind("Microsoft.A/bs", ResourceGroup);
        let child_kind = kind("Microsoft.A/bs/cs", ResourceGroup);
        let id = ResourceId::of(&group_kind, None, "s", &group)
            .and_then(|owner| ResourceId::of(&parent_kind, Some(&owner), "s", &first))
            .and_then(|owner| ResourceId::of(&child_kind, Some(&owner), "s", &second));
        let names = [&group, &first, &second];
        let Ok(id) = id else {
            prop_assert!(names.iter().any(|name| is_refused(name)), "{names:?}");
            return Ok(());
        };
        let expected = ["subscriptions", "s", "resourceGroups", &group, "providers", "Microsoft.A", "bs", &first, "cs", &second];
        prop_assert_eq!(sent_segments(&id), expected);
    }

    #[test]
    fn whatever_is_read_as_an_id_is_sent_as_it_is_written(names in prop::collection::vec(name(), 1..4)) {
        let text = format!("/subscriptions/s/providers/Microsoft.A/bs/{}", names.join("/cs/"));
        if let Ok(id) = ResourceId::parse(&text) {
            let expected: Vec<&str> = id.as_str().split('/').skip(1).collect();
            prop_assert_eq!(sent_segments(&id), expected);
        }
    }
}
