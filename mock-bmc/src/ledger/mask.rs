//! This room hides what must not be written down: passwords, and user information in URLs.
//!
//! It deliberately works by the names of members, since a mock cannot know what a stranger's text means.

use serde_json::Value;

/// What stands where a secret was.
const MASK: &str = "***";

/// A body as it may be written down.
pub(crate) fn masked(value: &Value) -> Value {
    let mut value = value.clone();
    mask(&mut value);
    value
}

fn mask(value: &mut Value) {
    if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(mask);
        return;
    }
    if let Some(text) = value.as_str() {
        *value = Value::String(masked_url(text));
        return;
    }
    for (name, member) in value.as_object_mut().into_iter().flatten() {
        if is_secret(name) && !member.is_null() {
            *member = Value::String(MASK.to_owned());
        } else {
            mask(member);
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "password",
        "token",
        "communitystring",
        "passphrase",
        "secret",
    ]
    .iter()
    .any(|part| name.ends_with(part))
}

/// A URL without its user information; other text as it is.
pub(crate) fn masked_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{MASK}@{host}{path}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let body = json!({"UserName": "root", "Password": "x", "Attributes": {"Users.2.Password": "y", "AdminPassword": null},
            "ImageURI": "http://u:p@host/a?b=c@d"});
        assert_eq!(
            masked(&body),
            json!({"UserName": "root", "Password": "***", "Attributes": {"Users.2.Password": "***", "AdminPassword": null},
                "ImageURI": "http://***@host/a?b=c@d"})
        );
    }
}
