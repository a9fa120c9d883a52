//! This room is the account service with its roles and one account.
//!
//! It deliberately never holds a password: the service keeps those elsewhere.

use serde_json::{Value, json};

use super::Documents;
use crate::script::Habits;

const SERVICE: &str = "/redfish/v1/AccountService";

/// The roles and what they may do.
const ROLES: &[(&str, &[&str])] = &[
    (
        "Administrator",
        &[
            "Login",
            "ConfigureManager",
            "ConfigureUsers",
            "ConfigureComponents",
            "ConfigureSelf",
        ],
    ),
    (
        "Operator",
        &["Login", "ConfigureComponents", "ConfigureSelf"],
    ),
    ("ReadOnly", &["Login", "ConfigureSelf"]),
];

pub(crate) fn documents(habits: &Habits, user: &str) -> Documents {
    let accounts = format!("{SERVICE}/Accounts");
    let first = format!("{accounts}/1");
    let roles = format!("{SERVICE}/Roles");
    let role_uris: Vec<String> = ROLES
        .iter()
        .map(|(role, _)| format!("{roles}/{role}"))
        .collect();
    let service = json!({
        "@odata.id": SERVICE,
        "@odata.type": "#AccountService.v1_12_0.AccountService",
        "Id": "AccountService",
        "Name": "Account Service",
        "ServiceEnabled": true,
        "SupportedAccountTypes": ["Redfish"],
        "MinPasswordLength": 6,
        "MaxPasswordLength": 64,
        "AccountLockoutThreshold": habits.sessions.lockout_threshold(),
        "AccountLockoutDuration": habits.sessions.lockout().as_secs(),
        "AccountLockoutCounterResetAfter": habits.sessions.lockout().as_secs(),
        "Status": { "State": "Enabled", "Health": "OK" },
        "Accounts": { "@odata.id": accounts },
        "Roles": { "@odata.id": roles },
    });
    let mut documents = vec![
        (SERVICE.into(), service),
        super::collection(
            &accounts,
            "ManagerAccountCollection",
            "Accounts",
            std::slice::from_ref(&first),
        ),
        (first.clone(), account(&first, "1", user, "Administrator")),
        super::collection(&roles, "RoleCollection", "Roles", &role_uris),
    ];
    for (role, privileges) in ROLES {
        let uri = format!("{roles}/{role}");
        documents.push((uri.clone(), role_document(&uri, role, privileges)));
    }
    documents
}

fn role_document(uri: &str, role: &str, privileges: &[&str]) -> Value {
    json!({
        "@odata.id": uri,
        "@odata.type": "#Role.v1_3_1.Role",
        "Id": role,
        "RoleId": role,
        "Name": format!("Role {role}"),
        "IsPredefined": true,
        "AssignedPrivileges": privileges,
        "OemPrivileges": [],
    })
}

pub(crate) fn collection(uri: &str) -> Value {
    super::collection(uri, "ManagerAccountCollection", "Accounts", &[]).1
}

/// An account as a document.
pub(crate) fn account(uri: &str, id: &str, user: &str, role: &str) -> Value {
    json!({
        "@odata.id": uri,
        "@odata.type": "#ManagerAccount.v1_10_0.ManagerAccount",
        "Id": id,
        "Name": format!("Account {user}"),
        "UserName": user,
        "Password": null,
        "RoleId": role,
        "Enabled": true,
        "Locked": false,
        "PasswordChangeRequired": false,
        "AccountTypes": ["Redfish"],
        "Links": { "Role": { "@odata.id": format!("{SERVICE}/Roles/{role}") } },
    })
}
