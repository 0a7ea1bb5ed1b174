//! Servers of PostgreSQL, MySQL, MariaDB and SQL, and what is in them: long operations, and children that need a server that
//! is ready. Read from the recordings of dbforpostgresql 2022-12-01 and from the examples of the other specs. Their host names
//! stand in [`super::answer_table`].

use serde_json::Value;

use super::{Behaviour, Scene, is_below};
use crate::error::ArmError;
use crate::json;
use crate::operation::{OperationRule, Style};

const POSTGRESQL: &str = "Microsoft.DBforPostgreSQL/flexibleServers";
const STATE: [&str; 2] = ["properties", "state"];

/// Types whose writes and deletions take long, and tell so both ways.
const SERVERS: [&str; 4] = [
    POSTGRESQL,
    "Microsoft.DBforMySQL/flexibleServers",
    "Microsoft.DBforMariaDB/servers",
    "Microsoft.Sql/servers",
];

/// Those of which the same holds for what is in a server.
const WITH_PARTS: [&str; 2] = [POSTGRESQL, "Microsoft.DBforMySQL/flexibleServers"];

/// Servers and what is in them.
#[derive(Debug)]
pub struct DatabaseServer;

impl Behaviour for DatabaseServer {
    fn applies_to(&self, arm_type: &str) -> bool {
        let mut servers = SERVERS.iter();
        servers.any(|server| server.eq_ignore_ascii_case(arm_type))
            || WITH_PARTS.iter().any(|server| is_below(arm_type, server))
    }

    fn operations(&self) -> OperationRule {
        OperationRule {
            put: Some(Style::Both),
            delete: Some(Style::Both),
            ..OperationRule::default()
        }
    }

    fn admit(&self, scene: &Scene<'_>, _body: &Value) -> Result<(), ArmError> {
        if !is_below(&scene.id.arm_type(), POSTGRESQL) {
            return Ok(());
        }
        let server = scene.id.parent().and_then(|id| scene.store.visible(&id));
        let state = server.and_then(|server| json::text(&server.body, &STATE));
        match state {
            None | Some("Ready") => Ok(()),
            Some(state) => Err(ArmError::new(
                409,
                "ServerIsBusy",
                format!("Cannot complete the operation while the server is in state '{state}'."),
            )),
        }
    }
}
