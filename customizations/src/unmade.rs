//! Resources that nobody made: Azure has them by itself, so an import leaves them out.
//!
//! Objects of them would add nothing, and some could not be applied. A group says of a kind in one function which they are, and
//! registers [`LeaveOut`].

use armature_runtime::extension::{Context, ExtensionError, Import, Importer, Next};
use armature_runtime::kind::TypedKind;
use armature_runtime::resource::TypedObject;
use async_trait::async_trait;

/// Why a resource is not to be imported; nothing where somebody made it.
pub type Reason<K> = fn(&Context, &TypedObject<K>) -> Option<&'static str>;

/// Leaves out what has a reason.
pub struct LeaveOut<K: TypedKind>(pub Reason<K>);

#[async_trait]
impl<K: TypedKind> Importer for LeaveOut<K> {
    type Hub = K;

    async fn import(
        &self,
        context: &Context,
        object: &TypedObject<K>,
        next: Next<'_, Import>,
    ) -> Result<Import, ExtensionError> {
        match (self.0)(context, object) {
            Some(reason) => Ok(Import::Skipped(reason.to_owned())),
            None => next.call().await,
        }
    }
}

/// Why a setting of a database server is not to be imported: Azure chose its value, or nobody can. `source` and `is_read_only`
/// as Azure shows them.
pub fn of_setting(source: Option<&str>, is_read_only: bool) -> Option<&'static str> {
    let is_default = source.is_some_and(|source| source.eq_ignore_ascii_case("system-default"));
    match (is_read_only, is_default) {
        (true, _) => Some("nobody can change this setting"),
        (false, true) => Some("this setting has the default of its server"),
        (false, false) => None,
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_generated::dbforpostgresql::hub::{
        FlexibleServersDatabase, FlexibleServersDatabaseKind,
    };

    use super::*;
    use crate::testing::Doubles;

    #[tokio::test]
    async fn what_has_a_reason_is_skipped_with_it_and_nobody_is_asked() {
        let leave_out = LeaveOut::<FlexibleServersDatabaseKind>(|_, database| {
            (database.metadata.name.as_deref() == Some("own")).then_some("it is Azure's")
        });
        for (name, expected) in [
            ("own", Import::Skipped("it is Azure's".to_owned())),
            ("other", Import::Succeeded),
        ] {
            let database = FlexibleServersDatabase::new(name, Default::default());
            let doubles = Doubles::default();
            let next = Next::value(Import::Succeeded);
            let import = leave_out.import(&doubles.context(), &database, next).await;
            assert_eq!(import.expect("a result"), expected);
            doubles.assert_untouched();
        }
    }

    #[test]
    fn settings_that_somebody_chose_are_imported() {
        for (source, is_read_only, is_imported) in [
            (Some("user-override"), false, true),
            (Some("system-default"), false, false),
            (Some("System-Default"), false, false),
            (Some("user-override"), true, false),
            (None, false, true),
        ] {
            let reason = of_setting(source, is_read_only);
            assert_eq!(reason.is_none(), is_imported, "{source:?} {is_read_only}");
        }
    }
}
