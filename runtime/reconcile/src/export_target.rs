//! Secrets and ConfigMaps that one object wants written, put together entry by entry (ASO behaviour §1.6 item 7).
//!
//! Decides only; values are found and targets are written by the driver. Messages name keys and never values.

use std::collections::BTreeMap;

use super::port::{DataExport, DataKind};

/// Which labels and annotations objects may have put on Secrets and ConfigMaps: others act on some, such as those that copy a Secret
/// into other namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportBounds {
    /// How their names must begin; all may be there when absent.
    prefixes: Option<Vec<String>>,
}

impl ExportBounds {
    /// From a setting: beginnings of names with commas or spaces between them, or `none`. Nothing bounds nothing.
    ///
    /// # Errors
    /// When a word cannot be how a name begins.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = text.split([',', ' ', '\n']).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_owned).collect();
        let sign =
            |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.' | '/');
        match &words[..] {
            [] => Ok(Self::default()),
            [word] if word == "none" => Ok(Self {
                prefixes: Some(Vec::new()),
            }),
            words if words.iter().any(|word| word == "none" || !word.chars().all(sign)) => Err(
                "expected beginnings of the names of labels and annotations with commas between them, such as \
                 app.kubernetes.io/, or none"
                    .to_owned(),
            ),
            _ => Ok(Self {
                prefixes: Some(words),
            }),
        }
    }

    fn check<'n>(
        &self,
        what: &str,
        place: Place<'_>,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<(), String> {
        let Some(prefixes) = &self.prefixes else {
            return Ok(());
        };
        let is_allowed = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let Some(name) = names.into_iter().find(|name| !is_allowed(name)) else {
            return Ok(());
        };
        let allowed = match prefixes.is_empty() {
            true => "none".to_owned(),
            false => format!("those that begin with {}", prefixes.join(", ")),
        };
        let (path, kind) = (place.path, place.kind);
        Err(format!(
            "{path}: the {what} {name} may not be put on a {kind}; this operator allows {allowed} (exportMetadata of the chart)"
        ))
    }
}

/// Targets by kind and name.
#[derive(Default)]
pub struct Targets {
    targets: BTreeMap<(DataKind, String), Target>,
    bounds: ExportBounds,
}

/// One target. Every entry knows the field of the spec that asks for it.
#[derive(Default)]
struct Target {
    /// The field that named the target first.
    path: String,
    data: BTreeMap<String, Entry>,
    labels: BTreeMap<String, Entry>,
    annotations: BTreeMap<String, Entry>,
    /// Something that it should have cannot be had now.
    incomplete: bool,
}

struct Entry {
    value: String,
    path: String,
}

/// A place that a field of the spec names.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// Secret or ConfigMap.
    pub kind: DataKind,
    /// Its name.
    pub name: &'p str,
    /// The field, as messages name it: `spec.operatorSpec.secrets.key1`.
    pub path: &'p str,
}

impl Targets {
    /// None, whose labels and annotations are bounded.
    pub fn within(bounds: &ExportBounds) -> Self {
        Self {
            targets: BTreeMap::new(),
            bounds: bounds.clone(),
        }
    }

    /// Looks at names of labels and annotations whose values are not known yet.
    ///
    /// # Errors
    /// When one may not be there.
    pub fn check<'n>(
        &self,
        place: Place<'_>,
        labels: impl IntoIterator<Item = &'n String>,
        annotations: impl IntoIterator<Item = &'n String>,
    ) -> Result<(), String> {
        self.bounds.check("label", place, labels)?;
        self.bounds.check("annotation", place, annotations)
    }

    /// Puts a value under a key.
    ///
    /// # Errors
    /// When the key or the name cannot be one, or another field asks for the same key.
    pub fn add(&mut self, place: Place<'_>, key: &str, value: String) -> Result<(), String> {
        let Place { kind, name, path } = place;
        if name.is_empty() {
            return Err(format!("{path}: set the name of the {kind}"));
        }
        if !is_key(key) {
            return Err(format!(
                "{path}: a key in a {kind} consists of letters, digits, '-', '_' and '.'; this is another one"
            ));
        }
        let target = self.target(place);
        if let Some(other) = target.data.get(key) {
            return Err(format!(
                "{path} and {}: both write key {key} of the {kind} {name}; give one of them another key",
                other.path
            ));
        }
        let path = path.to_owned();
        target.data.insert(key.to_owned(), Entry { value, path });
        Ok(())
    }

    /// Adds labels of the target.
    ///
    /// # Errors
    /// When one may not be there, or another field wants another value.
    pub fn label(
        &mut self,
        place: Place<'_>,
        labels: BTreeMap<String, String>,
    ) -> Result<(), String> {
        self.bounds.check("label", place, labels.keys())?;
        merge(&mut self.target(place).labels, "label", place, labels)
    }

    /// Adds annotations of the target.
    ///
    /// # Errors
    /// When one may not be there, or another field wants another value.
    pub fn annotate(
        &mut self,
        place: Place<'_>,
        annotations: BTreeMap<String, String>,
    ) -> Result<(), String> {
        self.bounds.check("annotation", place, annotations.keys())?;
        let target = &mut self.target(place).annotations;
        merge(target, "annotation", place, annotations)
    }

    /// Notes that something which this field wants written cannot be had now.
    pub fn leave_incomplete(&mut self, place: Place<'_>) {
        self.target(place).incomplete = true;
    }

    fn target(&mut self, place: Place<'_>) -> &mut Target {
        let entry = self.targets.entry((place.kind, place.name.to_owned()));
        entry.or_insert_with(|| Target {
            path: place.path.to_owned(),
            ..Target::default()
        })
    }

    /// What is to be written, each with the field that named it first. Targets without data are none.
    pub fn into_exports(self) -> impl Iterator<Item = (String, DataExport)> {
        let targets = self.targets.into_iter();
        let filled = targets.filter(|(_, target)| !target.data.is_empty());
        filled.map(|((kind, name), target)| {
            let export = DataExport {
                kind,
                name,
                target_uid: None,
                incomplete: target.incomplete,
                data: values(target.data),
                labels: values(target.labels),
                annotations: values(target.annotations),
            };
            (target.path, export)
        })
    }
}

fn merge(
    into: &mut BTreeMap<String, Entry>,
    what: &str,
    place: Place<'_>,
    from: BTreeMap<String, String>,
) -> Result<(), String> {
    for (name, value) in from {
        let path = place.path.to_owned();
        match into.get(&name) {
            Some(other) if other.value != value => {
                return Err(format!(
                    "{path} and {}: they want different values of the {what} {name} of the {} {}",
                    other.path, place.kind, place.name
                ));
            }
            Some(_) => {}
            None => {
                into.insert(name, Entry { value, path });
            }
        }
    }
    Ok(())
}

fn values(entries: BTreeMap<String, Entry>) -> BTreeMap<String, String> {
    let entries = entries.into_iter();
    entries.map(|(name, entry)| (name, entry.value)).collect()
}

/// Whether it can be a key in `data` (Kubernetes API: at most 253 letters, digits, `-`, `_` and `.`).
fn is_key(key: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    !key.is_empty()
        && key.len() <= 253
        && key.chars().all(sign)
        && key != "."
        && !key.starts_with("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'p>(kind: DataKind, name: &'p str, path: &'p str) -> Place<'p> {
        Place { kind, name, path }
    }

    fn one(name: &str, value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn entries_of_one_target_are_written_together() {
        let mut targets = Targets::default();
        let first = place(DataKind::Secret, "a", "spec.first");
        let second = place(DataKind::Secret, "a", "spec.second");
        targets.add(first, "x", "1".into()).unwrap();
        targets.add(second, "y", "2".into()).unwrap();
        targets.label(first, one("app", "web")).unwrap();
        targets.label(second, one("app", "web")).unwrap();
        targets
            .add(
                place(DataKind::ConfigMap, "a", "spec.third"),
                "x",
                "3".into(),
            )
            .unwrap();
        targets
            .annotate(
                place(DataKind::Secret, "empty", "spec.fourth"),
                one("a", "b"),
            )
            .unwrap();
        let exports: Vec<_> = targets.into_exports().collect();
        assert_eq!(exports.len(), 2);
        let (path, secret) = &exports[0];
        assert_eq!(path, "spec.first");
        assert_eq!(secret.kind, DataKind::Secret);
        assert_eq!(secret.data.len(), 2);
        assert_eq!(secret.labels, one("app", "web"));
        assert_eq!(exports[1].1.data, one("x", "3"));
    }

    #[test]
    fn what_collides_is_refused_and_both_fields_are_named() {
        let first = place(DataKind::Secret, "a", "spec.first");
        let second = place(DataKind::Secret, "a", "spec.second");
        let mut targets = Targets::default();
        targets.add(first, "x", "hunter2".into()).unwrap();
        targets.label(first, one("app", "web")).unwrap();
        let error = targets.add(second, "x", "hunter3".into()).unwrap_err();
        assert_eq!(
            error,
            "spec.second and spec.first: both write key x of the Secret a; give one of them another key"
        );
        let error = targets.label(second, one("app", "db")).unwrap_err();
        assert_eq!(
            error,
            "spec.second and spec.first: they want different values of the label app of the Secret a"
        );
    }

    #[test]
    fn labels_and_annotations_are_those_that_are_allowed() {
        let at = place(DataKind::Secret, "a", "spec.first");
        for (setting, name, is_allowed) in [
            ("", "replicator.example.com/replicate-to", true),
            ("app.kubernetes.io/, team", "app.kubernetes.io/name", true),
            ("app.kubernetes.io/, team", "team.example.com/owner", true),
            (
                "app.kubernetes.io/, team",
                "replicator.example.com/replicate-to",
                false,
            ),
            ("app.kubernetes.io/, team", "app", false),
            ("none", "app", false),
        ] {
            let bounds = ExportBounds::parse(setting).unwrap();
            let mut targets = Targets::within(&bounds);
            let labelled = targets.label(at, one(name, "x"));
            let annotated = targets.annotate(at, one(name, "x"));
            let none: [&String; 0] = [];
            let (name, known) = (name.to_owned(), one(name, "x"));
            for found in [
                labelled,
                annotated,
                targets.check(at, known.keys(), none),
                targets.check(at, none, [&name]),
            ] {
                assert_eq!(found.is_ok(), is_allowed, "{setting} {name}: {found:?}");
            }
        }
        let targets = Targets::within(&ExportBounds::parse("team/, app/").unwrap());
        let names = one("copy/to", "*");
        assert_eq!(
            targets.check(at, names.keys(), []).unwrap_err(),
            "spec.first: the label copy/to may not be put on a Secret; this operator allows those that begin with team/, app/ \
             (exportMetadata of the chart)"
        );
        for wrong in ["none, app/", "app/*"] {
            ExportBounds::parse(wrong).unwrap_err();
        }
    }

    #[test]
    fn names_and_keys_must_be_some() {
        for (name, key, expected) in [
            ("", "x", "set the name of the ConfigMap"),
            ("a", "", "a key in a ConfigMap"),
            ("a", "tag one", "a key in a ConfigMap"),
            ("a", "..x", "a key in a ConfigMap"),
        ] {
            let place = place(DataKind::ConfigMap, name, "spec.first");
            let error = Targets::default().add(place, key, "1".into()).unwrap_err();
            assert!(error.contains(expected), "{name} {key}: {error}");
        }
    }
}
