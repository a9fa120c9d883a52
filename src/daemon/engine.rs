//! What every run in this process shares: store, clock, lease owner, connections, secrets, board.

use std::sync::Arc;

use super::board::Board;
use super::clients::KeptClients;
use super::connect::Connect;
use super::desk::Desk;
use super::memory::StoreMemory;
use super::meter::{Metered, Meters};
use super::secrets::Secrets;
use crate::artifact::ImageHost;
use crate::model::inventory::Bmc;
use crate::model::{BmcName, Fault, FaultKind, Look, PipelineName, Retry, Target};
use crate::pipeline::Pipeline;
use crate::plan::{Remembered, RunSpec, kept_generation, wrong_boxes};
use crate::redfish::{Client, Clock, Conversation, Memory, Parts, ServerRef, Shelf};
use crate::run::Record;
use crate::store::{Owner, ProcessLock, Store, StoreError};

/// Shared by everything that drives or reads BMCs in this process.
#[derive(Clone)]
pub struct Engine {
    parts: Arc<EngineParts>,
    meters: Meters,
    shelf: Shelf,
    desk: Desk,
    kept: Option<Arc<KeptClients>>,
}

/// What an engine is made of.
pub struct EngineParts {
    /// Journals, leases and facts.
    pub store: Arc<dyn Store>,
    /// Time of day.
    pub clock: Arc<dyn Clock>,
    /// This process, as leases name it.
    pub owner: Arc<Owner>,
    /// Held until the process ends, so that others see it live; `None` where nobody else can.
    pub lock: Option<ProcessLock>,
    /// How BMCs are reached.
    pub connect: Arc<dyn Connect>,
    /// Where passwords come from.
    pub secrets: Arc<Secrets>,
    /// What watchers see.
    pub board: Board,
    /// Who serves images to BMCs that only pull.
    pub images: Arc<dyn ImageHost>,
}

impl Engine {
    /// An engine that has done nothing yet.
    pub fn new(parts: EngineParts) -> Self {
        Self {
            parts: Arc::new(parts),
            meters: Meters::default(),
            shelf: Shelf::default(),
            desk: Desk::new(),
            kept: None,
        }
    }

    /// The same, with one client per BMC for as long as it lives: what observes a BMC and what drives it share pace,
    /// session and what they know.
    pub fn keeping_clients(mut self) -> Self {
        self.kept = Some(Arc::default());
        self
    }

    /// Who serves images to BMCs that only pull.
    pub(super) fn images(&self) -> &dyn ImageHost {
        self.parts.images.as_ref()
    }

    /// The client of a BMC: the kept one, else one of its own.
    pub(super) fn shared_client(&self, bmc: &Arc<Bmc>) -> Result<Arc<Client>, Fault> {
        let Some(kept) = &self.kept else {
            return self.client(bmc).map(Arc::new);
        };
        if let Some(known) = kept.get(bmc) {
            return Ok(known);
        }
        let client = Arc::new(self.client(bmc)?);
        kept.keep(bmc, &client);
        Ok(client)
    }

    /// Whether a run drives a BMC, of whatever process.
    pub(super) fn is_driven_elsewhere(&self, bmc: &BmcName) -> Result<bool, Fault> {
        let now = self.clock().now();
        let lease = self.parts.store.lease(bmc).map_err(|error| error.fault())?;
        Ok(lease.is_some_and(|lease| lease.expires_at > now && !lease.owner.is_dead(self.owner())))
    }

    /// Whether a run of this pipeline has begun on this BMC and is not over; one that cannot be read counts as none.
    pub(super) fn has_open_run(&self, pipeline: &PipelineName, bmc: &BmcName) -> bool {
        let open = self.store().unfinished_run(bmc);
        matches!(open, Ok(Some(row)) if row.key.pipeline == *pipeline)
    }

    /// Clients that are kept no more: of all BMCs, or of those for which a list has nothing, or something else. Whoever
    /// takes them ends their sessions.
    pub(super) fn forget_clients(&self, but: &[Arc<Bmc>]) -> Vec<Arc<Client>> {
        self.kept
            .as_ref()
            .map_or_else(Vec::new, |kept| kept.forget(but))
    }

    /// What watchers see.
    pub fn board(&self) -> &Board {
        &self.parts.board
    }

    /// What was ordered of this process.
    pub(super) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Journals, leases and facts.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.parts.store)
    }

    /// Time of day.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.parts.clock)
    }

    /// How BMCs answer.
    pub(super) fn meters(&self) -> &Meters {
        &self.meters
    }

    /// This process, as leases name it.
    pub(super) fn owner(&self) -> &Owner {
        &self.parts.owner
    }

    /// A client for one BMC. Nothing is sent before its first look.
    pub fn client(&self, bmc: &Bmc) -> Result<Client, Fault> {
        let memory: Arc<dyn Memory> = Arc::new(StoreMemory {
            store: self.store(),
            bmc: bmc.name.clone(),
            owner: Arc::clone(&self.parts.owner),
        });
        let inner = self.parts.connect.transport(bmc, Arc::clone(&memory))?;
        let meter = self.meters.of(&bmc.name);
        let transport = Arc::new(Metered { inner, meter });
        let salt = self.parts.store.salt().map_err(|error| error.fault())?;
        let credentials = bmc
            .credentials
            .as_ref()
            .map(|credentials| self.parts.secrets.source(credentials, &salt));
        let conversation = Conversation::new(Parts {
            bmc: bmc.name.clone(),
            address: bmc.address.clone(),
            auth: bmc.auth,
            pace: bmc.pace.clone(),
            transport,
            memory,
            clock: self.clock(),
            credentials,
        });
        let servers = bmc
            .servers
            .iter()
            .map(|server| ServerRef {
                name: server.name.clone(),
                system: server.system.clone(),
            })
            .collect();
        let client = Client::new(
            Arc::new(conversation),
            servers,
            bmc.name.clone(),
            bmc.platform.clone(),
            self.links(&bmc.name),
        );
        Ok(client.sharing(&self.shelf))
    }

    /// The generation of a pipeline's file, as runs and orders keep it.
    pub(super) fn generation(&self, pipeline: &Pipeline) -> Result<String, Fault> {
        let salt = self.parts.store.salt().map_err(|error| error.fault())?;
        Ok(kept_generation(&salt, &pipeline.generation))
    }

    /// What the store knows from before a run.
    pub(super) fn context(&self, bmc: &BmcName, spec: &RunSpec) -> Result<Remembered, StoreError> {
        let store = &self.parts.store;
        let servers = spec
            .servers
            .iter()
            .map(|server| Target::Server(server.name.clone()));
        let fingerprints = std::iter::once(Target::Bmc)
            .chain(servers)
            .map(|target| Ok((target.clone(), store.written(bmc, &target)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(Remembered {
            salt: store.salt()?,
            fingerprints,
        })
    }

    /// Is it the box that this name has always meant, and the one that the inventory expects?
    pub(super) fn check_identity(
        &self,
        bmc: &Bmc,
        spec: &RunSpec,
        look: &Look,
    ) -> Result<(), Fault> {
        if let Some((server, message)) = wrong_boxes(spec, look).into_iter().next() {
            return Err(Fault::new(
                FaultKind::WrongBox,
                Retry::Operator,
                format!("server `{server}`: {message}"),
            ));
        }
        self.check_box(bmc, look)
    }

    /// Is it the box that this name has always meant, and no other name's?
    ///
    /// Remembers the claims of first contact.
    pub(super) fn check_box(&self, bmc: &Bmc, look: &Look) -> Result<(), Fault> {
        let store = &self.parts.store;
        let failed = |error: StoreError| error.fault();
        if let Some(known) = store.identity(&bmc.name).map_err(failed)?
            && let Some(difference) = known.contradiction(&look.identity)
        {
            let message = format!("another box? bmc `{}` {difference}", bmc.name);
            return Err(
                Fault::new(FaultKind::WrongBox, Retry::Operator, message).with_hint(format!(
                    "if the machine was replaced on purpose, `redpipe trust --identity {}`",
                    bmc.name
                )),
            );
        }
        for (claim, others) in store.claimants(&bmc.name, &look.identity).map_err(failed)? {
            for other in others {
                let Some(theirs) = store.identity(&other).map_err(failed)? else {
                    continue;
                };
                if theirs.contradiction(&look.identity).is_none() {
                    let message = format!(
                        "bmc `{}` and bmc `{other}` are one box: both say {claim}",
                        bmc.name
                    );
                    return Err(Fault::new(FaultKind::WrongBox, Retry::Operator, message)
                        .with_hint("list it once in the inventory"));
                }
            }
        }
        store
            .remember_identity(&bmc.name, &look.identity)
            .map_err(failed)
    }

    /// Remembers the certificate that a run has written down as the one that counts.
    pub(super) fn keep_certificate(&self, bmc: &Bmc, certificate: &str) {
        let (store, place) = (self.store(), bmc.address.host_port());
        let kept = store.pin(&place).and_then(|old| {
            if old.as_deref() == Some(certificate) {
                return Ok(());
            }
            store.give_up_pin(&place, Some(certificate)).map(drop)
        });
        if let Err(error) = kept {
            tracing::error!(bmc = %bmc.name, %error, "an accepted certificate could not be remembered");
        }
    }

    /// Keeps what outlives the run: fingerprints of write-only values.
    pub(super) fn note(&self, bmc: &BmcName, record: &Record) {
        if let Record::WriteOnly { at, hashes } = record {
            for (key, hash) in hashes {
                if let Err(error) = self
                    .parts
                    .store
                    .remember_written(bmc, &at.target, key, hash)
                {
                    tracing::error!(%bmc, %error, "a written value could not be remembered");
                }
            }
        }
    }
}
