//! This room is the script as a whole, and what of it concerns one BMC.
//!
//! It deliberately resolves no defaults here; each table does.

use std::str::FromStr;

use serde::Deserialize;

use super::fault::Fault;
use super::foreign::{ForeignJob, ForeignTask, Requirement, SystemScript, TaskFault};
use super::sections::{
    BiosSettings, BmcSettings, Collections, Durations, Etag, Identity, Power, Sessions, TaskHabits,
    Update, Versions,
};

macro_rules! sections {
    ($($key:ident: $kind:ident,)+) => {
        /// A script; the default is no deviation. The single tables are for every BMC.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Script {
            $(#[doc = concat!("The table `[", stringify!($key), "]`.")] pub $key: $kind,)+
            /// The tables `[[bmc]]`: single BMCs.
            pub bmc: Vec<BmcScript>,
            /// The tables `[[system]]`: single systems.
            pub system: Vec<SystemScript>,
            /// The tables `[[requirement]]`: hops that are refused.
            pub requirement: Vec<Requirement>,
            /// The tables `[[task_fault]]`: how tasks lie.
            pub task_fault: Vec<TaskFault>,
            /// The tables `[[foreign_task]]`: other people's tasks.
            pub foreign_task: Vec<ForeignTask>,
            /// The tables `[[foreign_job]]`: other people's jobs.
            pub foreign_job: Vec<ForeignJob>,
            /// The tables `[[fault]]`: answers that are not the usual ones.
            pub fault: Vec<Fault>,
        }

        /// The single tables for one BMC; what is left out there is as for every BMC.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct BmcScript {
            /// The BMC's name, such as `mock-2`.
            pub name: String,
            $(#[doc = concat!("The table `[bmc.", stringify!($key), "]`.")] pub $key: $kind,)+
        }

        /// What of a script concerns one BMC.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Habits {
            $(pub(crate) $key: $kind,)+
            pub(crate) system: Vec<SystemScript>,
            pub(crate) requirement: Vec<Requirement>,
            pub(crate) task_fault: Vec<TaskFault>,
            pub(crate) foreign_task: Vec<ForeignTask>,
            pub(crate) foreign_job: Vec<ForeignJob>,
            pub(crate) fault: Vec<Fault>,
        }

        impl Habits {
            /// Picks what concerns the BMC of this name; later tables of the same name win. Where the script is silent, it is
            /// as `usual` on its platform.
            pub(crate) fn of(script: &Script, usual: Option<&Script>, name: &str) -> Self {
                $(let mut $key = script.$key.clone();)+
                if let Some(usual) = usual {
                    $($key = $key.over(&usual.$key);)+
                }
                for bmc in script.bmc.iter().filter(|bmc| bmc.name == name) {
                    $($key = bmc.$key.clone().over(&$key);)+
                }
                let usual = usual.cloned().unwrap_or_default();
                let ours = |bmc: &Option<String>| bmc.as_ref().is_none_or(|bmc| bmc == name);
                Self {
                    $($key,)+
                    system: kept(&script.system, |entry| ours(&entry.bmc)),
                    requirement: kept(&script.requirement, |entry| ours(&entry.bmc)),
                    task_fault: [usual.task_fault, kept(&script.task_fault, |entry| ours(&entry.bmc))].concat(),
                    foreign_task: kept(&script.foreign_task, |entry| ours(&entry.bmc)),
                    foreign_job: kept(&script.foreign_job, |entry| ours(&entry.bmc)),
                    fault: kept(&script.fault, |entry| ours(&entry.bmc)),
                }
            }
        }

        /// The tables of which there is one per BMC, in the order of their explanation.
        pub(super) const SECTIONS: &[super::keys::Table] = &[$($kind::TABLE,)+];
    };
}

sections! {
    versions: Versions,
    durations: Durations,
    update: Update,
    bios_settings: BiosSettings,
    bmc_settings: BmcSettings,
    power: Power,
    sessions: Sessions,
    etag: Etag,
    collections: Collections,
    tasks: TaskHabits,
    identity: Identity,
}

fn kept<T: Clone>(entries: &[T], ours: impl Fn(&T) -> bool) -> Vec<T> {
    entries
        .iter()
        .filter(|entry| ours(entry))
        .cloned()
        .collect()
}

impl Habits {
    /// The last word on a system, key by key.
    pub(crate) fn system<T>(
        &self,
        id: &str,
        pick: impl Fn(&SystemScript) -> Option<T>,
    ) -> Option<T> {
        let of_it = self.system.iter().filter(|system| system.id == id);
        of_it.rev().find_map(pick)
    }
}

impl FromStr for Script {
    type Err = toml::de::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        toml::from_str(text)
    }
}
