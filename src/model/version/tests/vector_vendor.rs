//! Versions of BMCs and boot firmware, vendor by vendor, as real machines and public texts show them.

use super::claim::{Row, check};
use crate::model::component::Component::{Bios, Bmc};

#[test]
fn hpe_versions_stand_in_their_order() {
    check(HPE);
}

#[test]
fn dell_versions_stand_in_their_order() {
    check(DELL);
}

const HPE: &[Row] = &[
    Row {
        name: "iLO 4",
        home: ("hpe-ilo4", Some(Bmc)),
        chains: &[&[
            &["iLO 4 v2.00"],
            &["iLO 4 v2.20"],
            &["iLO 4 v2.30"],
            &["iLO 4 v2.55"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "iLO 5",
        home: ("hpe-ilo5", Some(Bmc)),
        chains: &[&[
            &["iLO 5 v1.39"],
            &["iLO 5 v1.40"],
            &["iLO 5 v2.18"],
            &["iLO 5 v2.30"],
            &["iLO 5 v2.44"],
            &["iLO 5 v2.46"],
            &["iLO 5 v2.72", "2.72 Sep 04 2022", "2.72"],
            &["iLO 5 v2.78"],
            &["iLO 5 v3.02"],
            &["iLO 5 v3.09"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "iLO 6",
        home: ("hpe", Some(Bmc)),
        chains: &[&[
            &["iLO 6 v1.05"],
            &["iLO 6 v1.10"],
            &["iLO 6 v1.20"],
            &["iLO 6 v1.59"],
            &["iLO 6 v1.60"],
            &["iLO 6 v1.61"],
            &["iLO 6 v1.62"],
            &["iLO 6 v1.66", "1.66 Dec 13 2024"],
            &["iLO 6 v1.68"],
            &["iLO 6 v1.70"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "iLO 7",
        home: ("hpe", Some(Bmc)),
        chains: &[&[
            &["iLO 7 v1.11"],
            &["1.12.00 Mar 28 2025"],
            &["iLO 7 v1.13"],
            &["iLO 7 v1.14"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "iLO of different hardware",
        home: ("hpe", Some(Bmc)),
        apart: &[&["iLO 4 v2.55", "iLO 5 v3.09", "iLO 6 v1.70", "iLO 7 v1.14"]],
        ..Row::BLANK
    },
    Row {
        name: "iLO without a product on a platform that names it",
        home: ("hpe-ilo5", Some(Bmc)),
        needs_home: true,
        chains: &[&[&["2.72 Sep 04 2022", "iLO 5 v2.72"], &["2.78"]]],
        strangers: &[(&["2.72", "2.72 Sep 04 2022"], &["iLO 6 v1.70"])],
        ..Row::BLANK
    },
    Row {
        name: "ROM",
        home: ("hpe", Some(Bios)),
        chains: &[
            &[
                &["U32 v2.10 (12/14/2018)"],
                &["U32 v2.22 (11/13/2019)"],
                &["U32 v2.30 (02/11/2020)"],
            ],
            &[&["A56 v1.10"], &["A56 v1.20 (11/17/2022)"]],
            &[&["P79 v1.45", "P79 v1.45 (12/06/2017)"]],
            &[&["I42 v1.00 (06/20/2016)"], &["I42 v1.00 (06/01/2017)"]],
            &[
                &["U54 v2.10 (01/01/2030)", "U54 v2.10"],
                &["U54 v2.50 (04/22/2025)"],
            ],
            &[&["A42 v2.60 (08/11/2022)", "v2.60 (08/11/2022)"]],
            &[&["v1.00 (06/02/2014)"], &["v2.60 (08/11/2022)"]],
        ],
        apart: &[
            &[
                "U32 v2.30 (02/11/2020)",
                "U54 v2.50 (12/04/2023)",
                "U58 v2.44 (01/17/2025)",
                "U34 v2.16 (09/12/2019)",
                "A42 v2.60 (08/11/2022)",
                "A55 v1.62 (05/22/2024)",
                "A56 v1.10",
                "P79 v1.45",
                "P89 v2.96 (05/17/2022)",
                "P92 v2.72 (03/25/2019)",
                "H09 v1.34 (10/16/2020)",
                "I37 v1.30 08/26/2014",
                "I39 v1.30",
                "I42 v1.00 (06/20/2016)",
            ],
            &["U54 v2.50 (12/04/2023)", "v2.60 (08/11/2022)"],
            &["U54 v2.60", "v2.60 (08/11/2022)"],
        ],
        ..Row::BLANK
    },
    Row {
        name: "CPLD",
        home: ("hpe", None),
        chains: &[&[&["0x0F"], &["0x11"], &["0x16"], &["0x30"]]],
        ..Row::BLANK
    },
    Row {
        name: "drives",
        home: ("hpe", None),
        chains: &[
            &[&["HPG0"], &["HPG1"]],
            &[&["GDC5602Q"], &["GDC6602Q"], &["GDC7502Q"]],
        ],
        apart: &[
            &["HPD2", "HPG0", "MPK7625Q", "GDC5602Q", "EDA5402Q", "0.70"],
            &["HPD2", "HPG1", "MPK7626Q", "MPK7625Q", "GDC7502Q", "3.81.2"],
        ],
        ..Row::BLANK
    },
];

const DELL: &[Row] = &[
    Row {
        name: "iDRAC 7 and 8",
        home: ("dell-idrac8", Some(Bmc)),
        chains: &[&[
            &["2.10.10.10"],
            &["2.30.30.30"],
            &["2.41.40.40"],
            &["2.50.50.50"],
            &["2.60.60.60"],
            &["2.61.60.60"],
            &["2.70.70.70"],
            &["2.75.75.75"],
            &["2.85.85.85"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "iDRAC 9",
        home: ("dell-idrac9", Some(Bmc)),
        chains: &[IDRAC_9],
        ..Row::BLANK
    },
    Row {
        name: "iDRAC 10",
        home: ("dell-idrac10", Some(Bmc)),
        chains: &[IDRAC_10],
        strangers: &[(
            &[
                "1.10.17.00",
                "1.20.25.00",
                "1.20.50.52",
                "1.20.60.50",
                "1.20.70.50",
                "1.30.07.10",
            ],
            &[
                "2.85.85.85",
                "3.21.26.22",
                "4.22.00.00",
                "5.10.10.05",
                "6.10.80.00",
                "7.10.30.05",
                "10.30.30.50",
            ],
        )],
        ..Row::BLANK
    },
    Row {
        name: "iDRAC 10 against iDRAC 9, on a platform of the older kind",
        home: ("dell-idrac9", Some(Bmc)),
        strangers: &[(
            &["1.10.17.00", "1.30.07.10"],
            &["3.21.26.22", "6.10.80.00", "7.20.60.50"],
        )],
        ..Row::BLANK
    },
    Row {
        name: "BIOS",
        home: ("dell", Some(Bios)),
        chains: &[
            &[
                &["1.2.4"],
                &["1.2.6"],
                &["1.6.5"],
                &["1.8.2"],
                &["1.13.2"],
                &["1.15.0"],
                &["1.19.0"],
            ],
            &[
                &["2.2.8"],
                &["2.5.4"],
                &["2.6.3"],
                &["2.6.6"],
                &["2.7.1"],
                &["2.8.1"],
                &["2.9.4"],
                &["2.10.2"],
                &["2.11.0"],
                &["2.11.2"],
                &["2.19.1"],
                &["2.22.2"],
            ],
        ],
        ..Row::BLANK
    },
    Row {
        name: "power supply",
        home: ("dell", None),
        chains: &[&[
            &["00.10.37"],
            &["00.17.28"],
            &["00.1D.9C"],
            &["00.2A.2B"],
            &["00.3D.67"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "diagnostics",
        home: ("dell", None),
        chains: &[&[&["4301A42"], &["4301A50"], &["4301A56"], &["4301A70"]]],
        strangers: &[(&["4301A42", "4301A70"], &["4301, 4301A70, 4301.71"])],
        ..Row::BLANK
    },
    Row {
        name: "inventory ids",
        home: ("dell", Some(Bios)),
        apart: &[
            &[
                "Installed-159-1.8.2__BIOS.Setup.1-1",
                "Current-159-1.13.2__BIOS.Setup.1-1",
                "Previous-159-1.2.4__BIOS.Setup.1-1",
                "Available-159-2.7.1",
                "1.13.2",
            ],
            &[
                "Installed-159-1.8.2__BIOS.Setup.1-1",
                "Installed-159-1.13.2__BIOS.Setup.1-1",
            ],
        ],
        ..Row::BLANK
    },
];

const IDRAC_9: super::claim::Chain = &[
    &["3.21.26.22"],
    &["3.30.30.30"],
    &["3.32.32.32"],
    &["3.34.34.34"],
    &["3.36.36.36"],
    &["4.10.10.10"],
    &["4.22.00.00"],
    &["4.40.10.00"],
    &["4.40.29.00"],
    &["5.00.00.00"],
    &["5.10.10.05"],
    &["5.10.30.00"],
    &["5.10.50.00"],
    &["5.10.50.15"],
    &["5.20.20.20"],
    &["6.00.02.00"],
    &["6.00.30.00"],
    &["6.10.30.00"],
    &["6.10.80.00"],
    &["7.10.30.05"],
    &["7.20.60.50"],
];

const IDRAC_10: super::claim::Chain = &[
    &["1.10.17.00"],
    &["1.20.25.00"],
    &["1.20.50.52"],
    &["1.20.60.50"],
    &["1.20.70.50"],
    &["1.30.07.10"],
];
