//! What platforms are known to take, where the standard leaves a choice.

use serde_json::{Map, Value, json};

/// Whether a named target is known to be taken where none is needed.
///
/// The specification allows it (DSP0266, "Multipart HTTP push updates"); iDRAC 9, GB200 and several OpenBMC builds refuse
/// a name for the BMC's own image, so only services without known deviations get one.
pub(in crate::redfish) fn takes_named_target(platform: &str) -> bool {
    platform == "generic"
}

/// `update_parameters_want_oem`: `UpdateParameters` without an `Oem` object is refused. Seen on iDRAC 9 from 5.00 and on
/// iDRAC 10; the standard makes `Oem` optional, and OpenBMC refuses any key it does not know, `Oem` among them.
pub(in crate::redfish) fn wants_oem_parameter(platform: &str) -> bool {
    platform.starts_with("dell")
}

/// `push_refused_without_claim`: a push is taken only from a client that has set `HttpPushUriTargetsBusy`, also where it
/// names no target. Seen on XCC and XCC2 (SR630 V2, SR670 V2), as Lenovo's own scripts do it; the standard asks for it only
/// of a push without parameters that names targets.
pub(in crate::redfish) fn claims_every_push(platform: &str) -> bool {
    matches!(platform, "lenovo-xcc" | "lenovo-xcc2")
}

/// `immediate_restarts_host`: an image for the host that names no apply time restarts the host at once. Seen on iDRAC 9
/// (from 5.00) and iDRAC 10; the standard leaves the default to the service. One that waits for a reset is what redpipe
/// asks for there, because it restarts the host itself.
pub(in crate::redfish) fn immediate_restarts_host(platform: &str) -> bool {
    platform.starts_with("dell")
}

/// `apply_time_published_but_refused`: `SupportedApplyTimes` lists `OnReset`, and `@Redfish.SettingsApplyTime` is refused
/// with `PropertyUnknown`; settings wait for a reset anyway. Seen on XCC (SR670 V2, 2.83) and XCC2.
pub(in crate::redfish) fn refuses_apply_time(platform: &str) -> bool {
    matches!(platform, "lenovo-xcc" | "lenovo-xcc2")
}

/// `push_is_a_form_with_the_session`: `HttpPushUri` takes no bare image but a form whose first part is the session's token,
/// which must stand in a cookie too. Seen on iLO 5 (2.72), iLO 6 (1.66) and iLO 7 (1.14), as HPE documents it.
pub(in crate::redfish) fn pushes_form_with_session(platform: &str) -> bool {
    matches!(platform, "hpe" | "hpe-ilo5" | "hpe-ilo6" | "hpe-ilo7")
}

/// `push_wants_oem_parameters`: a multipart push needs a part `OemParameters` that says what the image is for. Seen on AMI
/// MegaRAC (Gigabyte, ASRock Rack) and on Lenovo's SR635 and SR655; the standard makes such parts optional.
pub(in crate::redfish) fn oem_parameters(platform: &str, is_host: bool) -> Option<Value> {
    let (bmc, bios) = match platform {
        "ami" | "ami-gigabyte" | "ami-asrock" => ("BMC", "BIOS"),
        "lenovo-ami" => ("HPMFwUpdate", "UEFIUpdate"),
        _ => return None,
    };
    let kind = if is_host { bios } else { bmc };
    Some(match platform {
        "lenovo-ami" => json!({"FlashType": kind, "UploadSelector": "Default"}),
        _ => json!({"ImageType": kind}),
    })
}

/// Supermicro boards whose update service takes images in two steps.
fn is_two_step(platform: &str) -> bool {
    matches!(
        platform,
        "supermicro-x12"
            | "supermicro-x13"
            | "supermicro-x14"
            | "supermicro-h12"
            | "supermicro-h13"
    )
}

/// `waits_for_start`: an image is pushed for `OnStartUpdateRequest`, verified in a task of its own, and written by
/// `StartUpdate` in another. Seen on Supermicro X12 and X13, as bmclib does it. Returns the apply time to ask for.
pub(in crate::redfish) fn waits_for_start(platform: &str) -> Option<&'static str> {
    is_two_step(platform).then_some("OnStartUpdateRequest")
}

/// `push_wants_preserve`: a push must name its target, the manager or the Bios, and say what of the configuration is kept:
/// here all that the vendor's guide knows. Seen on Supermicro X12 and X13.
pub(in crate::redfish) fn keepable_by_push(
    platform: &str,
    is_host: bool,
) -> &'static [&'static str] {
    match (is_two_step(platform), is_host) {
        (false, _) => &[],
        (true, true) => &["PreserveME", "PreserveNVRAM", "PreserveSMBIOS"],
        (true, false) => &["PreserveCfg", "PreserveSdr", "PreserveSsl"],
    }
}

/// What such a push says: each of them true, unless only others are to be kept.
pub(in crate::redfish) fn kept_by_push(
    platform: &str,
    is_host: bool,
    keep: Option<&[String]>,
) -> Option<Value> {
    let names = keepable_by_push(platform, is_host).iter();
    let is_kept = |name: &str| keep.is_none_or(|keep| keep.iter().any(|kept| kept == name));
    let flags: Map<String, Value> = names
        .map(|name| ((*name).to_owned(), is_kept(name).into()))
        .collect();
    let part = if is_host { "BIOS" } else { "BMC" };
    (!flags.is_empty()).then(|| json!({ "Supermicro": { part: flags } }))
}

/// `settings_object_unlinked`: BIOS settings are written to a resource `SD` below the Bios that no `@Redfish.Settings` links
/// to, and that may not be there before the first write. Seen on Gigabyte (H262, AMI 12.84.13) and ASRock Rack.
pub(in crate::redfish) fn unlinked_settings(platform: &str, bios: &str) -> Option<String> {
    let has_it = matches!(
        platform,
        "ami" | "ami-gigabyte" | "ami-asrock" | "lenovo-ami"
    );
    has_it.then(|| format!("{}/SD", bios.trim_end_matches('/')))
}

/// `written_at_bios`: BIOS settings are written to the Bios itself; the settings object only shows what waits. Seen on
/// Supermicro X12 and X13, as two public clients and the vendor's guide have it.
pub(in crate::redfish) fn writes_bios_itself(platform: &str) -> bool {
    matches!(
        platform,
        "supermicro-x12" | "supermicro-x13" | "supermicro-h12" | "supermicro-h13"
    )
}

/// `bmc_takes_no_target`: an image of the BMC that names the BMC is refused; its bytes say what it is for. Seen on GB200 by
/// Wiwynn and NVIDIA. Authors name the manager, because there are two, and the request does not.
pub(in crate::redfish) fn drops_target(platform: &str, target: &str) -> bool {
    let named = target.trim_end_matches('/').rsplit('/').next();
    platform == "nvidia-gb200" && named.is_some_and(|name| matches!(name, "BMC_0" | "FW_BMC_0"))
}

/// `job_needs_apply_time`: BIOS settings that were written without an apply time wait for ever, until a job is ordered for
/// them. Seen on iDRAC 8 and on iDRAC 9 before it offered apply times (3.x); what offers them makes the job itself.
pub(in crate::redfish) fn settings_need_job(platform: &str) -> bool {
    matches!(platform, "dell-idrac8" | "dell-idrac9" | "dell-idrac10")
}

/// `staged_task`: an image that waits for a reset does so in a job of the job queue, listed as scheduled until then. Seen on
/// iDRAC 8 to 10.
pub(in crate::redfish) fn stages_in_job(platform: &str) -> bool {
    platform.starts_with("dell")
}

/// `early_display`: the current view shows values that only wait, before the job that applies them has run. The settings
/// object shows nothing but what waits, and is believed there. Seen on iDRAC 9 (6.00) and iDRAC 10.
pub(in crate::redfish) fn current_shows_what_waits(platform: &str) -> bool {
    platform.starts_with("dell")
}

/// `session_limit_unpublished`: no service says how many sessions it has. Eight are reported of iDRAC, which answers the
/// ninth with 503 and RAC0218; sixteen of XCC, which refuses the next login.
pub(in crate::redfish) fn session_limit(platform: &str) -> Option<usize> {
    if platform.starts_with("dell") {
        Some(8)
    } else if platform.starts_with("lenovo-xcc") {
        Some(16)
    } else {
        None
    }
}
