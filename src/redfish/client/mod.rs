//! This room is one BMC, as the rest of the program sees it: look at it, act on it, leave it, and what was learned of it.
//!
//! It decides nothing and repeats nothing: a look is as many reads as answer it, an action is one intent.

mod circumstances;
mod documents;
mod factory;
mod glimpsed;
mod learned;
mod observe;
mod shelf;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use self::documents::Documents;
use self::glimpsed::Glimpsed;
use self::learned::Knowledge;
use self::observe::Observer;
pub use self::shelf::Shelf;
use crate::model::action::{Action, UpdateAction};
use crate::model::{
    BmcName, Fault, FaultKind, LookRequest, Outcome, Retry, Seen, ServerName, Target,
};
use crate::redfish::act::{
    Ask, give_back_left, judge, order_jobs, patch_attributes, patch_resource, send_call,
    send_reset, send_update,
};
use crate::redfish::conversation::Conversation;
use crate::redfish::line::Guard;
use crate::redfish::quirk::{refuses_apply_time, settings_need_job, waits_for_start};
use crate::redfish::read::{
    Expand, LINKS_FORMAT, Links, Reader, ServerRef, base_of, resolve, system_named, systems_meant,
};
use crate::redfish::transport::{BoxFuture, Progress};

/// The client of one BMC. Share it by `Arc`; looks and actions may overlap, the conversation paces them.
pub struct Client {
    conversation: Arc<Conversation>,
    servers: Vec<ServerRef>,
    bmc: BmcName,
    platform_override: Option<String>,
    shelf: Shelf,
    remembered: Mutex<Remembered>,
}

/// What a client keeps between looks.
#[derive(Debug, Default)]
struct Remembered {
    /// Where things are, and what was learned there.
    pub(in crate::redfish) known: Knowledge,
    /// Whether this process has read the service root.
    root_read: bool,
    /// What the last look asked, and the documents that answered it; `None` = not all of them did.
    pub(in crate::redfish) glimpsed: Option<Arc<Glimpsed>>,
    /// What the last good look read, until something is sent that changes something.
    pub(in crate::redfish) documents: Option<Documents>,
    /// Whether they are kept at all.
    keeps_documents: bool,
    /// Actions sent so far: a look during which one began keeps nothing.
    actions: u64,
    /// When the BMC last listed its managers and systems.
    listed_at: Option<Timestamp>,
}

impl Client {
    /// Sends nothing yet. `servers` is empty where the inventory takes every system; `remembered` is what
    /// [`Client::links`] returned in an earlier process.
    pub fn new(
        conversation: Arc<Conversation>,
        servers: Vec<ServerRef>,
        bmc: BmcName,
        platform_override: Option<String>,
        remembered: Option<Links>,
    ) -> Self {
        let mut known = Knowledge::default();
        known.set_links(remembered.filter(|links| links.format == LINKS_FORMAT));
        Self {
            conversation,
            servers,
            bmc,
            platform_override,
            shelf: Shelf::default(),
            remembered: Mutex::new(Remembered {
                known,
                ..Remembered::default()
            }),
        }
    }

    /// The same, holding what other clients of a shelf know as well in one copy with them.
    pub fn sharing(mut self, shelf: &Shelf) -> Self {
        self.shelf = shelf.clone();
        self
    }

    /// Looks: reads what is asked, and nothing that was asked before in the same look.
    pub fn look<'a>(&'a self, request: &'a LookRequest) -> BoxFuture<'a, Seen> {
        Box::pin(async move {
            let seen = Observer::look(self, request, None).await;
            if seen.is_ok() {
                give_back_left(&self.conversation).await;
            }
            seen.into()
        })
    }

    /// Whether a look would find what the last one found, which asked the same: far cheaper than looking, for the BMC too.
    /// "No" where that cannot be said.
    pub async fn is_unchanged(&self, request: &LookRequest) -> bool {
        let glimpsed = self.remember().glimpsed.clone();
        match glimpsed.as_deref() {
            Some(last) if last.answers(request) => {
                self.conversation.is_unchanged(&last.glimpses).await
            }
            Some(_) | None => false,
        }
    }

    /// Acts: one intent, sent at most once.
    pub fn act<'a>(&'a self, action: &'a Action) -> BoxFuture<'a, Outcome> {
        Box::pin(self.act_once(action))
    }

    /// Deletes our session.
    pub async fn close(&self) {
        self.conversation.close().await;
    }

    /// Where things are on this BMC; `None` before the first good look. Valid for the BMC version that it names.
    pub fn links(&self) -> Option<Links> {
        self.remember().known.links()
    }

    /// Who is told of each chunk of an image that leaves.
    pub fn set_progress(&self, progress: Option<Progress>) {
        self.conversation.set_progress(progress);
    }

    /// How long this BMC has taken for its answers, all of them together.
    pub fn answering(&self) -> Duration {
        self.conversation.answering()
    }

    /// Who is asked right before a request that changes something leaves.
    pub fn set_guard(&self, guard: Option<Guard>) {
        self.conversation.set_guard(guard);
    }

    /// Silence of this BMC is an answer from now on: see [`Conversation::be_brief`].
    pub fn be_brief(&self) {
        self.conversation.be_brief();
    }

    /// Declares that this BMC is expected to be away, or no longer.
    pub fn outage(&self, on: bool) {
        self.conversation.outage(on);
    }

    fn remember(&self) -> MutexGuard<'_, Remembered> {
        // Every change under this lock is one assignment: a panic elsewhere leaves it whole.
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn act_once(&self, action: &Action) -> Outcome {
        self.changes();
        let mut found = match self.known_links().await {
            Ok(found) => found,
            Err(fault) => return Outcome::NotSent { fault },
        };
        match action {
            Action::Update(update) => self.update(&found, update).await,
            Action::ResetSystem { server, reset_type } => match self.system_uri(&found, server) {
                Ok(uri) => {
                    let action = "#ComputerSystem.Reset";
                    send_reset(&self.conversation, &mut found, &uri, action, reset_type).await
                }
                Err(fault) => Outcome::NotSent { fault },
            },
            Action::ResetManager { reset_type } => match self.manager_uri(&found) {
                Ok(uri) => {
                    let action = "#Manager.Reset";
                    send_reset(&self.conversation, &mut found, &uri, action, reset_type).await
                }
                Err(fault) => Outcome::NotSent { fault },
            },
            Action::Withdraw { uri } => judge(self.conversation.delete(uri).await, Ask::Withdraw),
            Action::PatchAttributes {
                parts,
                apply_time,
                target,
            } => {
                let read_uris = self.remember().known.read_uris();
                let refuses = refuses_apply_time(self.platform(&found));
                let apply_time = apply_time.as_deref().filter(|_| !refuses);
                let patched =
                    patch_attributes(&self.conversation, parts, &read_uris, apply_time).await;
                let needs_job = target.server().is_some()
                    && apply_time.is_none()
                    && settings_need_job(self.platform(&found));
                match found.jobs.first().filter(|_| needs_job) {
                    Some(jobs) => order_jobs(&self.conversation, jobs, parts, patched).await,
                    None => patched,
                }
            }
            Action::Call { uri, body } => match self.base(&found, None, uri) {
                Ok((base, rest)) => {
                    send_call(&self.conversation, &mut found, &base, rest, body).await
                }
                Err(fault) => Outcome::NotSent { fault },
            },
            Action::PatchResource { target, uri, body } => {
                match self.resource_uri(&mut found, target, uri).await {
                    Ok(uri) => patch_resource(&self.conversation, &uri, body).await,
                    Err(fault) => Outcome::NotSent { fault },
                }
            }
        }
    }

    /// Nothing that was read before serves any more.
    fn changes(&self) {
        let mut remembered = self.remember();
        remembered.actions += 1;
        remembered.documents = None;
    }

    async fn update(&self, found: &Links, update: &UpdateAction) -> Outcome {
        let platform = self.platform(found);
        let named = waits_for_start(platform).and_then(|_| self.itself(found, update));
        let named = named.map(|uri| UpdateAction {
            targets: vec![uri],
            ..update.clone()
        });
        let update = named.as_ref().unwrap_or(update);
        send_update(
            &self.conversation,
            &found.update,
            self.platform(found),
            update,
        )
        .await
    }

    /// What an image is for, as the resource that it is and not as its member of the inventory.
    fn itself(&self, found: &Links, update: &UpdateAction) -> Option<String> {
        match &update.target {
            Target::Bmc => self.manager_uri(found).ok(),
            Target::Server(server) => system_named(found, &self.servers, &self.bmc, server)?
                .bios
                .clone(),
        }
    }

    /// The class of machine, the inventory's word before what was detected.
    fn platform<'a>(&'a self, found: &'a Links) -> &'a str {
        self.platform_override.as_deref().unwrap_or(&found.platform)
    }

    /// What discovery found; discovers now where nothing is known.
    async fn known_links(&self) -> Result<Links, Fault> {
        if let Some(links) = self.links() {
            return Ok(links);
        }
        let request = LookRequest {
            state: true,
            ..LookRequest::default()
        };
        Observer::look(self, &request, None).await?;
        self.links()
            .ok_or_else(|| Fault::new(FaultKind::Bug, Retry::Never, "a good look found no links"))
    }

    fn system_uri(&self, found: &Links, server: &ServerName) -> Result<String, Fault> {
        system_named(found, &self.servers, &self.bmc, server)
            .map(|system| system.uri.clone())
            .ok_or_else(|| {
                Fault::new(
                    FaultKind::SystemMissing,
                    Retry::Transient,
                    format!("the BMC shows no system for server `{server}`"),
                )
            })
    }

    fn manager_uri(&self, found: &Links) -> Result<String, Fault> {
        found
            .manager(&systems_meant(found, &self.servers))
            .map(|manager| manager.uri.clone())
            .ok_or_else(|| {
                Fault::new(
                    FaultKind::Unsupported,
                    Retry::Operator,
                    "the BMC shows no manager",
                )
            })
    }

    async fn resource_uri(
        &self,
        found: &mut Links,
        target: &Target,
        template: &str,
    ) -> Result<String, Fault> {
        let (base, rest) = self.base(found, target.server(), template)?;
        let mut reader = Reader::new(&self.conversation, Expand::Unusable);
        resolve(&mut reader, found, &base, rest).await
    }

    /// The link that a template starts at, and what stands below it.
    fn base<'a>(
        &self,
        found: &Links,
        server: Option<&ServerName>,
        template: &'a str,
    ) -> Result<(String, &'a str), Fault> {
        let system =
            server.and_then(|server| system_named(found, &self.servers, &self.bmc, server));
        let meant = systems_meant(found, &self.servers);
        base_of(found, system, &meant, template).ok_or_else(|| {
            Fault::new(
                FaultKind::Unsupported,
                Retry::Operator,
                format!("this BMC has nothing that `{template}` starts at"),
            )
        })
    }
}
