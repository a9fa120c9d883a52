//! What holds for whatever pipeline and box there are.

use proptest::prelude::*;

use super::*;

fn kind() -> impl Strategy<Value = (u8, u64, bool)> {
    (0u8..4, 1u64..6, any::<bool>())
}

fn build(index: usize, (kind, number, transient): (u8, u64, bool)) -> StageSpec {
    let name = format!("s{index}");
    let json = json!({ format!("K{}", number % 3): number });
    let mut stage = match kind {
        0 => bmc_hop(&name, &format!("1.{number}")),
        1 => bios_hop(&name, &format!("2.{number}"), S),
        2 => bmc_settings(&name, &json),
        _ => bios_settings(&name, &json, S),
    };
    stage.transient = transient && !stage.kind.is_version();
    stage
}

/// The machine after everything in a report was done.
fn done(mut look: Look, report: &RunReport) -> Look {
    for target in report.stages.iter().flat_map(|stage| &stage.targets) {
        if target.action == PlanAction::Update {
            match &target.target {
                Target::Bmc => {
                    for manager in &mut look.managers {
                        manager.firmware_version.clone_from(&target.to);
                    }
                }
                Target::Server(server) => {
                    if let Some(system) = look.systems.get_mut(server) {
                        system.bios_version.clone_from(&target.to);
                    }
                }
            }
        }
        let view = look.settings.get_mut(&target.target);
        for resource in view.into_iter().flat_map(|view| &mut view.resources) {
            resource.current.extend(
                target
                    .changes
                    .iter()
                    .map(|c| (c.name.clone(), c.to.clone())),
            );
        }
    }
    look
}

proptest! {
    #[test]
    fn a_plan_that_was_carried_out_leaves_nothing_to_do(kinds in prop::collection::vec(kind(), 0..8)) {
        let mut stages: Vec<StageSpec> =
            kinds.into_iter().enumerate().map(|(index, kind)| build(index, kind)).collect();
        // Transient stages behind the last hop have no end, and are wanted again whenever something undoes them.
        let last_hop = stages.iter().rposition(|stage| stage.kind.is_version()).unwrap_or(0);
        stages.iter_mut().skip(last_hop).for_each(|stage| stage.transient = false);
        let spec = run(S, stages);
        let values = json!({"K0": 0, "K1": 0, "K2": 0});
        let before = with_settings(look(Some("1.3"), &[("s", Some("2.3"))]), server("s"), &values);
        let before = with_settings(before, Target::Bmc, &values);
        let first = planned(&spec, &before);
        prop_assert!(!first.is_blocked());
        let after = done(before, &first);
        let again = planned(&spec, &after);
        // What a transient stage undid of an earlier one is set once more before a run is completed.
        if !spec.stages.iter().any(|stage| stage.transient) {
            prop_assert!(!again.has_changes(), "{:?} then {:?}", first, again);
        }
        let last = planned(&spec, &done(after, &again));
        prop_assert!(!last.has_changes() && !last.is_blocked(), "{:?} then {:?}", again, last);
    }

    #[test]
    fn hops_never_lead_down(kinds in prop::collection::vec(kind(), 0..8), live in 0u64..7) {
        let stages = kinds.into_iter().enumerate().map(|(index, kind)| build(index, kind)).collect();
        let report = planned(&run(S, stages), &look(Some(&format!("1.{live}")), &[("s", Some(&format!("2.{live}")))]));
        for target in report.stages.iter().flat_map(|stage| &stage.targets) {
            if target.action == PlanAction::Update {
                prop_assert!(target.from < target.to, "{:?}", target);
            }
        }
    }
}
