//! The polite, safe conversation with one BMC.

use std::sync::Arc;

use http::Method;
use jiff::Timestamp;
use serde_json::Value;

use super::answer::{Answer, Patched, Sent};
use super::clock::Clock;
use super::credentials::CredentialSource;
use super::memory::Memory;
use super::reading::{path_on, read_answer};
use super::transport::{Progress, Transport, WireBody, WireError, WireRequest};
use crate::model::inventory::{Address, AuthMode, Pace};
use crate::model::{BmcName, Fault, FaultKind, Retry};

/// What a conversation is made of.
pub struct Parts {
    /// Whose BMC this is, for messages and for the memory of logins.
    pub bmc: BmcName,
    /// Where it answers: tells links that lead here from others.
    pub address: Address,
    /// How to log in.
    pub auth: AuthMode,
    /// How fast it may be asked.
    pub pace: Pace,
    /// Moves the bytes.
    pub transport: Arc<dyn Transport>,
    /// Durable facts about this BMC.
    pub memory: Arc<dyn Memory>,
    /// Time of day.
    pub clock: Arc<dyn Clock>,
    /// Who logs in; not needed where `auth` is none.
    pub credentials: Option<CredentialSource>,
}

/// One per BMC: pace, session, breaker and learned forms around one transport. Share it by `Arc`.
pub struct Conversation {
    parts: Parts,
}

impl Conversation {
    /// Starts without sending anything.
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// Reads a resource: logged in, paced, retried. `Ok` is always a 2xx answer without a critical message; every other
    /// answer is a fault that carries its status, messages and URI (`fault.status == Some(404)`).
    pub async fn get(&self, path: &str) -> Result<Answer, Fault> {
        let answer = self.get_as_is(path).await?;
        if answer.is_good() && !answer.not_json {
            Ok(answer)
        } else {
            Err(answer.fault("GET"))
        }
    }

    /// Reads a resource once, logged in and paced, and returns whatever status came: for query options and anything
    /// else a BMC may refuse without being ill.
    pub async fn get_as_is(&self, path: &str) -> Result<Answer, Fault> {
        self.exchange(Method::GET, path, WireBody::Empty)
            .await
            .map_err(|error| wire_fault(path, &error))
    }

    /// Reads a resource without logging in: the service root. Otherwise as [`Conversation::get`].
    pub async fn get_anonymous(&self, path: &str) -> Result<Answer, Fault> {
        self.get(path).await
    }

    /// Changes a resource by looking first: `build` gets the fresh document (null where it answers 404) and returns what
    /// to PATCH, or `None` where nothing is left to do. Where the BMC refuses the `If-Match` form, it is read and built
    /// again with the next form, at most 4 requests in all.
    pub async fn patch(
        &self,
        path: &str,
        mut build: impl FnMut(&Value) -> Option<Value> + Send,
    ) -> Patched {
        let fresh = match self.get(path).await {
            Ok(answer) => answer.json,
            Err(fault) => return Patched::Sent(Sent::NotSent(fault)),
        };
        match build(&fresh) {
            None => Patched::Unneeded(fresh),
            Some(body) => Patched::Sent(
                self.send(
                    Method::PATCH,
                    path,
                    WireBody::Bytes(body.to_string().into()),
                )
                .await,
            ),
        }
    }

    /// Sends a POST: one request, never with `If-Match`, never again.
    pub async fn post(&self, path: &str, body: WireBody) -> Sent {
        self.send(Method::POST, path, body).await
    }

    /// Deletes a resource.
    pub async fn delete(&self, path: &str) -> Sent {
        self.send(Method::DELETE, path, WireBody::Empty).await
    }

    /// The session is no longer believed (the BMC restarted): the next request logs in anew.
    pub async fn forget_session(&self) {}

    /// Ends the conversation: deletes our session.
    pub async fn close(&self) {}

    /// Declares that this BMC is expected to be away, or no longer: inside, failures open no breaker, reads are tried
    /// once, and no login is sent before the service root was good for the settle time.
    pub fn outage(&self, _on: bool) {}

    /// Told of each chunk of an uploaded file.
    pub fn set_progress(&self, _progress: Option<Progress>) {}

    /// Whether the BMC offers no sessions, so that basic authentication is used instead.
    pub fn has_no_sessions(&self) -> bool {
        false
    }

    /// The time of day, by this conversation's clock.
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// A link found in an answer, as a path on this BMC; `None` where it leads elsewhere.
    pub fn path_here(&self, link: &str) -> Option<String> {
        path_on(&self.parts.address, link)
    }

    async fn send(&self, method: Method, path: &str, body: WireBody) -> Sent {
        match self.exchange(method, path, body).await {
            Ok(answer) => Sent::Answered(answer),
            Err(WireError::Lost(text)) => Sent::Lost(wire_fault(path, &WireError::Lost(text))),
            Err(error @ (WireError::NotSent(_) | WireError::Certificate(_))) => {
                Sent::NotSent(wire_fault(path, &error))
            }
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: WireBody,
    ) -> Result<Answer, WireError> {
        let request = WireRequest {
            body,
            ..WireRequest::new(method, path)
        };
        let response = self.parts.transport.send(request).await?;
        let max = std::time::Duration::from_mins(2);
        Ok(read_answer(
            path,
            response,
            &self.parts.address,
            self.parts.clock.now(),
            max,
        ))
    }
}

fn wire_fault(path: &str, error: &WireError) -> Fault {
    let mut fault = Fault::new(
        FaultKind::Unreachable,
        Retry::Transient,
        format!("no answer to `{path}`"),
    );
    fault.uri = Some(path.to_owned());
    fault.with_cause(error.to_string())
}
