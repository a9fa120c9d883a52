//! Looking without touching: what a plan needs to see, and what `inventory check` tells.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::prepare::Assignment;
use super::stop::Stop;
use crate::model::facts::Facts;
use crate::model::inventory::Bmc;
use crate::model::look::Problem;
use crate::model::{BmcName, Circumstances, Fault, Look, LookRequest, PipelineName, Seen, Target};
use crate::plan::{
    Footing, PlanProblem, RunReport, RunSpec, check_problems, holds, look_request, problems, report,
};
use crate::redfish::Client;

/// BMCs read at once: each is asked at its own pace, and a process has only so many sockets.
const READS_MAX: usize = 128;

/// The BMCs that a reading waits for, for those who watch. Clones watch the same reading.
#[derive(Debug, Clone, Default)]
pub struct Awaited {
    bmcs: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    all: usize,
    left: BTreeSet<BmcName>,
}

impl Awaited {
    /// How many BMCs are read in all, and which have not told everything yet.
    pub fn left(&self) -> (usize, Vec<BmcName>) {
        let bmcs = self.lock();
        (bmcs.all, bmcs.left.iter().cloned().collect())
    }

    fn begin<'b>(&self, bmcs: impl Iterator<Item = &'b BmcName>) {
        let left: BTreeSet<BmcName> = bmcs.cloned().collect();
        *self.lock() = Waiting {
            all: left.len(),
            left,
        };
    }

    fn done(&self, bmc: &BmcName) {
        self.lock().left.remove(bmc);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.bmcs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What planning one assignment found.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Which pipeline.
    pub pipeline: PipelineName,
    /// Which BMC.
    pub bmc: BmcName,
    /// The specification, where the BMC answered.
    pub spec: Option<RunSpec>,
    /// What would happen and what is odd about the BMC, or why that cannot be said.
    pub report: Result<(RunReport, Vec<PlanProblem>), Fault>,
}

/// Plans every assignment, reading all BMCs side by side; writes nothing but sessions and pins. `None` = stopped.
pub async fn plan(
    engine: &Engine,
    assignments: &[Assignment],
    stop: &Stop,
    awaited: &Awaited,
) -> Option<Vec<Planned>> {
    let readings = assignments.iter().cloned().map(|assignment| {
        let (engine, stop) = (engine.clone(), stop.clone());
        let name = assignment.bmc.name.clone();
        let planning = async move { plan_one(&engine, &assignment, &stop).await };
        (name, planning)
    });
    side_by_side(readings, awaited).await
}

async fn plan_one(engine: &Engine, assignment: &Assignment, stop: &Stop) -> Option<Planned> {
    let planned = |spec, report| Planned {
        pipeline: assignment.pipeline.name.clone(),
        bmc: assignment.bmc.name.clone(),
        spec,
        report,
    };
    let client = match engine.client(&assignment.bmc) {
        Ok(client) => client,
        Err(fault) => return Some(planned(None, Err(fault))),
    };
    let result = read(&client, stop, async {
        let first = LookRequest {
            state: true,
            // Hops are computed from versions, and some are shown in the inventory only.
            software: assignment.pipeline.computes_hops(),
            ..LookRequest::default()
        };
        let look = looked(client.look(&first).await)?;
        let assignment = &assignment.knowing(Some(Arc::new(Facts::of(&look))));
        let servers = assignment.servers(&look)?;
        let spec = assignment.spec(&servers, Footing::Now(&look))?;
        engine.check_identity(&assignment.bmc, &spec, &look)?;
        let context = engine
            .context(&assignment.bmc.name, &spec)
            .map_err(|error| error.fault())?;
        let look = looked(client.look(&look_request(&spec)).await)?;
        let mut planned = report(&spec, &look, &context);
        planned.holds = holds(&spec, &planned, engine.clock().now());
        Ok(((planned, problems(&spec, &look)), spec))
    });
    let result = result.await?;
    engine.keep_links(&assignment.bmc.name, &client);
    Some(match result {
        Ok((report, spec)) => planned(Some(spec), Ok(report)),
        Err(fault) => planned(None, Err(fault)),
    })
}

/// Reads until it is stopped, and ends the session whatever comes; a second stop leaves that to the next start.
pub(super) async fn read<T>(
    client: &Client,
    stop: &Stop,
    reading: impl Future<Output = Result<T, Fault>>,
) -> Option<Result<T, Fault>> {
    client.be_brief();
    let found = tokio::select! {
        found = reading => Some(found),
        () = stop.asked() => None,
    };
    tokio::select! {
        () = client.close() => {}
        () = stop.aborted() => {}
    }
    found
}

/// What one BMC told `inventory check`.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Which BMC, as listed.
    pub bmc: Arc<Bmc>,
    /// What it showed, or why it did not.
    pub look: Result<Box<Look>, Fault>,
    /// What else a person should know of it.
    pub circumstances: Circumstances,
    /// The certificate that is remembered of it.
    pub pin: Option<String>,
    /// Everything odd.
    pub problems: Vec<Problem>,
}

impl Checked {
    fn failed(bmc: Arc<Bmc>, fault: Fault) -> Self {
        let problems = vec![Problem::from(&fault)];
        Self {
            bmc,
            look: Err(fault),
            circumstances: Circumstances::default(),
            pin: None,
            problems,
        }
    }
}

/// Reaches every BMC once and reads what identifies it; writes nothing but sessions and pins. `None` = stopped.
pub async fn check(
    engine: &Engine,
    bmcs: &[Arc<Bmc>],
    stop: &Stop,
    awaited: &Awaited,
) -> Option<Vec<Checked>> {
    let readings = bmcs.iter().cloned().map(|bmc| {
        let (engine, stop) = (engine.clone(), stop.clone());
        let name = bmc.name.clone();
        (name, async move { check_one(&engine, bmc, &stop).await })
    });
    side_by_side(readings, awaited).await
}

/// What is read of a BMC before it is known whose settings there are.
pub(super) fn all_but_settings() -> LookRequest {
    LookRequest {
        state: true,
        software: true,
        work: true,
        ..LookRequest::default()
    }
}

async fn check_one(engine: &Engine, bmc: Arc<Bmc>, stop: &Stop) -> Option<Checked> {
    let client = match engine.client(&bmc) {
        Ok(client) => client,
        Err(fault) => return Some(Checked::failed(bmc, fault)),
    };
    let told = read(&client, stop, async {
        let first = all_but_settings();
        let look = looked(client.look(&first).await)?;
        let settings = look.systems.keys().cloned().map(Target::Server).collect();
        let request = LookRequest { settings, ..first };
        let look = looked(client.look(&request).await)?;
        Ok((look, client.circumstances().await?))
    });
    let told = told.await?;
    engine.keep_links(&bmc.name, &client);
    let pin = engine.store().pin(&bmc.address.host_port());
    let mut checked = match told {
        Err(fault) => Checked::failed(bmc, fault),
        Ok((look, circumstances)) => {
            let mut problems = check_problems(&bmc, &look, &circumstances);
            if let Err(fault) = engine.check_box(&bmc, &look) {
                problems.push(Problem::from(&fault));
            }
            Checked {
                bmc,
                look: Ok(look),
                circumstances,
                pin: None,
                problems,
            }
        }
    };
    match pin {
        Ok(pin) => checked.pin = pin,
        Err(error) => tracing::error!(%error, "the remembered certificate could not be read"),
    }
    Some(checked)
}

pub(super) fn looked(seen: Seen) -> Result<Box<Look>, Fault> {
    match seen {
        Seen::Looked(look) => Ok(look),
        Seen::Failed(fault) => Err(fault),
    }
}

/// Reads BMCs side by side, as many at once as a process has sockets for; what each told, in the order given. `None` = one
/// was stopped.
pub(super) async fn side_by_side<T: Send + 'static>(
    readings: impl Iterator<Item = (BmcName, impl Future<Output = Option<T>> + Send + 'static)>,
    awaited: &Awaited,
) -> Option<Vec<T>> {
    let readings: Vec<_> = readings
        .map(|(bmc, reading)| (bmc, Box::pin(reading)))
        .collect();
    awaited.begin(readings.iter().map(|(bmc, _)| bmc));
    let reads = Arc::new(Semaphore::new(READS_MAX));
    let mut tasks = JoinSet::new();
    for (index, (bmc, reading)) in readings.into_iter().enumerate() {
        let (awaited, reads) = (awaited.clone(), Arc::clone(&reads));
        tasks.spawn(async move {
            let _permit = reads.acquire_owned().await;
            let told = reading.await;
            awaited.done(&bmc);
            (index, told)
        });
    }
    let mut found = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        found.push(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())));
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, item)| item).collect()
}
