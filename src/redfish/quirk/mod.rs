//! This room tells classes of machines apart and names what each does differently.
//!
//! It is the only one that knows vendors; it reads nothing itself, and what is unknown behaves by the standard.

mod class;
mod inventory;
pub(super) mod keys;
mod licence;
pub(super) mod lockdown;
mod platform;
mod post;

pub(super) use class::{Evidence, asks_for_board, classify};
pub(super) use inventory::{
    is_named_spare, is_namesake, is_pending_slot, keeps_what_ran, means_none,
};
pub(super) use licence::licence_in_text;
pub(super) use platform::{
    claims_every_push, current_shows_what_waits, drops_target, immediate_restarts_host,
    keepable_by_push, kept_by_push, oem_parameters, pushes_form_with_session, refuses_apply_time,
    session_limit, settings_need_job, stages_in_job, takes_named_target, unlinked_settings,
    waits_for_start, wants_oem_parameter, writes_bios_itself,
};
pub(super) use post::post_state_in_oem;
