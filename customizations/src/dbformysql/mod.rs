//! `dbformysql.azure.com`: an import leaves out the settings that nobody chose.

use armature_generated::dbformysql::hub::{
    FlexibleServersConfiguration, FlexibleServersConfigurationKind,
};
use armature_runtime::extension::{Context, RegistryBuilder};

use crate::unmade::{LeaveOut, of_setting};

/// Adds what this group has.
pub(crate) fn register(registry: RegistryBuilder) -> RegistryBuilder {
    registry.register_importer(LeaveOut::<FlexibleServersConfigurationKind>(not_chosen))
}

/// MySQL's service says yes and no in texts.
fn not_chosen(_: &Context, setting: &FlexibleServersConfiguration) -> Option<&'static str> {
    let status = setting.status.as_ref()?;
    let is_read_only = status.is_read_only.as_deref();
    let is_read_only = is_read_only.is_some_and(|word| word.eq_ignore_ascii_case("true"));
    of_setting(status.source.as_deref(), is_read_only)
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

    #[test]
    fn settings_that_nobody_chose_are_not_imported() {
        for (source, is_read_only, is_imported) in [
            ("user-override", "False", true),
            ("system-default", "False", false),
            ("user-override", "True", false),
        ] {
            let mut setting = FlexibleServersConfiguration::new("s", Default::default());
            let status = json!({"source": source, "isReadOnly": is_read_only});
            setting.status = Some(decode(&status).expect("a status"));
            let reason = not_chosen(&Doubles::default().context(), &setting);
            assert_eq!(reason.is_none(), is_imported, "{source} {is_read_only}");
        }
    }
}
