//! What people read of a check.

use super::text::text;
use super::{Checked, Finding, Subject};

fn finding() -> Finding {
    Finding {
        of: Subject {
            namespace: "shop".to_owned(),
            group: "storage.azure.com".to_owned(),
            kind: "StorageAccount".to_owned(),
            name: "data".to_owned(),
        },
        reason: "ScopeNotAllowed".to_owned(),
        path: Some("spec.peerId".to_owned()),
        message: "spec.peerId: it is outside".to_owned(),
    }
}

#[test]
fn what_is_refused_unseen_and_unread_is_told_apart() {
    let none = Checked::default();
    let refused = Checked {
        findings: vec![finding()],
        ..Checked::default()
    };
    let unseen = Checked {
        unseen: vec![finding()],
        ..Checked::default()
    };
    let unread = Checked {
        problems: vec!["the API server refused".to_owned()],
        ..Checked::default()
    };
    let table: [(&Checked, &[&str]); 4] = [
        (&none, &["nothing is refused by this release"]),
        (
            &refused,
            &[
                "StorageAccount shop/data: ScopeNotAllowed at spec.peerId\n    spec.peerId: it is outside\n",
                "one thing would be refused",
            ],
        ),
        (
            &unseen,
            &[
                "Not looked at to the end",
                "nothing is refused of what could be looked at",
            ],
        ),
        (&unread, &["nothing is refused of what could be looked at"]),
    ];
    for (checked, parts) in table {
        let told = text(checked);
        for part in parts {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
