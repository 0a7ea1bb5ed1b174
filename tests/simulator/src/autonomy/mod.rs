//! What Azure does by itself: values that move without a user, tags that a policy adds, answers in another form.
//!
//! An act is a pure change of what is stored. What may move, and while what, is in a table of this crate's own: it is read
//! from no client, so that a client can be tested against it.
//!
//! | module | what lives here |
//! |---|---|
//! | this one | acts, and what they change of a resource |
//! | `table` | which value of which type moves, while what, and how |
//! | `places` | paths of the table in a body |
//! | `moves` | new values from old ones, and which values are Azure's to have |
//! | `respell` | the same answer in other casing, order and format |
//! | `itself` | acts that nobody asks for |

mod itself;
mod moves;
mod places;
mod respell;
mod table;

use serde::Deserialize;
use serde_json::Value;

use crate::acts::Act;
use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::state::{Handled, State};

pub use moves::Changed;
pub use places::{expand, fits, get, resolve};
pub use table::{Bound, How, Row, When};

use moves::Body;

/// What somebody wants Azure to do by itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wanted {
    /// Id of the resource.
    pub id: String,
    /// What happens.
    pub act: Act,
    /// Which of the places that the act can move; the seed decides where there is none.
    pub path: Option<String>,
    /// What the value becomes; the seed decides where there is none.
    pub value: Option<Value>,
    /// The same seed does the same.
    #[serde(default)]
    pub seed: u64,
}

/// Rows of the table for a type.
pub fn rows(arm_type: &str) -> impl Iterator<Item = &'static Row> {
    let of_type = move |row: &&Row| row.arm_type.eq_ignore_ascii_case(arm_type);
    table::ROWS.iter().filter(of_type)
}

/// Acts that a type knows, whether or not a resource is such that they can happen now.
pub fn acts_of(arm_type: &str) -> Vec<Act> {
    let mut acts: Vec<Act> = rows(arm_type).map(|row| row.act).collect();
    acts.extend([Act::TagByPolicy, Act::Respell]);
    acts.sort();
    acts.dedup();
    acts
}

/// Whether a value is Azure's: a row is about the path, it holds for what is desired (for what Azure has where that does not
/// say it), and what Azure has is what the row lets it have. Steps into lists are numbers.
pub fn owns(arm_type: &str, path: &[String], desired: &Value, azure: &Value) -> bool {
    let steps: Vec<&str> = path.iter().map(String::as_str).collect();
    rows(arm_type).any(|row| moves::allows(row, &steps, desired, azure))
}

/// Whether an item that was added to the list at a path stays, whatever the manifest says of the list itself.
pub fn adds(arm_type: &str, path: &[String], desired: &Value, azure: &Value) -> bool {
    let steps: Vec<&str> = path.iter().map(String::as_str).collect();
    rows(arm_type).any(|row| moves::adds(row, &steps, desired, azure))
}

/// Whether two values are one in another casing, order or format.
pub fn is_respelled(one: &Value, other: &Value) -> bool {
    respell::plain(one) == respell::plain(other)
}

impl State {
    /// Does what is wanted, and answers what it changed.
    pub fn move_by_itself(&mut self, wanted: &Wanted) -> Result<Vec<Changed>, ArmError> {
        let id = ResourceId::parse(&wanted.id).ok_or_else(|| ArmError::invalid_path(&wanted.id))?;
        let Some(resource) = self.store.visible(&id) else {
            return Err(ArmError::resource_not_found(&id));
        };
        let arm_type = id.arm_type();
        let scaled = self.scaled(&id);
        let body = Body {
            value: &resource.body,
            scaled,
        };
        let changes = match wanted.act {
            Act::TagByPolicy => vec![self.policy_tag(&resource.body, wanted)],
            Act::Respell => respell::changes(&resource.body, wanted.seed),
            act => moves::changes(&arm_type, act, body, wanted)?,
        };
        if changes.is_empty() {
            let message = format!("'{id}' has nothing that '{}' changes.", wanted.act.name());
            return Err(ArmError::new(409, "NothingToMove", message));
        }
        self.put_changes(&id, &changes, wanted.act != Act::Respell);
        Ok(changes)
    }

    /// The answer of `POST /simulator/act`.
    pub fn answer_act(&mut self, wanted: &Wanted) -> Handled {
        let changes = self.move_by_itself(wanted)?;
        Ok(Answer::json(200, serde_json::json!({ "changed": changes })))
    }

    fn policy_tag(&self, body: &Value, wanted: &Wanted) -> Changed {
        let mut tags = self.settings.autonomy.policy_tags.iter();
        let of_policy = tags.next().map_or("policy", |(name, _)| name.as_str());
        let name = wanted.path.as_deref().unwrap_or(of_policy);
        let number = format!("of the policy, {}", wanted.seed);
        let value = wanted.value.clone().unwrap_or_else(|| number.into());
        let path = vec![
            "tags".to_owned(),
            name.trim_start_matches("tags.").to_owned(),
        ];
        Changed {
            before: places::get(body, &path).cloned(),
            after: Some(value),
            is_item: false,
            path,
        }
    }

    fn put_changes(&mut self, id: &ResourceId, changes: &[Changed], is_stored: bool) {
        let Some(resource) = self.store.get(id) else {
            return;
        };
        let (mut body, mut desired) = (resource.body.clone(), resource.desired.clone());
        for change in changes {
            moves::apply(&mut body, change);
            if is_stored {
                moves::apply(&mut desired, change);
            }
        }
        self.overwrite(id, body);
        if let Some(resource) = self.store.get_mut(id) {
            resource.desired = desired;
        }
        self.refresh_parent(id);
    }

    /// Between which numbers an autoscale setting moves the units of a resource.
    fn scaled(&self, id: &ResourceId) -> Option<(i64, i64)> {
        let mut all = self.store.all().filter(|found| {
            let arm_type = found.id.arm_type();
            arm_type.eq_ignore_ascii_case("Microsoft.Insights/autoscalesettings")
        });
        all.find_map(|setting| moves::bounds_of_setting(&setting.body, &id.key()))
    }
}
