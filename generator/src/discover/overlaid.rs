//! What an overlay adds to resources: verbs, what takes long, constraints of names, and which file is theirs.

use std::sync::Arc;

use super::DiscoveredResource;
use crate::model::{NameRule, Rules, Verbs};
use crate::overlay::{Overlay, PathAddition};

/// Resources with what an overlay adds to their paths. What nothing reads and no other spec knows is none: some types stand for
/// an operation alone.
pub fn overlaid<'a>(
    found: Vec<DiscoveredResource<'a>>,
    overlay: &'a Overlay,
) -> Vec<DiscoveredResource<'a>> {
    let added = |it: &DiscoveredResource<'_>| overlay.paths.contains_key(&it.source);
    let found = found.into_iter();
    found
        .filter(|resource| resource.verbs.get || added(resource))
        .map(|resource| match overlay.paths.get(&resource.source) {
            Some(added) => with(resource, added),
            None => resource,
        })
        .collect()
}

fn with<'a>(resource: DiscoveredResource<'a>, added: &'a PathAddition) -> DiscoveredResource<'a> {
    DiscoveredResource {
        home: Arc::clone(&added.source.file),
        inherited_from: Some(&added.from),
        verbs: verbs(resource.verbs, added.verbs),
        name: match (resource.name, &added.name) {
            (NameRule::Free(own), Some(rules)) if own == Rules::default() => {
                NameRule::Free(rules.clone())
            }
            (own, _) => own,
        },
        ..resource
    }
}

/// A set of another format cannot tell which verbs there are, beside those that make a resource; what can be read in one
/// api-version can be read in another.
fn verbs(own: Verbs, told: Verbs) -> Verbs {
    Verbs {
        get: own.get || told.get,
        put: own.put,
        head: told.head,
        patch: told.patch,
        delete: told.delete,
        put_long_running: own.put_long_running || told.put_long_running,
        delete_long_running: told.delete && (own.delete_long_running || told.delete_long_running),
    }
}

#[cfg(test)]
mod tests {
    use super::verbs;
    use crate::model::Verbs;

    #[test]
    fn what_takes_long_is_told_by_either_and_offered_verbs_by_the_other() {
        let own = Verbs {
            get: true,
            put: true,
            delete: true,
            delete_long_running: true,
            ..Verbs::default()
        };
        let told = Verbs {
            head: true,
            patch: true,
            put_long_running: true,
            ..Verbs::default()
        };
        let expected = Verbs {
            get: true,
            put: true,
            head: true,
            patch: true,
            put_long_running: true,
            ..Verbs::default()
        };
        assert_eq!(verbs(own, told), expected);
    }

    #[test]
    fn what_nothing_reads_here_is_read_as_the_other_says() {
        let verbs = |own, told| {
            let of = |get, head| Verbs {
                get,
                head,
                ..Verbs::default()
            };
            let both = verbs(of(own, true), told);
            (both.get, both.head)
        };
        let told = |get, head| Verbs {
            get,
            head,
            ..Verbs::default()
        };
        assert_eq!(verbs(false, told(true, false)), (true, false));
        assert_eq!(verbs(false, told(false, true)), (false, true));
        assert_eq!(verbs(true, told(false, true)), (true, true));
    }
}
