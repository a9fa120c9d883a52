//! What must be read before a run can be planned.

use crate::model::{LookRequest, Target};
use crate::plan::spec::{RunSpec, SettingsSpec};

/// The look that [`report`](super::report) needs: versions, who is at work, and every attribute and resource that the
/// run speaks about.
pub fn look_request(spec: &RunSpec) -> LookRequest {
    let mut request = LookRequest {
        state: true,
        work: true,
        ..LookRequest::default()
    };
    for stage in &spec.stages {
        for target in stage.kind.targets() {
            request.software |= stage.kind.version(target).is_some();
            let Some(settings) = stage.kind.settings(target) else {
                continue;
            };
            // A guard compares versions, and some are shown in the inventory only.
            request.software |= settings.guard.is_some();
            ask_settings(&mut request, target, settings);
        }
    }
    request
}

/// Asks for every attribute and resource that settings speak about.
pub fn ask_settings(request: &mut LookRequest, target: &Target, settings: &SettingsSpec) {
    for item in &settings.flow {
        if !item.settings.is_empty() {
            request.settings.insert(target.clone());
        }
        let uris = item
            .shown()
            .map(|resource| (target.clone(), resource.uri.clone()));
        request.resources.extend(uris);
    }
}
