//! Every built-in platform of the mock, walked by the real engine: settings of BIOS and BMC, two hops of each, and the
//! very requests that this vendor's machines want.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod ami;
mod crash;
mod dell;
mod hpe;
mod lenovo;
mod nvidia;
mod openbmc;
mod supermicro;
mod walk;
