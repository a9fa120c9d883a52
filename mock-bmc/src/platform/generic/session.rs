//! This room is the session service.
//!
//! It deliberately has no sessions; logins make them.

use serde_json::{Value, json};

use super::Documents;
use crate::script::Habits;

pub(crate) fn documents(habits: &Habits) -> Documents {
    const SERVICE: &str = "/redfish/v1/SessionService";
    let sessions = format!("{SERVICE}/Sessions");
    let service = json!({
        "@odata.id": SERVICE,
        "@odata.type": "#SessionService.v1_1_8.SessionService",
        "Id": "SessionService",
        "Name": "Session Service",
        "ServiceEnabled": true,
        "SessionTimeout": habits.sessions.timeout().as_secs(),
        "Status": { "State": "Enabled", "Health": "OK" },
        "Sessions": { "@odata.id": sessions },
    });
    vec![
        (SERVICE.into(), service),
        (sessions.clone(), collection(&sessions)),
    ]
}

pub(crate) fn collection(uri: &str) -> Value {
    super::collection(uri, "SessionCollection", "Sessions", &[]).1
}
