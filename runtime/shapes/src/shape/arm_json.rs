//! Reading ARM's JSON with the tolerance that services call for.

use serde_json::{Map, Value};

/// A member, as it is spelled or else in any casing: services do not always keep their own.
pub fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).or_else(|| {
        let mut members = object.iter();
        members
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    })
}

/// What lies at a path of member names; `null` counts as nothing.
pub fn find<'a>(object: &'a Map<String, Value>, at: &[&str]) -> Option<&'a Value> {
    let (last, above) = at.split_last()?;
    let mut object = object;
    for name in above {
        object = member(object, name)?.as_object()?;
    }
    member(object, last).filter(|value| !value.is_null())
}
