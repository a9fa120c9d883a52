//! What this BMC can do, from what discovery found.

use super::links::Links;
use crate::model::{Capability, UpdateMethod};
use crate::redfish::quirk::{keepable_by_push, stages_in_job, takes_named_target};

/// The facts that a plan may rely on.
pub(in crate::redfish) fn capability(
    found: &Links,
    platform: &str,
    has_sessions: bool,
) -> Capability {
    let update = &found.update;
    let methods = [
        (update.multipart_push.is_some(), UpdateMethod::MultipartPush),
        (update.simple_update.is_some(), UpdateMethod::SimpleUpdate),
        (update.http_push.is_some(), UpdateMethod::HttpPush),
    ];
    let mut apply_times = update.simple_apply_times.clone();
    for time in &update.push_apply_times {
        if !apply_times.contains(time) {
            apply_times.push(time.clone());
        }
    }
    Capability {
        platform: platform.to_owned(),
        update_methods: methods
            .iter()
            .filter(|(offered, _)| *offered)
            .map(|(_, method)| *method)
            .collect(),
        transfer_protocols: update.transfer_protocols.clone(),
        apply_times,
        max_image_bytes: update.max_image_bytes,
        no_manager_reset: found.no_manager_reset,
        manager_reset_types: found.manager_reset_types.clone(),
        expand: found.root.expand && !found.expand_refused,
        sessions: has_sessions,
        named_targets: takes_named_target(platform),
        push_targets: update.push_targets.is_some(),
        bmc_update_keeps: keepable(platform, false),
        bios_update_keeps: keepable(platform, true),
        stages_per_target: false,
        stages_in_job: stages_in_job(platform),
    }
}

fn keepable(platform: &str, is_host: bool) -> Vec<String> {
    let names = keepable_by_push(platform, is_host).iter();
    names.map(|name| (*name).to_owned()).collect()
}
