//! `armature plan` over imported manifests, with the recorded answers for Azure.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use armature::import::text;
use armature::import::{Imported, Wanted};
use armature::plan::{self, Action, Input, Plan, Setting, Way};
use armature::worlds::manifests::manifest::{self, Document};
use armature_generated::KINDS;
use armature_progress::Progress;
use armature_runtime::azure::budget::{Limit, Limits};
use armature_runtime::azure::credential::operator_identity;
use armature_runtime::azure::{ClientSettings, Cloud};
use armature_runtime::reconcile::time::Time;
use armature_simulator::{Answer, Reply, Request, Running, Service};
use serde_json::{Value, json};

use super::{Import, NAMESPACE};

/// Subscription of all recordings.
const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// Answers by path in lower case and api-version.
type Answers = BTreeMap<(String, String), Value>;

/// Azure as each recording shows it; which one is asked says the credential.
#[derive(Clone)]
struct Recorded {
    recordings: Arc<Vec<Answers>>,
    endpoint: String,
}

impl Recorded {
    fn answer(&self, request: &Request) -> Answer {
        if request.path.ends_with("/oauth2/v2.0/token") {
            let form = String::from_utf8_lossy(&request.body);
            let mut form = form.split('&');
            let client = form.find_map(|part| part.strip_prefix("client_id="));
            let body =
                json!({"token_type": "Bearer", "expires_in": 86_400, "access_token": client});
            return Answer::json(200, body);
        }
        let token = request.header("authorization").unwrap_or_default();
        let index: Option<usize> = token.rsplit('-').next().and_then(|text| text.parse().ok());
        let answers = index.and_then(|index| self.recordings.get(index));
        let version = request.parameter("api-version").unwrap_or_default();
        let key = (request.path.to_lowercase(), version.to_owned());
        let found = answers.and_then(|answers| answers.get(&key));
        let answer = match found {
            Some(body) if request.method == "GET" => Answer::json(200, body.clone()),
            _ => Answer::json(
                404,
                json!({"error": {"code": "ResourceNotFound", "message": "not recorded"}}),
            ),
        };
        answer.with("x-ms-request-id", "recorded")
    }
}

impl Service for Recorded {
    fn handle(&self, request: &Request) -> Reply {
        self.answer(request).into()
    }

    fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

/// Plans every import, and adds to its outcomes what would not be as it is.
///
/// # Errors
/// When the server does not start, or a plan cannot be made.
pub async fn add(imports: &mut [Import]) -> Result<()> {
    let recordings = imports
        .iter()
        .map(|import| import.answers.clone())
        .collect();
    let server = Running::start("127.0.0.1:0", Vec::new(), |endpoint| Recorded {
        recordings: Arc::new(recordings),
        endpoint,
    })
    .await?;
    let folder = tempfile::tempdir()?;
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, server.ca_pem())?;
    for (index, import) in imports.iter_mut().enumerate() {
        let endpoint = server.endpoint();
        let variable = |name: &str| {
            Some(match name {
                "AZURE_SUBSCRIPTION_ID" => SUBSCRIPTION.to_owned(),
                "AZURE_TENANT_ID" => SUBSCRIPTION.to_owned(),
                "AZURE_CLIENT_ID" => format!("00000000-0000-0000-0000-{index:012}"),
                "AZURE_CLIENT_SECRET" => "for the recording".to_owned(),
                _ => return None,
            })
        };
        let azure = ClientSettings {
            cloud: Cloud::new(endpoint, endpoint, "https://management.azure.com")?,
            identity: operator_identity(variable)?.into(),
            ca_file: Some(ca_file.clone()),
            user_agent_suffix: None,
            token_file: None,
            other_clouds: false,
            identity_folders: Vec::new(),
            secret_bounds: Default::default(),
            metadata_endpoint: None,
        };
        let planned = planned(&import.imported, azure).await;
        let planned = planned.with_context(|| import.recording.clone())?;
        judge(import, &planned);
    }
    Ok(())
}

async fn planned(imported: &[Imported], azure: ClientSettings) -> Result<Plan> {
    let most = Limit {
        size: 1e6,
        per_second: 1e6,
    };
    let setting = Setting {
        kinds: KINDS,
        extensions: armature_customizations::registry()?,
        way: Way::Azure(Box::new(azure)),
        operator_namespace: "armature-system".to_owned(),
        told: None,
        limits: Limits {
            reads: most,
            writes: most,
            deletes: most,
        },
        parallel: 8,
        time: Time::default(),
        progress: Progress::silent(),
    };
    let input = Input {
        documents: documents(imported)?,
        ..Input::default()
    };
    plan::plan(&input, &setting).await
}

/// The manifests as they are read from what the command writes.
fn documents(imported: &[Imported]) -> Result<Vec<Document>> {
    let files = text::files(imported, &Wanted::default())?;
    let manifests = files.get(..imported.len()).unwrap_or_default();
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    let joined = text::joined(manifests);
    manifest::parse(&Default::default(), &joined, &mut documents, &mut errors);
    anyhow::ensure!(errors.is_empty(), "{errors:?}");
    for (document, one) in documents.iter().zip(imported) {
        anyhow::ensure!(
            is_same(&document.value, &one.manifest),
            "{} is read as something else",
            one.name.name
        );
    }
    anyhow::ensure!(documents.len() == imported.len(), "documents are missing");
    Ok(documents)
}

/// Whether two values are equal, numbers by what they are worth: kubectl reads `1.0` as `1`.
fn is_same(read: &Value, written: &Value) -> bool {
    match (read, written) {
        (Value::Number(read), Value::Number(written)) => {
            read == written || read.as_f64() == written.as_f64()
        }
        (Value::Array(read), Value::Array(written)) => {
            let mut items = read.iter().zip(written);
            read.len() == written.len() && items.all(|(read, written)| is_same(read, written))
        }
        (Value::Object(read), Value::Object(written)) => {
            let mut members = read.iter();
            read.len() == written.len()
                && members.all(|(name, read)| {
                    written
                        .get(name)
                        .is_some_and(|written| is_same(read, written))
                })
        }
        (read, written) => read == written,
    }
}

fn judge(import: &mut Import, plan: &Plan) {
    for one in &import.imported {
        let mut resources = plan.resources.iter();
        let found = resources.find(|resource| {
            let name = &resource.name;
            (name.group.as_str(), name.kind.as_str()) == (one.name.group, one.name.kind)
                && name.name == one.name.name
                && name.namespace == NAMESPACE
        });
        let problem = match found {
            None => Some("plan: not in it".to_owned()),
            Some(resource) if matches!(resource.action, Action::Adopt | Action::Unchanged) => None,
            Some(resource) => {
                let paths: Vec<&str> = resource
                    .properties
                    .iter()
                    .map(|property| property.path.as_str())
                    .collect();
                let reason = resource.reason.as_deref().unwrap_or_default();
                println!(
                    "{} {} {}: {} {reason} {:?} {paths:?}",
                    import.recording,
                    one.name.kind,
                    one.name.name,
                    resource.action.word(),
                    resource.message
                );
                Some(format!(
                    "plan: {}{}{}",
                    resource.action.word(),
                    if reason.is_empty() { "" } else { ", " },
                    reason
                ))
            }
        };
        let id = one.id.as_str();
        let mut outcomes = import.outcomes.iter_mut();
        let outcome = outcomes.find(|outcome| outcome.id.eq_ignore_ascii_case(id));
        if let (Some(outcome), Some(problem)) = (outcome, problem) {
            outcome.problems.insert(problem);
        }
    }
}
