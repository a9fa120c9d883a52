//! Forms of `If-Match`, and in which order to try them.
//!
//! The standard knows one form; services in the field take the header's tag, the body's, one without `W/`, one without
//! quotes, `*`, or none at all. Pure.

use http::HeaderValue;

use crate::redfish::line::Answer;

/// Most PATCH requests for one change.
const TRIES_MAX: usize = 4;

/// What to put into `If-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EtagForm {
    /// The tag of the header byte for byte (without a `-gzip` suffix), else the body's.
    AsSent,
    /// `@odata.etag` of the body: some headers carry the tag in double quotes twice.
    Body,
    /// Without `W/`, or without the outer of two pairs of quotes.
    Strong,
    /// Without any quotes.
    Unquoted,
    /// `*`.
    Star,
    /// No header.
    Absent,
}

impl EtagForm {
    const ALL: [Self; 6] = [
        Self::AsSent,
        Self::Body,
        Self::Strong,
        Self::Unquoted,
        Self::Star,
        Self::Absent,
    ];

    /// The word under which the form is remembered.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::AsSent => "as-sent",
            Self::Body => "body",
            Self::Strong => "strong",
            Self::Unquoted => "unquoted",
            Self::Star => "star",
            Self::Absent => "absent",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == text)
    }

    /// The header's value for these tags; `None` where the form has none to offer.
    fn text(self, tags: &Tags) -> Option<String> {
        match self {
            Self::AsSent => tags
                .header
                .as_deref()
                .map(without_gzip)
                .or_else(|| tags.body.clone()),
            Self::Body => tags.body.clone(),
            Self::Strong => tags.any().and_then(strong),
            Self::Unquoted => tags.any().map(unquoted),
            Self::Star => Some("*".to_owned()),
            Self::Absent => None,
        }
    }
}

/// The tags of one fresh read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tags {
    header: Option<String>,
    body: Option<String>,
}

impl Tags {
    pub(super) fn of(answer: &Answer) -> Self {
        let header = answer
            .headers
            .get(http::header::ETAG)
            .and_then(|tag| tag.to_str().ok());
        let body = answer
            .json
            .get("@odata.etag")
            .and_then(serde_json::Value::as_str);
        let whole = |tag: Option<&str>| {
            tag.map(str::trim)
                .filter(|tag| !tag.is_empty())
                .map(str::to_owned)
        };
        Self {
            header: whole(header),
            body: whole(body),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.header.is_none() && self.body.is_none()
    }

    fn any(&self) -> Option<&str> {
        self.header.as_deref().or(self.body.as_deref())
    }
}

/// Chooses the form of each try of one change.
#[derive(Debug)]
pub(super) struct Ladder {
    first: EtagForm,
    tried: Vec<(EtagForm, Option<String>)>,
}

impl Ladder {
    /// Starts with the form that worked before on this BMC.
    pub(super) fn new(remembered: Option<EtagForm>) -> Self {
        Self {
            first: remembered.unwrap_or(EtagForm::AsSent),
            tried: Vec::new(),
        }
    }

    /// The next try: its form and `If-Match`; `None` when all tries are used up.
    ///
    /// The first form gets a second chance with the fresh tag, because tags of live resources move; then one other
    /// writing of the tag, `*`, and no header.
    pub(super) fn next(&mut self, tags: &Tags) -> Option<(EtagForm, Option<HeaderValue>)> {
        if self.tried.len() >= TRIES_MAX {
            return None;
        }
        let (form, text) = self.choose(tags)?;
        let value = text
            .as_deref()
            .and_then(|text| HeaderValue::from_str(text).ok());
        self.tried.push((form, text));
        Some((form, value))
    }

    fn choose(&self, tags: &Tags) -> Option<(EtagForm, Option<String>)> {
        use EtagForm::{Absent, AsSent, Body, Star, Strong, Unquoted};
        let first = (self.first, self.first.text(tags));
        match self.tried.len() {
            0 if first.1.is_some() || self.first == Absent => return Some(first),
            // The resource shows no tag: there is nothing to match.
            0 => return Some((Absent, None)),
            1 if first.1.is_some() && self.tried[0].0 == self.first && self.first != Star => {
                return Some(first);
            }
            _ => {}
        }
        let wrote_other = self
            .tried
            .iter()
            .any(|(form, _)| *form != self.first && !matches!(form, Star | Absent));
        let others: &[EtagForm] = if wrote_other {
            &[]
        } else {
            &[AsSent, Body, Strong, Unquoted]
        };
        let fresh = |text: &Option<String>| self.tried.iter().all(|(_, tried)| tried != text);
        let written = others
            .iter()
            .map(|form| (*form, form.text(tags)))
            .find(|(_, text)| text.is_some() && fresh(text));
        written.or_else(|| {
            [Star, Absent]
                .into_iter()
                .map(|form| (form, form.text(tags)))
                .find(|(_, text)| fresh(text))
        })
    }
}

/// Whether an answer to a PATCH speaks about `If-Match`: 412 and 428 by the standard, and 400 or 429 where a service
/// names the precondition in a message.
pub(super) fn is_about_tag(answer: &Answer) -> bool {
    const KEYS: [&str; 3] = [
        "PreconditionFailed",
        "PreconditionRequired",
        "HeaderMissing",
    ];
    matches!(answer.status, 412 | 428)
        || (matches!(answer.status, 400 | 429) && KEYS.iter().any(|key| answer.has_key(key)))
}

/// A proxy in the BMC appends `-gzip` to tags of bodies that it could compress, and does not know them afterwards.
fn without_gzip(tag: &str) -> String {
    tag.strip_suffix("-gzip\"")
        .map_or_else(|| tag.to_owned(), |rest| format!("{rest}\""))
}

fn strong(tag: &str) -> Option<String> {
    let doubly = tag
        .strip_prefix("\"\"")
        .and_then(|rest| rest.strip_suffix("\"\""));
    doubly
        .map(|inner| format!("\"{inner}\""))
        .or_else(|| tag.strip_prefix("W/").map(str::to_owned))
}

fn unquoted(tag: &str) -> String {
    tag.trim_start_matches("W/").trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(header: Option<&str>, body: Option<&str>) -> Tags {
        Tags {
            header: header.map(str::to_owned),
            body: body.map(str::to_owned),
        }
    }

    /// All `If-Match` values of a change that is refused every time.
    fn climb(remembered: Option<EtagForm>, tags: &Tags) -> Vec<String> {
        let mut ladder = Ladder::new(remembered);
        let mut tried = Vec::new();
        while let Some((_, value)) = ladder.next(tags) {
            tried.push(value.map_or("-".to_owned(), |value| {
                value.to_str().expect("text").to_owned()
            }));
        }
        tried
    }

    #[test]
    fn four_tries_are_the_most() {
        assert_eq!(
            climb(None, &tags(Some("W/\"1\""), Some("W/\"1\""))),
            ["W/\"1\"", "W/\"1\"", "\"1\"", "*"]
        );
        assert_eq!(
            climb(None, &tags(Some("\"1\""), None)),
            ["\"1\"", "\"1\"", "1", "*"]
        );
        assert_eq!(
            climb(None, &tags(Some("\"\"1\"\""), Some("\"1\""))),
            ["\"\"1\"\"", "\"\"1\"\"", "\"1\"", "*"]
        );
        assert_eq!(
            climb(None, &tags(None, Some("\"1\""))),
            ["\"1\"", "\"1\"", "1", "*"]
        );
    }

    #[test]
    fn without_a_tag_nothing_is_matched_until_the_bmc_asks() {
        assert_eq!(climb(None, &tags(None, None)), ["-", "*"]);
    }

    #[test]
    fn the_remembered_form_comes_first() {
        let both = tags(Some("W/\"1\""), Some("\"b\""));
        assert_eq!(climb(Some(EtagForm::Star), &both), ["*", "W/\"1\"", "-"]);
        assert_eq!(
            climb(Some(EtagForm::Body), &both),
            ["\"b\"", "\"b\"", "W/\"1\"", "*"]
        );
        assert_eq!(climb(Some(EtagForm::Absent), &both), ["-", "W/\"1\"", "*"]);
    }

    #[test]
    fn a_gzip_suffix_is_dropped() {
        assert_eq!(climb(None, &tags(Some("\"abc-gzip\""), None))[0], "\"abc\"");
    }

    #[test]
    fn forms_are_remembered_by_name() {
        for form in EtagForm::ALL {
            assert_eq!(EtagForm::parse(form.as_str()), Some(form));
        }
        assert_eq!(EtagForm::parse("newer than this"), None);
    }
}
