//! This room is the task service and the job service.
//!
//! It deliberately has no tasks and no jobs; those are made as they are needed.

use serde_json::{Value, json};

use super::Documents;

pub(crate) fn documents() -> Documents {
    const SERVICE: &str = "/redfish/v1/TaskService";
    let tasks = format!("{SERVICE}/Tasks");
    let service = json!({
        "@odata.id": SERVICE,
        "@odata.type": "#TaskService.v1_2_0.TaskService",
        "Id": "TaskService",
        "Name": "Task Service",
        "ServiceEnabled": true,
        "CompletedTaskOverWritePolicy": "Oldest",
        "LifeCycleEventOnTaskStateChange": false,
        "DateTime": "1970-01-01T00:00:00Z",
        "Status": { "State": "Enabled", "Health": "OK" },
        "Tasks": { "@odata.id": tasks },
    });
    vec![
        (SERVICE.into(), service),
        (tasks.clone(), collection(&tasks)),
    ]
}

pub(crate) fn collection(uri: &str) -> Value {
    super::collection(uri, "TaskCollection", "Tasks", &[]).1
}

pub(crate) fn job_documents() -> Documents {
    const SERVICE: &str = "/redfish/v1/JobService";
    let jobs = format!("{SERVICE}/Jobs");
    let service = json!({
        "@odata.id": SERVICE,
        "@odata.type": "#JobService.v1_0_4.JobService",
        "Id": "JobService",
        "Name": "Job Service",
        "ServiceEnabled": true,
        "DateTime": "1970-01-01T00:00:00Z",
        "Status": { "State": "Enabled", "Health": "OK" },
        "Jobs": { "@odata.id": jobs },
    });
    vec![
        (SERVICE.into(), service),
        super::collection(&jobs, "JobCollection", "Jobs", &[]),
    ]
}
