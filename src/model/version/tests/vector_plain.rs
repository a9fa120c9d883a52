//! Versions of other vendors, of parts, and of texts that no rule reads.

use super::claim::{Row, check};
use crate::model::component::Component::{Bios, Bmc};
use crate::model::version::{Comparison, compare};

#[test]
fn openbmc_vendors_versions_stand_in_their_order() {
    check(OPENBMC);
}

#[test]
fn nvidia_versions_stand_in_their_order() {
    check(NVIDIA);
}

#[test]
fn other_versions_stand_in_their_order() {
    check(OTHER);
}

#[test]
fn what_states_no_version_is_older_than_nothing() {
    let absent = [
        "N/A",
        "NA",
        "na",
        "xx",
        "undefined",
        "Unknown",
        "Not Present",
        "version not available",
        "E ",
        "string",
        "",
        "-*",
        " ",
    ];
    for a in absent {
        for b in absent
            .into_iter()
            .chain(["0", "1.0", "iLO 5 v2.72", "0.0.0.0"])
        {
            for (a, b) in [(a, b), (b, a)] {
                let found = compare(a, b, None, None);
                assert_eq!(
                    (found.comparison, found.rule),
                    (Comparison::Incomparable, "absent"),
                    "{a:?} {b:?}"
                );
            }
        }
    }
}

const OPENBMC: &[Row] = &[
    Row {
        name: "Cray node BIOS",
        home: ("cray", Some(Bios)),
        chains: &[
            &[&["ex425.bios-1.4.3"], &["ex425.bios-1.6.3"]],
            &[&["wnc.bios-0.5.1"], &["wnc.bios-1.2.5"]],
        ],
        apart: &[&[
            "ex425.bios-1.6.3",
            "wnc.bios-1.2.5",
            "ex235n.bios-1.2.1",
            "ex235a.bios-1.3.6",
            "ex4252.bios-1.3.0",
            "ex420.bios-0.3.0",
            "1.6.3",
        ]],
        ..Row::BLANK
    },
    Row {
        name: "Cray controllers",
        home: ("cray", Some(Bmc)),
        chains: &[&[
            &["nc.1.3.10-shasta-release.arm.2020-07-21T23:58:22+00:00.d479f59"],
            &["nc.1.6.16-shasta-release.arm.2022-01-25T16:23:33+00:00.28331ff"],
            &["nc.1.6.16-21-prod-master.arm.2022-01-25T16:23:33+00:00.28331ff"],
            &["nc.1.7.5-32-prod-master.arm.2022-04-05T01:42:50+00:00.af3a406"],
            &["nc.1.8.3-10-shasta-release.arm.2023-04-26T21:09:35+00:00.a8e719d"],
        ]],
        apart: &[&[
            "nc.1.3.10-shasta-release.arm.2020-07-21T23:58:22+00:00.d479f59",
            "nc.1.3.10-shasta-release.arm.2020-07-21T23:58:22+00:00.d479f50",
            "cc.1.3.10-shasta-release.arm.2020-07-21T23:58:22+00:00.d479f59",
        ]],
        ..Row::BLANK
    },
    Row {
        name: "Intel BIOS",
        home: ("intel", Some(Bios)),
        chains: &[&[
            &["SE5C620.86B.02.01.0008.C0001.031920191559"],
            &["SE5C620.86B.02.01.0012.C0001.070720200218"],
        ]],
        ..Row::BLANK
    },
    Row {
        name: "Intel BMC",
        home: ("intel", Some(Bmc)),
        chains: &[
            &[&["1.93.870cf4f0"], &["2.48.89b32e0d"]],
            &[
                &["wht-0.73-0-g7cfc76-31e5d79"],
                &["wht-0.74-0-g000000-0000000"],
            ],
        ],
        apart: &[
            &["1.93.870cf4f0", "1.93.970cf4f0"],
            &[
                "wht-0.73-0-g7cfc76-31e5d79",
                "wht-0.73-0-g8cfc76-31e5d79",
                "1.93.870cf4f0",
            ],
        ],
        ..Row::BLANK
    },
    Row {
        name: "IBM",
        home: ("ibm", None),
        chains: &[
            &[&["8335_810.1543.20151021b"], &["8335_820.1642.20170405o"]],
            &[
                &["IBM-witherspoon-ibm-OP9_v1.19_1.90"],
                &["IBM-witherspoon-ibm-OP9_v1.19_1.112"],
            ],
        ],
        apart: &[&[
            "IBM-firestone-ibm-OP8_v1.12_2.73",
            "IBM-witherspoon-ibm-OP9_v1.19_1.90",
            "910.1740.20171003b",
        ]],
        ..Row::BLANK
    },
];

const NVIDIA: &[Row] = &[
    Row {
        name: "BMC",
        home: ("nvidia-gb200", Some(Bmc)),
        chains: &[
            &[
                &["GB200Nvl-24.10-9"],
                &["GB200Nvl-24.12-8"],
                &["GB200Nvl-25.01-E"],
                &["GB200Nvl-25.07-7"],
            ],
            &[
                &["HGX-22.10-1-rc34"],
                &["HGX-22.10-1-rc57"],
                &["HGX-22.10-1-rc77"],
                &["HGX-22.10-1"],
            ],
        ],
        apart: &[
            &[
                "GH200-24.05-2",
                "GB200Nvl-24.10-9",
                "HGX-22.10-1-rc34",
                "BF-24.10-10",
            ],
            &["GB200Nvl-25.01-8", "GB200Nvl-25.01-E"],
        ],
        ..Row::BLANK
    },
    Row {
        name: "roots of trust",
        home: ("nvidia", None),
        chains: &[
            &[
                &["00.02.0134.0000_n00"],
                &["00.02.0150.0000_n00"],
                &["00.02.0182.0000_n02", "00.02.0182.0000_n00"],
                &["00.04.0026.0000_n00"],
            ],
            &[
                &["01.03.0136.0000_n01"],
                &["01.03.0262.0000_n04"],
                &["01.04.0008.0000_n04"],
                &["01.04.0031.0000_n04"],
            ],
        ],
        ..Row::BLANK
    },
    Row {
        name: "padded",
        home: ("nvidia", None),
        chains: &[
            &[&["96.00.A6.00.01 ", "96.00.A6.00.01"]],
            &[&["01.02.04        ", "01.02.04", "01.02.04\0\0"]],
            &[
                &["96.00.61.00.01"],
                &["96.00.89.00.01"],
                &["96.00.A6.00.01"],
                &["96.00.AF.00.02"],
            ],
        ],
        apart: &[&["96.00.89.00.01", "96.10.35.00.01", "97.00.72.00.00"]],
        ..Row::BLANK
    },
    Row {
        name: "FPGA and CPLD",
        home: ("nvidia", None),
        chains: &[
            &[&["0.17"], &["0.19"], &["0.1A"], &["0.1C"], &["0.3C"]],
            &[&["0x00 0x0b 0x03 0x04"], &["0x00 0x10 0x01 0x0f"]],
            &[&["0.2.1.1"], &["0.2.1.8"]],
            &[&["CPLD000370_REV0300"], &["CPLD000370_REV030A"]],
        ],
        apart: &[&["CPLD000370_REV0300", "CPLD000371_REV0301", "1.7.5F"]],
        ..Row::BLANK
    },
    Row {
        name: "hexadecimal on its platform only",
        home: ("nvidia", None),
        needs_home: true,
        chains: &[
            &[&["1.7.59"], &["1.7.5F"], &["1.7.60"]],
            &[&["1.19"], &["1.1C"]],
        ],
        ..Row::BLANK
    },
    Row {
        name: "date-like",
        home: ("nvidia", None),
        apart: &[&["01170424", "01300524", "01151024", "2.0"]],
        ..Row::BLANK
    },
    Row {
        name: "BlueField",
        home: ("nvidia-bluefield3", None),
        chains: &[
            &[
                &["32.41.1000"],
                &["32.41.1300"],
                &["32.43.1008"],
                &["32.47.1026"],
                &["32.47.2682"],
            ],
            &[&["BlueField:4.9.0-46-g7e3911bd4d", "4.9.0-46-g7e3911bd4d"]],
            &[&["BF-24.10-9"], &["BF-24.10-10"]],
        ],
        apart: &[&[
            "BF-24.10-10",
            "32.41.1000",
            "BlueField:4.9.0-46-g7e3911bd4d",
            "v2.2(release):4.9.0-25-g0ce57e322",
            "bf-23.10-5-0-g87a8acd1708.1701259870.8631477",
            "DOCA_2.5.0_BSP_4.5.0_Ubuntu_22.04-1.23-10.prod",
        ]],
        ..Row::BLANK
    },
];

const OTHER: &[Row] = &[
    Row {
        name: "Cisco CIMC",
        home: ("cisco", Some(Bmc)),
        chains: &[&[&["2.0(13e)"], &["2.2(3b)"], &["2.2(4b)"], &["4.1(2)"]]],
        ..Row::BLANK
    },
    Row {
        name: "Huawei and Fujitsu",
        home: ("huawei", None),
        chains: &[
            &[&["3.30 (U4282)"], &["3.31 (U4282)"]],
            &[&["2.62P"], &["2.63P"]],
        ],
        apart: &[&["3.31 (U4282)", "3.31 (U4283)", "2.63P"]],
        ..Row::BLANK
    },
    Row {
        name: "plain fields",
        chains: &[
            &[
                &["1.2.3~rc1"],
                &["1.2.3~rc2"],
                &["1.2.3"],
                &["1.2.3a"],
                &["1.2.3b"],
            ],
            &[&["1.2.3~rc1"], &["1.2.3"], &["1.2.3.1"], &["1.2.4"]],
            &[&["1.2a.3"], &["1.2b.3"]],
            &[&["0x00000002", "0x2"]],
            &[&["5.03.010", "05.03.10"]],
            &[&["1.2", "1.2.0", "1.2.0.0"], &["1.2.0.1"]],
            &[
                &["4.11-1190-g12d8072e6b-dirty"],
                &["4.11-1190-g12d8072e6b"],
                &["4.11-1191-g00d8072e6b"],
            ],
            &[&["2.14.0"], &["2.15.0-dev-686-g100c36de90"]],
            &[&["2.15.0-dev-686-g100c36de90"], &["2.15.0"]],
            &[&["1.2.3-rc1"], &["1.2.3-rc2"], &["1.2.3"]],
            &[
                &["1.2-rc1", "1.2.0-rc1", "1.2.0.0~rc1"],
                &["1.2-rc2", "1.2.0-rc2"],
                &["1.2", "1.2.0"],
                &["1.2.0.1-rc1"],
            ],
            &[&["1.2-rc1", "1.2.0-rc1"], &["1.2a", "1.2a.0"]],
        ],
        apart: &[
            &[
                "4.11-1190-g12d8072e6b",
                "4.11-1190-g22d8072e6b",
                "4.11-1190",
            ],
            &["1234ac", "1234ad", "HGX 1"],
            &["1.2-3", "1.2.3"],
            &["1.1f-x", "foo 1.1", "bar 1.1"],
            &["foo 5 v1.2", "foo 6 v1.1", "v1.3"],
            &["1.2.1A", "1.2.19"],
            &["1.2.3-rc1", "1.2.3-beta2"],
            &["1.2.3a", "1.2.3.1"],
            &["1.0 (bad/date/2024)", "1.0"],
        ],
        ..Row::BLANK
    },
];
