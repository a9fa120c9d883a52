//! Stage options: a stage's own word, else the file's `[defaults]`, else redpipe's.

use super::context::Check;
use crate::pipeline::document::{
    At, MatchDocument, MethodDocument, OptionsDocument, PreserveDocument, PreserveWord,
    ResetDocument, StageDefaultsDocument, StageDocument,
};
use crate::pipeline::options::{Method, Preserve, ResetPolicy, StageOptions};

/// Findings in `[defaults]`, once per file.
pub(super) fn check_defaults(defaults: &StageDefaultsDocument, check: &mut Check<'_>) {
    check_options(&defaults.options(), check);
    let exact = defaults
        .matching
        .as_ref()
        .filter(|word| *word.get() == MatchDocument::Exact)
        .map(At::span);
    let downgrade = defaults
        .allow_downgrade
        .as_ref()
        .filter(|allowed| *allowed.get())
        .map(At::span);
    for (what, span) in [("match = \"exact\"", exact), ("allow_downgrade", downgrade)] {
        if let Some(span) = span {
            let message = format!("`{what}` in `[defaults]` would hold for every hop");
            check
                .error(
                    check.file.key_of(&span),
                    message,
                    "counts only on a component's last hop",
                )
                .hint("move it to the last version stage of the component that needs it");
        }
    }
}

/// Findings in a stage's own options, and its options with the defaults folded in.
pub(super) fn stage_options(
    stage: &StageDocument,
    defaults: Option<&StageDefaultsDocument>,
    check: &mut Check<'_>,
) -> StageOptions {
    let own = check_options(&stage.options(), check);
    let inherited = defaults
        .map(StageDefaultsDocument::options)
        .map(|options| quiet(&options))
        .unwrap_or_default();
    let plain = StageOptions::default();
    StageOptions {
        timeout: own.timeout.or(inherited.timeout),
        attempts: own
            .attempts
            .or(inherited.attempts)
            .unwrap_or(plain.attempts),
        reset: own.reset.or(inherited.reset).unwrap_or(plain.reset),
        method: own.method.or(inherited.method).unwrap_or(plain.method),
        allow_downgrade: stage
            .allow_downgrade
            .as_ref()
            .is_some_and(|allowed| *allowed.get()),
        exact: stage
            .matching
            .as_ref()
            .is_some_and(|word| *word.get() == MatchDocument::Exact),
        targets: own.targets.or(inherited.targets),
        apply_time: own.apply_time.or(inherited.apply_time),
        preserve: own.preserve.or(inherited.preserve).unwrap_or_default(),
    }
}

#[derive(Default)]
struct Options {
    timeout: Option<std::time::Duration>,
    attempts: Option<u32>,
    reset: Option<ResetPolicy>,
    method: Option<Method>,
    targets: Option<Vec<String>>,
    apply_time: Option<String>,
    preserve: Option<Preserve>,
}

fn check_options(options: &OptionsDocument<'_>, check: &mut Check<'_>) -> Options {
    if let Some(timeout) = options.timeout {
        let zero = check
            .duration("timeout", timeout)
            .is_some_and(|timeout| timeout.is_zero());
        if zero {
            check
                .error(timeout.span(), "`timeout` is zero", "no time at all")
                .hint("leave it out for the usual time");
        }
    }
    if let Some(targets) = options.targets.filter(|targets| targets.get().is_empty()) {
        check
            .error(targets.span(), "`targets` is empty", "names nothing")
            .hint("name URIs, or leave it out so that redpipe finds them");
    }
    quiet(options)
}

/// The options that are right, without findings: defaults are reported once, not once per stage.
fn quiet(options: &OptionsDocument<'_>) -> Options {
    Options {
        timeout: options
            .timeout
            .and_then(|text| crate::pipeline::value::parse_duration(text.get())),
        attempts: options.attempts.map(|attempts| *attempts.get()),
        reset: options.reset.map(|reset| match reset.get() {
            ResetDocument::GracefulThenForce => ResetPolicy::GracefulThenForce,
            ResetDocument::Graceful => ResetPolicy::Graceful,
            ResetDocument::Force => ResetPolicy::Force,
            ResetDocument::None => ResetPolicy::None,
        }),
        method: options.method.map(|method| match method.get() {
            MethodDocument::Auto => Method::Auto,
            MethodDocument::HttpPush => Method::HttpPush,
            MethodDocument::SimpleUpdate => Method::SimpleUpdate,
            MethodDocument::MultipartPush => Method::MultipartPush,
        }),
        targets: options.targets.map(|list| {
            list.get()
                .iter()
                .map(|target| target.get().clone())
                .collect()
        }),
        apply_time: options.apply_time.map(|word| word.get().clone()),
        preserve: options.preserve.map(|preserve| kept(preserve.get())),
    }
}

fn kept(preserve: &PreserveDocument) -> Preserve {
    match preserve {
        PreserveDocument::Word(PreserveWord::All) => Preserve::All,
        PreserveDocument::Word(PreserveWord::None) => Preserve::Only(Vec::new()),
        PreserveDocument::List(names) => {
            Preserve::Only(names.iter().map(|name| name.get().clone()).collect())
        }
    }
}
