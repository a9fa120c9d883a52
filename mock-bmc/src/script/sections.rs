//! This room is the tables of a script of which there is one per BMC.
//!
//! It deliberately says nothing about single requests; faults do.

use std::collections::BTreeMap;

use super::keys::section;
use super::span::Span;
use super::words::{
    Activation, AlreadyThere, EtagStyle, Expand, Handle, LocationForm, Outcome, PasswordChange,
    PendingStyle, Refusal, RefusedAt, RegistryForm, StagedTask, Targets,
};

section! {
    /// What runs when the BMC is switched on.
    Versions in "versions" {
        /// The manager's firmware; left out: the platform's own.
        bmc: String = String::new(), "";
        /// Every system's BIOS; `[[system]]` sets a single one.
        bios: String = String::new(), "";
        /// The manager shows no version although one runs.
        hide_bmc: bool = false, "false";
        /// The systems show no version although one runs.
        hide_bios: bool = false, "false";
        /// Managers show no version, and no member of the inventory says what it is for; one is named like its manager.
        inventory_named_after_manager: bool = false, "false";
    }
}

section! {
    /// How long things take, in mock time.
    Durations in "durations" {
        /// A host's power-on self-test.
        post: Span = Span::from_mins(4), "\"4m\"";
        /// The same with a BIOS image being flashed; the new version shows at its end.
        bios_flash_post: Span = Span::from_mins(6), "\"6m\"";
        /// From an accepted BIOS image in hand until it is staged.
        bios_stage: Span = Span::from_mins(2), "\"2m\"";
        /// From an accepted BMC image in hand until the manager goes.
        bmc_flash: Span = Span::from_mins(8), "\"8m\"";
        /// How long the manager is gone after its own update.
        bmc_gone: Span = Span::from_mins(3), "\"3m\"";
        /// How long the manager is gone after `Manager.Reset`.
        bmc_reset: Span = Span::from_mins(2), "\"2m\"";
        /// From the answer of `Manager.Reset` until the manager goes.
        bmc_reset_delay: Span = Span::from_secs(1), "\"1s\"";
        /// The check of an image, the first part of its staging or flash.
        verify: Span = Span::from_secs(10), "\"10s\"";
        /// An operating system's shutdown.
        graceful_shutdown: Span = Span::from_secs(60), "\"60s\"";
        /// From a forced power request until its effect.
        power_act: Span = Span::from_secs(2), "\"2s\"";
        /// How long `PowerCycle` leaves a host off.
        power_cycle: Span = Span::from_secs(10), "\"10s\"";
        /// How long an ended task can be read; left out: for ever.
        task_kept: Span = Span::from_secs(u64::MAX / 1000), "";
    }
}

section! {
    /// Power habits.
    Power in "power" {
        /// `"On"` or `"Off"` at start; left out: `"On"`, or what the recorded tree says.
        state: String = String::new(), "";
        /// The operating system ignores graceful requests.
        ignored_graceful: bool = false, "false";
        /// What a reset to the state that is there already is answered.
        already_there: AlreadyThere = AlreadyThere::Accepted, "\"accepted\"";
        /// How long after Off a reset is refused with 409.
        busy_after_off: Span = Span::default(), "\"0s\"";
        /// How much later `PowerState` shows a change than it happens.
        state_lag: Span = Span::default(), "\"0s\"";
        /// A reset is answered as usual and does nothing, this many times.
        ignored_resets: u32 = 0, "0";
        /// Whether systems offer `#ComputerSystem.Reset`.
        reset: bool = true, "true";
        /// Whether managers offer `#Manager.Reset`.
        manager_reset: bool = true, "true";
        /// `ResetType` values that systems allow; empty: those of the platform.
        reset_types: Vec<String> = Vec::new(), "[]";
    }
}

section! {
    /// Sessions and accounts.
    Sessions in "sessions" {
        /// The most at a time.
        max: u32 = 8, "8";
        /// Idle time after which one ends.
        timeout: Span = Span::from_mins(30), "\"30m\"";
        /// `POST` on the session collection works; else it is 405 and only basic authentication is left.
        offered: bool = true, "true";
        /// Basic authentication is taken.
        basic: bool = true, "true";
        /// The login's answer has no `Location`.
        no_location: bool = false, "false";
        /// The login's answer has no token.
        no_token: bool = false, "false";
        /// The account must change its password first.
        must_change_password: bool = false, "false";
        /// Where that shows.
        password_change: PasswordChange = PasswordChange::Reads, "\"reads\"";
        /// Refused logins after which the account is locked; 0 for never.
        lockout_threshold: u32 = 0, "0";
        /// How long it stays locked.
        lockout: Span = Span::from_mins(10), "\"10m\"";
        /// Another user's sessions at start.
        foreign: u32 = 0, "0";
    }
}

section! {
    /// Entity tags and what is made of them.
    Etag in "etag" {
        /// What they look like.
        style: EtagStyle = EtagStyle::Weak, "\"weak\"";
        /// They differ on every read.
        restless: bool = false, "false";
        /// A write without `If-Match` is 428.
        required: bool = false, "false";
        /// This many conditional writes are 412 whatever tag they carry.
        stale: u32 = 0, "0";
        /// Only `If-Match: *` is taken.
        star_only: bool = false, "false";
        /// `If-Match: *` is refused.
        star_refused: bool = false, "false";
        /// Only a tag without its quotes is taken.
        bare_only: bool = false, "false";
        /// What an action with `If-Match` meets: accepted, or refused with 412.
        on_action: Refusal = Refusal::Accepted, "\"accepted\"";
    }
}

section! {
    /// Collections and queries.
    Collections in "collections" {
        /// Members per page; 0 for all on one.
        page_size: u32 = 0, "0";
        /// What becomes of `$expand`.
        expand: Expand = Expand::Supported, "\"supported\"";
        /// Collections that list one member that does not exist.
        dangling: Vec<String> = Vec::new(), "[]";
    }
}

section! {
    /// How BIOS settings behave.
    BiosSettings in "bios_settings" {
        /// How the settings object looks.
        pending_style: PendingStyle = PendingStyle::Changes, "\"changes\"";
        /// Of a request with errors the good part is taken, and the answer is 200 with messages.
        half_accept: bool = false, "false";
        /// Attributes that are accepted and never change.
        silently_kept: Vec<String> = Vec::new(), "[]";
        /// Attributes whose change fails during POST, with a message in `@Redfish.Settings`.
        fail: Vec<String> = Vec::new(), "[]";
        /// Everything pending is lost at the next boot without a word.
        dropped: bool = false, "false";
        /// The current view shows pending values before the boot.
        early_display: bool = false, "false";
        /// What `@Redfish.SettingsApplyTime` meets.
        apply_time: Refusal = Refusal::Accepted, "\"accepted\"";
        /// A write makes a job, which ends with the boot.
        job: bool = false, "false";
        /// `JobState` of a job whose settings fail.
        job_failed_state: String = "Exception".into(), "\"Exception\"";
        /// It does so only where it names an apply time; without a job, which a `POST` to the jobs with `TargetSettingsURI` makes
        /// too, a boot leaves what waits alone.
        job_needs_apply_time: bool = false, "false";
        /// Settings are written to the BIOS itself; its settings object only shows what waits.
        written_at_bios: bool = false, "false";
        /// The settings object has no `Attributes` while nothing waits.
        empty_without_attributes: bool = false, "false";
        /// Of a host that is off everything waits for its boot, also what needs no reset.
        waits_while_off: bool = false, "false";
        /// Writes are refused while a host is in POST.
        post_lock: bool = false, "false";
        /// How long after a boot the current view has no attributes.
        empty_after_boot: Span = Span::default(), "\"0s\"";
        /// How the registry is offered.
        registry: RegistryForm = RegistryForm::Standard, "\"standard\"";
        /// `@Redfish.Settings` is there.
        settings_object: bool = true, "true";
        /// A write that waits for a reset is answered 200 with `SystemResetRequired` in an error envelope, as a failure would be.
        success_in_error_envelope: bool = false, "false";
        /// A write is answered 204 without a body.
        silent_answer: bool = false, "false";
    }
}

section! {
    /// How settings of the manager behave.
    BmcSettings in "bmc_settings" {
        /// The attributes have a settings object of their own; else `@Redfish.Settings` names null.
        settings_object: bool = false, "false";
        /// Attributes that are accepted and never change.
        silently_kept: Vec<String> = Vec::new(), "[]";
        /// Resources (with `*`) whose changes wait for `Manager.Reset`; the answer says so with `ResetRequired`.
        needs_reset: Vec<String> = Vec::new(), "[]";
        /// Resources (with `*`) whose changes cut every connection: sessions end, and the manager is away for a while.
        severs: Vec<String> = Vec::new(), "[]";
        /// Resources (with `*`) that accept changes and do not keep them.
        not_kept: Vec<String> = Vec::new(), "[]";
        /// Values of attributes at start.
        attributes: BTreeMap<String, toml::Value> = BTreeMap::new(), "{}";
    }
}

section! {
    /// How updates are taken, and what comes of them.
    Update in "update" {
        /// The action `SimpleUpdate` is there.
        simple_update: bool = true, "true";
        /// `MultipartHttpPushUri` is there.
        multipart: bool = true, "true";
        /// `HttpPushUri` is there.
        http_push: bool = true, "true";
        /// A push of either kind is taken only while `HttpPushUriTargetsBusy` is set.
        push_refused_without_claim: bool = false, "false";
        /// `UpdateParameters` without an `Oem` object are refused.
        update_parameters_want_oem: bool = false, "false";
        /// What `ImageType` in a part `OemParameters` of every push must say for the manager and for a BIOS; empty: no such part.
        oem_image_types: Vec<String> = Vec::new(), "[]";
        /// `HttpPushUri` takes a form whose first part is the session's token, which stands in a cookie too.
        push_is_a_form_with_the_session: bool = false, "false";
        /// A push without a target, an apply time and what of the configuration is kept is refused.
        push_wants_preserve: bool = false, "false";
        /// An image that is pushed for `OnStartUpdateRequest` is only verified, in a task of its own; `StartUpdate` writes it.
        waits_for_start: bool = false, "false";
        /// Every member of `UpdateParameters` but `Targets` and the apply time is refused.
        other_parameters_refused: bool = false, "false";
        /// A second target in one push is refused.
        one_target_at_most: bool = false, "false";
        /// A push that names the manager is refused: its image is told by its bytes.
        bmc_takes_no_target: bool = false, "false";
        /// How a pushed file's name must end, one of these; empty: anyhow.
        file_name_endings: Vec<String> = Vec::new(), "[]";
        /// A BIOS image restarts its host at once, but where the request says `OnReset`.
        immediate_restarts_host: bool = false, "false";
        /// What `TransferProtocol` may be.
        protocols: Vec<String> = vec!["HTTP".into(), "HTTPS".into()], "[\"HTTP\", \"HTTPS\"]";
        /// What becomes of `Targets`.
        targets: Targets = Targets::Required, "\"required\"";
        /// The largest image that is taken, in bytes; 0 for any.
        max_image_bytes: u64 = 0, "0";
        /// How the answer names the task.
        handle: Handle = Handle::Both, "\"both\"";
        /// `Location` names the task itself and not its monitor.
        location_names_task: bool = false, "false";
        /// How `Location` is written.
        location: LocationForm = LocationForm::Relative, "\"relative\"";
        /// The status of an accepted request.
        status: u16 = 202, "202";
        /// When an image is refused that does not fit what runs.
        refused_at: RefusedAt = RefusedAt::Request, "\"request\"";
        /// What an image older than what runs meets.
        downgrade: Refusal = Refusal::Accepted, "\"accepted\"";
        /// What becomes of a BMC image.
        bmc_outcome: Outcome = Outcome::New, "\"new\"";
        /// What becomes of a BIOS image; `[[system]]` sets a single one.
        bios_outcome: Outcome = Outcome::New, "\"new\"";
        /// The version that runs after the outcome `wrong`.
        wrong_version: String = "0.00".into(), "\"0.00\"";
        /// The old BMC version shows on this many reads after the return.
        bmc_late_reads: u32 = 0, "0";
        /// The old BMC version shows for this long after the return.
        bmc_late_for: Span = Span::default(), "\"0s\"";
        /// The inventory shows the new version while the manager still shows the old one.
        inventory_first: bool = false, "false";
        /// The old BIOS version shows for this long after the flashing POST.
        bios_late_for: Span = Span::default(), "\"0s\"";
        /// The manager returns with another certificate.
        new_certificate: bool = false, "false";
        /// Tasks can still be read after the manager's return.
        tasks_survive: bool = true, "true";
        /// What activates a staged BIOS image.
        activation: Activation = Activation::Boot, "\"boot\"";
        /// How the task stands while the image waits.
        staged_task: StagedTask = StagedTask::Completed, "\"completed\"";
        /// The firmware inventory shows what is staged.
        shows_staged: bool = true, "true";
        /// The inventory has a slot for a waiting BMC image, which goes on showing what was flashed.
        staging_slot_keeps_what_ran: bool = false, "false";
        /// A BIOS update sets all BIOS attributes back to their defaults.
        resets_bios_settings: bool = false, "false";
    }
}

section! {
    /// How tasks are named and kept.
    TaskHabits in "tasks" {
        /// A task's id; `{n}` counts them.
        id: String = "{n}".into(), "\"{n}\"";
        /// Where a task's monitor is; `{service}`, `{task}` and `{id}` are the task service's URI, the task's and its id.
        monitor: String = "{service}/TaskMonitors/{id}".into(), "\"{service}/TaskMonitors/{id}\"";
        /// An update's task ends with `OperationTransitionedToJob` once its image is checked, and a job goes on.
        turns_into_job: bool = false, "false";
        /// Reading the monitor of an ended task takes the task away.
        read_monitor_takes_task: bool = false, "false";
    }
}

section! {
    /// Who the BMC is. What is left out is derived from its name and is unique.
    Identity in "identity" {
        /// The service root's UUID.
        uuid: String = String::new(), "";
        /// Every system's UUID.
        system_uuid: String = String::new(), "";
        /// The manager's serial number.
        serial: String = String::new(), "";
        /// Every system's serial number.
        system_serial: String = String::new(), "";
        /// The MAC address of the manager's first interface.
        mac: String = String::new(), "";
        /// `Vendor` of the service root and `Manufacturer` of manager and systems.
        vendor: String = String::new(), "";
        /// `Model` of the systems.
        model: String = String::new(), "";
        /// The wall time at mock time zero as the BMC believes it: `"1970-01-01T00:00:00Z"`.
        clock: String = String::new(), "";
    }
}
