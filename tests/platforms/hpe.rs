//! HPE iLO 5, 6 and 7.

use serde_json::json;

use crate::walk::{NTP, Walk, bodies, story};

pub(crate) const ILO5: Walk = Walk {
    mock: "ilo5",
    platform: "hpe-ilo5",
    bmc_settings: NTP,
    bmc: ["iLO 5 v2.78", "iLO 5 v3.02"],
    bios: ["A42 v2.70 (01/10/2023)", "A42 v2.80 (06/20/2023)"],
};

pub(crate) const ILO6: Walk = Walk {
    mock: "ilo6",
    platform: "hpe-ilo6",
    bmc: ["iLO 6 v1.68", "iLO 6 v1.70"],
    bios: ["U58 v2.50 (05/01/2025)", "U58 v2.60 (08/01/2025)"],
    ..ILO5
};

pub(crate) const ILO7: Walk = Walk {
    mock: "ilo7",
    platform: "hpe-ilo7",
    bmc: ["1.15.00 Aug 10 2025", "1.16.00 Oct 10 2025"],
    bios: ["U68 v1.42 (07/22/2025)", "U68 v1.50 (10/22/2025)"],
    ..ILO5
};

#[tokio::test(start_paused = true)]
async fn ilo_takes_a_form_with_the_session_and_tells_no_task() {
    for walk in [ILO5, ILO6, ILO7] {
        let world = walk.take().await;
        let push = "POST /cgi-bin/uploadFile 200";
        let hop = [
            push,
            "reset /redfish/v1/Systems/1 GracefulShutdown",
            "reset /redfish/v1/Systems/1 On",
        ];
        let settings = [
            "PATCH /redfish/v1/systems/1/bios/settings 200",
            "reset /redfish/v1/Systems/1 GracefulRestart",
            "PATCH /redfish/v1/Managers/1/NetworkProtocol 200",
            push,
            push,
        ];
        assert_eq!(story(&world), [&settings[..], &hop, &hop].concat());
        let form = &bodies(&world, "/cgi-bin/uploadFile")[0]["parts"];
        let names: Vec<&str> = form
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["sessionKey", "parameters", "file"]);
        assert_eq!(form[1]["json"]["UpdateTarget"], json!(true));
    }
}
