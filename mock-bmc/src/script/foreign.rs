//! This room is the tables of a script that may stand several times, but for faults.
//!
//! It deliberately has no defaults of its own beyond empty and zero; what that means is said at each key.

use std::collections::BTreeMap;

use super::keys::entry;
use super::span::Span;
use super::words::{Messages, Outcome, Vanish};
use crate::image::Component;

entry! {
    /// One system, where it differs from the others.
    SystemScript in "system" {
        /// Only on this BMC; left out: on every one.
        bmc: Option<String> as "text", "";
        /// The system's id.
        id: String as "text", "\"1\"";
        /// The BIOS version that runs at start.
        bios: Option<String> as "text", "";
        /// `"On"` or `"Off"` at start.
        power: Option<String> as "text", "";
        /// The host has just begun its POST.
        in_post: bool as "true or false", "false";
        /// The operating system ignores graceful requests.
        ignored_graceful: bool as "true or false", "false";
        /// Values of BIOS attributes at start.
        attributes: BTreeMap<String, toml::Value> as "table", "{}";
        /// Values that somebody else left pending.
        pending: BTreeMap<String, toml::Value> as "table", "{}";
        /// The version of a BIOS image that somebody else left staged.
        staged: Option<String> as "text", "";
        /// What becomes of a BIOS image.
        bios_outcome: Option<Outcome> as "\"new\", \"unchanged\", \"wrong\", \"failed\" or \"never-returns\"", "\"new\"";
        /// The system's UUID.
        uuid: Option<String> as "text", "";
        /// The system's serial number.
        serial: Option<String> as "text", "";
    }
}

entry! {
    /// An image is refused unless what runs is new enough. An image's own header can say the same.
    Requirement in "requirement" {
        /// Only on this BMC; left out: on every one.
        bmc: Option<String> as "text", "";
        /// What it is about: `"bmc"` or `"bios"`.
        component: Option<Component> as "\"bmc\" or \"bios\"", "\"bios\"";
        /// The version of the images that it is about; left out: any.
        version: Option<String> as "text", "";
        /// The oldest version from which they are taken.
        at_least: String as "text", "\"2.10\"";
        /// The id of the message that refuses.
        message_id: Option<String> as "text", "\"MockBmc.1.0.MinimumFirmwareVersionRequirementNotMet\"";
        /// Its text.
        message: Option<String> as "text", "";
    }
}

entry! {
    /// How the task of an update looks, whatever really happens.
    TaskFault in "task_fault" {
        /// Only on this BMC; left out: on every one.
        bmc: Option<String> as "text", "";
        /// Only tasks of this component.
        component: Option<Component> as "\"bmc\" or \"bios\"", "\"bmc\"";
        /// Only the n-th update of the BMC, from 1; 0 for every one.
        nth: u32 as "number", "0";
        /// `PercentComplete` never gets past this.
        stuck_at: Option<u32> as "number", "40";
        /// `PercentComplete` falls back to 10 halfway.
        percent_back: bool as "true or false", "false";
        /// There is no `PercentComplete`.
        no_percent: bool as "true or false", "false";
        /// `TaskState` while it runs, such as `"New"`, `"Service"`, `"Downloading..."`.
        running_state: Option<String> as "text", "\"Service\"";
        /// `TaskState` at the end.
        end_state: Option<String> as "text", "\"Exception\"";
        /// `TaskStatus` at the end.
        end_status: Option<String> as "text", "\"Critical\"";
        /// The task ends this long after the request, although work goes on.
        ends_after: Option<Span> as "span", "\"1s\"";
        /// The task never ends, although work does.
        never_ends: bool as "true or false", "false";
        /// When the task can no longer be found.
        vanish: Option<Vanish> as "\"running\" or \"ended\"", "\"ended\"";
        /// How much later than that.
        vanish_after: Option<Span> as "span", "\"30s\"";
        /// What its messages look like.
        messages: Messages as "\"usual\", \"ids\" or \"none\"", "\"usual\"";
        /// The monitor answers 202 for ever.
        monitor_202_forever: bool as "true or false", "false";
        /// The monitor answers 200 while the task runs.
        monitor_200: bool as "true or false", "false";
        /// The monitor's 202 has no body.
        monitor_empty: bool as "true or false", "false";
    }
}

entry! {
    /// A task that somebody else started.
    ForeignTask in "foreign_task" {
        /// Only on this BMC; left out: on every one.
        bmc: Option<String> as "text", "";
        /// Its name.
        name: String as "text", "\"Update of a power supply\"";
        /// `TaskState`; left out: `Running`.
        state: Option<String> as "text", "\"Running\"";
        /// `TaskStatus`; left out: `OK`.
        status: Option<String> as "text", "\"OK\"";
        /// `PercentComplete`.
        percent: Option<u32> as "number", "30";
        /// `ImageURI` in its payload.
        image_uri: Option<String> as "text", "\"http://files.example/other.bin\"";
        /// `Targets` in its payload.
        targets: Vec<String> as "list of texts", "[]";
        /// When it appears, after the BMC is switched on.
        appears: Span as "span", "\"0s\"";
        /// It appears when the n-th update request is received instead; 0 for at `appears`.
        appears_with_update: u32 as "number", "0";
        /// How long it runs until it is `Completed`; left out: for ever.
        ends_after: Option<Span> as "span", "\"10m\"";
    }
}

entry! {
    /// A job that somebody else scheduled, in the job service.
    ForeignJob in "foreign_job" {
        /// Only on this BMC; left out: on every one.
        bmc: Option<String> as "text", "";
        /// Its name.
        name: String as "text", "\"Configure: BIOS.Setup.1-1\"";
        /// `JobState`; left out: `Pending`.
        state: Option<String> as "text", "\"Pending\"";
        /// `JobType` in the vendor's part.
        job_type: Option<String> as "text", "\"BIOSConfiguration\"";
        /// The resource that it will change.
        target: Option<String> as "text", "\"/redfish/v1/Systems/1/Bios/Settings\"";
        /// It runs and ends at the next boot of this system; left out: it stays.
        runs_at_boot_of: Option<String> as "text", "\"1\"";
        /// When it appears, after the BMC is switched on.
        appears: Span as "span", "\"0s\"";
    }
}
