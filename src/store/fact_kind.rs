//! This file names the kinds of durable facts.

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactKind {
    /// Certificate fingerprint, by `host:port`.
    Pin,
    /// The fingerprint that a person gave up for another one, by `host:port`, until a login is taken.
    OldPin,
    /// A session of ours, by BMC and lock file of the process that opened it.
    Session,
    /// Discovered links, by BMC and BMC version.
    Links,
    /// What a BMC can do.
    Capability,
    /// A place of ours in an update service, by BMC, until it is given back.
    PushClaim,
    /// How a BMC wants `If-Match`.
    EtagForm,
    /// Who a BMC said it is.
    Identity,
    /// What the hardware behind a BMC said of itself.
    Hardware,
    /// One claim of an identity, by BMC and claim.
    Claim,
    /// Hash of a write-only value, by BMC, target and key.
    Written,
    /// `AccountLockoutThreshold`, by BMC.
    LockoutThreshold,
    /// What BMCs said to one credential, by its mark.
    Logins,
    /// What a pipeline last set out to do.
    Selection,
    /// This store's salt.
    Salt,
}

impl FactKind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::OldPin => "old-pin",
            Self::Session => "session",
            Self::Links => "links",
            Self::Capability => "capability",
            Self::PushClaim => "push-claim",
            Self::EtagForm => "etag-form",
            Self::Identity => "identity",
            Self::Hardware => "hardware",
            Self::Claim => "claim",
            Self::Written => "written",
            Self::LockoutThreshold => "lockout-threshold",
            Self::Logins => "logins",
            Self::Selection => "selection",
            Self::Salt => "salt",
        }
    }
}
