//! This room compares wanted attributes with current and pending ones, typed by the attribute registry.
//!
//! It decides what differs and what is impossible; it does not decide whether anything is sent.
