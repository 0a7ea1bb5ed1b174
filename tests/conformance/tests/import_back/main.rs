//! The reverse of an import, over every version: a manifest becomes a request, Azure shows what it took, and the import of that
//! is the same manifest: its version, kind, name, owner, references and values; what it leaves out says nothing to Azure. Once
//! Azure is our own word for what it shows, and once it is the simulator, which checks what it is sent and processes it as services do.
//!
//! | module | what lives here |
//! |---|---|
//! | [`manifest`] | manifests by chance |
//! | [`azure`] | the simulator, asked without a socket |
//! | [`compare`] | what tells two manifests apart, and what of it is Azure's own |
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

mod azure;
mod compare;
mod manifest;

use std::cell::Cell;

use armature::descriptions::Descriptions;
use armature::import::defaults::leave_out;
use armature::import::{Draft, Imported, Resource, Wanted, draft, manifests};
use armature_conformance::properties::{for_all, same, versions};
use armature_runtime::kind::{KindInfo, VersionInfo};
use serde_json::{Value, json};

use azure::Azure;
use compare::{came_in, lost, telling, unlike, without_secrets};
use manifest::{Written, object_name};

/// Values per version.
const CASES: u32 = 24;
/// The same with an Azure in between.
const CASES_THROUGH_AZURE: u32 = 24;
/// How often as many are made of a version of which none was sent.
const MOST_ROUNDS: usize = 20;
/// Words of refusals that say nothing about an import, with reasons.
const REFUSALS: [(&str, &str); 3] = [
    (
        "InvalidResourceName",
        "the rules of the name are those of the kind's newest version",
    ),
    (
        "keyExpirationPeriodInDays",
        "the least number of days is in no spec",
    ),
    (
        "ManagedEnvironmentNotFound",
        "texts that are no ids name no environment",
    ),
];
/// Kinds that do not come back, with reasons.
const NOT_BACK: [(&str, &str); 2] = [
    (
        "FleetsUpdateRun",
        "a run needs members of the fleet, which a manifest alone does not make",
    ),
    (
        "ServersKey",
        "the spec says that what it requires is never shown",
    ),
];

#[test]
fn what_was_made_of_a_manifest_is_imported_as_that_manifest() {
    for (kind, version) in versions() {
        let what = format!("{} {}", kind.kind, version.name);
        for_all(&what, CASES, |seed, size| {
            let Some(written) = Written::of(kind, version, seed, size) else {
                return Ok(());
            };
            let sent = written.body(&written.spec)?;
            let draft = draft_of(&written, &sent)?;
            if let Some(left_out) = draft.left_out.first() {
                return Err(format!("{}: {}\n{sent}", left_out.path, left_out.why));
            }
            let again = written.body(&draft.spec)?;
            let sent = telling(&sent);
            same(&sent, &telling(&again))?;
            let short = imported(&written, without_defaults(draft.clone()))?;
            let whole = imported(&written, draft)?;
            is_same_manifest(&written, &whole, false)?;
            same(&sent, &telling(&written.body(&whole.manifest["spec"])?))?;
            // Without defaults nothing came in, and nothing else is another value.
            let again = telling(&written.body(&short.manifest["spec"])?);
            lost(&again, &sent, "").map_or(Ok(()), Err)
        });
    }
}

fn draft_of(written: &Written, shown: &Value) -> Result<Draft, String> {
    let resource = Resource {
        id: written.id.clone(),
        kind: written.kind,
        version: written.version,
        body: shown.clone(),
    };
    draft(resource).map_err(|why| format!("{why}: {shown}"))
}

/// The same without values that Azure's specs state as the default.
fn without_defaults(mut draft: Draft) -> Draft {
    let group = draft.resource.kind.group;
    leave_out(&mut draft, &Descriptions::shared(group));
    draft
}

/// The manifest of a resource that is imported together with what it stands among.
fn imported(written: &Written, draft: Draft) -> Result<Imported, String> {
    let id = draft.resource.id.clone();
    let mut drafts = written.surroundings();
    drafts.push(draft);
    let mut all = manifests(drafts, &Wanted::default()).into_iter();
    all.find(|one| one.id == id)
        .ok_or_else(|| format!("no manifest of {id}"))
}

/// Whether it is the manifest that was written, as a whole.
fn is_same_manifest(written: &Written, imported: &Imported, decides: bool) -> Result<(), String> {
    let Written { kind, version, .. } = written;
    let resource = Resource {
        id: written.id.clone(),
        kind,
        version,
        body: Value::Null,
    };
    let mut manifest = imported.manifest.clone();
    let spec = manifest["spec"].take();
    let expected = json!({
        "apiVersion": format!("{}/{}", kind.group, version.name),
        "kind": kind.kind,
        "metadata": {"name": object_name(&resource)},
        "spec": null,
    });
    same(&expected, &manifest)?;
    for secret in &imported.secrets {
        if secret.secret.is_empty() {
            return Err(format!("{}: a Secret without a name", secret.path));
        }
    }
    match unlike(written, &spec, decides) {
        None => Ok(()),
        Some(unlike) => Err(format!(
            "{unlike}\nwritten  {}\nimported {spec}",
            written.spec
        )),
    }
}

/// One manifest on its way through Azure and back. `None` where it says nothing.
fn through_azure(
    (kind, version): (&'static KindInfo, &'static VersionInfo),
    (seed, size): (u64, usize),
) -> Result<Option<()>, String> {
    let Some(written) = Written::of(kind, version, seed, size) else {
        return Ok(None);
    };
    let sent = written.body(&written.spec)?;
    let shown = match Azure::new().made(&written.id, version, &sent) {
        Ok(shown) => shown,
        Err((_, why)) if REFUSALS.iter().any(|known| why.contains(known.0)) => return Ok(None),
        // A list or a map without items is not sent, and may be one that Azure wants.
        Err((_, why))
            if why.contains("required and missing") && telling(&written.spec) != written.spec =>
        {
            return Ok(None);
        }
        Err((status, why)) => return Err(format!("{}: {status} {why}\n{sent}", written.id)),
    };
    let draft = draft_of(&written, &shown)?;
    let imported = imported(&written, draft)?;
    is_same_manifest(&written, &imported, true)?;
    // What was left out was never sent, or is lost; what came in is what Azure shows.
    let again = written.body(&imported.manifest["spec"])?;
    let [sent, again] = [sent, again].map(|body| telling(&without_secrets(&body)));
    match lost(&sent, &again, "").or_else(|| came_in(&again, &sent, &shown, "")) {
        None => Ok(Some(())),
        Some(lost) => Err(format!(
            "{lost}\nsent  {sent}\nshown {shown}\nagain {again}"
        )),
    }
}

/// The same with an Azure in between that checks the request, keeps what it keeps, shows what it shows, and sets defaults of its own.
#[test]
fn what_azure_was_sent_is_imported_as_that_manifest() {
    let mut silent = Vec::new();
    // What Azure does not show cannot be imported.
    let is_shown = |(kind, version): &(&KindInfo, &VersionInfo)| {
        version.verbs.get && NOT_BACK.iter().all(|(known, _)| *known != kind.kind)
    };
    for (kind, version) in versions().filter(is_shown) {
        let told = Cell::new(0);
        let what = format!("{} {} through Azure", kind.kind, version.name);
        // Of a few versions chance seldom makes what anybody could apply.
        for _ in 0..MOST_ROUNDS {
            for_all(&what, CASES_THROUGH_AZURE, |seed, size| {
                let came_back = through_azure((kind, version), (seed, size))?;
                told.set(told.get() + usize::from(came_back.is_some()));
                Ok(())
            });
            if told.get() > 0 {
                break;
            }
        }
        if told.get() == 0 {
            silent.push(format!("{} {}", kind.kind, version.name));
        }
    }
    assert_eq!(
        silent,
        Vec::<String>::new(),
        "versions of which nothing was sent"
    );
}
