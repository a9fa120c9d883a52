//! How an image gets in.

use super::secrecy;
use super::spec::{ImageOrigin, ImageSpec, StageSpec, VersionSpec};
use crate::model::action::{ImageSource, ServedImage, UpdateMethod};
use crate::model::{Capability, Fault, FaultKind, Retry};
use crate::pipeline::Method;

/// The way in which a hop's image gets to this BMC, or why there is none.
///
/// The stage's own word goes first; otherwise a push of the bytes that we hold and checked, then a pull by the BMC from
/// where the pipeline says, then a push without parameters, then a pull from us.
pub fn choose_method(
    stage: &StageSpec,
    version: &VersionSpec,
    capability: &Capability,
) -> Result<UpdateMethod, Box<Fault>> {
    fits(&version.image, capability)?;
    apply_time(stage, capability)?;
    keepable(stage, capability)?;
    let candidates: &[UpdateMethod] = match stage.options.method {
        Method::Auto => &[
            UpdateMethod::MultipartPush,
            UpdateMethod::SimpleUpdate,
            UpdateMethod::HttpPush,
        ],
        Method::SimpleUpdate => &[UpdateMethod::SimpleUpdate],
        Method::MultipartPush => &[UpdateMethod::MultipartPush],
        Method::HttpPush => &[UpdateMethod::HttpPush],
    };
    let wipes = stage.options.preserve.only().is_some();
    let mut reasons = Vec::new();
    for method in candidates {
        match obstacle(*method, &version.image, capability).or_else(|| untold(*method, wipes)) {
            None => return Ok(*method),
            Some(reason) => reasons.push(format!("`{}`: {reason}", method.as_str())),
        }
    }
    if candidates.contains(&UpdateMethod::SimpleUpdate) && !wipes {
        match served_obstacle(&version.image, capability) {
            None => return Ok(UpdateMethod::SimpleUpdate),
            Some(reason) => reasons.push(format!("`simple-update` from redpipe: {reason}")),
        }
    }
    let message = format!("image `{}` cannot get in", version.image.origin);
    let mut fault = Fault::new(FaultKind::Unsupported, Retry::Operator, message);
    fault.causes = reasons;
    Err(Box::new(
        match (&version.image.origin, stage.options.method) {
            (ImageOrigin::File(_), _) => fault.with_hint(
                "put the image on a server that the BMC reaches, and use `image = { uri = .. }`",
            ),
            (ImageOrigin::Uri(_), Method::MultipartPush | Method::HttpPush) => fault
                .with_hint("a push needs `image = { file = .. }`, or a `sha256` beside the `uri`"),
            (ImageOrigin::Uri(_), Method::Auto | Method::SimpleUpdate) => fault,
        },
    ))
}

/// The image as the chosen method takes it; `None` where we do not hold what it needs. `secret` is what nobody else can
/// guess: part of the path, where the image is served.
pub fn image_source(
    version: &VersionSpec,
    method: UpdateMethod,
    capability: &Capability,
    secret: &str,
) -> Option<ImageSource> {
    let image = &version.image;
    let held = || image.held.clone().zip(image.bytes);
    match (method, &image.origin) {
        (UpdateMethod::SimpleUpdate, ImageOrigin::Uri(uri))
            if obstacle(method, image, capability).is_none() =>
        {
            Some(ImageSource::Uri(uri.clone()))
        }
        (UpdateMethod::SimpleUpdate, _) => {
            let (file, bytes) = held()?;
            let path = format!("{secret}/{}", name_in_path(&file_name(&image.origin)));
            Some(ImageSource::Served(ServedImage { path, file, bytes }))
        }
        (UpdateMethod::MultipartPush | UpdateMethod::HttpPush, _) => {
            let (path, bytes) = held()?;
            let name = file_name(&image.origin);
            Some(ImageSource::File { path, bytes, name })
        }
    }
}

/// Characters of a file's name at its end that are kept in a path: some BMCs look at the ending, and some take only short
/// paths.
const NAME_CHARS_MAX: usize = 40;

/// What an image is called where the pipeline finds it: the last part of its path, without what may be a secret.
fn file_name(origin: &ImageOrigin) -> String {
    let name = match origin {
        ImageOrigin::File(path) => path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned()),
        ImageOrigin::Uri(uri) => {
            let path = uri.split(['?', '#']).next().unwrap_or_default();
            let (_, path) = path.split_once("://").unwrap_or(("", path));
            path.rsplit_once('/').map(|(_, name)| name.to_owned())
        }
    };
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| "image.bin".to_owned())
}

/// A file's name as a path may hold it.
fn name_in_path(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
            c
        } else {
            '_'
        }
    };
    let name: Vec<char> = name.chars().map(plain).collect();
    let from = name.len().saturating_sub(NAME_CHARS_MAX);
    name.into_iter().skip(from).collect()
}

/// What keeps a BMC from fetching the image from us.
fn served_obstacle(image: &ImageSpec, capability: &Capability) -> Option<String> {
    let method = UpdateMethod::SimpleUpdate;
    if !capability.update_methods.contains(&method) {
        return Some("the BMC does not offer it".to_owned());
    }
    if image.held.is_none() {
        return Some("redpipe does not hold the image".to_owned());
    }
    protocol_obstacle("http://", capability)
}

fn fits(image: &ImageSpec, capability: &Capability) -> Result<(), Box<Fault>> {
    match (image.bytes, capability.max_image_bytes) {
        (Some(bytes), Some(max)) if max > 0 && bytes > max => {
            let message = format!(
                "image `{}` has {bytes} bytes, and the BMC takes at most {max}",
                image.origin
            );
            let fault = Fault::new(FaultKind::ImageInvalid, Retry::Operator, message);
            Err(Box::new(fault))
        }
        (Some(_) | None, _) => Ok(()),
    }
}

fn apply_time(stage: &StageSpec, capability: &Capability) -> Result<(), Box<Fault>> {
    let Some(wanted) = &stage.options.apply_time else {
        return Ok(());
    };
    if capability.apply_times.is_empty() || capability.apply_times.contains(wanted) {
        return Ok(());
    }
    let message = format!("the BMC does not offer `apply_time = \"{wanted}\"`");
    let hint = format!("it offers {}", capability.apply_times.join(", "));
    let fault = Fault::new(FaultKind::Unsupported, Retry::Operator, message).with_hint(hint);
    Err(Box::new(fault))
}

/// Whether a hop that is to keep less than everything can be told so here.
fn keepable(stage: &StageSpec, capability: &Capability) -> Result<(), Box<Fault>> {
    let Some(keep) = stage.options.preserve.only() else {
        return Ok(());
    };
    let known = if stage.kind.is_bmc() {
        &capability.bmc_update_keeps
    } else {
        &capability.bios_update_keeps
    };
    let blocked = |message: String, hint: String| {
        let fault = Fault::new(FaultKind::Unsupported, Retry::Operator, message);
        Err(Box::new(fault.with_hint(hint)))
    };
    if known.is_empty() {
        let message = "an update of this BMC cannot be told what to keep".to_owned();
        let hint = "leave `preserve` out, and reset to defaults by hand where that is wanted";
        return blocked(message, hint.to_owned());
    }
    match keep.iter().find(|name| !known.contains(name)) {
        Some(unknown) => blocked(
            format!("the BMC knows nothing to keep that is called `{unknown}`"),
            format!("it knows {}", known.join(", ")),
        ),
        None => Ok(()),
    }
}

/// What keeps a method from telling the BMC what to wipe: only a push with parameters says that.
fn untold(method: UpdateMethod, wipes: bool) -> Option<String> {
    let says = method == UpdateMethod::MultipartPush;
    (wipes && !says).then(|| "it cannot say what to keep".to_owned())
}

/// What keeps one method from working; `None` = nothing known.
fn obstacle(method: UpdateMethod, image: &ImageSpec, capability: &Capability) -> Option<String> {
    if !capability.update_methods.contains(&method) {
        return Some("the BMC does not offer it".to_owned());
    }
    match (method, &image.origin) {
        (UpdateMethod::SimpleUpdate, ImageOrigin::File(_)) => {
            Some("the image is a file, and has no URI".to_owned())
        }
        (UpdateMethod::SimpleUpdate, ImageOrigin::Uri(uri)) => protocol_obstacle(uri, capability),
        (UpdateMethod::MultipartPush | UpdateMethod::HttpPush, _) if image.held.is_none() => {
            Some("only the BMC can fetch the image".to_owned())
        }
        (UpdateMethod::MultipartPush | UpdateMethod::HttpPush, _) => None,
    }
}

fn protocol_obstacle(uri: &str, capability: &Capability) -> Option<String> {
    let Some((scheme, _)) = uri.split_once("://") else {
        return Some(format!(
            "`{}` names no protocol",
            secrecy::without_user_info(uri)
        ));
    };
    let allowed = &capability.transfer_protocols;
    if allowed.is_empty()
        || allowed
            .iter()
            .any(|protocol| protocol.eq_ignore_ascii_case(scheme))
    {
        return None;
    }
    Some(format!(
        "the BMC pulls by {}, not by `{scheme}`",
        allowed.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::Target;
    use crate::plan::spec::StageKindSpec;
    use crate::plan::testing::{hop, look, stage};

    struct Case {
        image: ImageSpec,
        method: Method,
        offered: Vec<UpdateMethod>,
    }

    fn uri(uri: &str, is_held: bool) -> ImageSpec {
        let held = hop("1").image;
        ImageSpec {
            origin: ImageOrigin::Uri(uri.into()),
            sha256: None,
            bytes: held.bytes.filter(|_| is_held),
            held: held.held.filter(|_| is_held),
        }
    }

    fn chosen(case: Case) -> Result<UpdateMethod, String> {
        let version = VersionSpec {
            image: case.image,
            ..hop("1")
        };
        let mut stage = stage(
            "s",
            StageKindSpec::BmcVersion(BTreeMap::from([(Target::Bmc, version.clone())])),
        );
        stage.options.method = case.method;
        let capability = Capability {
            update_methods: case.offered,
            ..look(None, &[]).capability
        };
        let chosen = choose_method(&stage, &version, &capability);
        if let Ok(method) = &chosen {
            assert!(
                image_source(&version, *method, &capability, "s").is_some(),
                "what is chosen can be sent"
            );
        }
        chosen.map_err(|fault| {
            format!(
                "{fault} hint: {}",
                fault.hint.as_deref().unwrap_or_default()
            )
        })
    }

    #[test]
    fn the_best_way_that_is_open_is_taken() {
        for (case, method) in ways() {
            assert_eq!(chosen(case), Ok(method));
        }
    }

    fn ways() -> Vec<(Case, UpdateMethod)> {
        use UpdateMethod::{HttpPush, MultipartPush, SimpleUpdate};
        let all = || vec![HttpPush, SimpleUpdate, MultipartPush];
        let file = || hop("1").image;
        vec![
            (
                Case {
                    image: file(),
                    method: Method::Auto,
                    offered: all(),
                },
                MultipartPush,
            ),
            (
                Case {
                    image: file(),
                    method: Method::Auto,
                    offered: vec![SimpleUpdate, HttpPush],
                },
                HttpPush,
            ),
            (
                Case {
                    image: uri("http://h/x", false),
                    method: Method::Auto,
                    offered: all(),
                },
                SimpleUpdate,
            ),
            (
                Case {
                    image: uri("http://h/x", true),
                    method: Method::Auto,
                    offered: all(),
                },
                MultipartPush,
            ),
            (
                Case {
                    image: uri("http://h/x", true),
                    method: Method::SimpleUpdate,
                    offered: all(),
                },
                SimpleUpdate,
            ),
            (
                Case {
                    image: uri("http://h/x", true),
                    method: Method::Auto,
                    offered: vec![SimpleUpdate],
                },
                SimpleUpdate,
            ),
            (
                Case {
                    image: file(),
                    method: Method::Auto,
                    offered: vec![SimpleUpdate],
                },
                SimpleUpdate,
            ),
            (
                Case {
                    image: uri("tftp://h/x", true),
                    method: Method::SimpleUpdate,
                    offered: all(),
                },
                SimpleUpdate,
            ),
        ]
    }

    #[test]
    fn an_image_keeps_the_name_that_its_maker_gave_it() {
        for (origin, name) in [
            (
                ImageOrigin::File("images/BIOS_1.2.EXE".into()),
                "BIOS_1.2.EXE",
            ),
            (
                ImageOrigin::Uri("https://u:p@h/a/b.d9?sig=x/y".into()),
                "b.d9",
            ),
            (ImageOrigin::Uri("https://h".into()), "image.bin"),
        ] {
            assert_eq!(file_name(&origin), name);
        }
    }

    #[test]
    fn where_no_way_is_open_every_reason_is_told() {
        use UpdateMethod::{MultipartPush, SimpleUpdate};
        let rows = [
            (
                Case {
                    image: hop("1").image,
                    method: Method::Auto,
                    offered: vec![],
                },
                "use `image = { uri",
            ),
            (
                Case {
                    image: uri("http://h/x", false),
                    method: Method::MultipartPush,
                    offered: vec![MultipartPush],
                },
                "`sha256`",
            ),
            (
                Case {
                    image: uri("tftp://h/x", false),
                    method: Method::Auto,
                    offered: vec![SimpleUpdate],
                },
                "not by `tftp`",
            ),
            (
                Case {
                    image: uri("u:p@h/x", false),
                    method: Method::Auto,
                    offered: vec![SimpleUpdate],
                },
                "names no protocol",
            ),
            (
                Case {
                    image: uri("http://h/x", false),
                    method: Method::Auto,
                    offered: vec![],
                },
                "does not offer it",
            ),
        ];
        for (case, message) in rows {
            let error = chosen(case).err().unwrap_or_default();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn an_image_that_is_too_big_and_a_foreign_apply_time_are_refused() {
        let version = hop("1");
        let mut stage = stage("s", StageKindSpec::BmcVersion(BTreeMap::new()));
        let small = Capability {
            max_image_bytes: Some(999),
            ..look(None, &[]).capability
        };
        let kind = choose_method(&stage, &version, &small)
            .err()
            .map(|fault| fault.kind);
        assert_eq!(kind, Some(FaultKind::ImageInvalid));
        stage.options.apply_time = Some("OnReset".into());
        let immediate = Capability {
            apply_times: vec!["Immediate".into()],
            ..look(None, &[]).capability
        };
        let kind = choose_method(&stage, &version, &immediate)
            .err()
            .map(|fault| fault.kind);
        assert_eq!(kind, Some(FaultKind::Unsupported));
        assert!(choose_method(&stage, &version, &look(None, &[]).capability).is_ok());
    }
}
