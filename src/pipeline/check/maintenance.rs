//! `[maintenance]`.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::civil::Time;

use super::context::Check;
use crate::pipeline::document::{
    At, DayDocument, MaintenanceDocument, PolicyDocument, WindowDocument,
};
use crate::pipeline::maintenance::{Hook, Maintenance, Policy};
use crate::pipeline::window::{Day, Window};

pub(super) fn check_maintenance(
    document: &MaintenanceDocument,
    check: &mut Check<'_>,
) -> Maintenance {
    let default = Maintenance::default();
    let mut time = |key: &str, text: Option<&At<String>>, default: Duration| {
        text.and_then(|text| positive(key, text, check))
            .unwrap_or(default)
    };
    let hook_timeout = time(
        "hook_timeout",
        document.hook_timeout.as_ref(),
        default.hook_timeout,
    );
    let approval_ttl = time(
        "approval_ttl",
        document.approval_ttl.as_ref(),
        default.approval_ttl,
    );
    let held_for = time("held_for", document.held_for.as_ref(), default.held_for);
    Maintenance {
        policy: match document.policy.as_ref().map(At::get) {
            Some(PolicyDocument::OwnerApproval) => Policy::OwnerApproval,
            Some(PolicyDocument::Enforced) | None => Policy::Enforced,
        },
        window: document
            .window
            .as_ref()
            .and_then(|window| check_window(window.get(), check)),
        before: hooks("before", document.before.as_ref(), check),
        after: hooks("after", document.after.as_ref(), check),
        hook_timeout,
        approval_ttl,
        held_for,
    }
}

fn positive(key: &str, text: &At<String>, check: &mut Check<'_>) -> Option<Duration> {
    let duration = check.duration(key, text)?;
    if duration.is_zero() {
        check
            .error(text.span(), format!("`{key}` is zero"), "no time at all")
            .hint("leave it out for the usual time");
        return None;
    }
    Some(duration)
}

fn check_window(document: &WindowDocument, check: &mut Check<'_>) -> Option<Window> {
    let days: BTreeSet<Day> = document
        .days
        .iter()
        .flat_map(At::get)
        .map(|day| named(*day.get()))
        .collect();
    let start = document
        .start
        .as_ref()
        .and_then(|text| time_of_day("start", text, check));
    let end = document.end.as_ref().and_then(|text| {
        if text.get() == "24:00" {
            Some(None)
        } else {
            time_of_day("end", text, check).map(Some)
        }
    });
    let zone = document.zone.as_ref()?;
    // Any times will do to learn whether the zone is known, so that both are told at once.
    if Window::new(&days, Time::midnight(), None, zone.get()).is_none() {
        let message = format!("time zone `{}` is not known", zone.get());
        check
            .error(zone.span(), message, "not a name of the time zone database")
            .hint("write a name such as \"Europe/Berlin\", \"America/New_York\" or \"UTC\"");
        return None;
    }
    let (start, end) = (start?, end?);
    if end == Some(start) && start != Time::midnight() {
        let span = document.end.as_ref().map_or(0..0, At::span);
        check
            .error(
                span,
                "`window` opens and closes at the same time",
                "the same as `start`",
            )
            .hint("write `start = \"00:00\", end = \"24:00\"` for whole days");
        return None;
    }
    Window::new(&days, start, end, zone.get())
}

fn time_of_day(key: &str, text: &At<String>, check: &mut Check<'_>) -> Option<Time> {
    let parse = || {
        let (hour, minute) = text.get().split_once(':')?;
        let number = |digits: &str| {
            let plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse::<i8>().ok()).flatten()
        };
        Time::new(number(hour)?, number(minute)?, 0, 0).ok()
    };
    let time = parse();
    if time.is_none() {
        let message = format!("`{key}` is not a time of day");
        check
            .error(text.span(), message, "not `HH:MM`")
            .hint("write hours and minutes, such as \"22:00\"");
    }
    time
}

fn named(day: DayDocument) -> Day {
    match day {
        DayDocument::Mon => Day::Mon,
        DayDocument::Tue => Day::Tue,
        DayDocument::Wed => Day::Wed,
        DayDocument::Thu => Day::Thu,
        DayDocument::Fri => Day::Fri,
        DayDocument::Sat => Day::Sat,
        DayDocument::Sun => Day::Sun,
    }
}

fn hooks(key: &str, list: Option<&At<Vec<At<String>>>>, check: &mut Check<'_>) -> Vec<Hook> {
    let mut hooks: Vec<Hook> = Vec::new();
    for name in list.into_iter().flat_map(At::get) {
        if name.get().trim().is_empty() {
            check
                .error(
                    name.span(),
                    format!("a hook in `{key}` is empty"),
                    "no path",
                )
                .hint("write the path of a program, relative to this file");
            continue;
        }
        let hook = Hook {
            name: name.get().clone(),
            path: check.program(name.get()),
        };
        if hooks.contains(&hook) {
            let message = format!("hook `{}` is in `{key}` twice", hook.name);
            check
                .error(name.span(), message, "again here")
                .hint("keep one of them");
            continue;
        }
        check.hooks.push((hook.clone(), check.file.id, name.span()));
        hooks.push(hook);
    }
    hooks
}
