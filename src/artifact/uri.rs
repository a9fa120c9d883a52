//! This file shows image URIs to people.

/// A URI without what may be a secret: its user info is masked, and a query, which may be a signature, is left out.
pub fn masked(uri: &str) -> String {
    let (uri, query) = match uri.split_once('?') {
        Some((uri, _)) => (uri, "?***"),
        None => (uri, ""),
    };
    let Some((scheme, rest)) = uri.split_once("://") else {
        return format!("{uri}{query}");
    };
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    // A password may hold an unescaped `/`: whatever stands before the last `@` is taken for user info.
    match (authority.rsplit_once('@'), path.rsplit_once('@')) {
        (_, Some((_, path))) => format!("{scheme}://***@{path}{query}"),
        (Some((_, host)), None) => format!("{scheme}://***@{host}{path}{query}"),
        (None, None) => format!("{scheme}://{authority}{path}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn user_info_and_query_are_never_shown() {
        let cases = [
            ("http://me:hunter2@host/a.bin", "http://***@host/a.bin"),
            ("http://me:hunt@er2@host:80/a", "http://***@host:80/a"),
            ("http://me:hunt/er2@host/a", "http://***@host/a"),
            ("http://me@host", "http://***@host"),
            ("https://host/a?X-Signature=hunter2", "https://host/a?***"),
            ("https://me:x@host/a?b@c", "https://***@host/a?***"),
            ("http://host/a.bin", "http://host/a.bin"),
            ("a.bin", "a.bin"),
        ];
        for (uri, shown) in cases {
            assert_eq!(masked(uri), shown);
        }
    }
}
