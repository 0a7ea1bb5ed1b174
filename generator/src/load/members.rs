//! Members of JSON objects whose names the spec's author chose.

use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

/// Members of an object by name. JSON does not say what a second member of one name means, so it is refused.
pub(super) fn unique<'de, D, T>(deserializer: D) -> Result<IndexMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Members<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
        type Value = IndexMap<String, T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = IndexMap::new();
            while let Some(name) = map.next_key::<String>()? {
                match members.entry(name) {
                    Entry::Vacant(entry) => entry.insert(map.next_value()?),
                    Entry::Occupied(entry) => {
                        let message = format!("`{}` stands here twice; remove one", entry.key());
                        return Err(de::Error::custom(message));
                    }
                };
            }
            Ok(members)
        }
    }

    deserializer.deserialize_map(Members(PhantomData))
}
