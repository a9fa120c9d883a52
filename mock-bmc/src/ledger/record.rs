//! This room writes the ledger of one BMC.
//!
//! It deliberately lets a request's own line stand before the lines of what the request changed at once.

use http::StatusCode;
use serde_json::Value;

use super::line::{Kind, LedgerLine};
use crate::time::Moment;

/// The ledger of one BMC.
#[derive(Debug)]
pub(crate) struct Ledger {
    bmc: String,
    lines: Vec<LedgerLine>,
    next: u64,
    /// What a request that is being answered has changed and caused so far.
    open: Option<(Vec<LedgerLine>, Vec<String>)>,
}

/// What the line of a request says of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestLine {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) request_id: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) body: Option<Value>,
}

impl Ledger {
    pub(crate) fn new(bmc: &str) -> Self {
        Self {
            bmc: bmc.to_owned(),
            lines: Vec::new(),
            next: 1,
            open: None,
        }
    }

    /// All lines that were not taken.
    pub(crate) fn lines(&self) -> &[LedgerLine] {
        &self.lines
    }

    /// Takes all lines.
    pub(crate) fn take(&mut self) -> Vec<LedgerLine> {
        std::mem::take(&mut self.lines)
    }

    /// Begins a request.
    pub(crate) fn open(&mut self) {
        self.open = Some((Vec::new(), Vec::new()));
    }

    /// Notes what the open request started.
    pub(crate) fn cause(&mut self, phrase: String) {
        if let Some((_, caused)) = &mut self.open {
            caused.push(phrase);
        }
    }

    /// Notes that something changed.
    pub(crate) fn state(&mut self, now: Moment, detail: impl Into<String>) {
        self.note(now, Kind::State, detail.into());
    }

    /// Notes a line that has only a detail.
    pub(crate) fn note(&mut self, now: Moment, kind: Kind, detail: String) {
        let mut line = self.line(now, kind);
        line.detail = Some(detail);
        self.add(line);
    }

    /// Notes a pull of an image.
    pub(crate) fn fetch(&mut self, now: Moment, url: &str, caused: String, detail: String) {
        let mut line = self.line(now, Kind::Fetch);
        line.path = Some(url.to_owned());
        line.caused = vec![caused];
        line.detail = Some(detail);
        self.add(line);
    }

    /// Ends the open request; `status` is what the client sees, none where it sees nothing.
    pub(crate) fn close(&mut self, now: Moment, request: RequestLine, status: Option<StatusCode>) {
        let (held, caused) = self.open.take().unwrap_or_default();
        let mut line = self.line(now, Kind::Request);
        line.method = Some(request.method);
        line.path = Some(request.path);
        line.status = status.map(|status| status.as_u16());
        line.request_id = request.request_id;
        line.session = request.session;
        line.body = request.body;
        line.caused = caused;
        self.add(line);
        for line in held {
            self.add(line);
        }
    }

    fn line(&self, now: Moment, kind: Kind) -> LedgerLine {
        LedgerLine {
            n: 0,
            at_ms: now.0,
            bmc: self.bmc.clone(),
            kind,
            method: None,
            path: None,
            status: None,
            request_id: None,
            session: None,
            body: None,
            caused: Vec::new(),
            detail: None,
        }
    }

    fn add(&mut self, mut line: LedgerLine) {
        if let Some((held, _)) = &mut self.open {
            held.push(line);
        } else {
            line.n = self.next;
            self.next += 1;
            self.lines.push(line);
        }
    }
}
