//! This room is the query part of a request: which parameters there are, and what they make of a document.
//!
//! It deliberately decides nothing on fields; `$select` and `$filter` are refused, as the service root says.

use serde_json::Value;

use super::messages::Message;
use super::walk::links;

/// The deepest `$levels`.
pub(crate) const LEVELS_MAX: u32 = 6;

/// What a request's query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) expand: Option<ExpandQuery>,
    pub(crate) only: bool,
    pub(crate) skip: Option<usize>,
    pub(crate) top: Option<usize>,
}

/// Which links are to be replaced by what they link to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExpandQuery {
    /// Those outside `Links`.
    pub(crate) subordinate: bool,
    /// Those within `Links`.
    pub(crate) dependent: bool,
    pub(crate) levels: u32,
}

/// A query that is refused.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// 400.
    Wrong(Message),
    /// 501.
    Unsupported(Message),
}

impl Query {
    /// Reads the query part; parameters without `$` that are not known are ignored.
    pub(crate) fn read(text: &str) -> Result<Self, Refused> {
        let mut query = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name), decoded(value));
            match name.as_str() {
                "$expand" => query.expand = Some(read_expand(&value)?),
                "$skip" => query.skip = Some(read_count(&name, &value)?),
                "$top" => query.top = Some(read_count(&name, &value)?),
                "only" if value.is_empty() => query.only = true,
                "only" => {
                    let message =
                        Message::base("QueryParameterValueFormatError", &[&value, "only"]);
                    return Err(Refused::Wrong(message));
                }
                _ if name.starts_with('$') => {
                    return Err(Refused::Unsupported(Message::base(
                        "QueryParameterUnsupported",
                        &[&name],
                    )));
                }
                _ => {}
            }
        }
        if query.only && query.expand.is_some() {
            return Err(Refused::Wrong(Message::base(
                "QueryCombinationInvalid",
                &[],
            )));
        }
        Ok(query)
    }
}

fn read_count(name: &str, value: &str) -> Result<usize, Refused> {
    value.parse().map_err(|_| {
        let negative = value
            .strip_prefix('-')
            .is_some_and(|rest| rest.parse::<u64>().is_ok());
        Refused::Wrong(if negative {
            Message::base("QueryParameterOutOfRange", &[value, name, "0 or more"])
        } else {
            Message::base("QueryParameterValueTypeError", &[value, name])
        })
    })
}

fn read_expand(value: &str) -> Result<ExpandQuery, Refused> {
    let wrong = || {
        Refused::Wrong(Message::base(
            "QueryParameterValueFormatError",
            &[value, "$expand"],
        ))
    };
    let (kind, rest) = value.split_at_checked(1).ok_or_else(wrong)?;
    let (subordinate, dependent) = match kind {
        "." => (true, false),
        "~" => (false, true),
        "*" => (true, true),
        _ => return Err(wrong()),
    };
    let levels = match rest
        .strip_prefix("($levels=")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        Some(levels) => levels.parse().map_err(|_| wrong())?,
        None if rest.is_empty() => 1,
        None => return Err(wrong()),
    };
    if !(1..=LEVELS_MAX).contains(&levels) {
        let range = format!("1 to {LEVELS_MAX}");
        return Err(Refused::Wrong(Message::base(
            "QueryParameterOutOfRange",
            &[&levels.to_string(), "$levels", &range],
        )));
    }
    Ok(ExpandQuery {
        subordinate,
        dependent,
        levels,
    })
}

/// Decodes percent signs; what is not well formed stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        let digits = bytes
            .get(index + 1..index + 3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(value) = value.filter(|_| *byte == b'%') {
            out.push(value);
            index += 3;
        } else {
            out.push(*byte);
            index += 1;
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Replaces links by what `read` gives for them.
pub(crate) fn expand(
    document: &mut Value,
    query: ExpandQuery,
    read: &mut dyn FnMut(&str) -> Option<Value>,
) {
    expand_object(document, query, false, read);
}

fn expand_object(
    value: &mut Value,
    query: ExpandQuery,
    in_links: bool,
    read: &mut dyn FnMut(&str) -> Option<Value>,
) {
    for (name, member) in value.as_object_mut().into_iter().flatten() {
        // These name a resource without being a way to it.
        if name == "@Redfish.Settings" || name == "Actions" {
            continue;
        }
        expand_value(member, query, in_links || name == "Links", read);
    }
}

fn expand_value(
    value: &mut Value,
    query: ExpandQuery,
    in_links: bool,
    read: &mut dyn FnMut(&str) -> Option<Value>,
) {
    if let Some(list) = value.as_array_mut() {
        for element in list {
            expand_value(element, query, in_links, read);
        }
        return;
    }
    let Some(object) = value.as_object() else {
        return;
    };
    let bare = object.len() == 1;
    match object
        .get("@odata.id")
        .and_then(Value::as_str)
        .map(str::to_owned)
    {
        Some(uri) if bare => {
            let wanted = if in_links {
                query.dependent
            } else {
                query.subordinate
            };
            if let Some(mut found) = read(&uri).filter(|_| wanted) {
                if query.levels > 1 {
                    let deeper = ExpandQuery {
                        levels: query.levels - 1,
                        ..query
                    };
                    expand_object(&mut found, deeper, false, read);
                }
                *value = found;
            }
        }
        Some(_) | None => expand_object(value, query, in_links, read),
    }
}

/// Cuts a collection to one page and links to the next.
pub(crate) fn page(document: &mut Value, uri: &str, query: &Query, page_size: Option<usize>) {
    let Some(members) = document["Members"].as_array().cloned() else {
        return;
    };
    let skip = query.skip.unwrap_or(0);
    let limit = match (query.top, page_size) {
        (Some(top), Some(size)) => top.min(size),
        (Some(limit), None) | (None, Some(limit)) => limit,
        (None, None) => usize::MAX,
    };
    let shown: Vec<Value> = members.iter().skip(skip).take(limit).cloned().collect();
    let next = skip + shown.len();
    // `$top` ends the answer on purpose; a page does not.
    let asked_for = query.top.is_some_and(|top| shown.len() >= top);
    if next < members.len() && !shown.is_empty() && !asked_for {
        document["Members@odata.nextLink"] = Value::String(format!("{uri}?$skip={next}"));
    }
    document["Members"] = Value::Array(shown);
}

/// The only member of a collection.
pub(crate) fn only_member(document: &Value) -> Option<String> {
    match links(&document["Members"]).as_slice() {
        [only] => Some(only.clone()),
        [] | [_, ..] => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_and_what_means_nothing_is_ignored() {
        assert!(matches!(
            Query::read("$select=Name"),
            Err(Refused::Unsupported(_))
        ));
        for wrong in [
            "$expand=x",
            "$expand=.($levels=0)",
            "$expand=.($levels=99)",
            "$skip=-1",
            "$top=x",
            "only=x",
            "only&$expand=.",
        ] {
            assert!(
                matches!(Query::read(wrong), Err(Refused::Wrong(_))),
                "{wrong}"
            );
        }
        assert_eq!(Query::read("foo=bar").ok(), Some(Query::default()));
    }

    #[test]
    fn expand_goes_as_deep_as_asked_and_leaves_links_alone() {
        let query = Query::read("%24expand=.($levels=2)")
            .ok()
            .and_then(|query| query.expand);
        let mut read =
            |uri: &str| Some(json!({"@odata.id": uri, "Next": {"@odata.id": format!("{uri}/n")}}));
        let mut document = json!({"A": {"@odata.id": "/a"}, "Links": {"B": [{"@odata.id": "/b"}]}});
        if let Some(query) = query {
            expand(&mut document, query, &mut read);
        }
        assert_eq!(
            document["A"]["Next"]["Next"],
            json!({"@odata.id": "/a/n/n"})
        );
        assert_eq!(document["Links"]["B"], json!([{"@odata.id": "/b"}]));
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let collection = json!({"Members": [1, 2, 3, 4, 5]});
        let mut query = Query::default();
        let mut seen = Vec::new();
        loop {
            let mut document = collection.clone();
            page(&mut document, "/c", &query, Some(2));
            seen.extend(document["Members"].as_array().cloned().unwrap_or_default());
            let Some(next) = document["Members@odata.nextLink"].as_str() else {
                break;
            };
            query = Query::read(next.trim_start_matches("/c?")).unwrap_or_default();
        }
        assert_eq!(json!(seen), collection["Members"]);
    }
}
