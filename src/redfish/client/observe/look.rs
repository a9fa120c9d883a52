//! One look at a BMC, from request to result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::model::look::{Identity, ManagerView};
use crate::model::{Capability, Fault, Look, LookRequest};
use crate::redfish::client::Client;
use crate::redfish::client::documents::{Documents, is_within};
use crate::redfish::client::glimpsed::Glimpsed;
use crate::redfish::read::{
    Assigned, Boxes, Expand, Links, Members, Reader, RootFacts, allowed_values, assign,
    beside_managers, capability, expand_of, follow, identity, is_thin, read_boxes, recognize,
    root_facts, services, systems_meant,
};
use crate::redfish::wire::{at, key, link, text};

/// How long it is believed which managers and systems a BMC has: a drawer is not swapped faster, and whatever is read of a
/// member that has gone makes the lists be read at once.
const LISTED_FOR: Duration = Duration::from_mins(5);

/// One look under way.
pub(in crate::redfish) struct Observer<'a> {
    /// Whose look it is.
    pub(super) client: &'a Client,
    /// Reads, each document once.
    pub(super) reader: Reader<'a>,
    /// Where things are.
    pub(super) found: Links,
    /// Nothing was known before, or what was known is void.
    cold: bool,
    /// This process has not read the service root before.
    first: bool,
    /// What is found is whole, whatever becomes of the rest of the look.
    whole: bool,
}

impl<'a> Observer<'a> {
    /// Looks; goes on from documents that a look just before has read, where there are any.
    pub(in crate::redfish) async fn look(
        client: &'a Client,
        request: &LookRequest,
        documents: Option<Documents>,
    ) -> Result<Look, Fault> {
        if request.root_only {
            return root_look(client).await;
        }
        if request.fresh_session {
            client.conversation.forget_session().await;
            let mut remembered = client.remember();
            remembered.known.set_links(None);
            remembered.root_read = false;
        }
        let actions = client.remember().actions;
        let since = documents.as_ref().map(|documents| documents.at);
        let at = since.unwrap_or_else(|| client.conversation.now());
        let mut observer = Self::start(client).await?;
        if let Some(documents) = documents {
            observer.reader.go_on_from(documents.docs);
        }
        let look = observer.answer(request).await;
        let glimpses = observer.reader.glimpses.take();
        let docs = std::mem::take(&mut observer.reader.docs);
        let is_first = observer.first;
        observer.keep();
        let mut remembered = client.remember();
        client.shelf.settle(&mut remembered.known);
        // A first look has read more than the next one needs.
        remembered.glimpsed = glimpses
            .filter(|_| look.is_ok() && !is_first)
            .map(|glimpses| Arc::new(Glimpsed::of(request, glimpses, &client.shelf)));
        let serves = remembered.keeps_documents && look.is_ok() && remembered.actions == actions;
        remembered.documents = serves.then(|| Documents {
            docs,
            asked: request.clone(),
            at,
        });
        look
    }

    /// Begins with what is remembered, where the service root still says the same.
    async fn start(client: &'a Client) -> Result<Self, Fault> {
        let (known, root_read) = {
            let remembered = client.remember();
            (remembered.known.links(), remembered.root_read)
        };
        let mut reader = Reader::new(&client.conversation, Expand::Unusable);
        let known = match known {
            Some(found) if root_read => {
                reader.expand = expand_of(&found);
                return Ok(Self {
                    client,
                    reader,
                    found,
                    cold: false,
                    first: false,
                    whole: true,
                });
            }
            known => known,
        };
        let root = root_facts(&mut reader).await?;
        let same = known.filter(|known| known.root == root);
        let cold = same.is_none();
        let found = if let Some(found) = same {
            reader.expand = expand_of(&found);
            found
        } else {
            reader.expand = offered(&root);
            services(&mut reader, root).await?
        };
        Ok(Self {
            client,
            reader,
            found,
            cold,
            first: true,
            whole: !cold,
        })
    }

    async fn answer(&mut self, request: &LookRequest) -> Result<Look, Fault> {
        let asks_boxes = self.cold || request.state || request.work;
        let boxes = if asks_boxes {
            self.boxes(request).await?
        } else {
            Boxes::default()
        };
        let who = self.identity(&boxes).await?;
        let capability = self.capability(&boxes).await?;
        let manager_started = self
            .manager_doc()
            .and_then(|doc| text(&doc, "LastResetTime"));
        let software = self.software(request, &boxes).await?;
        let asks_work = request.work || !(request.brief || request.settings.is_empty());
        let (tasks, jobs) = if asks_work {
            self.work().await?
        } else {
            (Vec::new(), Vec::new())
        };
        let Boxes {
            managers, systems, ..
        } = boxes;
        let mut assigned = if asks_boxes {
            assign(
                &mut self.reader,
                &self.client.servers,
                &self.client.bmc,
                &self.found,
                systems,
            )
        } else {
            Assigned::default()
        };
        if request.work {
            self.pending(&mut assigned).await?;
        }
        let mut followed = Vec::new();
        for handle in &request.tasks {
            followed.push(follow(&mut self.reader, handle).await?);
        }
        let settings = self.settings(request, &jobs, &tasks).await?;
        let resources = self.resources(request).await?;
        self.note_sessions();
        Ok(Look {
            at: self.client.conversation.now(),
            identity: who,
            capability,
            managers,
            systems: assigned.named,
            other_systems: assigned.others,
            missing_systems: assigned.missing,
            software,
            tasks: if request.work { tasks } else { Vec::new() },
            followed,
            jobs: if request.work { jobs } else { Vec::new() },
            settings,
            resources,
            fetched: Vec::new(),
            manager_started,
            problems: std::mem::take(&mut self.reader.problems),
        })
    }

    /// Managers and systems. Another BMC version than the remembered one makes discovery start over.
    async fn boxes(&mut self, request: &LookRequest) -> Result<Boxes, Fault> {
        // Where every system is meant, a new one may have come while nobody looked.
        let may_be_more = self.first && self.client.servers.is_empty();
        let asks_who = request.work && !self.was_just_listed();
        let members = if self.cold || asks_who || request.fresh_session || may_be_more {
            Members::Listed
        } else {
            Members::Remembered
        };
        self.whole = false;
        let mut boxes = read_boxes(&mut self.reader, &mut self.found, members).await?;
        let version = self.version_of(&boxes.managers);
        if !self.cold && self.found.bmc_version != version {
            let root = root_facts(&mut self.reader).await?;
            self.reader.expand = offered(&root);
            self.found = services(&mut self.reader, root).await?;
            self.cold = true;
            boxes = read_boxes(&mut self.reader, &mut self.found, Members::Listed).await?;
        }
        if self.cold || members == Members::Listed {
            self.client.remember().listed_at = Some(self.client.conversation.now());
        }
        self.found.bmc_version = version;
        if self.cold {
            beside_managers(&mut self.reader, &mut self.found).await?;
            let acting = self.acting_manager();
            let (reader, found) = (&mut self.reader, &mut self.found);
            recognize(reader, found, acting.as_deref(), &boxes.systems).await?;
        }
        self.note_versions(&boxes);
        self.whole = true;
        Ok(boxes)
    }

    /// Boxes do not come and go with every look.
    fn was_just_listed(&self) -> bool {
        let now = self.client.conversation.now();
        let listed_at = self.client.remember().listed_at;
        listed_at.is_some_and(|at| is_within(at, now, LISTED_FOR))
    }

    /// The manager that BMC stages act on.
    pub(super) fn acting_manager(&self) -> Option<String> {
        let meant = systems_meant(&self.found, &self.client.servers);
        self.found
            .manager(&meant)
            .map(|manager| manager.uri.clone())
    }

    /// The acting manager's document, where this look has read it.
    fn manager_doc(&self) -> Option<Arc<Value>> {
        self.acting_manager().and_then(|uri| self.reader.seen(&uri))
    }

    fn version_of(&self, managers: &[ManagerView]) -> Option<String> {
        let uri = self.acting_manager()?;
        managers
            .iter()
            .find(|manager| manager.uri == uri)?
            .firmware_version
            .clone()
    }

    fn note_versions(&self, boxes: &Boxes) {
        let managers = boxes
            .managers
            .iter()
            .map(|manager| (&manager.uri, &manager.firmware_version));
        let systems = boxes
            .systems
            .iter()
            .map(|system| (&system.uri, &system.bios_version));
        let versions = managers
            .chain(systems)
            .map(|(uri, version)| (key(uri), version.clone().unwrap_or_default()));
        self.client.remember().known.add_versions(versions);
    }

    /// Claims. Where only MACs can tell this box from another, a process does not believe remembered ones.
    async fn identity(&mut self, boxes: &Boxes) -> Result<Identity, Fault> {
        let claims = |found: &Links| identity(found, boxes.claims.values(), boxes.systems.iter());
        if self.first && !self.cold && !boxes.managers.is_empty() && is_thin(&claims(&self.found)) {
            self.found.manager_macs.clear();
            beside_managers(&mut self.reader, &mut self.found).await?;
        }
        Ok(claims(&self.found))
    }

    async fn capability(&mut self, boxes: &Boxes) -> Result<Capability, Fault> {
        let manager = self.manager_doc().filter(|_| !boxes.managers.is_empty());
        if let Some(manager) = manager {
            let action = at(&manager, &["Actions", "#Manager.Reset"]);
            self.found.no_manager_reset =
                action.and_then(|action| link(action, "target")).is_none();
            self.found.manager_reset_types = match action {
                Some(action) => {
                    allowed_values(&mut self.reader, &mut self.found, action, "ResetType").await?
                }
                None => Vec::new(),
            };
        }
        let platform = self
            .client
            .platform_override
            .as_deref()
            .unwrap_or(&self.found.platform);
        let has_sessions = !self.client.conversation.has_no_sessions();
        Ok(capability(&self.found, platform, has_sessions))
    }

    fn note_sessions(&mut self) {
        if self.client.conversation.has_no_sessions() {
            self.reader.problem(
                "no-sessions",
                "the BMC offers no sessions; every request carries the password",
            );
        }
    }

    /// Remembers what this look found out.
    fn keep(mut self) {
        if !self.whole {
            return;
        }
        if self.found.root.expand && self.reader.expand == Expand::Unusable {
            self.found.expand_refused = true;
        }
        let mut remembered = self.client.remember();
        remembered.known.set_links(Some(self.found));
        remembered.root_read = true;
    }
}

/// Whether anybody is there: the service root alone, nobody logs in.
async fn root_look(client: &Client) -> Result<Look, Fault> {
    let mut reader = Reader::new(&client.conversation, Expand::Unusable);
    let root = root_facts(&mut reader).await?;
    let found = Links {
        root,
        ..Links::default()
    };
    let platform = client.platform_override.clone().unwrap_or_default();
    Ok(Look {
        at: client.conversation.now(),
        identity: identity(&found, [].iter(), [].iter()),
        capability: capability(&found, &platform, true),
        managers: Vec::new(),
        systems: BTreeMap::new(),
        other_systems: Vec::new(),
        missing_systems: Vec::new(),
        software: Vec::new(),
        tasks: Vec::new(),
        followed: Vec::new(),
        jobs: Vec::new(),
        settings: BTreeMap::new(),
        resources: BTreeMap::new(),
        fetched: Vec::new(),
        manager_started: None,
        problems: Vec::new(),
    })
}

fn offered(root: &RootFacts) -> Expand {
    if root.expand {
        Expand::Usable
    } else {
        Expand::Unusable
    }
}
