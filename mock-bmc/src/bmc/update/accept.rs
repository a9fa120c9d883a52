//! This room takes update requests: by URI, by multipart push, by bare push.
//!
//! It deliberately refuses at once only what can be known at once; a bad image shows itself in the task.

use http::StatusCode;
use http::header::{CONTENT_TYPE, LOCATION};
use serde_json::{Map, Value, json};

use super::super::answer::{Answer, Body};
use super::super::asked::Asked;
use super::super::config::Fetch;
use super::super::core::Bmc;
use super::super::task::NewTask;
use super::start::already_in_update_mode;
use super::strict::session_form;
use super::wanted::{Image, Wanted};
use super::{Stage, Update, multipart};
use crate::docs::messages::Message;
use crate::image::{self, ImageHeader};
use crate::ledger::masked;
use crate::script::{Handle, LocationForm, RefusedAt};

/// How long a client is told to wait while another update goes on.
const BUSY_SECONDS: u64 = 30;

impl Bmc {
    /// Answers `SimpleUpdate`.
    pub(in super::super) fn simple_update(&mut self, asked: &Asked<'_>) -> Answer {
        let wanted = asked
            .object_or_empty()
            .and_then(|body| self.wanted_url(body));
        self.judge_request(asked, wanted)
    }

    /// Answers a multipart push.
    pub(in super::super) fn multipart_push(&mut self, asked: &Asked<'_>) -> Answer {
        let kind = asked.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("multipart/form-data") {
            // One URI may serve both kinds of push.
            let both = self
                .bindings
                .update
                .as_ref()
                .is_some_and(|update| update.push == update.multipart);
            return if both {
                self.push(asked)
            } else {
                self.wrong_kind(asked)
            };
        }
        let wanted = multipart::read(kind, &asked.request.body).map_err(Answer::bad);
        let wanted = wanted.and_then(|upload| {
            self.refused_unclaimed()?;
            self.refused_parameters(&upload)?;
            Ok(Wanted {
                name: upload.file_name,
                targets: self.wanted_targets(upload.parameters.get("Targets"))?,
                image: Image::Bytes(upload.file),
                parameters: upload.parameters,
            })
        });
        self.judge_request(asked, wanted)
    }

    /// Answers a bare push; its targets are those that the service holds.
    pub(in super::super) fn push(&mut self, asked: &Asked<'_>) -> Answer {
        let kind = asked
            .header(CONTENT_TYPE.as_str())
            .unwrap_or("application/octet-stream");
        if self.habits.update.push_is_a_form_with_the_session() {
            let wanted = session_form(asked, kind).map(|file| Wanted {
                name: file.file_name.unwrap_or_default(),
                parameters: Map::new(),
                targets: Vec::new(),
                image: Image::Bytes(file.body),
            });
            return self.judge_request(asked, wanted);
        }
        if !kind
            .to_ascii_lowercase()
            .starts_with("application/octet-stream")
        {
            return self.wrong_kind(asked);
        }
        let service = self
            .bindings
            .update
            .as_ref()
            .and_then(|update| self.store.get(&update.service));
        let shown = |name: &str| service.map(|service| service[name].clone());
        let held = shown("HttpPushUriTargets").unwrap_or_default();
        let wanted = self
            .refused_unclaimed()
            .and_then(|()| self.wanted_targets(Some(&held).filter(|held| !held.is_null())))
            .map(|targets| Wanted {
                name: "image".to_owned(),
                parameters: Map::from_iter([("Targets".to_owned(), json!(targets))]),
                targets,
                image: Image::Bytes(asked.request.body.clone()),
            });
        self.judge_request(asked, wanted)
    }

    fn wrong_kind(&mut self, asked: &Asked<'_>) -> Answer {
        let message = Message::base("HeaderInvalid", &["Content-Type"]);
        let answer = Answer::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, &[message]);
        self.judge_request(asked, Err(answer))
    }

    fn judge_request(&mut self, asked: &Asked<'_>, wanted: Result<Wanted, Answer>) -> Answer {
        self.updates.asked += 1;
        let nth = self.updates.asked;
        self.strangers_with_update(nth);
        let busy = self.updates.current.is_some();
        let judged = wanted.and_then(|wanted| {
            if busy {
                return Err(Answer::busy(BUSY_SECONDS));
            }
            if self.updates.verified.is_some() {
                return Err(Answer::bad(already_in_update_mode()));
            }
            let header = self.refused_image(&wanted)?;
            Ok((wanted, header))
        });
        match judged {
            Ok((wanted, header)) => self.begin(asked, wanted, header.as_ref()),
            Err(answer) => {
                let phrase = format!("update refused {}", reason(&answer));
                self.ledger.cause(phrase);
                answer
            }
        }
    }

    /// What of a pushed image is wrong at first sight; the header of one that is our own.
    fn refused_image(&self, wanted: &Wanted) -> Result<Option<ImageHeader>, Answer> {
        let Image::Bytes(bytes) = &wanted.image else {
            return Ok(None);
        };
        let most = self.habits.update.max_image_bytes();
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if most > 0 && size > most {
            let message = Message::base("PayloadTooLarge", &[]);
            return Err(Answer::refused(StatusCode::PAYLOAD_TOO_LARGE, &[message]));
        }
        let Some(header) = image::parse(bytes) else {
            return Ok(None);
        };
        if self.habits.update.refused_at() == RefusedAt::Request {
            let goal = self
                .goal_of(&header, &wanted.targets)
                .map_err(Answer::bad)?;
            if let Some(refused) = self.refused_hop(&header, &goal) {
                return Err(Answer::bad(refused));
            }
        }
        Ok(Some(header))
    }

    fn begin(&mut self, asked: &Asked<'_>, wanted: Wanted, header: Option<&ImageHeader>) -> Answer {
        self.updates.made += 1;
        let number = self.updates.made;
        let task = self.add_task(NewTask {
            name: "Firmware update".to_owned(),
            payload: Some(payload(asked, &wanted)),
            foreign: false,
        });
        self.give_task_fault(&task, header.map(|header| header.component), number);
        let targets = if wanted.targets.is_empty() {
            "-".to_owned()
        } else {
            wanted.targets.join(",")
        };
        let what = header.map(|header| format!("{} {}", header.component, header.version));
        let what = what.unwrap_or_else(|| format!("image {}", wanted.name));
        self.ledger.cause(format!(
            "update accepted {what} target {targets} task {task}"
        ));
        let (url, bytes) = match wanted.image {
            Image::Url(url) => (Some(url), None),
            Image::Bytes(bytes) => (None, Some(bytes)),
        };
        self.updates.current = Some(Update {
            number: u64::from(number),
            task: task.clone(),
            name: wanted.name,
            url: url.clone(),
            targets: wanted.targets,
            job: None,
            wiped: wiped(&wanted.parameters),
            on_start: wanted.parameters.get("@Redfish.OperationApplyTime")
                == Some(&Value::from("OnStartUpdateRequest")),
            on_reset: wanted.parameters.get("@Redfish.OperationApplyTime")
                == Some(&Value::from("OnReset")),
            stage: Stage::Transfer,
            header: None,
            goal: None,
        });
        if let Some(url) = url {
            self.fetches.push(Fetch {
                id: u64::from(number),
                url,
            });
        }
        if let Some(bytes) = bytes {
            self.image_in_hand(&bytes);
        }
        self.refresh_tasks();
        self.accepted(asked, &task)
    }

    pub(super) fn accepted(&self, asked: &Asked<'_>, task: &str) -> Answer {
        let habits = &self.habits.update;
        let (uri, monitor) = self.task_uris(task).unwrap_or_default();
        let status = StatusCode::from_u16(habits.status()).unwrap_or(StatusCode::ACCEPTED);
        let document = self
            .view(&uri)
            .unwrap_or_else(|| json!({ "@odata.id": uri }));
        let handle = habits.handle();
        let body = match handle {
            Handle::Both | Handle::Body => Body::Json(document),
            Handle::Location => Body::None,
            Handle::Annotations => Body::Json(json!({
                "@odata.id": uri,
                "@odata.type": document["@odata.type"],
            })),
            Handle::Message | Handle::None => {
                let mut message = Message::update("UpdateInProgress", &[]);
                message.args = if handle == Handle::Message {
                    vec![uri.clone()]
                } else {
                    Vec::new()
                };
                Body::Json(json!({ "@Message.ExtendedInfo": [message.to_json()] }))
            }
        };
        let mut answer = Answer::empty(status);
        if status != StatusCode::NO_CONTENT {
            answer.body = body;
        }
        let named = if habits.location_names_task() {
            uri.clone()
        } else {
            monitor
        };
        let location = match habits.location() {
            LocationForm::Relative => named,
            LocationForm::Absolute => format!("{}{named}", asked.request.scheme_host),
        };
        match handle {
            Handle::Both | Handle::Location => answer.with(LOCATION, &location),
            Handle::Body | Handle::Annotations | Handle::Message | Handle::None => answer,
        }
    }
}

/// What of the configuration a push says is not to be kept.
fn wiped(parameters: &Map<String, Value>) -> Vec<String> {
    let parts = parameters
        .get("Oem")
        .and_then(|oem| oem["Supermicro"].as_object());
    let flags = parts.into_iter().flat_map(Map::values);
    let flags = flags.filter_map(Value::as_object).flatten();
    let off = flags.filter(|(_, kept)| **kept == Value::Bool(false));
    off.map(|(name, _)| name.clone()).collect()
}

/// What a task says of the request that started it.
fn payload(asked: &Asked<'_>, wanted: &Wanted) -> Value {
    let parameters = masked(&Value::Object(wanted.parameters.clone()));
    let kind = asked.header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    json!({
        "HttpOperation": "POST",
        "TargetUri": asked.uri,
        "HttpHeaders": [format!("Content-Type: {kind}")],
        "JsonBody": parameters.to_string(),
    })
}

/// The first message's key of a refusal.
fn reason(answer: &Answer) -> String {
    let id = match &answer.body {
        Body::Json(body) => body["error"]["@Message.ExtendedInfo"][0]["MessageId"].as_str(),
        Body::None | Body::Text(..) => None,
    };
    let id = id.unwrap_or_default();
    id.rsplit('.').next().unwrap_or(id).to_owned()
}
