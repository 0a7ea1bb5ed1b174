//! Which of two versions is the later one.

use super::*;

/// What a PUT has where the spec says one version and Azure has another one, and whether an edit of it is told to be left out.
fn sent((own, azure): (&str, &str), known: Remembered) -> (Value, bool) {
    let spec = |version: &str| json!({"properties": {"version": version}});
    let owned = owned(
        "properties.version or later",
        &spec(own),
        &spec(azure),
        known,
    );
    let version = owned.desired["properties"]["version"].clone();
    (version, owned.moved.iter().any(|moved| moved.is_told))
}

#[test]
fn a_later_version_is_azures_and_what_is_none_is_no_later_one() {
    // spec, Azure, what is sent while nobody edits it, what is sent after an edit to it
    let table = [
        ("1.3.3", "", "1.3.3", "1.3.3"),
        ("1.3.3", "x.4", "1.3.3", "1.3.3"),
        ("", "1.3.3", "1.3.3", ""),
        ("v1.3.3", "v1.3.4", "v1.3.4", "v1.3.4"),
        ("1.3.9", "1.3.10", "1.3.10", "1.3.10"),
        ("1.3.10", "1.3.9", "1.3.10", "1.3.10"),
        ("1.3.3", "1.3.3-preview", "1.3.3", "1.3.3"),
        ("1.3.3-preview", "1.3.3", "1.3.3", "1.3.3"),
        ("1.3.3-rc.2", "1.3.3-rc.10", "1.3.3-rc.10", "1.3.3-rc.10"),
        ("1.3.3-rc.10", "1.3.3-rc.2", "1.3.3-rc.10", "1.3.3-rc.10"),
        ("1.3.3", "+2.0", "1.3.3", "1.3.3"),
        ("1.3.3-a", "1.3.3-b", "1.3.3-b", "1.3.3-b"),
        ("1.33", "1.33.4", "1.33.4", "1.33.4"),
        ("1.33.4", "1.33", "1.33", "1.33.4"),
        ("latest", "1.3.3", "1.3.3", "latest"),
        ("latest", "stable", "latest", "latest"),
        ("1.3.3", "3abc", "1.3.3", "1.3.3"),
        ("3abc", "4abc", "3abc", "3abc"),
        ("4.x", "4.5", "4.5", "4.x"),
        ("1.3", "2.\u{fc}", "1.3", "1.3"),
        ("10-\u{fc}", "11", "11", "10-\u{fc}"),
        ("1.3.3", "1..4", "1.3.3", "1.3.3"),
    ];
    for (own, azure, unedited, edited) in table {
        let versions = (own, azure);
        assert_eq!(sent(versions, SAME).0, unedited, "{own} {azure}");
        let (version, is_told) = sent(versions, Remembered::Other);
        assert_eq!(version, edited, "{own} {azure}, an edit");
        assert_eq!(is_told, edited != own, "{own} {azure}, an edit");
    }
}
