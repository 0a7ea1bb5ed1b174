//! The type that a path of a CRD leads to.

use armature_generator::curation::Side;
use armature_generator::model::{ApiVersion, ObjectType, Property, Resource, TypeId, Version};

use super::world::{Seen, World, object, type_names};

/// What the generator notes where only the id of a definition stays, up to the definition's name.
const CUT: &str = "only the id is left: `";

/// An object of a kind's version, before and after curation.
pub struct Site<'a> {
    /// api-version.
    pub api_version: &'a ApiVersion,
    /// ARM type of the resource.
    pub arm_type: &'a str,
    /// Side of the resource.
    pub side: Side,
    /// Whether it is the whole of that side.
    pub is_root: bool,
    /// As the specs have it.
    pub described: &'a ObjectType,
    /// The api-version as the specs have it.
    pub version: &'a Version,
    /// As users have it.
    pub curated: &'a ObjectType,
    /// The property that holds it, as users have it.
    pub holder: Option<&'a Property>,
    /// Names of the type in a curation file, the widest first.
    pub names: Vec<String>,
}

/// The resource that is served as a version of a kind.
pub fn served<'a>(
    seen: &'a Seen,
    kind: &str,
    served: &str,
) -> Option<(&'a ApiVersion, &'a Version, &'a Resource)> {
    seen.group
        .versions
        .iter()
        .find_map(|(api_version, version)| {
            let mut resources = version.resources.iter();
            let is_it = |it: &&Resource| {
                it.kind == kind && it.version_names.iter().any(|name| name == served)
            };
            Some((api_version, version, resources.find(is_it)?))
        })
}

/// The object at a path, if there is one that Azure's specs describe.
pub fn at<'a>(
    world: &'a World<'_>,
    seen: &'a Seen,
    kind: &str,
    version: &str,
    path: &str,
) -> Option<Site<'a>> {
    let (api_version, curated, resource) = served(seen, kind, version)?;
    let described = world.described.versions.get(api_version)?;
    let mut members = path.split('.');
    let (side, root) = match members.next()? {
        "spec" => (Side::Spec, &resource.spec),
        "status" => (Side::Status, &resource.status),
        _ => return None,
    };
    let mut id: &TypeId = root;
    let mut holder = None;
    for member in members {
        let name = member.trim_end_matches(['[', ']', '{', '}']);
        let held = property(object(curated, id)?, name)?;
        id = held.ty.named()?;
        holder = Some(held);
    }
    let is_root = id == root;
    Some(Site {
        api_version,
        arm_type: &resource.arm_type,
        side,
        is_root,
        described: object(described, id)?,
        version: described,
        curated: object(curated, id)?,
        holder,
        names: match is_root {
            true => vec![kind.to_owned()],
            false => type_names(described, id),
        },
    })
}

/// The property that users know under a name.
pub fn property<'o>(object: &'o ObjectType, name: &str) -> Option<&'o Property> {
    object
        .properties
        .iter()
        .find(|property| property.name == name)
}

impl Site<'_> {
    /// Name in ARM of what users know under a name: rules go by it.
    pub fn arm_name(&self, name: &str) -> Option<&str> {
        let property = property(self.curated, name)?;
        let arm = property.place.path().last()?;
        self.original(arm).map(|original| original.name.as_str())
    }

    /// A property as the specs have it.
    pub fn original(&self, arm: &str) -> Option<&Property> {
        property(self.described, arm)
    }

    /// Whether the items of a list are an ARM type of their own.
    pub fn has_child_type(&self, arm: &str) -> bool {
        let child = format!("{}/{arm}", self.arm_type);
        let mut known = self.version.arm_types.values().flatten();
        known.any(|known| known.eq_ignore_ascii_case(&child))
    }

    /// The definition of which only the id is left here.
    pub fn cut_definition(&self) -> Option<&str> {
        let decisions = self.holder?.origin.decisions.iter();
        let mut cuts = decisions.filter_map(|it| it.what.strip_prefix(CUT));
        cuts.next()?.split('`').next()
    }

    /// What became of a property: the names under which users know it.
    pub fn became(&self, arm: &str) -> Vec<&str> {
        let properties = self.curated.properties.iter();
        let is_it = |it: &&Property| it.place.path().last().is_some_and(|last| last == arm);
        properties
            .filter(is_it)
            .map(|it| it.name.as_str())
            .collect()
    }
}
