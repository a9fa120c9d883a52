//! This room is BIOS settings: written to the settings object, kept until a boot, applied by it.
//!
//! It deliberately keeps what counts and what waits apart; what documents show of both is made from them.

use http::StatusCode;
use serde_json::{Map, Value};

use super::super::agenda::Event;
use super::super::answer::Answer;
use super::super::core::Bmc;
use super::super::host::{Phase, Power};
use super::outcome::{Judged, attributes_of, taken};
use crate::docs::messages::Message;
use crate::docs::registry::{self, Registry};
use crate::docs::walk::{action, texts};
use crate::platform::generic;
use crate::script::{PendingStyle, Refusal};

/// The members by which a request says when it wants its settings applied.
const APPLY_TIMES: [&str; 2] = ["@Redfish.SettingsApplyTime", "@Redfish.OperationApplyTime"];

impl Bmc {
    /// Where a system's settings are written.
    pub(in super::super) fn settings_uri(&self, index: usize) -> Option<&str> {
        let bios = self.bindings.systems.get(index)?.bios.as_ref()?;
        // A BIOS without a settings object is written itself, as one vendor has it.
        let habits = &self.habits.bios_settings;
        let without =
            !habits.settings_object() || habits.written_at_bios() || bios.settings.is_none();
        if without {
            Some(&bios.uri)
        } else {
            bios.settings.as_deref()
        }
    }

    /// The registry that describes a system's attributes; an empty one where there is none.
    fn bios_registry(&self, index: usize) -> Option<Registry> {
        let bios = self.bindings.systems.get(index)?.bios.as_ref()?;
        let name = self.store.get(&bios.uri)?["AttributeRegistry"].as_str();
        registry::find(&self.store, name, "BiosAttributeRegistry").map(Registry::read)
    }

    /// Answers a write of BIOS settings.
    pub(in super::super) fn write_bios(
        &mut self,
        index: usize,
        uri: &str,
        body: &Map<String, Value>,
    ) -> Answer {
        if self.habits.bios_settings.post_lock() && self.is_in_post(index) {
            let message = Message::own("UnableToModifyDuringSystemPOST", &[]);
            return Answer::refused(StatusCode::SERVICE_UNAVAILABLE, &[message]);
        }
        let (wanted, mut refused) = attributes_of(body);
        refused.extend(self.refused_apply_time(index, body));
        let names = Judged::names(&wanted);
        let judged = self.judge_bios(index, &wanted);
        refused.extend(judged.refused);
        let half = self.habits.bios_settings.half_accept() && !judged.good.is_empty();
        if !refused.is_empty() && !half {
            self.ledger.cause(format!("settings refused {uri} {names}"));
            return Answer::refused(StatusCode::BAD_REQUEST, &refused);
        }
        self.ledger.cause(format!(
            "settings accepted {uri} {}",
            Judged::names(&judged.good)
        ));
        let waits = self.take_bios(index, judged.good);
        let is_timed = APPLY_TIMES.iter().any(|name| body.contains_key(*name));
        let habits = &self.habits.bios_settings;
        let job = if waits && habits.job() && (is_timed || !habits.job_needs_apply_time()) {
            self.add_settings_job(index, uri)
        } else {
            None
        };
        self.bios_answer(index, uri, &refused, (waits, job))
    }

    fn is_in_post(&self, index: usize) -> bool {
        self.hosts
            .get(index)
            .is_some_and(|host| matches!(host.phase, Phase::Post { .. }))
    }

    fn bios_answer(
        &mut self,
        index: usize,
        uri: &str,
        refused: &[Message],
        (waits, job): (bool, Option<String>),
    ) -> Answer {
        let mut messages = refused.to_vec();
        if refused.is_empty() {
            messages.push(Message::base("Success", &[]));
        }
        let system = self
            .bindings
            .systems
            .get(index)
            .and_then(|system| self.store.get(&system.uri));
        let reset = system.and_then(|system| action(system, "#ComputerSystem.Reset"));
        if let Some((target, _)) = reset.filter(|_| waits) {
            messages.push(Message::base(
                "ResetRequired",
                &[&target, "GracefulRestart"],
            ));
        }
        if let Some(job) = job {
            let body = taken(None, &messages);
            return Answer::json(StatusCode::ACCEPTED, body).with(http::header::LOCATION, &job);
        }
        if self.habits.bios_settings.silent_answer() {
            return Answer::done();
        }
        if waits && self.habits.bios_settings.success_in_error_envelope() {
            let message = serde_json::json!({ "MessageId": "iLO.2.23.SystemResetRequired", "MessageSeverity": "Critical" });
            let body = serde_json::json!({ "error": { "code": "iLO.0.10.ExtendedInfo", "message": "See @Message.ExtendedInfo for more information.", "@Message.ExtendedInfo": [message] } });
            return Answer::json(StatusCode::OK, body);
        }
        let resource = self.view(uri);
        let answer = Answer::json(StatusCode::OK, taken(resource, &messages));
        self.with_tag(answer, uri)
    }

    /// Why the time at which the request wants its settings applied cannot be.
    fn refused_apply_time(&self, index: usize, body: &Map<String, Value>) -> Option<Message> {
        let (name, value) = APPLY_TIMES
            .iter()
            .find_map(|name| body.get_key_value(*name))?;
        if self.habits.bios_settings.apply_time() == Refusal::Refused {
            return Some(Message::base("PropertyUnknown", &[name]).about(&format!("/{name}")));
        }
        let bios = self.bindings.systems.get(index)?.bios.as_ref()?;
        let supported = &self.store.get(&bios.uri)?["@Redfish.Settings"]["SupportedApplyTimes"];
        let wanted = value["ApplyTime"].as_str().unwrap_or_default();
        let fits = supported.is_null() || texts(supported).iter().any(|known| known == wanted);
        let message = || {
            Message::base("PropertyValueNotInList", &[wanted, "ApplyTime"])
                .about(&format!("/{name}/ApplyTime"))
        };
        (!fits).then(message)
    }

    fn judge_bios(&self, index: usize, wanted: &Map<String, Value>) -> Judged {
        let registry = self.bios_registry(index).unwrap_or_default();
        let empty = Map::new();
        let current = self.hosts.get(index).map_or(&empty, |host| &host.current);
        let mut judged = Judged::default();
        for (name, value) in wanted {
            // Who registers an attribute that the system does not have does not have it either.
            let checked = if current.contains_key(name) {
                registry.check(name, value, current)
            } else {
                Err(Message::base("PropertyUnknown", &[name]).about(&format!("/Attributes/{name}")))
            };
            match checked {
                Ok(value) => {
                    judged.good.insert(name.clone(), value);
                }
                Err(message) => judged.refused.push(message),
            }
        }
        judged
    }

    /// Takes good values: what needs no reset counts at once, the rest waits. Says whether anything waits.
    fn take_bios(&mut self, index: usize, good: Map<String, Value>) -> bool {
        let registry = self.bios_registry(index).unwrap_or_default();
        let kept = self.habits.bios_settings.silently_kept();
        let Some(host) = self.hosts.get_mut(index) else {
            return false;
        };
        let must_boot = self.habits.bios_settings.waits_while_off() && host.power == Power::Off;
        let mut waits = false;
        for (name, value) in good.into_iter().filter(|(name, _)| !kept.contains(name)) {
            let attribute = registry.attribute(&name);
            let at_once =
                attribute.is_some_and(|attribute| attribute.reset_required == Some(false));
            if at_once && !must_boot {
                host.pending.remove(&name);
                let shown = if attribute.is_some_and(registry::Attribute::is_password) {
                    Value::Null
                } else {
                    value
                };
                host.current.insert(name, shown);
                continue;
            }
            // Writing back what counts is how a pending value is withdrawn.
            if host.current.get(&name) == Some(&value) {
                host.pending.remove(&name);
            } else {
                host.pending.insert(name, value);
                waits = true;
            }
        }
        self.show_attributes(index);
        waits
    }

    /// What a boot does to pending settings.
    pub(in super::super) fn apply_pending(&mut self, index: usize) {
        let id = self.system_id(index);
        let has_job = self.has_settings_job(index);
        let Some(host) = self.hosts.get_mut(index) else {
            return;
        };
        if self.habits.bios_settings.job_needs_apply_time() && !has_job {
            return;
        }
        let pending = std::mem::take(&mut host.pending);
        if pending.is_empty() {
            return;
        }
        let names = Judged::names(&pending);
        if self.habits.bios_settings.dropped() {
            self.note(format!("settings {id} lost {names}"));
            self.show_attributes(index);
            return;
        }
        let failing = self.habits.bios_settings.fail();
        let (failed, good): (Map<_, _>, Map<_, _>) = pending
            .into_iter()
            .partition(|(name, _)| failing.contains(name));
        self.apply_good(index, &id, good);
        if !failed.is_empty() {
            self.note(format!("settings {id} failed {}", Judged::names(&failed)));
        }
        self.tell_result(index, &failed);
        self.show_attributes(index);
    }

    fn apply_good(&mut self, index: usize, id: &str, good: Map<String, Value>) {
        if good.is_empty() {
            return;
        }
        self.note(format!("settings {id} applied {}", Judged::names(&good)));
        let registry = self.bios_registry(index).unwrap_or_default();
        let Some(host) = self.hosts.get_mut(index) else {
            return;
        };
        for (name, value) in good {
            let secret = registry
                .attribute(&name)
                .is_some_and(registry::Attribute::is_password);
            host.current
                .insert(name, if secret { Value::Null } else { value });
        }
    }

    /// Writes the result of the last application beside the current view.
    fn tell_result(&mut self, index: usize, failed: &Map<String, Value>) {
        let bios = self
            .bindings
            .systems
            .get(index)
            .and_then(|system| system.bios.clone());
        let Some(bios) = bios else { return };
        let failures = failed.keys().map(|name| {
            Message::base("PropertyNotUpdated", &[name]).about(&format!("/Attributes/{name}"))
        });
        let mut messages: Vec<Value> = failures.map(|message| message.to_json()).collect();
        if messages.is_empty() {
            messages.push(Message::base("Success", &[]).to_json());
        }
        let date = self.date(self.now);
        self.store.edit(&bios.uri, |document| {
            if document["@Redfish.Settings"].is_object() {
                document["@Redfish.Settings"]["Messages"] = Value::Array(messages);
                document["@Redfish.Settings"]["Time"] = date.into();
            }
        });
    }

    /// After a boot the current view may be without attributes for a while.
    pub(in super::super) fn blank_attributes(&mut self, index: usize) {
        let blank = self.habits.bios_settings.empty_after_boot().0;
        if blank.is_zero() {
            return;
        }
        if let Some(host) = self.hosts.get_mut(index) {
            host.blank = true;
        }
        self.write_attributes(index);
        self.agenda
            .add(self.after(blank), Event::ShowAttributes { system: index });
    }

    /// Lets documents show what counts and what waits.
    pub(in super::super) fn show_attributes(&mut self, index: usize) {
        if let Some(host) = self.hosts.get_mut(index) {
            host.blank = false;
        }
        self.write_attributes(index);
    }

    fn write_attributes(&mut self, index: usize) {
        let Some(bios) = self
            .bindings
            .systems
            .get(index)
            .and_then(|system| system.bios.clone())
        else {
            return;
        };
        let Some(host) = self.hosts.get(index) else {
            return;
        };
        let registry = self.bios_registry(index).unwrap_or_default();
        let unsecret = |name: &String, value: &Value| {
            let secret = registry
                .attribute(name)
                .is_some_and(registry::Attribute::is_password);
            (
                name.clone(),
                if secret { Value::Null } else { value.clone() },
            )
        };
        let mut shown = host.current.clone();
        let waiting: Map<String, Value> = host
            .pending
            .iter()
            .map(|(name, value)| unsecret(name, value))
            .collect();
        if self.habits.bios_settings.early_display() {
            shown.extend(waiting.clone());
        }
        let mut pending = match self.habits.bios_settings.pending_style() {
            PendingStyle::Changes => Map::new(),
            PendingStyle::Everything => host.current.clone(),
        };
        pending.extend(waiting);
        if host.blank {
            shown = Map::new();
        }
        let recorded = self
            .store
            .get(&bios.uri)
            .is_some_and(|document| document.get("Attributes").is_some());
        if recorded {
            self.store
                .set(&bios.uri, "/Attributes", Value::Object(shown));
        }
        let is_bare = pending.is_empty() && self.habits.bios_settings.empty_without_attributes();
        if let Some(settings) = &bios.settings {
            self.store.edit(settings, |document| {
                if let Some(members) = document.as_object_mut().filter(|_| is_bare) {
                    members.remove("Attributes");
                } else {
                    document["Attributes"] = Value::Object(pending);
                }
            });
        }
    }

    /// Answers `Bios.ResetBios`: the defaults wait for the next boot.
    pub(in super::super) fn reset_bios(&mut self, index: usize, target: &str) -> Answer {
        self.ledger.cause(format!("defaults {target}"));
        let defaults = self.bios_defaults(index);
        if let Some(host) = self.hosts.get_mut(index) {
            let current = &host.current;
            let differs =
                |name: &String, value: &Value| current.get(name).is_some_and(|now| now != value);
            let waiting: Map<String, Value> = defaults
                .into_iter()
                .filter(|(name, value)| differs(name, value))
                .collect();
            host.pending = waiting;
        }
        self.show_attributes(index);
        Answer::done()
    }

    /// All attributes are at their defaults at once, as after some updates.
    pub(in super::super) fn set_defaults(&mut self, index: usize) {
        let defaults = self.bios_defaults(index);
        if let Some(host) = self.hosts.get_mut(index) {
            for (name, value) in defaults {
                if let Some(current) = host.current.get_mut(&name) {
                    *current = value;
                }
            }
        }
        self.show_attributes(index);
    }

    fn bios_defaults(&self, index: usize) -> Map<String, Value> {
        let registry = self.bios_registry(index).unwrap_or_default();
        let of_registry = registry
            .iter()
            .filter_map(|(name, attribute)| Some((name.to_owned(), attribute.default.clone()?)));
        let mut defaults: Map<String, Value> = of_registry.collect();
        if !self.any_case {
            defaults.extend(
                generic::bios_defaults()
                    .as_object()
                    .cloned()
                    .unwrap_or_default(),
            );
        }
        defaults
    }
}
