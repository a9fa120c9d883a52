//! This room is jobs: configuration that somebody scheduled, ours and other people's.
//!
//! It deliberately holds only what a boot does to them; the documents say the rest.

use http::StatusCode;
use http::header::LOCATION;
use serde_json::{Value, json};

use super::answer::Answer;
use super::asked::Asked;
use super::core::Bmc;
use crate::docs::messages::Message;
use crate::script::ForeignJob;

/// One job.
#[derive(Clone, Debug)]
pub(super) struct JobRun {
    pub(super) uri: String,
    id: String,
    /// The system whose boot runs it.
    system: Option<usize>,
    foreign: bool,
    /// The settings that it applies are withdrawn with it.
    settings: bool,
}

impl Bmc {
    pub(super) fn add_job(&mut self, name: &str, state: &str, more: &Value) -> Option<String> {
        let collection = self.bindings.jobs.clone()?.collection;
        self.jobs_made += 1;
        let id = format!("JID_{:06}", self.jobs_made);
        let uri = format!("{collection}/{id}");
        let mut document = json!({
            "@odata.id": uri,
            "@odata.type": "#Job.v1_2_3.Job",
            "Id": id,
            "Name": name,
            "JobState": state,
            "JobStatus": "OK",
            "PercentComplete": 0,
            "StartTime": self.date(self.now),
            "Messages": [],
        });
        for (member, value) in more.as_object().into_iter().flatten() {
            document[member.as_str()] = value.clone();
        }
        self.store.put(&uri, document);
        self.store.add_member(&collection, &uri);
        Some(uri)
    }

    /// The end of a job that no boot runs.
    pub(super) fn end_job(&mut self, uri: Option<&str>, state: &str) {
        let date = self.date(self.now);
        self.store.edit(uri.unwrap_or_default(), |document| {
            document["JobState"] = state.into();
            document["PercentComplete"] = 100.into();
            document["EndTime"] = date.into();
            if state != "Completed" {
                document["JobStatus"] = "Critical".into();
            }
        });
    }

    fn job_id(uri: &str) -> String {
        crate::docs::walk::last_segment(uri).to_owned()
    }

    /// The job of a write of BIOS settings.
    pub(super) fn add_settings_job(&mut self, index: usize, settings: &str) -> Option<String> {
        let more = json!({ "Payload": { "HttpOperation": "PATCH", "TargetUri": settings } });
        let uri = self.add_job("Configure BIOS", "Pending", &more)?;
        let id = Self::job_id(&uri);
        self.ledger.cause(format!("job created {id}"));
        self.jobs.push(JobRun {
            uri: uri.clone(),
            id,
            system: Some(index),
            foreign: false,
            settings: true,
        });
        Some(uri)
    }

    /// Whether clients order jobs at a URI.
    pub(super) fn takes_jobs_at(&self, uri: &str) -> bool {
        let jobs = self.bindings.jobs.as_ref();
        self.habits.bios_settings.job_needs_apply_time()
            && jobs.is_some_and(|jobs| jobs.collection == uri)
    }

    /// Answers an order: what waits at a settings object will be applied by a job.
    pub(super) fn order_job(&mut self, asked: &Asked<'_>) -> Answer {
        let body = match asked.object() {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        let target = body.get("TargetSettingsURI").and_then(Value::as_str);
        let Some(index) = target.and_then(|uri| self.system_written_at(uri)) else {
            return Answer::bad(Message::base("PropertyMissing", &["TargetSettingsURI"]));
        };
        // "Already committed", as the vendor says it.
        if self.has_settings_job(index) {
            return Answer::bad(Message::base("ResourceInUse", &[]));
        }
        match self.add_settings_job(index, target.unwrap_or_default()) {
            Some(job) => Answer::empty(StatusCode::ACCEPTED).with(LOCATION, &job),
            None => Answer::not_allowed(),
        }
    }

    /// Whether an open job will apply a system's settings.
    pub(super) fn has_settings_job(&self, index: usize) -> bool {
        let ours = |job: &&JobRun| job.settings && job.system == Some(index);
        self.jobs.iter().filter(ours).any(|job| {
            let state = self.store.get(&job.uri).map(|found| &found["JobState"]);
            state.is_some_and(|state| ["Pending", "Running"].iter().any(|open| state == open))
        })
    }

    /// A job that somebody else scheduled.
    pub(super) fn add_strange_job(&mut self, job: &ForeignJob) {
        let mut more = json!({});
        if let Some(target) = &job.target {
            more["Payload"] = json!({ "HttpOperation": "PATCH", "TargetUri": target });
        }
        if let Some(kind) = &job.job_type {
            more["Oem"] =
                json!({ "MockBmc": { "@odata.type": "#MockBmcJob.v1_0_0.Job", "JobType": kind } });
        }
        let name = if job.name.is_empty() {
            "Job of somebody else"
        } else {
            &job.name
        };
        let state = job.state.as_deref().unwrap_or("Pending");
        let Some(uri) = self.add_job(name, state, &more) else {
            return;
        };
        let id = Self::job_id(&uri);
        self.note(format!("job {id} {state}"));
        let system = job.runs_at_boot_of.as_ref();
        let system = system.and_then(|id| {
            self.bindings
                .systems
                .iter()
                .position(|system| system.id == *id)
        });
        self.jobs.push(JobRun {
            uri,
            id,
            system,
            foreign: true,
            settings: false,
        });
    }

    /// A boot runs the jobs that wait for it.
    pub(super) fn start_jobs(&mut self, index: usize) {
        self.set_jobs(index, "Running", 50, &["Pending", "Scheduled", "New"]);
    }

    /// The boot has ended, and with it its jobs.
    pub(super) fn end_jobs(&mut self, index: usize) {
        let failing =
            !self.habits.bios_settings.fail().is_empty() || self.habits.bios_settings.dropped();
        let failed = self.habits.bios_settings.job_failed_state();
        let state = if failing {
            failed.as_str()
        } else {
            "Completed"
        };
        self.set_jobs(index, state, 100, &["Running"]);
    }

    fn set_jobs(&mut self, index: usize, state: &str, percent: u32, from: &[&str]) {
        let date = self.date(self.now);
        let theirs: Vec<JobRun> = self
            .jobs
            .iter()
            .filter(|job| job.system == Some(index))
            .cloned()
            .collect();
        for job in theirs {
            let before = self
                .store
                .get(&job.uri)
                .and_then(|document| document["JobState"].as_str().map(str::to_owned));
            if !before.is_some_and(|before| from.contains(&before.as_str())) {
                continue;
            }
            // A stranger's job is none of the settings that fail here.
            let state = if job.foreign && percent == 100 {
                "Completed"
            } else {
                state
            };
            let failed = percent == 100 && state != "Completed";
            self.store.edit(&job.uri, |document| {
                document["JobState"] = state.into();
                document["PercentComplete"] = percent.into();
                if percent == 100 {
                    document["EndTime"] = date.clone().into();
                }
                if failed {
                    document["JobStatus"] = "Critical".into();
                    document["Messages"] =
                        json!([Message::base("PropertyNotUpdated", &["Attributes"]).to_json()]);
                }
            });
            self.note(format!("job {} {state}", job.id));
        }
    }

    /// Answers the deletion of a job; what it would have applied no longer waits.
    pub(super) fn delete_job(&mut self, uri: &str) -> Answer {
        let Some(index) = self.jobs.iter().position(|job| job.uri == uri) else {
            return Answer::missing(uri);
        };
        let job = self.jobs.remove(index);
        let open = self
            .store
            .get(uri)
            .is_some_and(|document| document["JobState"] != "Completed");
        let withdrawn = job.system.filter(|_| job.settings && open);
        if let Some(system) = withdrawn {
            if let Some(host) = self.hosts.get_mut(system) {
                host.pending.clear();
            }
            self.show_attributes(system);
        }
        if let Some(jobs) = self.bindings.jobs.clone() {
            self.store.remove_member(&jobs.collection, uri);
        }
        self.ledger.cause(format!("job deleted {}", job.id));
        Answer::done()
    }
}
