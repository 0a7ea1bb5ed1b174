//! The folders of specs: reads and parses each file once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Document, LoadError, Source, format};

/// Folder of Azure's repository of Bicep types that holds all of them. No path of a spec starts with it.
pub const BICEP_FOLDER: &str = "generated";

/// Folders beside specs that hold none.
const COMPANIONS: [&str; 3] = ["examples", "scenarios", "restler"];

type Slot = Arc<OnceLock<Result<Arc<Document>, LoadError>>>;

/// The root of a spec tree, with every file parsed so far. One may serve several threads; a file that two of
/// them want is still parsed once. Bicep types may be in a tree of their own beside it.
#[derive(Debug)]
pub struct SpecRoot {
    folder: Utf8PathBuf,
    bicep: Option<Utf8PathBuf>,
    slots: Mutex<HashMap<String, Slot>>,
    /// Files whose text is not that on disk.
    texts: HashMap<String, Vec<u8>>,
    parsed: AtomicUsize,
}

impl SpecRoot {
    /// A tree below `folder`. Nothing is read yet.
    pub fn new(folder: impl Into<Utf8PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            bicep: None,
            slots: Mutex::new(HashMap::new()),
            texts: HashMap::new(),
            parsed: AtomicUsize::new(0),
        }
    }

    /// The same tree with a copy of Azure's Bicep types: files below [`BICEP_FOLDER`] are read there, see
    /// [`path_in_copy`].
    #[must_use]
    pub fn with_bicep(mut self, folder: impl Into<Utf8PathBuf>) -> Self {
        self.bicep = Some(folder.into());
        self
    }

    /// The same tree with `text` in place of what `file` (relative to the root) holds on disk, if it is there at all.
    /// Other files that were parsed already are not parsed again.
    pub fn with_text(&self, file: &str, text: impl Into<Vec<u8>>) -> Self {
        let mut slots = self.slots().clone();
        slots.remove(file);
        let mut texts = self.texts.clone();
        texts.insert(file.to_owned(), text.into());
        Self {
            folder: self.folder.clone(),
            bicep: self.bicep.clone(),
            slots: Mutex::new(slots),
            texts,
            parsed: AtomicUsize::new(0),
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folder of the tree.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// JSON files below the root, relative to it and sorted. Folders whose files are no specs but go with them
    /// (`examples`, and inputs of Azure's own test tools) are left out.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn json_files(&self) -> Result<Vec<String>, LoadError> {
        json_files_below(&self.folder)
    }

    /// Files of Bicep types, named as in Azure's repository and sorted; none without a copy. Where the copy leaves out
    /// the folders above the providers, a file says its service in its name, or the last word of a provider stands for it.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn bicep_files(&self) -> Result<Vec<String>, LoadError> {
        let Some(copy) = self.bicep.as_ref().filter(|copy| copy.is_dir()) else {
            return Ok(Vec::new());
        };
        let whole = copy.join(BICEP_FOLDER);
        let is_whole = whole.is_dir();
        let mut files = json_files_below(if is_whole { &whole } else { copy })?;
        if is_whole {
            files.retain(|file| file.ends_with("/types.json"));
            let named = files.iter().map(|file| format!("{BICEP_FOLDER}/{file}"));
            return Ok(named.collect());
        }
        let named = files.iter().filter_map(|file| file_in_repository(file));
        Ok(named.collect())
    }

    /// Where a file is read, whether it exists or not.
    pub fn place(&self, file: &str) -> Utf8PathBuf {
        path_in_copy(self.copy(file), file)
    }

    /// Whether a file exists.
    pub fn has(&self, file: &str) -> bool {
        self.texts.contains_key(file) || self.place(file).is_file()
    }

    /// Folder of the tree that a file is in.
    fn copy(&self, file: &str) -> &Utf8Path {
        match &self.bicep {
            Some(bicep) if is_bicep_file(file) => bicep,
            _ => &self.folder,
        }
    }

    /// The document in `file`, relative to the root.
    ///
    /// # Errors
    /// When the file is missing, unreadable, not JSON or in no known format.
    pub fn document(&self, file: &str) -> Result<Arc<Document>, LoadError> {
        let slot = self.slots().entry(file.to_owned()).or_default().clone();
        slot.get_or_init(|| self.read(file).map(Arc::new)).clone()
    }

    /// Whether the text of `file` has one of these in it, in any casing. Cheaper than reading a document.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn mentions(&self, file: &str, texts: &[String]) -> Result<bool, LoadError> {
        let content = std::fs::read(self.place(file)).map_err(|error| unreadable(file, &error))?;
        let mut texts = texts.iter().map(String::as_bytes);
        Ok(texts.any(|text| {
            let mut windows = content.windows(text.len());
            windows.any(|window| window.eq_ignore_ascii_case(text))
        }))
    }

    /// Files that were read so far, relative to the root and sorted.
    pub fn files(&self) -> Vec<String> {
        let slots = self.slots();
        let read = |slot: &Slot| slot.get().is_some_and(Result::is_ok);
        let mut files: Vec<String> = slots
            .iter()
            .filter(|(_, slot)| read(slot))
            .map(|(file, _)| file.clone())
            .collect();
        files.sort();
        files
    }

    /// How often a file was parsed so far: once for each that was asked for, whoever asked.
    pub fn parsed(&self) -> usize {
        self.parsed.load(Ordering::Relaxed)
    }

    /// As [`SpecRoot::document`], for a file that a reference asks for.
    pub(super) fn referenced(&self, file: &str, from: &Source) -> Result<Arc<Document>, LoadError> {
        self.document(file).map_err(|mut error| {
            if let LoadError::MissingFile {
                referenced_from, ..
            }
            | LoadError::Unreadable {
                referenced_from, ..
            } = &mut error
            {
                *referenced_from = Some(from.clone());
            }
            error
        })
    }

    fn read(&self, file: &str) -> Result<Document, LoadError> {
        let bytes = match self.texts.get(file) {
            Some(text) => Cow::Borrowed(text.as_slice()),
            None => Cow::Owned(self.bytes(file)?),
        };
        self.parsed.fetch_add(1, Ordering::Relaxed);
        // Some editors leave a byte-order mark, which JSON does not allow.
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        format::document(file, text)
    }

    fn bytes(&self, file: &str) -> Result<Vec<u8>, LoadError> {
        std::fs::read(self.place(file)).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                LoadError::MissingFile {
                    file: file.to_owned(),
                    root: self.copy(file).to_string(),
                    referenced_from: None,
                }
            } else {
                unreadable(file, &error)
            }
        })
    }
}

fn unreadable(file: &str, error: &std::io::Error) -> LoadError {
    LoadError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
        referenced_from: None,
    }
}

/// JSON files below a folder but for those of companions, relative to it and sorted.
fn json_files_below(root: &Utf8Path) -> Result<Vec<String>, LoadError> {
    let mut found = Vec::new();
    let mut waiting = vec![Utf8PathBuf::new()];
    while let Some(relative) = waiting.pop() {
        let unreadable = |error: std::io::Error| unreadable(relative.as_str(), &error);
        let folder = root.join(&relative);
        for entry in folder.read_dir_utf8().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            // Follows links: a tree may be put together from several.
            if entry.path().is_dir() {
                if !COMPANIONS.contains(&name) && !name.starts_with('.') {
                    waiting.push(relative.join(name));
                }
            } else if entry.path().extension() == Some("json") {
                found.push(relative.join(name).into_string());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file is one of Azure's repository of Bicep types.
pub fn is_bicep_file(file: &str) -> bool {
    file.split_once('/')
        .is_some_and(|(first, _)| first == BICEP_FOLDER)
}

/// Where a copy at `folder` has a file of the repository. Copies of Bicep types may start at the providers, without
/// the two folders `generated/<service>` above these; where several services have an api-version of one provider, the
/// names of files say which they are of: `types-<service>.json`.
pub fn path_in_copy(folder: &Utf8Path, file: &str) -> Utf8PathBuf {
    let mut parts = file.splitn(3, '/').skip(1);
    let (Some(service), Some(short)) = (parts.next(), parts.next()) else {
        return folder.join(file);
    };
    if !is_bicep_file(file) || folder.join(BICEP_FOLDER).is_dir() {
        return folder.join(file);
    }
    let path = folder.join(short);
    let of_service = path.with_file_name(format!("types-{service}.json"));
    if of_service.is_file() {
        of_service
    } else {
        path
    }
}

/// The file of the repository that a copy without services has at `short`; none where it has no types.
fn file_in_repository(short: &str) -> Option<String> {
    let (folder, name) = short.rsplit_once('/')?;
    let stem = name.strip_suffix(".json")?;
    let provider = folder.split('/').next()?;
    let service = match stem.strip_prefix("types-") {
        Some(service) => service,
        None => provider.rsplit('.').next().filter(|_| stem == "types")?,
    };
    Some(format!("{BICEP_FOLDER}/{service}/{folder}/types.json"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{SpecRoot, path_in_copy};

    #[test]
    fn a_file_that_two_threads_want_is_parsed_once() {
        let root = SpecRoot::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specs"));
        let read = || root.document("common/types.json").expect("a document");
        let (here, there) = std::thread::scope(|scope| {
            let there = scope.spawn(read);
            (read(), there.join().expect("no panic"))
        });
        assert!(Arc::ptr_eq(&here, &there));
    }

    #[test]
    fn copies_of_bicep_types_may_start_at_the_providers() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let root = camino::Utf8Path::from_path(folder.path()).expect("path in UTF-8");
        let file = "generated/shop/microsoft.shop/2024-01-01/types.json";
        let short = "microsoft.shop/2024-01-01/types.json";
        assert_eq!(path_in_copy(root, file), root.join(short));
        assert_eq!(
            path_in_copy(root, "specification/a.json"),
            root.join("specification/a.json")
        );
        std::fs::create_dir(root.join("generated")).expect("folder");
        assert_eq!(path_in_copy(root, file), root.join(file));
    }

    #[test]
    fn several_services_may_share_a_folder_of_a_copy_of_bicep_types() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let root = camino::Utf8Path::from_path(folder.path()).expect("path in UTF-8");
        let shared = root.join("microsoft.shop/2024-01-01");
        std::fs::create_dir_all(&shared).expect("folder");
        for name in ["types.json", "types-till.json", "index.json"] {
            std::fs::write(shared.join(name), "[]").expect("file");
        }
        let specs = SpecRoot::new(root).with_bicep(root);
        assert_eq!(
            specs.bicep_files().expect("files"),
            [
                "generated/till/microsoft.shop/2024-01-01/types.json",
                "generated/shop/microsoft.shop/2024-01-01/types.json",
            ]
        );
        assert_eq!(
            specs.place("generated/till/microsoft.shop/2024-01-01/types.json"),
            shared.join("types-till.json")
        );
        assert_eq!(
            specs.place("generated/shop/microsoft.shop/2024-01-01/types.json"),
            shared.join("types.json")
        );
    }

    #[test]
    fn a_text_stands_in_for_a_file_and_leaves_the_others_as_they_are() {
        let root = SpecRoot::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specs"));
        let common = root.document("common/types.json").expect("a document");
        let text = r#"{"swagger": "2.0", "info": {"version": "ours"}}"#;
        let edited = root.with_text("widgets/widgets.json", text);
        let document = edited.document("widgets/widgets.json").expect("a document");
        assert_eq!(document.api_version.as_deref(), Some("ours"));
        let same = edited.document("common/types.json").expect("a document");
        assert!(Arc::ptr_eq(&common, &same));
        let before = root.document("widgets/widgets.json").expect("a document");
        assert_ne!(before.api_version, document.api_version);
    }
}
