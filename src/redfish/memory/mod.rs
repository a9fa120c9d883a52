//! This room names what is remembered of a BMC, and of logins over all BMCs, between processes.
//!
//! The trait is implemented by a shell over the store; this room never sees the store. Calls are short and synchronous.

mod logins;

pub use self::logins::{BmcLogins, LoginEnd, LoginLeave, LoginRecord, LoginRule};

/// Durable facts about one BMC. Every method but [`Memory::with_logins`] speaks of the BMC the object was made for.
pub trait Memory: Send + Sync {
    /// The certificate remembered for an address `host:port`, as `sha256:HEX`.
    fn pin(&self, host_port: &str) -> Option<String>;

    /// Remembers the certificate of first contact. False where another one is remembered by now: it stays.
    fn remember_pin(&self, host_port: &str, fingerprint: &str) -> bool;

    /// Whether the certificate remembered for an address replaced another one by a person's word, and no login was taken
    /// since.
    fn is_certificate_new(&self, host_port: &str) -> bool;

    /// A login was taken: the certificate is the BMC's own.
    fn settle_certificate(&self, host_port: &str);

    /// `UUID` of the service root by which the BMC is known.
    fn root_uuid(&self) -> Option<String>;

    /// Sessions that processes which live no longer left on this BMC, to be deleted at the next login. Never one of a
    /// process that still runs, this one included.
    fn left_sessions(&self) -> Vec<SessionNote>;

    /// Takes a left session off the list: it was deleted, or the BMC no longer knows it.
    fn forget_left_session(&self, note: &SessionNote);

    /// The session that this process opens, holds, or (`None`) holds no longer. Written before the login is sent, so
    /// that a killed process leaves a trace of it.
    fn remember_session(&self, note: Option<&SessionNote>);

    /// The place in the update service that this program, in whatever process, took for a push and has not given back.
    fn push_claim(&self) -> Option<PushClaim>;

    /// Remembers the place that is about to be taken, or (`None`) that it was given back. Written before it is asked for,
    /// so that a killed process leaves a trace of it.
    fn remember_push_claim(&self, claim: Option<&PushClaim>);

    /// The `If-Match` form that worked on this BMC.
    fn etag_form(&self) -> Option<String>;

    /// Remembers the form that worked.
    fn remember_etag_form(&self, form: &str);

    /// `AccountService.AccountLockoutThreshold` as last read; 0 = absent or no lockout; `None` = never read.
    fn lockout_threshold(&self) -> Option<u32>;

    /// Remembers the threshold.
    fn remember_lockout_threshold(&self, threshold: u32);

    /// Reads, changes and writes back what is known of one credential value over *all* BMCs, in one step that no other
    /// process can split (one immediate transaction). An unknown mark starts as `LoginRecord::default()`.
    fn with_logins(&self, mark: &str, change: &mut dyn FnMut(&mut LoginRecord));
}

/// A session of ours on a BMC; never its token.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionNote {
    /// Its URI; `None` while the login is under way.
    pub uri: Option<String>,
    /// When the login was sent.
    pub opened_at: jiff::Timestamp,
}

/// A place of ours in an update service.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PushClaim {
    /// The service's URI.
    pub service: String,
    /// What `HttpPushUriTargets` holds for us.
    pub targets: Vec<String>,
}
