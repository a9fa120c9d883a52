//! This file says which durable facts about BMCs are kept: pins, sessions, links, capabilities, learned forms, identity
//! and hashes of write-only values.
//!
//! Stores implement four verbs on JSON; all typed methods stand on those. No fact holds a secret: sessions are URIs
//! without their token, written values are salted hashes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::error::StoreError;
use super::fact_kind::FactKind;
use super::lease::Owner;
use super::selection::Selection;
use super::session_row::SessionRow;
use crate::model::capability::Capability;
use crate::model::facts::Facts as Hardware;
use crate::model::id::{BmcName, PipelineName, Target};
use crate::model::look::Identity;

/// Durable facts.
pub trait Facts: Send + Sync {
    /// Reads one fact.
    fn fact(&self, kind: FactKind, about: &str, subject: &str)
    -> Result<Option<Value>, StoreError>;

    /// All facts of a kind about one thing, by subject.
    fn facts(&self, kind: FactKind, about: &str) -> Result<BTreeMap<String, Value>, StoreError>;

    /// All things that have a fact of this kind with this subject.
    fn holders(&self, kind: FactKind, subject: &str) -> Result<BTreeSet<String>, StoreError>;

    /// Reads, decides and writes as one step that no other process comes between; `None` removes. Returns what is
    /// stored afterwards.
    fn update_fact(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
        change: &mut dyn FnMut(Option<Value>) -> Option<Value>,
    ) -> Result<Option<Value>, StoreError>;

    /// The fingerprint remembered for a `host:port`.
    fn pin(&self, host_port: &str) -> Result<Option<String>, StoreError> {
        text(self.fact(FactKind::Pin, host_port, "")?, "pin")
    }

    /// Remembers a fingerprint on first use. `false` = another one is remembered, and stays.
    fn remember_pin(&self, host_port: &str, fingerprint: &str) -> Result<bool, StoreError> {
        let wanted = Value::from(fingerprint);
        let kept = self.update_fact(FactKind::Pin, host_port, "", &mut |old| {
            old.or_else(|| Some(wanted.clone()))
        })?;
        Ok(kept == Some(wanted))
    }

    /// Trusts another fingerprint from now on, or none until the next first use: an operator's word.
    fn replace_pin(&self, host_port: &str, fingerprint: Option<&str>) -> Result<(), StoreError> {
        self.put(FactKind::Pin, host_port, "", fingerprint.map(Value::from))
    }

    /// The same; what counted before is returned, and kept as given up: together with a login that is refused next, it
    /// tells that the BMC was reset to its factory state.
    fn give_up_pin(
        &self,
        host_port: &str,
        fingerprint: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let old = self.pin(host_port)?;
        if old.is_some() {
            self.keep_old_pin(host_port, old.as_deref())?;
        }
        self.replace_pin(host_port, fingerprint)?;
        Ok(old)
    }

    /// The fingerprint that a person gave up, as long as no login was taken since.
    fn old_pin(&self, host_port: &str) -> Result<Option<String>, StoreError> {
        text(self.fact(FactKind::OldPin, host_port, "")?, "pin")
    }

    /// Keeps a fingerprint that is given up, or (`None`) forgets it.
    fn keep_old_pin(&self, host_port: &str, fingerprint: Option<&str>) -> Result<(), StoreError> {
        self.put(
            FactKind::OldPin,
            host_port,
            "",
            fingerprint.map(Value::from),
        )
    }

    /// Remembers the session that a process opens or holds on a BMC, or that it holds none any more. The note is the
    /// client's own and has no token in it.
    fn remember_session(
        &self,
        bmc: &BmcName,
        owner: &Owner,
        note: Option<&Value>,
    ) -> Result<(), StoreError> {
        let row = note.map(|note| SessionRow {
            owner: owner.clone(),
            note: note.clone(),
        });
        self.put(
            FactKind::Session,
            bmc.as_str(),
            &owner.lock_file.to_string_lossy(),
            row.as_ref().and_then(json),
        )
    }

    /// Notes of sessions on a BMC that dead processes of this host left behind; those of living ones are not among
    /// them.
    fn left_sessions(&self, bmc: &BmcName, seen_by: &Owner) -> Result<Vec<Value>, StoreError> {
        let sessions = self
            .facts(FactKind::Session, bmc.as_str())?
            .into_values()
            .filter_map(parse::<SessionRow>);
        Ok(sessions
            .filter(|row| row.is_left(seen_by))
            .map(|row| row.note)
            .collect())
    }

    /// Forgets left sessions with this note: they are deleted, or the BMC no longer knows them.
    fn forget_left_session(
        &self,
        bmc: &BmcName,
        seen_by: &Owner,
        note: &Value,
    ) -> Result<(), StoreError> {
        for (subject, row) in self.facts(FactKind::Session, bmc.as_str())? {
            if parse::<SessionRow>(row).is_some_and(|row| row.note == *note && row.is_left(seen_by))
            {
                self.put(FactKind::Session, bmc.as_str(), &subject, None)?;
            }
        }
        Ok(())
    }

    /// Changes what is known of one credential value over all BMCs, as one step that no other process comes between.
    /// The record is the client's own; the credential is named by its mark (the secret room makes it).
    fn update_logins(
        &self,
        mark: &str,
        change: &mut dyn FnMut(Option<Value>) -> Option<Value>,
    ) -> Result<(), StoreError> {
        self.update_fact(FactKind::Logins, mark, "", change)
            .map(|_| ())
    }

    /// Marks of all credentials that anything is known of.
    fn login_marks(&self) -> Result<BTreeSet<String>, StoreError> {
        self.holders(FactKind::Logins, "")
    }

    /// `AccountLockoutThreshold` as last read; `None` = never read.
    fn lockout_threshold(&self, bmc: &BmcName) -> Result<Option<u32>, StoreError> {
        Ok(self
            .fact(FactKind::LockoutThreshold, bmc.as_str(), "")?
            .and_then(parse))
    }

    /// Remembers `AccountLockoutThreshold`.
    fn remember_lockout_threshold(&self, bmc: &BmcName, threshold: u32) -> Result<(), StoreError> {
        self.put(
            FactKind::LockoutThreshold,
            bmc.as_str(),
            "",
            Some(threshold.into()),
        )
    }

    /// Links discovered under one BMC firmware version, in the client's own shape.
    fn links(&self, bmc: &BmcName, bmc_version: &str) -> Result<Option<Value>, StoreError> {
        self.fact(FactKind::Links, bmc.as_str(), bmc_version)
    }

    /// The links last remembered, whatever the version: the client finds out which one runs now.
    fn known_links(&self, bmc: &BmcName) -> Result<Option<Value>, StoreError> {
        let all = self.facts(FactKind::Links, bmc.as_str())?;
        Ok(all.into_values().next())
    }

    /// Remembers links for one BMC firmware version, or forgets them. Those of any other version are no longer true.
    fn remember_links(
        &self,
        bmc: &BmcName,
        bmc_version: &str,
        links: Option<&Value>,
    ) -> Result<(), StoreError> {
        let all = self.facts(FactKind::Links, bmc.as_str())?;
        for other in all.keys().filter(|version| *version != bmc_version) {
            self.put(FactKind::Links, bmc.as_str(), other, None)?;
        }
        self.put(FactKind::Links, bmc.as_str(), bmc_version, links.cloned())
    }

    /// What the BMC was last seen to be able to do. What an older redpipe wrote in another shape counts as unknown.
    fn capability(&self, bmc: &BmcName) -> Result<Option<Capability>, StoreError> {
        Ok(self
            .fact(FactKind::Capability, bmc.as_str(), "")?
            .and_then(parse))
    }

    /// Remembers what the BMC can do.
    fn remember_capability(
        &self,
        bmc: &BmcName,
        capability: &Capability,
    ) -> Result<(), StoreError> {
        self.put(FactKind::Capability, bmc.as_str(), "", json(capability))
    }

    /// The place in the update service that this program took and has not given back.
    fn push_claim(&self, bmc: &BmcName) -> Result<Option<Value>, StoreError> {
        self.fact(FactKind::PushClaim, bmc.as_str(), "")
    }

    /// Remembers the place that is about to be taken, or (`None`) that it was given back.
    fn remember_push_claim(&self, bmc: &BmcName, claim: Option<Value>) -> Result<(), StoreError> {
        self.put(FactKind::PushClaim, bmc.as_str(), "", claim)
    }

    /// The form of `If-Match` that worked.
    fn etag_form(&self, bmc: &BmcName) -> Result<Option<String>, StoreError> {
        text(
            self.fact(FactKind::EtagForm, bmc.as_str(), "")?,
            "etag form",
        )
    }

    /// Remembers the form of `If-Match` that worked.
    fn remember_etag_form(&self, bmc: &BmcName, form: &str) -> Result<(), StoreError> {
        self.put(FactKind::EtagForm, bmc.as_str(), "", Some(form.into()))
    }

    /// Who the BMC said it is at first contact.
    fn identity(&self, bmc: &BmcName) -> Result<Option<Identity>, StoreError> {
        match self.fact(FactKind::Identity, bmc.as_str(), "")? {
            None => Ok(None),
            Some(value) => parse(value).map(Some).ok_or_else(|| corrupt("identity")),
        }
    }

    /// Remembers who the BMC is, with every claim to be found by [`Facts::claimants`].
    fn remember_identity(&self, bmc: &BmcName, identity: &Identity) -> Result<(), StoreError> {
        // Asked at every look, and almost always known.
        if self.identity(bmc)?.as_ref() == Some(identity) {
            return Ok(());
        }
        let wanted = claims(identity);
        for old in self
            .facts(FactKind::Claim, bmc.as_str())?
            .keys()
            .filter(|old| !wanted.contains(*old))
        {
            self.put(FactKind::Claim, bmc.as_str(), old, None)?;
        }
        for claim in &wanted {
            self.put(
                FactKind::Claim,
                bmc.as_str(),
                claim,
                Some(Value::Bool(true)),
            )?;
        }
        self.put(FactKind::Identity, bmc.as_str(), "", json(identity))
    }

    /// Forgets who the BMC is: an operator's word.
    fn forget_identity(&self, bmc: &BmcName) -> Result<(), StoreError> {
        self.remember_identity(bmc, &Identity::default())?;
        self.put(FactKind::Identity, bmc.as_str(), "", None)
    }

    /// Other BMCs by claim that they share with this identity.
    fn claimants(
        &self,
        bmc: &BmcName,
        identity: &Identity,
    ) -> Result<BTreeMap<String, BTreeSet<BmcName>>, StoreError> {
        let mut shared = BTreeMap::new();
        for claim in claims(identity) {
            let holders = self
                .holders(FactKind::Claim, &claim)?
                .into_iter()
                .filter(|name| name != bmc.as_str());
            let others: BTreeSet<BmcName> = holders.map(BmcName::from).collect();
            if !others.is_empty() {
                shared.insert(claim, others);
            }
        }
        Ok(shared)
    }

    /// Salted hashes of the write-only values last written to a target, by key.
    fn written(
        &self,
        bmc: &BmcName,
        target: &Target,
    ) -> Result<BTreeMap<String, String>, StoreError> {
        let facts = self.facts(FactKind::Written, &written_about(bmc, target))?;
        facts
            .into_iter()
            .map(|(key, hash)| Ok((key, text(Some(hash), "written")?.unwrap_or_default())))
            .collect()
    }

    /// Remembers the salted hash of a write-only value that was written.
    fn remember_written(
        &self,
        bmc: &BmcName,
        target: &Target,
        key: &str,
        hash: &str,
    ) -> Result<(), StoreError> {
        self.put(
            FactKind::Written,
            &written_about(bmc, target),
            key,
            Some(hash.into()),
        )
    }

    /// Forgets what was written: after a recovery, or where a factory reset is suspected.
    fn forget_written(&self, bmc: &BmcName, target: &Target) -> Result<(), StoreError> {
        let about = written_about(bmc, target);
        for key in self.facts(FactKind::Written, &about)?.keys() {
            self.put(FactKind::Written, &about, key, None)?;
        }
        Ok(())
    }

    /// This store's salt, made on first use and the same ever after.
    fn salt(&self) -> Result<String, StoreError> {
        if let Some(salt) = text(self.fact(FactKind::Salt, "", "")?, "salt")? {
            return Ok(salt);
        }
        let fresh = Value::from(format!(
            "{}{}",
            Uuid::new_v4().simple(),
            Uuid::new_v4().simple()
        ));
        let kept = self.update_fact(FactKind::Salt, "", "", &mut |old| {
            old.or_else(|| Some(fresh.clone()))
        })?;
        text(kept, "salt")?.ok_or_else(|| corrupt("salt"))
    }

    /// What the hardware behind a BMC last said of itself.
    fn hardware(&self, bmc: &BmcName) -> Result<Option<Hardware>, StoreError> {
        let kept = self.fact(FactKind::Hardware, "", bmc.as_str())?;
        // What cannot be read is asked anew.
        Ok(kept.and_then(parse))
    }

    /// The same of all BMCs.
    fn all_hardware(&self) -> Result<BTreeMap<BmcName, Hardware>, StoreError> {
        let rows = self.facts(FactKind::Hardware, "")?.into_iter();
        let read = rows.filter_map(|(bmc, row)| Some((BmcName::from(bmc), parse(row)?)));
        Ok(read.collect())
    }

    /// Remembers what the hardware behind a BMC says of itself.
    fn remember_hardware(&self, bmc: &BmcName, hardware: &Hardware) -> Result<(), StoreError> {
        self.put(FactKind::Hardware, "", bmc.as_str(), json(hardware))
    }

    /// What every pipeline last set out to do.
    fn selections(&self) -> Result<BTreeMap<PipelineName, Selection>, StoreError> {
        let rows = self.facts(FactKind::Selection, "")?.into_iter();
        rows.map(|(name, row)| {
            let selection = parse(row).ok_or_else(|| corrupt("selection"))?;
            Ok((PipelineName::from(name), selection))
        })
        .collect()
    }

    /// Remembers what a pipeline sets out to do; `more` keeps the BMCs of before.
    fn remember_selection(
        &self,
        pipeline: &PipelineName,
        selection: &Selection,
        more: bool,
    ) -> Result<(), StoreError> {
        let mut change = |old: Option<Value>| {
            let mut new = selection.clone();
            if let Some(before) = old.filter(|_| more).and_then(parse::<Selection>) {
                new.bmcs.extend(before.bmcs);
            }
            json(&new)
        };
        self.update_fact(FactKind::Selection, "", pipeline.as_str(), &mut change)
            .map(|_| ())
    }

    /// Writes or, with `None`, removes one fact.
    fn put(
        &self,
        kind: FactKind,
        about: &str,
        subject: &str,
        value: Option<Value>,
    ) -> Result<(), StoreError> {
        self.update_fact(kind, about, subject, &mut |_| value.clone())
            .map(|_| ())
    }
}

/// Claims of an identity as texts that say their kind, so that a serial never matches a UUID.
fn claims(identity: &Identity) -> BTreeSet<String> {
    let kinds: [(&str, Vec<&String>); 5] = [
        ("root-uuid", identity.root_uuid.iter().collect()),
        ("manager-uuid", identity.manager_uuids.iter().collect()),
        ("manager-mac", identity.manager_macs.iter().collect()),
        ("system-uuid", identity.system_uuids.iter().collect()),
        ("serial", identity.serials.iter().collect()),
    ];
    kinds
        .iter()
        .flat_map(|(kind, values)| {
            values
                .iter()
                .map(move |value| format!("{kind}:{}", value.to_lowercase()))
        })
        .collect()
}

/// Length first, so that no two pairs of names meet.
fn written_about(bmc: &BmcName, target: &Target) -> String {
    format!("{}:{bmc}/{target}", bmc.as_str().len())
}

pub(super) fn json<T: Serialize>(value: &T) -> Option<Value> {
    serde_json::to_value(value).ok()
}

pub(super) fn parse<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

fn text(value: Option<Value>, what: &str) -> Result<Option<String>, StoreError> {
    match value {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(corrupt(what)),
    }
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt {
        place: "the state database".to_owned(),
        what: format!("a fact of kind `{what}`"),
    }
}
