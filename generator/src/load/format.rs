//! Which front end reads a file. A new format is a module beside [`super::swagger`] and a row here.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::json::broken;
use super::{Document, LoadError, bicep, openapi3, swagger};

/// A format, told by what stands at the top of a file.
struct Format {
    is_this: fn(&Head) -> bool,
    read: fn(&str, &[u8]) -> Result<Document, LoadError>,
}

const FORMATS: [Format; 3] = [
    Format {
        is_this: |head| {
            head.swagger
                .as_ref()
                .is_some_and(|version| version == "2.0")
        },
        read: swagger::document,
    },
    Format {
        is_this: |head| head.openapi.is_some(),
        read: openapi3::document,
    },
    Format {
        is_this: |head| head.is_list,
        read: bicep::document,
    },
];

/// Members that tell formats apart.
#[derive(Default)]
struct Head {
    swagger: Option<Value>,
    openapi: Option<Value>,
    /// The file is a list and has no members.
    is_list: bool,
}

impl Head {
    fn read(text: &[u8]) -> Result<Self, serde_json::Error> {
        if text.trim_ascii_start().starts_with(b"[") {
            return Ok(Self {
                is_list: true,
                ..Self::default()
            });
        }
        let mut head = Self::default();
        let mut json = serde_json::Deserializer::from_slice(text);
        match json.deserialize_map(&mut head) {
            // What follows the member is the front end's to read, and its errors are that one's to tell.
            Err(error) if head.swagger.is_none() && head.openapi.is_none() => Err(error),
            _ => Ok(head),
        }
    }
}

/// Reads members until one tells the format, which as a rule is the first.
impl<'de> Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "swagger" => self.swagger = Some(members.next_value()?),
                "openapi" => self.openapi = Some(members.next_value()?),
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
            }
            return Ok(());
        }
        Ok(())
    }
}

/// Reads a file with the front end for its format.
pub(super) fn document(file: &str, text: &[u8]) -> Result<Document, LoadError> {
    let head = Head::read(text).map_err(|error| broken(file, &error))?;
    match FORMATS.iter().find(|format| (format.is_this)(&head)) {
        Some(format) => (format.read)(file, text),
        None => Err(LoadError::UnknownFormat {
            file: file.to_owned(),
        }),
    }
}
