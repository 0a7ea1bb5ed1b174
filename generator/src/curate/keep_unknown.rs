//! Lists and maps in which a PUT keeps what the spec never named: from paths of the spec to those of ARM.

use super::path;
use crate::curation::{GroupConfig, Problem};
use crate::model::{Group, TypeRef};

/// Notes the ARM paths in each api-version that has them. `group` is curated.
pub(super) fn finish(group: &mut Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        for place in &rules.keep_unknown {
            let names: Vec<&str> = place.get_ref().split('.').collect();
            if let Some(fault) = note(group, kind.get_ref(), &names) {
                problems.push(config.problem(place, fault));
            }
        }
    }
    problems
}

/// Notes one path; what is wrong with it, unless an api-version of the kind has it.
fn note(group: &mut Group, kind: &str, names: &[&str]) -> Option<String> {
    let mut fault = None;
    let mut is_there = false;
    for version in group.versions.values_mut() {
        let place = version.resources.iter().position(|it| it.kind == kind);
        let Some(place) = place else {
            continue;
        };
        match path::walk(version, &version.resources[place].spec, names) {
            Ok(walked) => match walked.last().map(|last| &last.ty) {
                Some(TypeRef::List(_) | TypeRef::Map(_)) => {
                    let arm = walked.iter().flat_map(|it| it.place.path());
                    let arm = arm.cloned().collect();
                    version.resources[place].keep_unknown.push(arm);
                    is_there = true;
                }
                _ => {
                    fault = Some(format!(
                        "`keep-unknown` needs a list or a map, and `{}` of `{kind}` is something else",
                        names.join(".")
                    ));
                }
            },
            Err(end) => fault = Some(format!("the spec of `{kind}` {end}")),
        }
    }
    fault.filter(|_| !is_there)
}
