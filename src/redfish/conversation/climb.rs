//! A change of a resource that looks first: read, work out what differs, PATCH with the right `If-Match`.
//!
//! Which form comes next is the ladder's to say; what differs is the caller's.

use http::Method;
use http::header::IF_MATCH;
use serde_json::Value;

use super::Conversation;
use super::etag::{EtagForm, Ladder, Tags, is_about_tag};
use crate::model::{Fault, FaultKind, Retry};
use crate::redfish::line::{Answer, Sent, scrub, scrub_json, secrets_in};
use crate::redfish::transport::WireBody;

impl Conversation {
    /// The ladder: `Ok` with the fresh document where nothing is left to do.
    pub(super) async fn climb(
        &self,
        path: &str,
        mut build: impl FnMut(&Value) -> Option<Value> + Send,
    ) -> Result<Value, Box<Sent>> {
        let remembered = self.memory.etag_form().as_deref().and_then(EtagForm::parse);
        let mut ladder = Ladder::new(remembered);
        let mut refusal = None;
        loop {
            let (fresh, tags) = self
                .fresh(path)
                .await
                .map_err(|fault| Box::new(Sent::NotSent(fault)))?;
            let Some(body) = build(&fresh) else {
                return Ok(fresh);
            };
            let Some((form, if_match)) = ladder.next(&tags) else {
                // The ladder gives at least one try, so a refusal is what ended it.
                let sent = refusal.map_or_else(|| Sent::NotSent(no_try(path)), Sent::Answered);
                return Err(Box::new(sent));
            };
            let extra = if_match
                .map(|value| (IF_MATCH, value))
                .into_iter()
                .collect();
            let bytes = WireBody::Bytes(body.to_string().into());
            match self.send(Method::PATCH, path, extra, bytes).await {
                Sent::Answered(answer) if is_about_tag(&answer) => {
                    refusal = Some(scrubbed(answer, &body));
                }
                Sent::Answered(answer) => {
                    let nothing_to_match = form == EtagForm::Absent && tags.is_empty();
                    if answer.is_good() && !nothing_to_match {
                        self.learn_form(form, remembered);
                    }
                    return Err(Box::new(Sent::Answered(scrubbed(answer, &body))));
                }
                sent @ (Sent::NotSent(_) | Sent::Lost(_)) => return Err(Box::new(sent)),
            }
        }
    }

    fn learn_form(&self, worked: EtagForm, remembered: Option<EtagForm>) {
        if remembered.unwrap_or(EtagForm::AsSent) != worked {
            self.memory.remember_etag_form(worked.as_str());
        }
    }

    /// The resource as it is now, with its tags; null where it does not exist yet.
    async fn fresh(&self, path: &str) -> Result<(Value, Tags), Fault> {
        match self.get(path).await {
            Ok(answer) => {
                let tags = Tags::of(&answer);
                Ok((answer.json, tags))
            }
            // Some settings resources come into being with the first PATCH.
            Err(fault) if fault.status == Some(404) => Ok((Value::Null, Tags::default())),
            Err(fault) => Err(fault),
        }
    }
}

fn scrubbed(mut answer: Answer, body: &Value) -> Answer {
    let secrets = secrets_in(body);
    if !secrets.is_empty() {
        scrub(&mut answer.messages, &secrets);
        scrub_json(&mut answer.json, &secrets);
    }
    answer
}

fn no_try(path: &str) -> Fault {
    Fault::new(
        FaultKind::Bug,
        Retry::Never,
        format!("no form of `If-Match` was tried on `{path}`"),
    )
}
