//! Values that no PUT has while something else says how much.

use super::*;

/// What is not to be sent while Azure alone has the condition is left alone, and yet no PUT is without it: the PUT may end the
/// condition, and an object that is emptied is refused.
#[test]
fn what_is_unsent_by_azures_answer_alone_is_sent_with_an_edit() {
    let rule = "sku.capacity unsent while properties.inflate";
    let spec = |capacity: i64| json!({"sku": {"capacity": capacity}, "properties": {"zone": "1"}});
    let azure = json!({"sku": {"capacity": 9}, "properties": {"zone": "1", "inflate": true}});
    let ignored = |spec: &Value, known: Remembered| {
        let memory = |mark: &Mark| match mark.path.as_str() {
            "sku.capacity" => known,
            _ => Remembered::Unnamed,
        };
        let observed = (Some(&azure), Scaled::Unasked);
        let owned = Owned::of(Cluster::SHAPE, &rules(&[rule]), spec, observed, &memory);
        assert_eq!(owned.desired, *spec, "{known:?}");
        assert_eq!(owned.moved.len(), owned.ignored.len());
        owned.ignored
    };
    for known in [SAME, Remembered::Nothing, Remembered::Forgotten] {
        assert_eq!(ignored(&spec(3), known), ["sku.capacity"], "{known:?}");
    }
    for known in [Remembered::Other, Remembered::Unnamed] {
        assert_eq!(ignored(&spec(3), known), [""; 0], "an edit: {known:?}");
    }
    let asked = asked(Cluster::SHAPE, &rules(&[rule]), &spec(3));
    assert_eq!(asked, spec(3), "an edit of it is one");
}
