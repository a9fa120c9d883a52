//! Links as keys: two spellings of one resource are one resource.
//!
//! Some services answer any letter case, link in several, and put a slash behind some links and not others.

/// The one path that is not found by a link (DSP0266, "Service root").
pub(in crate::redfish) const ROOT: &str = "/redfish/v1/";

/// What two links to one resource have in common: lower case, no trailing slash.
pub(in crate::redfish) fn key(uri: &str) -> String {
    uri.trim().trim_end_matches('/').to_ascii_lowercase()
}

/// Whether two links lead to one resource.
pub(in crate::redfish) fn same(a: &str, b: &str) -> bool {
    let (a, b) = (
        a.trim().trim_end_matches('/'),
        b.trim().trim_end_matches('/'),
    );
    a.eq_ignore_ascii_case(b)
}

/// The last segment of a link, without a trailing slash.
pub(in crate::redfish) fn last_segment(uri: &str) -> &str {
    let uri = uri.trim().trim_end_matches('/');
    uri.rsplit('/').next().unwrap_or(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_and_trailing_slashes_make_no_difference() {
        assert!(same(
            "/redfish/v1/systems/1/bios/",
            "/redfish/v1/Systems/1/Bios"
        ));
        assert!(!same("/redfish/v1/Systems/1", "/redfish/v1/Systems/10"));
        assert_eq!(key("/redfish/v1/Systems/1/"), "/redfish/v1/systems/1");
        assert_eq!(last_segment("/redfish/v1/Systems/1/"), "1");
    }
}
