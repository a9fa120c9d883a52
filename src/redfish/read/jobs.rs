//! Jobs of a job service, or of a vendor's job queue: who waits for a reboot, and to apply what.

use serde_json::Value;

use super::links::Links;
use super::reader::Reader;
use super::tasks::{names_uri, payload_target};
use crate::model::Fault;
use crate::model::look::{JobView, TaskView};
use crate::redfish::wire::{member, text};

/// Reads the unfinished jobs.
pub(in crate::redfish) async fn read_jobs(
    reader: &mut Reader<'_>,
    found: &Links,
) -> Result<Vec<JobView>, Fault> {
    let mut jobs = Vec::new();
    for collection in found.jobs.clone() {
        for entry in reader.members(&collection, "job", "JobState").await? {
            if !is_finished(&entry.doc) && !is_plan_only(&entry.doc) {
                jobs.push(job_view(&entry.uri, &entry.doc));
            }
        }
    }
    Ok(jobs)
}

/// Open jobs and tasks that will apply settings of one resource, each as a person names it.
pub(in crate::redfish) fn config_jobs(
    jobs: &[JobView],
    tasks: &[TaskView],
    uris: &[String],
    any_of_kind: bool,
) -> Vec<String> {
    let about = |text: Option<&str>| uris.iter().any(|uri| names_uri(text, uri));
    let jobs = jobs
        .iter()
        .filter(|job| about(job.about.as_deref()) || (any_of_kind && configures_bios(job)))
        .map(|job| named(job.name.as_deref(), &job.uri, job.state.as_deref()));
    let tasks = tasks
        .iter()
        .filter(|task| !task.is_finished() && about(task.payload_uri.as_deref()))
        .map(|task| named(task.name.as_deref(), &task.uri, task.state.as_deref()));
    jobs.chain(tasks).collect()
}

fn job_view(uri: &str, doc: &Value) -> JobView {
    JobView {
        uri: text(doc, "@odata.id").unwrap_or_else(|| uri.to_owned()),
        name: text(doc, "Name"),
        state: text(doc, "JobState"),
        about: payload_target(doc)
            .or_else(|| text(doc, "TargetSettingsURI"))
            .or_else(|| text(doc, "JobType")),
    }
}

/// Final states of a job (DSP0268, Job; the last ones are vendors').
fn is_finished(doc: &Value) -> bool {
    const FINAL: [&str; 8] = [
        "Completed",
        "Cancelled",
        "Exception",
        "Failed",
        "CompletedWithErrors",
        "CompletedWithWarnings",
        "RebootCompleted",
        "RebootFailed",
    ];
    text(doc, "JobState").is_some_and(|state| FINAL.contains(&state.as_str()))
}

/// Whether it is a timetable without a time: seen as permanent members that a person may fill in.
fn is_plan_only(doc: &Value) -> bool {
    let suspended = text(doc, "JobState").as_deref() == Some("Suspended");
    let timeless = member(doc, "Schedule").is_some_and(|schedule| {
        member(schedule, "InitialStartTime").is_none()
            && member(schedule, "RecurrenceInterval").is_none()
    });
    suspended && timeless
}

/// Whether the job says that it configures BIOS, where it does not say whose.
fn configures_bios(job: &JobView) -> bool {
    [&job.about, &job.name].into_iter().flatten().any(|text| {
        let text = text.to_ascii_lowercase();
        text.contains("biosconfig") || text.contains("configbios")
    })
}

fn named(name: Option<&str>, uri: &str, state: Option<&str>) -> String {
    let state = state.unwrap_or("no state");
    match name {
        Some(name) => format!("`{name}` ({uri}, {state})"),
        None => format!("`{uri}` ({state})"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_of_unknown_state_is_open() {
        assert!(!is_finished(&json!({"JobState": "Waiting for godot"})));
        assert!(!is_finished(&json!({})));
        assert!(is_finished(&json!({"JobState": "CompletedWithErrors"})));
    }

    #[test]
    fn an_empty_timetable_is_nobody_at_work() {
        assert!(is_plan_only(
            &json!({"JobState": "Suspended", "Schedule": {"InitialStartTime": null}})
        ));
        assert!(!is_plan_only(
            &json!({"JobState": "Suspended", "Schedule": {"InitialStartTime": "2026-01-01T00:00:00Z"}})
        ));
        assert!(!is_plan_only(&json!({"JobState": "Scheduled"})));
    }

    #[test]
    fn jobs_that_will_apply_settings_are_found_by_target_or_by_kind() {
        let job = job_view(
            "/j/1",
            &json!({"Name": "ConfigBIOS:BIOS.Setup.1-1", "JobState": "Scheduled"}),
        );
        let uris = ["/s/1/bios".to_owned()];
        assert_eq!(
            config_jobs(std::slice::from_ref(&job), &[], &uris, true).len(),
            1
        );
        assert!(config_jobs(std::slice::from_ref(&job), &[], &uris, false).is_empty());
        let task = TaskView {
            uri: "/t/1".to_owned(),
            state: Some("Pending".to_owned()),
            payload_uri: Some("/s/1/Bios/Settings".to_owned()),
            ..TaskView::default()
        };
        assert_eq!(
            config_jobs(&[], &[task], &uris, false),
            ["`/t/1` (Pending)"]
        );
    }
}
