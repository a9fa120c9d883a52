//! Whether the resets that a stage will need can be made at all. Asked before its first write: what is written and then
//! cannot be activated is half done.

use crate::model::look::{Power, SystemView};
use crate::model::{Look, ServerName, Target};
use crate::pipeline::ResetPolicy;

/// Why the host of a target cannot be restarted for an image that waits for its boot: down first, then On. `None` =
/// nothing is in the way, or a person does it.
pub fn activation_obstacle(target: &Target, policy: ResetPolicy, look: &Look) -> Option<String> {
    let (server, system) = host(target, look)?;
    let down: &[&str] = match (policy, system.power) {
        (ResetPolicy::None, _) => return None,
        (_, Power::Off) => &[],
        (ResetPolicy::Graceful, _) => &["GracefulShutdown"],
        (ResetPolicy::GracefulThenForce, _) => &["GracefulShutdown", "ForceOff"],
        (ResetPolicy::Force, _) => &["ForceOff"],
    };
    let groups: [&[&str]; 2] = [down, &["On"]];
    groups
        .into_iter()
        .find_map(|types| host_lacks(server, system, types))
}

/// Why a target cannot be reset for its settings. `None` = nothing is in the way, or a person does it.
pub fn reset_obstacle(target: &Target, policy: ResetPolicy, look: &Look) -> Option<String> {
    if policy == ResetPolicy::None {
        return None;
    }
    if *target == Target::Bmc {
        return manager_obstacle(look);
    }
    let (server, system) = host(target, look)?;
    let types: &[&str] = match (policy, system.power) {
        (_, Power::Off) => &["On"],
        (ResetPolicy::Graceful, _) => &["GracefulRestart"],
        (ResetPolicy::Force, _) => &["ForceRestart", "PowerCycle"],
        (ResetPolicy::GracefulThenForce | ResetPolicy::None, _) => {
            &["GracefulRestart", "ForceRestart", "PowerCycle"]
        }
    };
    host_lacks(server, system, types)
}

fn host<'a>(target: &'a Target, look: &'a Look) -> Option<(&'a ServerName, &'a SystemView)> {
    let server = target.server()?;
    Some((server, look.systems.get(server)?))
}

fn manager_obstacle(look: &Look) -> Option<String> {
    let capability = &look.capability;
    lacks(
        "the BMC",
        "#Manager.Reset",
        capability.no_manager_reset,
        &capability.manager_reset_types,
        &["GracefulRestart", "ForceRestart"],
    )
}

fn host_lacks(server: &ServerName, system: &SystemView, types: &[&str]) -> Option<String> {
    let who = format!("`{server}`");
    let action = "#ComputerSystem.Reset";
    lacks(&who, action, system.no_reset, &system.reset_types, types)
}

/// What is missing where none of `types` is offered.
fn lacks(
    who: &str,
    action: &str,
    is_absent: bool,
    offered: &[String],
    types: &[&str],
) -> Option<String> {
    if types.is_empty() {
        return None;
    }
    let found = if is_absent {
        format!("no `{action}` is offered for it")
    } else if offered_type(offered, types).is_some() {
        return None;
    } else {
        format!("its `{action}` offers only {}", offered.join(", "))
    };
    Some(format!(
        "{who} must be reset by {} to activate this, and {found}; with `reset = \"none\"` a person does that",
        types.join(" or ")
    ))
}

/// The first of `types` that is among those stated, in whatever letter case; nothing stated = each is taken.
pub fn offered_type<'a>(offered: &[String], types: &[&'a str]) -> Option<&'a str> {
    let allows = |kind: &&&str| {
        offered.is_empty() || offered.iter().any(|known| known.eq_ignore_ascii_case(kind))
    };
    types.iter().find(allows).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{look, server};

    fn seen(power: Power, types: &[&str]) -> Look {
        let mut look = look(None, &[("s", Some("1"))]);
        for system in look.systems.values_mut() {
            system.power = power;
            system.reset_types = types.iter().map(|kind| (*kind).to_owned()).collect();
        }
        look
    }

    #[test]
    fn what_an_activation_needs_follows_from_power_and_policy() {
        use ResetPolicy::{Force, Graceful, GracefulThenForce, None};
        let rows: [(Power, &[&str], ResetPolicy, Option<&str>); 8] = [
            (Power::On, &[], GracefulThenForce, Option::None),
            (
                Power::On,
                &["On", "ForceOff"],
                GracefulThenForce,
                Option::None,
            ),
            (Power::On, &["on", "forceoff"], Force, Option::None),
            (
                Power::On,
                &["On", "ForceOff"],
                Graceful,
                Some("`s` must be reset by GracefulShutdown"),
            ),
            (
                Power::On,
                &["GracefulShutdown"],
                Graceful,
                Some("by On to activate"),
            ),
            (Power::Off, &["On"], Graceful, Option::None),
            (Power::On, &["Nmi"], Force, Some("offers only Nmi")),
            (Power::On, &["Nmi"], None, Option::None),
        ];
        for (power, types, policy, wanted) in rows {
            let found = activation_obstacle(&server("s"), policy, &seen(power, types));
            match wanted {
                Some(text) => assert!(
                    found.as_ref().is_some_and(|f| f.contains(text)),
                    "{found:?}"
                ),
                Option::None => assert_eq!(found, Option::None),
            }
        }
    }

    #[test]
    fn a_restart_is_asked_for_by_one_request_and_one_that_is_off_is_switched_on() {
        let lacks = |power, types: &[&str], policy| {
            reset_obstacle(&server("s"), policy, &seen(power, types)).is_some()
        };
        assert!(lacks(
            Power::On,
            &["On", "ForceOff"],
            ResetPolicy::GracefulThenForce
        ));
        assert!(!lacks(
            Power::Off,
            &["On", "ForceOff"],
            ResetPolicy::GracefulThenForce
        ));
        assert!(!lacks(Power::On, &["PowerCycle"], ResetPolicy::Force));
        assert!(lacks(Power::On, &["ForceRestart"], ResetPolicy::Graceful));
        assert!(!lacks(Power::On, &["Nmi"], ResetPolicy::None));
    }

    #[test]
    fn an_action_that_is_not_offered_is_named_with_its_owner() {
        let mut look = seen(Power::On, &[]);
        look.capability.no_manager_reset = true;
        for system in look.systems.values_mut() {
            system.no_reset = true;
        }
        let host = reset_obstacle(&server("s"), ResetPolicy::Force, &look).unwrap_or_default();
        assert!(
            host.contains("`s`") && host.contains("no `#ComputerSystem.Reset`"),
            "{host}"
        );
        let bmc = reset_obstacle(&Target::Bmc, ResetPolicy::Force, &look).unwrap_or_default();
        assert!(
            bmc.contains("the BMC") && bmc.contains("no `#Manager.Reset`"),
            "{bmc}"
        );
    }
}
