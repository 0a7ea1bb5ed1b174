//! What is kept of credentials, bounded by bytes: Secrets are the tenants' to make. Where it is too much, the namespace with the most
//! gives up what it has not used for the longest time, and makes it again when it needs it.

use std::collections::HashMap;

use super::CredentialKey;

/// What takes so many bytes at most.
pub(super) trait Weighed {
    /// As many as it may come to take.
    fn bytes(&self) -> usize;
}

/// One entry at most for each credential, and no more bytes than are allowed.
pub(super) struct Kept<V> {
    known: HashMap<CredentialKey, Entry<V>>,
    most: usize,
    bytes: usize,
    uses: u64,
}

struct Entry<V> {
    value: V,
    bytes: usize,
    /// When it was used, in uses of all.
    used: u64,
}

impl<V: Weighed> Kept<V> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            known: HashMap::new(),
            most,
            bytes: 0,
            uses: 0,
        }
    }

    pub(super) fn get(&mut self, key: &CredentialKey) -> Option<&V> {
        self.uses += 1;
        let entry = self.known.get_mut(key)?;
        entry.used = self.uses;
        Some(&entry.value)
    }

    pub(super) fn insert(&mut self, key: CredentialKey, value: V) {
        self.remove(&key);
        self.uses += 1;
        let entry = Entry {
            bytes: value.bytes() + bytes_of(&key),
            value,
            used: self.uses,
        };
        self.bytes += entry.bytes;
        self.known.insert(key, entry);
        while self.bytes > self.most
            && let Some(key) = self.spare()
        {
            self.remove(&key);
        }
    }

    pub(super) fn remove(&mut self, key: &CredentialKey) {
        if let Some(entry) = self.known.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    /// What the namespace with the most has not used for the longest time. The operator's own is nobody's to drive out.
    fn spare(&self) -> Option<CredentialKey> {
        let mut of_namespaces: HashMap<&str, (usize, u64, &CredentialKey)> = HashMap::new();
        for (key, entry) in &self.known {
            let CredentialKey::Secret { namespace, .. } = key else {
                continue;
            };
            let first = (0, entry.used, key);
            let of_namespace = of_namespaces.entry(namespace).or_insert(first);
            of_namespace.0 += entry.bytes;
            if entry.used < of_namespace.1 {
                (of_namespace.1, of_namespace.2) = (entry.used, key);
            }
        }
        let most = of_namespaces.into_values().max_by_key(|(bytes, ..)| *bytes);
        most.map(|(.., key)| key.clone())
    }
}

/// What a key takes beside what it is for.
fn bytes_of(key: &CredentialKey) -> usize {
    let names = match key {
        CredentialKey::Global => 0,
        CredentialKey::Secret { namespace, name } => namespace.len() + name.len(),
    };
    size_of::<CredentialKey>() + names
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weighed for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    fn key(namespace: &str, name: usize) -> CredentialKey {
        CredentialKey::Secret {
            namespace: namespace.to_owned(),
            name: name.to_string(),
        }
    }

    /// As many as an entry takes that takes so many itself.
    fn with_key(namespace: &str, name: usize, bytes: usize) -> usize {
        bytes - bytes_of(&key(namespace, name))
    }

    #[test]
    fn who_has_the_most_gives_up_what_it_uses_least() {
        let mut kept = Kept::new(10_000);
        let add = |kept: &mut Kept<usize>, namespace: &str, name: usize, bytes: usize| {
            kept.insert(key(namespace, name), with_key(namespace, name, bytes));
        };
        kept.insert(
            CredentialKey::Global,
            1000 - bytes_of(&CredentialKey::Global),
        );
        add(&mut kept, "small", 0, 1000);
        for name in 0..50 {
            add(&mut kept, "large", name, 1000);
            assert!(kept.get(&key("large", 0)).is_some(), "it is used");
        }
        assert_eq!((kept.bytes, kept.known.len()), (10_000, 10));
        assert!(kept.get(&CredentialKey::Global).is_some());
        assert!(kept.get(&key("small", 0)).is_some());
        assert!(kept.get(&key("large", 49)).is_some() && kept.get(&key("large", 30)).is_none());
        // The same again takes no more, and what is too large is not kept at all.
        add(&mut kept, "large", 49, 500);
        assert_eq!(kept.bytes, 9_500);
        kept.insert(key("huge", 0), 100_000);
        assert!(kept.get(&key("huge", 0)).is_none() && kept.get(&key("small", 0)).is_some());
        for name in 0..50 {
            kept.remove(&key("large", name));
        }
        assert_eq!(kept.bytes, 2_000);
    }

    /// Who names a Secret chooses how long its name is.
    #[test]
    fn keys_count() {
        let mut kept = Kept::new(100_000);
        for name in 0..10_000 {
            kept.insert(key(&"n".repeat(250), name), 1);
        }
        assert!(kept.known.len() <= 100_000 / 250, "{}", kept.known.len());
    }
}
