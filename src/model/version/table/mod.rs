//! The table of rules, in the order in which they are tried.

mod dell;
mod hpe;
mod lenovo;
mod nvidia;
mod openbmc;
mod other;
mod supermicro;

use super::rule::Rule;

/// All rules in the order in which they are tried. Texts that no rule reads are split into plain fields.
pub fn rules() -> &'static [Rule] {
    &RULES
}

static RULES: [Rule; 31] = [
    hpe::ILO,
    hpe::ROM,
    hpe::DRIVE,
    dell::IDRAC,
    dell::BIOS,
    dell::DIAGNOSTICS,
    dell::INVENTORY_ID,
    lenovo::BUILD,
    lenovo::AMI,
    supermicro::FILE,
    supermicro::BMC,
    supermicro::BIOS,
    openbmc::CRAY_BIOS,
    openbmc::CRAY_CONTROLLER,
    openbmc::INTEL_BIOS,
    openbmc::INTEL_BMC,
    openbmc::INTEL_OPENBMC,
    openbmc::IBM_BUILD,
    openbmc::IBM_PNOR,
    nvidia::BMC,
    nvidia::ROOT_OF_TRUST,
    nvidia::CPLD,
    nvidia::FPGA,
    nvidia::DATE_LIKE,
    nvidia::BLUEFIELD,
    nvidia::VBIOS,
    other::CISCO_CIMC,
    other::HUAWEI,
    other::DRIVE,
    other::HEX_NUMBERS,
    other::HEX_BYTES,
];
