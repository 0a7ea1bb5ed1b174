//! The module `types`: what specs and statuses are made of, each type once.
//!
//! A type stands in one place, whichever kinds, api-versions and hubs use it. Where a name stands for several structures,
//! that of the oldest api-version has the plain name, and every other one is in a module that its name and structure name:
//! a newer api-version moves none of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::WRITER;
use super::format::import;
use super::types::{self, Scope};
use super::uses::{Imports, Uses};
use crate::hub::{Hubs, KindHub};
use crate::model::{MissingType, TypeId, TypeName, Version, reachable};
use crate::naming::{Named, Names, snake};
use crate::share::{Fingerprint, Sharing};

/// The module.
const TYPES: &str = "crate::types";

/// The types of an api-version or of a kind's hub.
pub(super) struct Table<'a> {
    pub named: Named<'a>,
    layout: Layout<'a>,
    /// Its types.
    prints: BTreeMap<TypeId, Fingerprint>,
    roots: BTreeSet<&'a TypeId>,
}

/// What decides where types stand.
#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    pub sharing: &'a Sharing,
    /// Whether there is a file for each first letter.
    pub by_letter: bool,
}

/// Where a type stands in the module `types`. In order of the file: by name, the plain one first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    name: &'a TypeName,
    /// The module that it has to itself: `sku_1f0c77ab`.
    module: Option<String>,
    /// The module of its first letter, where there is one.
    letter: Option<String>,
}

impl Place<'_> {
    /// The path from the module `types`: `Sku`, `sku_1f0c77ab::Sku`, or either below a letter.
    fn path(&self) -> String {
        let letter = self.letter.iter().map(|letter| format!("{letter}::"));
        letter.chain([self.path_in_file()]).collect()
    }

    /// The path from the file that it stands in.
    fn path_in_file(&self) -> String {
        match &self.module {
            Some(module) => format!("{module}::{}", self.name),
            None => self.name.to_string(),
        }
    }

    /// What another file imports to name it by its path in the file.
    fn first_segment(&self) -> &str {
        self.module.as_deref().unwrap_or(self.name.as_str())
    }
}

impl<'a> Table<'a> {
    /// The types of an api-version.
    pub fn of_version(
        version: &'a Version,
        layout: Layout<'a>,
        names: &'a Names,
    ) -> Result<Self, MissingType> {
        let named = Named {
            types: &version.types,
            names: names.of_version(&version.api_version),
        };
        let print = |ty: &TypeId| {
            let print = layout
                .sharing
                .prints
                .get(&(version.api_version.clone(), ty.clone()));
            let print = print.ok_or_else(|| named.names.lacking(ty))?;
            Ok((ty.clone(), *print))
        };
        let roots = version.resources.iter();
        Ok(Self {
            named,
            layout,
            prints: version.types.keys().map(print).collect::<Result<_, _>>()?,
            roots: roots.flat_map(|it| [&it.spec, &it.status]).collect(),
        })
    }

    /// The types of a kind's hub.
    pub fn of_hub(
        hubs: &'a Hubs,
        hub: &'a KindHub,
        layout: Layout<'a>,
        names: &'a Names,
    ) -> Result<Self, MissingType> {
        let named = Named {
            types: &hubs.types,
            names: &names.hub,
        };
        let roots = [&hub.spec, &hub.status];
        let print = |ty: TypeId| {
            let known = layout.sharing.hub.get(&ty);
            let (_, print) = known.ok_or_else(|| named.names.lacking(&ty))?;
            Ok((ty, *print))
        };
        let types = reachable(&hubs.types, roots).into_iter();
        Ok(Self {
            named,
            layout,
            prints: types.map(print).collect::<Result<_, _>>()?,
            roots: roots.into_iter().collect(),
        })
    }

    /// The types that stand in the module `types`, and where.
    fn shared(&self) -> Result<Vec<(&TypeId, Place<'a>)>, MissingType> {
        let shared = self.prints.keys();
        let shared = shared.filter(|ty| !self.roots.contains(ty));
        shared.map(|ty| Ok((ty, self.place(ty)?))).collect()
    }

    fn place(&self, ty: &TypeId) -> Result<Place<'a>, MissingType> {
        let name = self.named.names.get(ty)?;
        let print = self.prints.get(ty);
        let print = print.ok_or_else(|| self.named.names.lacking(ty))?;
        let is_plain = self.layout.sharing.is_plain(name, print);
        let module = (!is_plain).then(|| module_name(name, print));
        let letter = name.as_str()[..1].to_lowercase();
        let letter = self.layout.by_letter.then_some(letter);
        Ok(Place {
            name,
            module,
            letter,
        })
    }

    /// The types that stand in the module `types`, by name, as a version or a hub passes them on.
    pub fn exports(&self) -> Result<Imports, MissingType> {
        let places = self.shared()?.into_iter().map(|(_, place)| place);
        let places: BTreeSet<Place<'_>> = places.collect();
        let mut exports = Imports::new();
        for place in places {
            let letter = place.letter.iter().map(|letter| format!("::{letter}"));
            let path = [TYPES.to_owned()].into_iter().chain(letter).collect();
            let names: &mut Vec<String> = exports.entry(path).or_default();
            names.push(place.path_in_file());
        }
        Ok(exports)
    }

    /// The text of a type. `named` says how it writes the name of another one.
    pub fn text(
        &self,
        ty: &TypeId,
        uses: &Uses,
        named: &dyn Fn(&TypeId) -> Result<String, MissingType>,
    ) -> Result<String, MissingType> {
        let name = self.named.names.get(ty)?;
        let definition = self.named.types.get(ty);
        let definition = definition.ok_or_else(|| self.named.names.lacking(ty))?;
        let types = self.named.types;
        types::definition(name, definition, Scope { types, uses, named })
    }

    /// The text of a type in the module `types`, with what belongs around it.
    fn item(&self, ty: &TypeId, place: &Place<'_>, uses: &Uses) -> Result<String, MissingType> {
        match &place.module {
            Some(module) => self.item_of_module(ty, place, module, uses),
            None => self.text(ty, uses, &|other| {
                let other = self.place(other)?;
                if let Some(letter) = other.letter.iter().find(|_| other.letter != place.letter) {
                    uses.add(&format!("super::{letter}"), other.first_segment());
                }
                Ok(other.path_in_file())
            }),
        }
    }

    /// The text of a type that has a module to itself, which sees what the file imports.
    fn item_of_module(
        &self,
        ty: &TypeId,
        place: &Place<'_>,
        module: &str,
        uses: &Uses,
    ) -> Result<String, MissingType> {
        let own = Uses::default();
        let (near, far) = <(RefCell<BTreeSet<String>>, RefCell<BTreeSet<String>>)>::default();
        let text = self.text(ty, &own, &|other| {
            let other = self.place(other)?;
            if other.letter != place.letter {
                far.borrow_mut().insert(other.path());
            } else if other != *place {
                near.borrow_mut().insert(other.path_in_file());
            }
            Ok(other.name.to_string())
        })?;
        uses.extend(&own);
        let near = own.names().into_iter().chain(near.into_inner());
        let near = import("use super", &near.collect::<Vec<_>>());
        let far: Vec<String> = far.into_inner().into_iter().collect();
        let far = match &far[..] {
            [] => String::new(),
            far => import(&format!("use {TYPES}"), far),
        };
        let lines = format!("{near}{far}\n{text}");
        let lines = lines.lines().map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("    {line}\n"),
        });
        let lines = lines.collect::<String>();
        Ok(format!("pub mod {module} {{\n{lines}}}\n"))
    }
}

/// Name of a type's module: `sku_1f0c77ab`.
fn module_name(name: &TypeName, print: &Fingerprint) -> String {
    let digits = print[..4].iter().map(|byte| format!("{byte:02x}"));
    // `Type_`, a type whose name would be a keyword, brings an underscore of its own.
    let name = snake(name.as_str());
    format!(
        "{}_{}",
        name.trim_end_matches('_'),
        digits.collect::<String>()
    )
}

/// A file of the module `types` as it is made.
#[derive(Default)]
struct File<'a> {
    uses: Uses,
    items: BTreeMap<Place<'a>, String>,
}

/// The module `types`: file below `src` → text. Nothing if all types are roots.
pub(super) fn files(
    api_group: &str,
    tables: &[&Table<'_>],
) -> Result<BTreeMap<String, String>, MissingType> {
    let mut files = BTreeMap::<Option<String>, File<'_>>::new();
    for table in tables {
        for (ty, place) in table.shared()? {
            let file = files.entry(place.letter.clone()).or_default();
            // The first one that has it is as good as any: what is the same has the same text, but for where it was read.
            if !file.items.contains_key(&place) {
                let text = table.item(ty, &place, &file.uses)?;
                file.items.insert(place, text);
            }
        }
    }
    let letters = files.keys().flatten();
    let letters = letters.map(|letter| format!("pub mod {letter};\n"));
    let letters = letters.collect::<String>();
    let about = format!(
        "// Generated by `{WRITER}` for all that use it.\n\n\
         //! What specs and statuses of `{api_group}` are made of, by name.\n\
         //! Where a name stands for several structures, the oldest api-version has the plain name, and others are in modules.\n\n"
    );
    let files = files.into_iter().map(|(letter, File { uses, items })| {
        let items = items.into_values().collect::<Vec<_>>().join("\n");
        let imports = uses.text();
        match letter {
            Some(letter) => {
                let header = format!("// Generated by `{WRITER}` for all that use it.\n\n");
                let text = format!("{header}{imports}{items}");
                (format!("types/{letter}.rs"), text)
            }
            None => ("types.rs".to_owned(), format!("{about}{imports}{items}")),
        }
    });
    let mut files = files.collect::<BTreeMap<_, _>>();
    if !letters.is_empty() {
        files.insert("types/mod.rs".to_owned(), format!("{about}{letters}"));
    }
    Ok(files)
}
