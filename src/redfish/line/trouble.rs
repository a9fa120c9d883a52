//! Why an exchange gave no answer, and the fault that says so.

use super::breaker::Open;
use crate::model::inventory::Address;
use crate::model::{BmcName, Fault, FaultKind, Retry};
use crate::redfish::transport::{CertProblem, WireError};

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(in crate::redfish) enum Trouble {
    /// The transport says so.
    Wire(WireError),
    /// The transport says so of a request that had to come first: what was asked was not sent.
    Before(WireError),
    /// The breaker is open; nothing was sent.
    Broken(Open),
    /// Logging in failed; what was asked was not sent.
    Login(Box<Fault>),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Login(Box::new(fault))
    }
}

impl Trouble {
    /// Whether no byte of the request itself left us.
    pub(in crate::redfish) fn is_unsent(&self) -> bool {
        !matches!(self, Self::Wire(WireError::Lost(_)))
    }

    /// The same, met by a request that had to come first.
    pub(in crate::redfish) fn before(self) -> Self {
        match self {
            Self::Wire(error) => Self::Before(error),
            other @ (Self::Before(_) | Self::Broken(_) | Self::Login(_)) => other,
        }
    }

    /// The fault of a request `what` (a method) for `path`.
    pub(super) fn fault(self, what: &str, path: &str, bmc: &BmcName, address: &Address) -> Fault {
        let mut fault = match self {
            Self::Login(fault) => return *fault,
            Self::Broken(open) => Fault::new(
                FaultKind::Unreachable,
                Retry::Transient,
                format!(
                    "bmc `{bmc}` at `{address}` was not asked: its last requests failed, the next try is in {} s",
                    open.wait.as_secs()
                ),
            )
            .with_cause(open.why),
            Self::Wire(WireError::NotSent(text)) | Self::Before(WireError::NotSent(text)) => Fault::new(
                FaultKind::Unreachable,
                Retry::Transient,
                format!("bmc `{bmc}` at `{address}` cannot be reached"),
            )
            .with_hint(remedy(&text))
            .with_cause(text),
            Self::Before(WireError::Lost(text)) => Fault::new(
                FaultKind::Unreachable,
                Retry::Transient,
                format!("bmc `{bmc}` at `{address}` gave no whole answer before {what} `{path}` could be sent"),
            )
            .with_cause(text),
            Self::Wire(WireError::Lost(text)) => Fault::new(
                FaultKind::Unreachable,
                Retry::Transient,
                format!("bmc `{bmc}` at `{address}` gave no whole answer to {what} `{path}`"),
            )
            .with_cause(text),
            Self::Wire(WireError::Certificate(problem)) | Self::Before(WireError::Certificate(problem)) => {
                certificate_fault(&problem, bmc, address)
            }
        };
        fault.uri = Some(path.to_owned());
        fault
    }
}

/// What to look at where no byte got through. No TLS record is how rustls meets a plain HTTP answer.
fn remedy(text: &str) -> &'static str {
    if text.contains("InvalidContentType") {
        "nothing at that address talks TLS: check the port, or write `http://..` if the BMC really talks plain HTTP"
    } else {
        "check its address in the inventory, the network, and whether the BMC has power"
    }
}

fn certificate_fault(problem: &CertProblem, bmc: &BmcName, address: &Address) -> Fault {
    let (kind, text, hint) = match problem {
        CertProblem::Changed { .. } => (
            FaultKind::CertificateChanged,
            "shows another certificate than the one it is known by",
            format!(
                "if the change is legitimate, run `redpipe trust {bmc}`, or correct `pin` where the inventory has one"
            ),
        ),
        CertProblem::Untrusted { .. } => (
            FaultKind::CertificateUntrusted,
            "shows a certificate that is not trusted",
            format!(
                "set `tls = \"first-use\"`, `{{ pin = \"..\" }}` or `{{ ca = \"..\" }}` on bmc `{bmc}`, or give it a trusted certificate"
            ),
        ),
    };
    let mut fault = Fault::new(
        kind,
        Retry::Operator,
        format!("bmc `{bmc}` at `{address}` {text}"),
    )
    .with_cause(problem.to_string())
    .with_hint(hint);
    fault.certificate = Some(problem.seen().to_owned());
    fault
}
