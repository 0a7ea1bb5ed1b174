//! Generated crates hold each type once and nothing that no kind uses. rustc cannot say so of public items.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use armature_conformance::run;
use armature_generated::KINDS;
use armature_runtime::engine::compare::Spelling;
use armature_runtime::engine::owned::{Right, Rule, Steps};
use armature_runtime::kind::{KindInfo, Remote};
use armature_runtime::resource::{
    ArbitraryOwnerReference, Condition, ConfigMapDestination, ConfigMapReference,
    DestinationExpression, KnownResourceReference, ResourceReference, SecretDestination,
    SecretMapReference, SecretReference, UserAssignedIdentityDetails, WellKnownResourceReference,
};
use armature_runtime::shape::{ArmPlace, EnumShape, Shaped, StructShape, Type};

/// Types as a crate's text defines them: name → place in the specs of each definition.
type Definitions = BTreeMap<String, Vec<String>>;

/// A type as its table.
#[derive(Clone, Copy)]
enum Table {
    Struct(&'static StructShape),
    Enum(&'static EnumShape),
}

/// A type that a kind reaches.
struct Reached {
    name: &'static str,
    /// Part of what users write, by way of a version or the hub.
    is_spec: bool,
    /// Stands for a whole spec or status.
    is_root: bool,
    structure: u64,
}

/// Types that are the runtime's, not a crate's.
const COMMON: [&StructShape; 12] = [
    ArbitraryOwnerReference::SHAPE,
    Condition::SHAPE,
    ConfigMapDestination::SHAPE,
    ConfigMapReference::SHAPE,
    DestinationExpression::SHAPE,
    KnownResourceReference::SHAPE,
    ResourceReference::SHAPE,
    SecretDestination::SHAPE,
    SecretMapReference::SHAPE,
    SecretReference::SHAPE,
    UserAssignedIdentityDetails::SHAPE,
    WellKnownResourceReference::SHAPE,
];

/// The kinds of each group, by the group's short name.
fn groups() -> BTreeMap<&'static str, Vec<&'static KindInfo>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for kind in KINDS {
        groups
            .entry(run::short(kind.group))
            .or_default()
            .push(*kind);
    }
    groups
}

/// The folder with a group's modules.
fn folder(group: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated");
    folder.join(group.replace('.', "-")).join("src")
}

fn definitions(group: &str) -> Definitions {
    let mut found = Definitions::new();
    let mut folders = vec![folder(group)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("folder of a crate") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(&path).expect("text");
                collect(&text, &mut found);
            }
        }
    }
    found
}

fn collect(text: &str, found: &mut Definitions) {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if matches!(line.trim_start(), "shaped! {" | "string_enum! {") {
            let doc = lines.next().expect("documentation and name");
            let item = lines.next().expect("documentation and name").trim();
            let name = item.split([' ', '.']).next().expect("name");
            let origin = doc.split("from `").nth(1).unwrap_or_default();
            let origins = found.entry(name.to_owned()).or_default();
            origins.push(origin.trim_end_matches("`.").to_owned());
        }
    }
}

/// Walks the tables of a group's kinds. Tables are statics: an address is a type.
#[derive(Default)]
struct Walk {
    reached: HashMap<usize, Reached>,
}

impl Walk {
    fn of(kinds: &[&'static KindInfo]) -> Self {
        let mut walk = Self::default();
        for kind in kinds {
            let versions = kind.versions.iter().map(|it| (it.spec, it.status));
            for roots in versions.chain([(kind.hub.spec, kind.hub.status)]) {
                walk.roots(roots);
            }
        }
        walk
    }

    /// What each api-version of the kinds reaches.
    fn of_versions(kinds: &[&'static KindInfo]) -> Vec<HashSet<usize>> {
        let mut walks = BTreeMap::<&str, Self>::new();
        for version in kinds.iter().flat_map(|kind| kind.versions) {
            let walk = walks.entry(version.api_version).or_default();
            walk.roots((version.spec, version.status));
        }
        let reached = walks.into_values().map(|walk| walk.reached);
        reached.map(|it| it.into_keys().collect()).collect()
    }

    fn roots(&mut self, (spec, status): (&'static StructShape, &'static StructShape)) {
        for (root, is_spec) in [(spec, true), (status, false)] {
            self.structure(Table::Struct(root), is_spec);
            let address = std::ptr::from_ref(root) as usize;
            let reached = self.reached.get_mut(&address);
            reached.expect("just reached").is_root = true;
        }
    }

    /// Hash of everything that the table says but the type's own name.
    fn structure(&mut self, table: Table, is_spec: bool) -> u64 {
        let (address, name) = match table {
            Table::Struct(shape) => (std::ptr::from_ref(shape) as usize, shape.name),
            Table::Enum(shape) => (std::ptr::from_ref(shape) as usize, shape.name),
        };
        if let Some(known) = self
            .reached
            .get(&address)
            .filter(|it| it.is_spec || !is_spec)
        {
            return known.structure;
        }
        let text = match table {
            Table::Enum(shape) => format!("{:?} {}", shape.values, shape.is_closed),
            Table::Struct(shape) => {
                let mut text = format!("{:?} {:?}", shape.semantic, shape.one_of);
                for field in shape.fields {
                    let ty = self.type_text(field.ty, is_spec);
                    write!(
                        text,
                        "{} {:?} {ty} {:?} {:?} {:?} {:?}",
                        field.name,
                        field.arm,
                        field.flags,
                        field.rules,
                        field.item_rules,
                        field.identifiers
                    )
                    .expect("a String takes any text");
                }
                text
            }
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let reached = Reached {
            name,
            is_spec,
            is_root: false,
            structure: hasher.finish(),
        };
        let structure = reached.structure;
        self.reached.insert(address, reached);
        structure
    }

    fn type_text(&mut self, ty: Type, is_spec: bool) -> String {
        match ty {
            Type::Struct(shape) if COMMON.iter().any(|common| std::ptr::eq(*common, shape)) => {
                shape.name.to_owned()
            }
            Type::Struct(shape) => {
                let structure = self.structure(Table::Struct(shape), is_spec);
                format!("{} {structure}", shape.name)
            }
            Type::Enum(shape) => {
                let structure = self.structure(Table::Enum(shape), is_spec);
                format!("{} {structure}", shape.name)
            }
            Type::List(list) => format!("list {}", self.type_text(list.item, is_spec)),
            Type::Map(map) => format!("map {}", self.type_text(map.value, is_spec)),
            Type::Integer(format) => format!("integer {format:?}"),
            Type::Bool => "bool".to_owned(),
            Type::Number => "number".to_owned(),
            Type::String => "string".to_owned(),
            Type::Json => "json".to_owned(),
        }
    }
}

#[test]
fn every_type_is_reached_from_a_kind() {
    for (group, kinds) in groups() {
        let mut reached = BTreeMap::<&str, usize>::new();
        for found in Walk::of(&kinds).reached.values() {
            *reached.entry(found.name).or_default() += 1;
        }
        let defined = definitions(group);
        let defined = defined.iter().map(|(name, all)| (name.as_str(), all.len()));
        assert_eq!(defined.collect::<BTreeMap<_, _>>(), reached, "{group}");
    }
}

/// Most lines of a file of types: editors and reviews show no longer ones.
const LONGEST: usize = 12_000;

#[test]
fn a_group_with_many_types_has_a_file_for_each_first_letter() {
    let mut longest = 0;
    for group in groups().into_keys() {
        let file = folder(group).join("types.rs");
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        let lines = text.lines().count();
        assert!(
            lines <= LONGEST,
            "{} has {lines} lines, and {LONGEST} are the most: set `types-by-letter = true` in specs/{group}/group.toml",
            file.display()
        );
        longest = longest.max(lines);
    }
    assert!(longest > 0, "no group has a file of types");
}

#[test]
fn no_type_is_there_twice() {
    for (group, kinds) in groups() {
        let defined = definitions(group);
        let versions = Walk::of_versions(&kinds);
        let mut equal = BTreeMap::<(u64, bool), Vec<(usize, Reached)>>::new();
        for (address, found) in Walk::of(&kinds).reached {
            let same = equal.entry((found.structure, found.is_spec)).or_default();
            same.push((address, found));
        }
        for twins in equal.into_values() {
            let mut names = BTreeSet::new();
            for (_, twin) in &twins {
                assert!(names.insert(twin.name), "{group}: two equal {}", twin.name);
            }
            // Roots are named after their kinds.
            let parts = twins.iter().filter(|(_, twin)| !twin.is_root);
            let parts: Vec<&(usize, Reached)> = parts.collect();
            for (index, (left, twin)) in parts.iter().enumerate() {
                for (right, other) in &parts[..index] {
                    // From one api-version to the next, a spec may give a name to what had none.
                    let is_of_both =
                        |types: &HashSet<usize>| types.contains(left) && types.contains(right);
                    if versions.iter().any(is_of_both) {
                        let origin = common_origin(&defined[twin.name], &defined[other.name]);
                        let names = [twin.name, other.name];
                        assert_eq!(
                            origin, None,
                            "{group}: {names:?} are equal and from one place"
                        );
                    }
                }
            }
        }
    }
}

/// A place in the specs that types of both names were read at. Types of the operator's own have none, enums of Bicep types
/// none within the file.
fn common_origin<'a>(one: &'a [String], other: &[String]) -> Option<&'a String> {
    let mut placed = one.iter().filter(|origin| origin.contains('#'));
    placed.find(|origin| other.contains(origin))
}

/// Rules of kinds are text that the engine reads when it runs: what it could not read would be no rule.
#[test]
fn rules_for_other_words_are_read_and_their_paths_are_there() {
    let mut rules = 0;
    let mut faults = Vec::new();
    for kind in KINDS {
        for rule in kind.equal_values {
            rules += 1;
            let spelling = match Spelling::parse(rule) {
                Ok(spelling) => spelling,
                Err(error) => {
                    faults.push(format!("{}: {error}", kind.kind));
                    continue;
                }
            };
            let of_any = |path: &str, in_status: bool| {
                let steps: Vec<&str> = steps(path);
                let mut versions = kind.versions.iter();
                versions.any(|version| {
                    has(version.spec, &steps) || in_status && has(version.status, &steps)
                })
            };
            let others = spelling.others().all(|path| of_any(path, true));
            if !of_any(&spelling.path, false) || !others {
                faults.push(format!("{}: no version has a path of `{rule}`", kind.kind));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(rules > 0, "no kind has a rule");
}

#[test]
fn rules_for_what_azure_moves_are_read_and_their_paths_are_there() {
    let mut faults = Vec::new();
    let mut rules = 0;
    for kind in KINDS {
        for text in kind.azure_owned {
            rules += 1;
            let rule = match Rule::parse(text) {
                Ok(rule) => rule,
                Err(error) => {
                    faults.push(format!("{}: {error}", kind.kind));
                    continue;
                }
            };
            let mut versions = kind.versions.iter();
            // One version has all of it.
            let is_there = versions.any(|version| {
                let is_known =
                    |path: &Steps| path.is_known(version.spec) || path.is_known(version.status);
                let is_of_members = rule.path.is_of_members(version.spec);
                rule.path.is_known(version.spec)
                    && rule.others().all(is_known)
                    && (is_of_members || !matches!(rule.right, Right::Added(_)))
            });
            if !is_there {
                faults.push(format!(
                    "{}: no version has all paths of `{text}`",
                    kind.kind
                ));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(rules > 0, "no kind has a rule");
}

/// An item of such a list is told from what others add, and moves between the list and an object, by the object's ARM type.
#[test]
fn items_that_stay_beside_the_specs_are_of_a_kind() {
    let mut lists = Vec::new();
    let mut without = BTreeSet::new();
    for kind in KINDS {
        let Remote::Arm { arm_type, .. } = kind.remote else {
            continue;
        };
        let paths = kind.versions.iter().flat_map(|it| it.keep_unknown);
        for list in paths.filter_map(|path| path.last()) {
            let is_of_list = |child: &&&'static KindInfo| {
                let mut segments = KindInfo::item_segments(list).into_iter();
                segments.any(|segment| {
                    let item = format!("{arm_type}/{segment}");
                    matches!(child.remote, Remote::Arm { arm_type, .. } if arm_type.eq_ignore_ascii_case(&item))
                })
            };
            match KINDS.iter().find(is_of_list) {
                Some(child) => lists.push((kind.kind, *list, child.kind)),
                None => drop(without.insert((kind.kind, *list))),
            }
        }
    }
    assert_eq!(without, BTreeSet::new());
    lists.sort_unstable();
    lists.dedup();
    let expected = [
        (
            "LoadBalancer",
            "inboundNatRules",
            "LoadBalancersInboundNatRule",
        ),
        (
            "ManagedCluster",
            "agentPoolProfiles",
            "ManagedClustersAgentPool",
        ),
        (
            "VirtualMachineScaleSet",
            "extensions",
            "VirtualMachineScaleSetsExtension",
        ),
    ];
    assert_eq!(lists, expected);
}

fn steps(path: &str) -> Vec<&str> {
    let parts = path.split('.').flat_map(|part| {
        let name = part.trim_end_matches("[]");
        let items = (part.len() - name.len()) / 2;
        std::iter::once(name).chain(std::iter::repeat_n("[]", items))
    });
    parts.collect()
}

fn has(shape: &StructShape, path: &[&str]) -> bool {
    shape.fields.iter().any(|field| match field.arm {
        ArmPlace::At(place) if path.starts_with(place) => value_has(field.ty, &path[place.len()..]),
        ArmPlace::Further(place) if path.starts_with(place) => {
            value_has(field.ty, &path[place.len()..])
        }
        ArmPlace::Variant => value_has(field.ty, path),
        _ => false,
    })
}

fn value_has(ty: Type, path: &[&str]) -> bool {
    match (ty, path) {
        (_, []) => true,
        (Type::List(list), ["[]", rest @ ..]) => value_has(list.item, rest),
        (Type::Map(map), ["[]", rest @ ..]) => value_has(map.value, rest),
        (Type::Struct(shape), path) => has(shape, path),
        _ => false,
    }
}
