//! What may go wrong in a simulated fleet.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::dice::Dice;

/// The hazards, each once, and the list of all of them.
macro_rules! hazards {
    ($($(#[doc = $about:literal])+ $hazard:ident,)+) => {
        /// One kind of trouble.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Hazard {
            $($(#[doc = $about])+ $hazard,)+
        }

        impl Hazard {
            /// Every kind.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$hazard,)+];
        }
    };
}

hazards! {
    /// A request is processed and its answer never comes.
    LostAnswer,
    /// A request never arrives, and nobody can tell.
    LostRequest,
    /// An answer breaks off in the middle of its body.
    CutBody,
    /// A few requests are refused as unauthorized.
    Unauthorized,
    /// A few resources are not there for a moment.
    NotFound,
    /// Requests are too many, with or without a word on when to come again.
    TooMany,
    /// The service is not available, with or without a word on when to come again.
    Unavailable,
    /// An HTML page instead of JSON.
    Html,
    /// Answers take half a minute.
    Slow,
    /// Nothing is ever answered.
    Silence,
    /// An update's request is processed, and its answer is a bare 503.
    Bare503,
    /// A task cannot be found any more.
    TaskVanishes,
    /// A task stays at some percent although work goes on.
    TaskSticks,
    /// A task ends early, in whatever state, although work goes on.
    TaskLies,
    /// A task ends `Completed` and `Critical`.
    CompletedCritical,
    /// A task that was over runs again.
    TaskComesBack,
    /// Old versions are shown for a while.
    VersionLags,
    /// A flash reports success and changes nothing.
    NeverChanges,
    /// A flash fails.
    FlashFails,
    /// Another version runs than the image's.
    WrongVersion,
    /// The BMC never returns from its flash.
    NeverReturns,
    /// The BMC returns with another certificate.
    NewCertificate,
    /// A reset is accepted and does nothing.
    IgnoredReset,
    /// Operating systems ignore graceful requests.
    IgnoredGraceful,
    /// Power is shown late.
    PowerLags,
    /// A BIOS update resets settings.
    SettingsReset,
    /// Settings are accepted and dropped at the boot.
    SettingsDropped,
    /// Settings are shown before they are in effect.
    EarlyDisplay,
    /// Attributes are not shown for a while after a boot.
    EmptyAfterBoot,
    /// Tags that are refused at first.
    StaleTags,
    /// Somebody else's task.
    ForeignTask,
    /// Somebody else's settings are pending.
    ForeignPending,
    /// Somebody flashes by hand.
    HandFlash,
    /// The clock of the host jumps.
    ClockJump,
    /// The engine is killed.
    Crash,
    /// A second engine is started beside the first.
    SecondEngine,
    /// A plan is made while an apply is at work.
    PlanMeanwhile,
    /// The pipeline file is edited.
    EditedFile,
}

/// A script in the making: tables by name, keys by name, and tables that may stand several times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Habits {
    tables: BTreeMap<&'static str, BTreeMap<&'static str, String>>,
    more: String,
}

impl Habits {
    pub(crate) fn set(&mut self, table: &'static str, key: &'static str, value: impl Into<String>) {
        self.tables
            .entry(table)
            .or_default()
            .insert(key, value.into());
    }

    /// One more table of a kind that may stand several times.
    pub(crate) fn add(&mut self, table: &str, bmc: &str, body: &str) {
        writeln!(self.more, "[[{table}]]\nbmc = \"{bmc}\"\n{body}").unwrap();
    }

    /// As TOML.
    pub(crate) fn text(&self, bmc: &str) -> String {
        let mut text = format!("[[bmc]]\nname = \"{bmc}\"\n");
        for (table, keys) in &self.tables {
            writeln!(text, "[bmc.{table}]").unwrap();
            for (key, value) in keys {
                writeln!(text, "{key} = {value}").unwrap();
            }
        }
        text + &self.more
    }
}

impl Hazard {
    /// What it makes of a mock; nothing for those that are deeds of people or of engines.
    pub(crate) fn on_mock(self, bmc: &str, dice: &mut Dice, habits: &mut Habits) {
        let (some_write, some) = (any_write(dice), any(dice));
        match self {
            Self::LostAnswer => fault(bmc, dice, habits, some_write, "answer = \"drop-after\""),
            Self::LostRequest => {
                fault(bmc, dice, habits, some_write, "answer = \"drop-before\"");
            }
            Self::CutBody => fault(bmc, dice, habits, some, "answer = \"truncate\""),
            Self::Unauthorized => fault(bmc, dice, habits, some, "status = 401"),
            Self::NotFound => fault(bmc, dice, habits, "method = \"GET\"", "status = 404"),
            Self::TooMany => {
                let body = format!("status = 429{}", retry_after(dice));
                fault(bmc, dice, habits, some, &body);
            }
            Self::Unavailable => {
                let body = format!("status = 503{}", retry_after(dice));
                fault(bmc, dice, habits, some, &body);
            }
            Self::Html => fault(bmc, dice, habits, some, "answer = \"html\""),
            Self::Slow => fault(bmc, dice, habits, some, "answer = \"delay\"\nby = \"25s\""),
            Self::Silence => fault(bmc, dice, habits, some, "answer = \"hang\""),
            Self::Bare503 => {
                let which = "method = \"POST\"\npath = \"/redfish/v1/UpdateService*\"";
                fault(
                    bmc,
                    dice,
                    habits,
                    which,
                    "status = 503\nbody = \"\"\nprocessed = true",
                );
            }
            Self::TaskVanishes => {
                let when = dice.pick(&["running", "ended"]);
                let after = dice.between(0, 90);
                task(
                    bmc,
                    dice,
                    habits,
                    &format!("vanish = \"{when}\"\nvanish_after = \"{after}s\""),
                );
            }
            Self::TaskSticks => {
                let end = dice.pick(&["", "never_ends = true"]);
                task(bmc, dice, habits, &format!("stuck_at = 40\n{end}"));
            }
            Self::TaskLies => {
                let state = dice.pick(&["Completed", "Exception", "Cancelled", "Killed"]);
                let after = dice.between(1, 400);
                let body = format!("ends_after = \"{after}s\"\nend_state = \"{state}\"");
                task(bmc, dice, habits, &body);
            }
            Self::CompletedCritical => {
                task(
                    bmc,
                    dice,
                    habits,
                    "end_state = \"Completed\"\nend_status = \"Critical\"",
                );
            }
            Self::TaskComesBack => {
                let which = "method = \"GET\"\npath = \"/redfish/v1/TaskService/Tasks/*\"";
                let body = "answer = \"edit\"\nbody = { TaskState = \"Running\" }";
                fault(bmc, dice, habits, which, body);
            }
            Self::VersionLags => {
                let span = format!("\"{}s\"", dice.between(30, 300));
                habits.set(
                    "update",
                    dice.pick(&["bmc_late_for", "bios_late_for"]),
                    span,
                );
            }
            Self::NeverChanges => outcome(dice, habits, "unchanged"),
            Self::FlashFails => outcome(dice, habits, "failed"),
            Self::WrongVersion => outcome(dice, habits, "wrong"),
            Self::NeverReturns => outcome(dice, habits, "never-returns"),
            Self::NewCertificate => habits.set("update", "new_certificate", "true"),
            Self::IgnoredReset => {
                habits.set("power", "ignored_resets", dice.between(1, 2).to_string());
            }
            Self::IgnoredGraceful => habits.set("power", "ignored_graceful", "true"),
            Self::PowerLags => {
                habits.set(
                    "power",
                    "state_lag",
                    format!("\"{}s\"", dice.between(5, 60)),
                );
            }
            Self::SettingsReset => habits.set("update", "resets_bios_settings", "true"),
            Self::SettingsDropped => habits.set("bios_settings", "dropped", "true"),
            Self::EarlyDisplay => {
                // Where it was seen a job stands for what is pending; without one nobody could tell.
                habits.set("bios_settings", "early_display", "true");
                habits.set("bios_settings", "job", "true");
            }
            Self::EmptyAfterBoot => {
                let span = format!("\"{}s\"", dice.between(30, 240));
                habits.set("bios_settings", "empty_after_boot", span);
            }
            Self::StaleTags => habits.set("etag", "stale", dice.between(1, 3).to_string()),
            Self::ForeignTask => {
                let (from, span) = (dice.between(0, 60), dice.between(1, 60));
                let body =
                    format!("appears = \"{from}m\"\nends_after = \"{span}m\"\nname = \"theirs\"");
                habits.add("foreign_task", bmc, &body);
            }
            Self::ForeignPending
            | Self::HandFlash
            | Self::ClockJump
            | Self::Crash
            | Self::SecondEngine
            | Self::PlanMeanwhile
            | Self::EditedFile => {}
        }
    }
}

/// A fault that some requests meet, soon or late, once or a few times.
fn fault(bmc: &str, dice: &mut Dice, habits: &mut Habits, which: &str, body: &str) {
    let (nth, count) = (dice.between(1, 120), dice.between(1, 6));
    // Few requests change something: they would never be the hundredth.
    let nth = if which.contains("GET") || !which.contains("method") {
        nth
    } else {
        1 + nth % 4
    };
    habits.add(
        "fault",
        bmc,
        &format!("{which}\nnth = {nth}\ncount = {count}\n{body}"),
    );
}

fn any(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "",
        "method = \"GET\"",
        "method = \"POST\"",
        "method = \"PATCH\"",
        "method = \"GET\"\npath = \"/redfish/v1/TaskService*\"",
        "method = \"GET\"\npath = \"/redfish/v1/Systems*\"",
        "method = \"GET\"\npath = \"/redfish/v1/Managers*\"",
    ])
}

fn any_write(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "method = \"POST\"\npath = \"/redfish/v1/UpdateService*\"",
        "method = \"POST\"\npath = \"*.Reset\"",
        "method = \"PATCH\"",
        "method = \"POST\"",
    ])
}

fn retry_after(dice: &mut Dice) -> String {
    let span = dice.between(1, 90);
    match dice.between(0, 2) {
        0 => String::new(),
        1 => format!("\nretry_after = \"{span}s\""),
        _ => format!("\nretry_after = \"{span}s\"\nretry_after_form = \"date\""),
    }
}

fn task(bmc: &str, dice: &mut Dice, habits: &mut Habits, body: &str) {
    let component = dice.pick(&["bmc", "bios"]);
    let nth = dice.between(0, 2);
    habits.add(
        "task_fault",
        bmc,
        &format!("component = \"{component}\"\nnth = {nth}\n{body}"),
    );
}

fn outcome(dice: &mut Dice, habits: &mut Habits, word: &str) {
    let key = dice.pick(&["bmc_outcome", "bios_outcome"]);
    habits.set("update", key, format!("\"{word}\""));
}
