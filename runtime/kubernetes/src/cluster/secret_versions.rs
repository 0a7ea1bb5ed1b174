//! Which version Secrets with a credential have, kept by the metadata-only watch of Secrets: one whose version is known
//! need not be read again. Only Secrets that were read once are kept, and of them nothing but the version.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use armature_azure::credential::SecretUser;

/// Namespace and name.
type Name = (String, String);

/// Versions of Secrets that were read as credentials.
#[derive(Default)]
pub struct SecretVersions {
    state: Mutex<State>,
    /// Who has what was read.
    user: OnceLock<Weak<dyn SecretUser>>,
}

#[derive(Default)]
struct State {
    versions: HashMap<Name, Seen>,
    /// Number of the last read.
    reads: u64,
    /// What is watched and whose list is complete: a namespace, or all where there is none.
    listed: HashSet<Option<String>>,
}

/// What is known of a Secret.
enum Seen {
    /// Nothing but that it is being read, by the read with this number or an older one.
    Reading(u64),
    /// Its version.
    Version(String),
}

/// A read that is under way.
#[derive(Clone, Copy)]
pub struct Reading(u64);

impl State {
    fn is_listed(&self, namespace: &str) -> bool {
        let mut listed = self.listed.iter();
        listed.any(|scope| scope.as_deref().is_none_or(|scope| scope == namespace))
    }
}

impl SecretVersions {
    /// Who is told from now on when a Secret that was read changed or is gone. Counts once.
    pub fn tell(&self, user: Weak<dyn SecretUser>) {
        // Whoever came first stays.
        let _ = self.user.set(user);
    }

    fn changed<'n>(&self, names: impl IntoIterator<Item = (&'n str, &'n str)>) {
        let Some(user) = self.user.get().and_then(Weak::upgrade) else {
            return;
        };
        for (namespace, name) in names {
            user.secret_changed(namespace, name);
        }
    }

    /// The version that the watch shows; nothing where it shows none, or the Secret was never read.
    pub fn get(&self, namespace: &str, name: &str) -> Option<String> {
        let state = self.lock();
        match state.versions.get(&named(namespace, name))? {
            Seen::Version(version) if state.is_listed(namespace) => Some(version.clone()),
            Seen::Version(_) | Seen::Reading(_) => None,
        }
    }

    /// The Secret is about to be read: what the watch tells from now on counts.
    pub fn begin_read(&self, namespace: &str, name: &str) -> Reading {
        let mut state = self.lock();
        state.reads += 1;
        let number = state.reads;
        let name = named(namespace, name);
        state.versions.insert(name, Seen::Reading(number));
        Reading(number)
    }

    /// The Secret was read and had this version, or is not there. What the watch told meanwhile, or a read that began
    /// later, is newer; the worst is that the Secret is read once more.
    pub fn finish_read(
        &self,
        namespace: &str,
        name: &str,
        reading: Reading,
        version: Option<&str>,
    ) {
        let mut state = self.lock();
        let name = named(namespace, name);
        let is_newest = matches!(
            state.versions.get(&name),
            Some(Seen::Reading(number)) if *number == reading.0
        );
        match version {
            Some(version) if is_newest => {
                let version = Seen::Version(version.to_owned());
                state.versions.insert(name, version);
            }
            Some(_) => {}
            None => {
                state.versions.remove(&name);
            }
        }
    }

    /// Whether the Secret was read, so that its version is kept.
    pub fn is_read(&self, namespace: &str, name: &str) -> bool {
        self.lock().versions.contains_key(&named(namespace, name))
    }

    /// The watch told that the Secret has this version.
    pub fn apply(&self, namespace: &str, name: &str, version: String) {
        let is_news = match self.lock().versions.get_mut(&named(namespace, name)) {
            None => false,
            Some(Seen::Version(known)) if *known == version => false,
            Some(known) => {
                *known = Seen::Version(version);
                true
            }
        };
        if is_news {
            self.changed([(namespace, name)]);
        }
    }

    /// The watch told that the Secret is gone.
    pub fn remove(&self, namespace: &str, name: &str) {
        let known = self.lock().versions.remove(&named(namespace, name));
        if known.is_some() {
            self.changed([(namespace, name)]);
        }
    }

    /// A list of one namespace, or of all, begins: what is known of it may be out of date until it ends.
    pub fn begin_list(&self, scope: Option<&str>) {
        self.lock().listed.remove(&scope.map(str::to_owned));
    }

    /// Ends a list of one namespace, or of all: Secrets that are not in it are gone.
    pub fn finish_list(&self, scope: Option<&str>, found: &HashSet<Name>) {
        let mut state = self.lock();
        let is_elsewhere = |namespace: &str| scope.is_some_and(|scope| scope != namespace);
        let versions = &mut state.versions;
        let gone = versions.extract_if(|name, _| !is_elsewhere(&name.0) && !found.contains(name));
        let gone: Vec<Name> = gone.map(|(name, _)| name).collect();
        state.listed.insert(scope.map(str::to_owned));
        drop(state);
        let gone = gone.iter();
        self.changed(gone.map(|(namespace, name)| (namespace.as_str(), name.as_str())));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is one insertion or removal: a panic leaves a map that is still valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(namespace: &str, name: &str) -> Name {
    (namespace.to_owned(), name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn read(known: &SecretVersions, version: &str) {
        let reading = known.begin_read("team", "own");
        known.finish_read("team", "own", reading, Some(version));
    }

    #[test]
    fn nothing_is_known_before_the_watch_has_listed() {
        let known = SecretVersions::default();
        read(&known, "1");
        assert_eq!(known.get("team", "own"), None);
        known.finish_list(Some("other"), &HashSet::new());
        assert_eq!(known.get("team", "own"), None);
        known.finish_list(Some("team"), &HashSet::from([named("team", "own")]));
        assert_eq!(known.get("team", "own").as_deref(), Some("1"));
        known.begin_list(Some("team"));
        assert_eq!(
            known.get("team", "own"),
            None,
            "an event may have been missed"
        );
    }

    #[test]
    fn only_what_was_read_is_kept() {
        let known = SecretVersions::default();
        known.finish_list(None, &HashSet::new());
        known.apply("team", "own", "1".to_owned());
        assert_eq!(known.get("team", "own"), None);
        read(&known, "1");
        known.apply("team", "own", "2".to_owned());
        assert_eq!(known.get("team", "own").as_deref(), Some("2"));
    }

    #[test]
    fn what_the_watch_tells_during_a_read_counts() {
        let known = SecretVersions::default();
        known.finish_list(None, &HashSet::new());
        let reading = known.begin_read("team", "own");
        known.apply("team", "own", "2".to_owned());
        known.finish_read("team", "own", reading, Some("1"));
        assert_eq!(known.get("team", "own").as_deref(), Some("2"));
        let reading = known.begin_read("team", "own");
        known.remove("team", "own");
        known.finish_read("team", "own", reading, Some("2"));
        assert_eq!(known.get("team", "own"), None);
    }

    #[derive(Default)]
    struct User(Mutex<Vec<String>>);

    impl SecretUser for User {
        fn secret_changed(&self, namespace: &str, name: &str) {
            self.0.lock().unwrap().push(format!("{namespace}/{name}"));
        }
    }

    #[test]
    fn who_has_what_was_read_is_told_that_it_changed_or_is_gone() {
        let known = SecretVersions::default();
        let user = Arc::new(User::default());
        let told = || std::mem::take(&mut *user.0.lock().unwrap());
        let weak: Weak<dyn SecretUser> = Arc::downgrade(&(user.clone() as Arc<dyn SecretUser>));
        known.tell(weak);
        known.finish_list(None, &HashSet::new());
        known.apply("team", "other", "1".to_owned());
        read(&known, "1");
        known.apply("team", "own", "1".to_owned());
        assert_eq!(told(), [""; 0], "nothing changed that was read");
        known.apply("team", "own", "2".to_owned());
        assert_eq!(told(), ["team/own"]);
        known.remove("team", "own");
        assert_eq!(told(), ["team/own"]);
        known.remove("team", "own");
        read(&known, "3");
        known.finish_list(Some("elsewhere"), &HashSet::new());
        assert_eq!(told(), [""; 0]);
        known.finish_list(None, &HashSet::new());
        assert_eq!(told(), ["team/own"], "gone while nobody watched");
    }

    #[test]
    fn a_slow_read_says_nothing_over_a_later_one() {
        let known = SecretVersions::default();
        known.finish_list(None, &HashSet::new());
        let slow = known.begin_read("team", "own");
        let later = known.begin_read("team", "own");
        known.finish_read("team", "own", slow, Some("1"));
        assert_eq!(known.get("team", "own"), None);
        known.finish_read("team", "own", later, Some("2"));
        assert_eq!(known.get("team", "own").as_deref(), Some("2"));
    }

    #[test]
    fn what_is_gone_is_read_again() {
        let known = SecretVersions::default();
        known.finish_list(None, &HashSet::new());
        read(&known, "1");
        known.remove("team", "own");
        assert_eq!(known.get("team", "own"), None);
        read(&known, "2");
        known.begin_list(None);
        known.finish_list(None, &HashSet::new());
        assert_eq!(known.get("team", "own"), None);
        let reading = known.begin_read("team", "own");
        known.finish_read("team", "own", reading, None);
        assert_eq!(known.get("team", "own"), None);
    }
}
