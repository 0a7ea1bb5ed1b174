//! Servers of PostgreSQL, MySQL, MariaDB and SQL, and what is in them: long operations, and settings and virtual endpoints
//! whose operations end badly while something else goes on at their server, as backups do beside virtual endpoints. Their
//! host names stand in [`super::answer_table`].
//!
//! Source: recordings `dbforpostgresql-v1api20221201`, and for operations that end badly `dbforpostgresql-v1api20240801` and
//! `dbforpostgresql-v20250801`; the other servers of the long-running operations of their specs:
//! spec `specification/mysql/resource-manager`, spec `specification/mariadb/resource-manager` and
//! spec `specification/sql/resource-manager`.

use super::{Behaviour, is_below};
use crate::id::ResourceId;
use crate::json;
use crate::operation::{Failure, OperationRule, Style};
use crate::store::{Resource, Store, stable_uuid};

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

/// Parts of a server of PostgreSQL whose operations keep it busy.
const HINDRANCES: [&str; 4] = [
    "administrators",
    "backups",
    "configurations",
    "virtualendpoints",
];

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

    fn ends_badly(&self, store: &Store, id: &ResourceId) -> Option<Failure> {
        let arm_type = id.arm_type();
        let is_of = |part: &str| arm_type.eq_ignore_ascii_case(&format!("{POSTGRESQL}/{part}"));
        let server = id.parent()?;
        let name = server.name();
        if is_of("backups") {
            return backup_ends_badly(store, &server, id);
        }
        let (code, message) = if is_of("configurations") {
            (
                "ServerIsBusy",
                format!(
                    "Cannot complete operation while server '{name}' is busy processing another operation. Try again later."
                ),
            )
        } else if is_of("virtualendpoints") {
            (
                "VirtualEndpointOwnerServerNotInReadyState",
                format!(
                    "Server {name} should be in Ready state to create/update/drop virtual endpoint\""
                ),
            )
        } else {
            return None;
        };
        is_busy(store, &server, id).then(|| Failure {
            code: code.to_owned(),
            message,
        })
    }
}

/// A backup does not stand a virtual endpoint that is being written.
fn backup_ends_badly(store: &Store, server: &ResourceId, backup: &ResourceId) -> Option<Failure> {
    let endpoint = format!("{POSTGRESQL}/virtualendpoints");
    let mut working = store.below(server).filter(|part| part.operation.is_some());
    let is_in_the_way = working.any(|part| part.id.arm_type().eq_ignore_ascii_case(&endpoint));
    is_in_the_way.then(|| Failure {
        code: "InternalServerError".to_owned(),
        message: format!(
            "An unexpected error occured while processing the request. Tracking ID: '{}'",
            stable_uuid(&backup.key())
        ),
    })
}

/// Whether something goes on at a server, beside what is done to one of its parts. Databases, rules of the firewall and
/// protection are no hindrance.
fn is_busy(store: &Store, server: &ResourceId, part: &ResourceId) -> bool {
    let runs = |resource: &Resource| resource.operation.is_some();
    let hinders = |resource: &&Resource| {
        let arm_type = resource.id.arm_type();
        let mut parts = HINDRANCES.iter();
        parts.any(|name| arm_type.eq_ignore_ascii_case(&format!("{POSTGRESQL}/{name}")))
            && resource.id.key() != part.key()
    };
    let state = store.get(server).map(|found| {
        let is_ready = matches!(json::text(&found.body, &STATE), None | Some("Ready"));
        runs(found) || !is_ready
    });
    state == Some(true) || store.below(server).filter(hinders).any(runs)
}
