//! Which lists of objects are complete, by kind and namespace.
//!
//! What is not listed may exist: it is not taken for absent, and one list that fails is no reason to stop where it says nothing.

use std::collections::{BTreeMap, HashMap};

use armature_shapes::quote::shortened;
use armature_shapes::resource::Kind;

/// A namespace; all of them where there is none.
type Scope = Option<String>;

#[derive(Debug, Default)]
pub(crate) struct Lists {
    kinds: HashMap<Kind, BTreeMap<Scope, List>>,
    /// Every installed kind is watched.
    kinds_are_known: bool,
}

/// The first list of a kind in one scope. Later ones are told by watches.
#[derive(Clone, Debug, PartialEq, Eq)]
enum List {
    /// It is being read, or will be.
    Awaited,
    /// It was read to its end.
    Complete,
    /// The API server refuses it, for this reason.
    Refused(String),
    /// The API server goes on to fail at it, for this reason, and not at others of the kind. What is in there is not known.
    Failing(String),
}

impl Lists {
    /// The kind is about to be listed in these scopes.
    pub fn begin(&mut self, kind: Kind, scopes: impl IntoIterator<Item = Scope>) {
        let lists = scopes.into_iter().map(|scope| (scope, List::Awaited));
        self.kinds.insert(kind, lists.collect());
    }

    /// The list has been read to its end.
    pub fn complete(&mut self, kind: Kind, scope: &Scope) {
        if let Some(list) = self.list(kind, scope) {
            *list = List::Complete;
        }
    }

    /// The API server refuses a list, and will go on to. One that was complete once stays so: what comes after it is the watch's.
    pub fn refuse(&mut self, kind: Kind, scope: &Scope, why: &str) {
        if let Some(list) = self.list(kind, scope)
            && *list != List::Complete
        {
            *list = List::Refused(shortened(why).into_owned());
        }
    }

    /// The API server goes on to fail at a list that was never complete, while it lists the kind elsewhere.
    pub fn fail(&mut self, kind: Kind, scope: &Scope, why: &str) {
        if let Some(list) = self.list(kind, scope)
            && *list != List::Complete
        {
            *list = List::Failing(shortened(why).into_owned());
        }
    }

    /// A namespace other than this one in which the list of the kind is complete.
    pub fn complete_elsewhere(&self, kind: Kind, namespace: &str) -> Option<String> {
        let mut elsewhere = self.of(kind).filter(|(scope, list)| {
            **list == List::Complete && scope.as_deref().is_some_and(|scope| scope != namespace)
        });
        elsewhere.next().and_then(|(scope, _)| scope.clone())
    }

    /// The kind is no longer watched.
    pub fn forget(&mut self, kind: Kind) {
        self.kinds.remove(&kind);
    }

    /// It is known which kinds are installed.
    pub fn all_kinds_are_known(&mut self) {
        self.kinds_are_known = true;
    }

    fn list(&mut self, kind: Kind, scope: &Scope) -> Option<&mut List> {
        self.kinds.get_mut(&kind)?.get_mut(scope)
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = (&Scope, &List)> {
        self.kinds.get(&kind).into_iter().flatten()
    }

    /// Whether all objects of the kind in this namespace are known, so that an unknown one does not exist.
    pub fn has(&self, kind: Kind, namespace: &str) -> bool {
        let mut of_namespace = self.of(kind).filter(|(scope, _)| is_of(scope, namespace));
        of_namespace.any(|(_, list)| *list == List::Complete)
    }

    /// Why it cannot be told which objects in the reach of this operator stand for the ARM id of an object of this namespace.
    /// Where lists of other namespaces are refused or fail, nothing is done there: nobody writes their resources.
    pub fn sharing_unknown(&self, kind: Kind, namespace: &str) -> Option<String> {
        if self.of(kind).next().is_none() {
            return Some(format!("{} are not listed yet", objects(kind, &None)));
        }
        let mut missing = self.of(kind).filter(|(scope, list)| match list {
            List::Complete => false,
            List::Awaited => true,
            List::Refused(_) | List::Failing(_) => is_of(scope, namespace),
        });
        missing.next().map(|(scope, list)| told(kind, scope, list))
    }

    /// Why it cannot be told which objects stand for a resource of this ARM type, before something is deleted or taken out of a list.
    /// Where lists are refused, nothing is done; where they fail, an object may stand for it once they can be read again.
    pub fn of_type_unknown(&self, arm_type: &str) -> Option<String> {
        if !self.kinds_are_known {
            return Some("the installed kinds are not known yet".to_owned());
        }
        let kinds = self.kinds.iter();
        let of_type = kinds.filter(|(kind, _)| kind.0.remote_type().eq_ignore_ascii_case(arm_type));
        let mut lists = of_type.flat_map(|(kind, lists)| lists.iter().map(|list| (*kind, list)));
        let missing = lists.find(|(_, (_, list))| matches!(list, List::Awaited | List::Failing(_)));
        missing.map(|(kind, (scope, list))| told(kind, scope, list))
    }

    /// What is not known, so that an unknown object may exist: which kinds are installed, or the objects of one. A namespace that
    /// does not exist has none.
    pub fn unknown(&self, exists: impl Fn(&str) -> bool) -> Option<String> {
        if !self.kinds_are_known {
            return Some("the installed kinds are not known yet".to_owned());
        }
        let all = self.kinds.iter();
        let mut all = all.flat_map(|(kind, lists)| lists.iter().map(|list| (*kind, list)));
        let missing = all.find(|(_, (scope, list))| match list {
            List::Complete => false,
            List::Awaited => true,
            List::Refused(_) | List::Failing(_) => scope.as_deref().is_none_or(&exists),
        });
        missing.map(|(kind, (scope, list))| told(kind, scope, list))
    }
}

fn is_of(scope: &Scope, namespace: &str) -> bool {
    scope.as_ref().is_none_or(|scope| scope == namespace)
}

fn told(kind: Kind, scope: &Scope, list: &List) -> String {
    let objects = objects(kind, scope);
    match list {
        List::Refused(why) | List::Failing(why) => format!("{objects} cannot be listed: {why}"),
        List::Awaited | List::Complete => format!("{objects} are not listed yet"),
    }
}

fn objects(kind: Kind, scope: &Scope) -> String {
    let kind = kind.0.kind;
    match scope {
        None => format!("objects of kind {kind}"),
        Some(namespace) => format!("objects of kind {kind} in namespace {namespace}"),
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::MODEL;

    use super::*;

    const KIND: Kind = Kind(&MODEL);

    fn scope(namespace: &str) -> Scope {
        Some(namespace.to_owned())
    }

    #[test]
    fn a_list_that_is_refused_stops_its_namespace_and_no_other() {
        let mut lists = Lists::default();
        assert_eq!(
            lists.sharing_unknown(KIND, "web").as_deref(),
            Some("objects of kind Gadget are not listed yet")
        );
        lists.begin(KIND, [scope("web"), scope("gone")]);
        lists.complete(KIND, &scope("web"));
        // It may come yet.
        assert!(lists.sharing_unknown(KIND, "web").is_some());
        assert!(lists.has(KIND, "web") && !lists.has(KIND, "gone"));
        lists.refuse(KIND, &scope("gone"), "forbidden");
        assert_eq!(lists.sharing_unknown(KIND, "web"), None);
        let refused = "objects of kind Gadget in namespace gone cannot be listed: forbidden";
        assert_eq!(
            lists.sharing_unknown(KIND, "gone").as_deref(),
            Some(refused)
        );
        lists.complete(KIND, &scope("gone"));
        assert_eq!(lists.sharing_unknown(KIND, "gone"), None);
        lists.refuse(KIND, &scope("gone"), "forbidden");
        assert!(lists.has(KIND, "gone"), "it was complete once");
        lists.forget(KIND);
        assert!(!lists.has(KIND, "web"));
    }

    #[test]
    fn a_list_that_goes_on_to_fail_stops_its_namespace_and_what_would_remove_something() {
        let mut lists = Lists::default();
        lists.all_kinds_are_known();
        lists.begin(KIND, [scope("web"), scope("broken")]);
        assert_eq!(lists.complete_elsewhere(KIND, "broken"), None);
        lists.complete(KIND, &scope("web"));
        let elsewhere = lists.complete_elsewhere(KIND, "broken");
        assert_eq!(elsewhere.as_deref(), Some("web"));
        assert_eq!(lists.complete_elsewhere(KIND, "web"), None);

        lists.fail(KIND, &scope("broken"), "etcd says no");
        assert_eq!(lists.sharing_unknown(KIND, "web"), None);
        let failing = "objects of kind Gadget in namespace broken cannot be listed: etcd says no";
        let told = [
            lists.sharing_unknown(KIND, "broken"),
            lists.of_type_unknown(KIND.0.remote_type()),
            lists.unknown(|_| true),
        ];
        for told in told {
            assert_eq!(told.as_deref(), Some(failing));
        }
        lists.complete(KIND, &scope("broken"));
        assert_eq!(lists.of_type_unknown(KIND.0.remote_type()), None);
        lists.fail(KIND, &scope("broken"), "etcd says no");
        assert!(lists.has(KIND, "broken"), "it was complete once");
    }

    #[test]
    fn what_is_not_listed_may_exist_unless_its_namespace_does_not() {
        let mut lists = Lists::default();
        let all = |_: &str| true;
        assert!(lists.unknown(all).is_some(), "any kind may be installed");
        lists.all_kinds_are_known();
        assert_eq!(lists.unknown(all), None);
        lists.begin(KIND, [scope("web"), scope("gone")]);
        lists.complete(KIND, &scope("web"));
        assert!(lists.unknown(|_| false).is_some(), "it is being listed");
        lists.refuse(KIND, &scope("gone"), "forbidden");
        assert!(lists.unknown(all).is_some());
        assert_eq!(lists.unknown(|name| name != "gone"), None);
    }
}
