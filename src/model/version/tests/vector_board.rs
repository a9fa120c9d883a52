//! Versions of vendors whose board or build id stands in front, as real machines and public texts show them.

use super::claim::{Row, check};
use crate::model::component::Component::{Bios, Bmc};

#[test]
fn lenovo_versions_stand_in_their_order() {
    check(LENOVO);
}

#[test]
fn supermicro_versions_stand_in_their_order() {
    check(SUPERMICRO);
}

const LENOVO: &[Row] = &[
    Row {
        name: "XCC",
        home: ("lenovo-xcc", Some(Bmc)),
        chains: &[
            &[
                &["TGBT20E 1.40 2021-05-17", "TGBT20E"],
                &["TGBT42S 2.83 2023-07-05", "TGBT42S-2.83"],
            ],
            &[
                &["CDI364M"],
                &["CDI3A4A"],
                &["CDI3B4E 9.98 2024-07-31", "CDI3B4E"],
            ],
            &[&["2.12"], &["3.00"], &["3.60"], &["5.40"]],
            // The inventory of the same recorded machine; it names no family, so it can only be a twin.
            &[&["TGBT42S 2.83 2023-07-05", "42S-2.83"]],
        ],
        apart: &[
            &[
                "TGBT42S 2.83 2023-07-05",
                "CDI364M",
                "TEI392M-1.20",
                "AFE124G-2.10",
            ],
            &["TGBT20E 1.40 2021-05-17", "42S-2.83"],
            // Same build with another number, and a later build with an older number.
            &["TGBT42S 2.83 2023-07-05", "TGBT42S 2.84", "TGBT43A 2.80"],
        ],
        ..Row::BLANK
    },
    Row {
        name: "UEFI",
        home: ("lenovo", Some(Bios)),
        chains: &[
            &[&["U8E112A"], &["U8E122J", "U8E122J-1.51"]],
            &[&["U8E122J-1.51", "22J-1.51"]],
            &[&["IVE156L-2.61"], &["IVE160G"], &["IVE184H"]],
        ],
        apart: &[
            &[
                "U8E122J-1.51",
                "IVE156L-2.61",
                "TEE142M-2.41",
                "HVE104N-1.12",
                "M5E101Q",
            ],
            &["U8E112A", "22J-1.51"],
            &["U8E122J", "22J-1.51"],
        ],
        ..Row::BLANK
    },
    Row {
        name: "AMI",
        home: ("lenovo-ami", Some(Bmc)),
        chains: &[&[
            &["lnvgy_fw_bmc_ambt08l-1.82"],
            &["V1.88 (BUILD ID AMBT08R)"],
        ]],
        apart: &[&[
            "V1.88 (BUILD ID AMBT08R)",
            "V1.88 (BUILD ID CMBT08R)",
            "1.88",
        ]],
        ..Row::BLANK
    },
];

const SUPERMICRO: &[Row] = &[
    Row {
        name: "BMC",
        home: ("supermicro", Some(Bmc)),
        chains: &[
            &[
                &["01.71.11", "1.71.11"],
                &["01.73.11"],
                &["01.73.12"],
                &["01.74.09"],
            ],
            &[&["1.13.04", "01.13.04"]],
        ],
        ..Row::BLANK
    },
    Row {
        name: "board lines, where the text names them",
        home: ("supermicro", None),
        chains: &[&[
            &["BMC_X11AST2500-4101MS_20220101_1.73.12"],
            &["BMC_X11AST2500-4101MS_20221020_01.74.09"],
        ]],
        apart: &[&[
            "BMC_X12AST2600-F201MS_20220627_1.13.04",
            "BMC_X11AST2500-4101MS_20221020_01.74.09",
            "BIOS_X11DPH-0981_20220208_3.6_STD",
            "BIOS_X11SCM-1B0F_20220916_1.9",
            "01.74.09",
        ]],
        ..Row::BLANK
    },
    Row {
        name: "BIOS",
        home: ("supermicro", Some(Bios)),
        chains: &[
            &[&["3.3"], &["3.4"], &["3.5"], &["3.5b"], &["3.6"]],
            &[&["1.0b"], &["1.9"], &["2.0"], &["2.1"], &["2.1b"]],
            &[
                &["BIOS Date: 05/04/2023 Ver 1.3", "1.3"],
                &["BIOS Date: 08/04/2023 Ver 1.4", "1.4"],
            ],
            &[
                &["BIOS_X11DPH-0981_20220208_3.5b_STD"],
                &["BIOS_X11DPH-0981_20220208_3.6_STD"],
            ],
        ],
        ..Row::BLANK
    },
    Row {
        name: "CPLD and ME",
        home: ("supermicro", None),
        chains: &[
            &[&["02.19.04"], &["02.b6.04", "02.B6.04"]],
            &[&["6.0.5.45"], &["6.0.5.46"]],
        ],
        ..Row::BLANK
    },
];
