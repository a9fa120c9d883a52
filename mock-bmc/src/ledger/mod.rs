//! This room is the record of everything that was asked of a BMC and of what came of it.
//!
//! It deliberately holds no secrets: bodies are masked before they get here.
//!
//! # Phrases
//!
//! Tests match [`LedgerLine::caused`] and [`LedgerLine::detail`]; both use these phrases and no others. Words in capitals
//! stand for what differs.
//!
//! In `caused` of a `request` line:
//!
//! | phrase | the request |
//! |---|---|
//! | `session created ID` · `session deleted ID` · `login refused USER` | on sessions |
//! | `update accepted COMPONENT VERSION target URIS task ID` | pushed an image that was taken; `URIS` are joined by commas, `-` for none |
//! | `update accepted image URL target URIS task ID` | named an image to be pulled, and was taken |
//! | `update refused REASON` | wanted an update and was not taken |
//! | `settings accepted URI NAMES` · `settings refused URI NAMES` | wrote attributes; names are joined by commas |
//! | `resource changed URI NAMES` · `resource refused URI NAMES` | wrote members of a plain resource |
//! | `reset URI TYPE` · `reset ignored URI TYPE` · `reset refused URI TYPE` | wanted a reset |
//! | `defaults URI` | set BIOS attributes back |
//! | `account created USER` · `account changed USER` · `account deleted USER` | on accounts |
//! | `task deleted ID` · `job created ID` · `job deleted ID` | on tasks and jobs |
//!
//! In `caused` of a `fetch` line: `update image COMPONENT VERSION task ID`, or `update failed task ID`.
//!
//! In `detail` of a `reset` line: `URI TYPE`. In `detail` of a `fault` line: the fault's `answer`, its number in the
//! script from 1 and the request that it met.
//!
//! In `detail` of a `state` line:
//!
//! | phrase | what happened |
//! |---|---|
//! | `bmc version OLD -> NEW` · `bios ID version OLD -> NEW` | another version runs |
//! | `bmc flash begins VERSION` · `bios ID flash begins VERSION` | flash memory is being written |
//! | `bios ID staged VERSION` · `bios ID unstaged VERSION` | an image waits for the host · no longer |
//! | `manager gone` · `manager back` · `manager dead` | on the network; dead is for good |
//! | `session expired ID` | nobody used it for too long |
//! | `power ID On` · `power ID Off` | a host's power |
//! | `post ID begins` · `post ID ends` | a host's power-on self-test |
//! | `settings ID applied NAMES` · `settings ID lost NAMES` · `settings ID failed NAMES` | what was pending |
//! | `settings manager applied NAMES` | what waited for a reset of the manager |
//! | `update failed task ID REASON` · `update done task ID` | the end of an update |
//! | `task ID STATE` · `job ID STATE` | a task or a job that somebody else started |
//! | `certificate replaced` | the TLS certificate is another one |
//! | `bricked ID` · `bricked bmc` | flash memory was torn: the component is dead |

mod line;
mod mask;
mod record;

pub use line::{Kind, LedgerLine};
pub(crate) use mask::{masked, masked_url};
pub(crate) use record::{Ledger, RequestLine};
