//! Which of two versions is the later one.

use super::*;

#[test]
fn a_text_that_is_no_version_is_earlier_than_one() {
    let spec = |version: &str| json!({"properties": {"version": version}});
    for (own, azure, expected) in [
        ("1.3.3", "", "1.3.3"),
        ("1.3.3", "x.4", "1.3.3"),
        ("", "1.3.3", "1.3.3"),
        ("v1.3.3", "v1.3.4", "v1.3.4"),
    ] {
        let owned = owned(
            "properties.version or later",
            &spec(own),
            &spec(azure),
            SAME,
        );
        assert_eq!(owned.desired, spec(expected), "{own} {azure}");
    }
}
