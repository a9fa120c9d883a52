//! This room is the words that a script chooses from.
//!
//! It deliberately gives them no effect; what each does is said at the key that takes it.

use serde::Deserialize;

use super::keys::written;

macro_rules! words {
    ($($(#[doc = $about:literal])+ $name:ident as $form:literal {
        $($(#[doc = $doc:literal])+ $(#[$extra:meta])? $word:ident,)+
    })+) => {
        $($(#[doc = $about])+
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[doc = $doc])+ $(#[$extra])? $word,)+
        }
        written! { $name => $form })+
    };
}

words! {
    /// What becomes of an image that was taken.
    Outcome as "\"new\", \"unchanged\", \"wrong\", \"failed\" or \"never-returns\"" {
        /// The image's version runs.
        #[default] New,
        /// Everything reports success, the version stays.
        Unchanged,
        /// Another version than the image's runs.
        Wrong,
        /// The task ends in `Exception`, the version stays.
        Failed,
        /// The manager is gone for good; a host stays in its flashing POST for good.
        NeverReturns,
    }
    /// Where it shows that an account must change its password.
    PasswordChange as "\"reads\", \"login\" or \"unauthorized\"" {
        /// A session is opened, and everything else is 403.
        #[default] Reads,
        /// The login is 403 already.
        Login,
        /// The login is 401 already, as a wrong password is.
        Unauthorized,
    }
    /// What activates a staged BIOS image.
    Activation as "\"boot\", \"off-on\", \"self-reboot\" or \"manager-reset\"" {
        /// Any boot of the host.
        #[default] Boot,
        /// Only Off, then On; a restart leaves it staged.
        OffOn,
        /// The BMC restarts the host by itself as soon as the image is staged.
        SelfReboot,
        /// A boot after a reset of the manager.
        ManagerReset,
    }
    /// How an update request's task stands while its BIOS image waits for the host.
    StagedTask as "\"completed\", \"pending\" or \"stopping\"" {
        /// `Completed`, with the message `AwaitToActivate`.
        #[default] Completed,
        /// `Pending` until the boot, then `Completed`.
        Pending,
        /// `Stopping` until the boot, then `Completed`.
        Stopping,
    }
    /// What a service makes of the parameter `Targets`.
    Targets as "\"required\", \"ignored\" or \"absent\"" {
        /// With several systems a BIOS image needs it.
        #[default] Required,
        /// It is taken and ignored: a BIOS image goes to every system.
        Ignored,
        /// It is refused; a BIOS image goes to every system.
        Absent,
    }
    /// How an update request's answer names its task.
    Handle as "\"both\", \"location\", \"body\", \"annotations\", \"message\" or \"none\"" {
        /// The header `Location` names the monitor, the body is the task.
        #[default] Both,
        /// Only the header.
        Location,
        /// Only the body.
        Body,
        /// Only `@odata.id` and `@odata.type` of the task in the body.
        Annotations,
        /// Only an argument of a message.
        Message,
        /// Not at all.
        None,
    }
    /// How `Location` is written.
    LocationForm as "\"relative\" or \"absolute\"" {
        /// A path.
        #[default] Relative,
        /// With scheme and authority.
        Absolute,
    }
    /// When an image is refused that does not fit what runs.
    RefusedAt as "\"request\" or \"task\"" {
        /// At the request where the image is in it, else in the task.
        #[default] Request,
        /// Always in the task.
        Task,
    }
    /// How the pending BIOS settings look.
    PendingStyle as "\"changes\" or \"everything\"" {
        /// Only what waits.
        #[default] Changes,
        /// All attributes, with what waits among them.
        Everything,
    }
    /// What happens to a member that a service does not like.
    Refusal as "\"accepted\" or \"refused\"" {
        /// Nothing.
        #[default] Accepted,
        /// The request is refused.
        Refused,
    }
    /// How a BIOS attribute registry is offered.
    RegistryForm as "\"standard\", \"missing\" or \"wrong-name\"" {
        /// As documented.
        #[default] Standard,
        /// There is none.
        Missing,
        /// `AttributeRegistry` names one that is not listed.
        WrongName,
    }
    /// What entity tags look like.
    EtagStyle as "\"weak\", \"strong\", \"doubly-quoted\", \"gzip\" or \"none\"" {
        /// `W/"abc"`.
        #[default] Weak,
        /// `"abc"`.
        Strong,
        /// The header carries `""abc""`, the body `"abc"`; only the body's is taken.
        DoublyQuoted,
        /// The header carries `"abc-gzip"`, only `"abc"` is taken.
        Gzip,
        /// There are none.
        None,
    }
    /// How a reset to a state is answered that is already there.
    AlreadyThere as "\"accepted\", \"conflict\" or \"bad-request\"" {
        /// 204.
        #[default] Accepted,
        /// 409.
        Conflict,
        /// 400.
        BadRequest,
    }
    /// What becomes of `$expand`.
    Expand as "\"supported\", \"refused\" or \"ignored\"" {
        /// It works.
        #[default] Supported,
        /// 501.
        Refused,
        /// It does nothing.
        Ignored,
    }
    /// What a task's messages look like.
    Messages as "\"usual\", \"ids\" or \"none\"" {
        /// With text and arguments.
        #[default] Usual,
        /// Only `MessageId`.
        Ids,
        /// There are none.
        None,
    }
    /// When a task can no longer be found.
    Vanish as "\"running\" or \"ended\"" {
        /// While it runs.
        Running,
        /// Once it has ended.
        #[default] Ended,
    }
    /// What a BMC is doing.
    During as "\"any\", \"bmc-flash\", \"bmc-return\", \"bios-stage\", \"bios-staged\" or \"post\"" {
        /// Anything.
        #[default] Any,
        /// From an accepted BMC image until the manager goes.
        BmcFlash,
        /// After the manager has been gone at least once.
        BmcReturn,
        /// From an accepted BIOS image until it is staged.
        BiosStage,
        /// While an image waits for a host.
        BiosStaged,
        /// While a host is in POST.
        Post,
    }
}
