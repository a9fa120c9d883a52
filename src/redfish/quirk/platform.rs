//! What platforms are known to take, where the standard leaves a choice.

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
