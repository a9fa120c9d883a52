//! Keys of messages that decide what an answer means, the standard's and vendors' in one table: registries and their
//! versions differ between services and move with every firmware, keys stay.

/// Keys that mean "not now": the BMC did nothing and may be asked again.
pub(in crate::redfish) const LATER: [&str; 13] = [
    "ServiceTemporarilyUnavailable",
    "ResourceNotReadyRetry",
    "ResourceInUse",
    "ResourceInStandby",
    "ServiceShuttingDown",
    "UnableToModifyDuringSystemPOST",
    "FirmwareFlashAlreadyInProgress",
    "ComponentUploadAlreadyInProgress",
    "UpdateInProgress",
    "OemBiosUpdateIsInProgress",
    "SWC0700",
    "ServiceInUnknownState",
    "MaximumTasksReached",
];

/// Keys that refuse even behind a 5xx: nothing that has them was begun.
pub(in crate::redfish) const REFUSALS: [&str; 16] = [
    "ActionNotSupported",
    "ActionParameterMissing",
    "ActionParameterNotSupported",
    "ActionParameterUnknown",
    "ActionParameterValueError",
    "ActionParameterValueNotInList",
    "InsufficientPrivilege",
    "LicenseKeyRequired",
    "OemLicenseNotPassed",
    "OemFirmwareAlreadyInUpdateMode",
    "MissingOrMalformedPart",
    "PropertyMissing",
    "ResourceAlreadyExists",
    "MinimumFirmwareVersionRequirementNotMet",
    "FWFlashTPMOverrideFlagRequired",
    "NoValidSession",
];

/// Keys that refuse one property, even beside a success.
pub(in crate::redfish) const PROPERTY_REFUSALS: [&str; 14] = [
    "PropertyUnknown",
    "PropertyNotWritable",
    "PropertyNotUpdated",
    "PropertyValueError",
    "PropertyValueNotInList",
    "PropertyValueTypeError",
    "PropertyValueFormatError",
    "PropertyValueConflict",
    "PropertyValueOutOfRange",
    "PropertyValueIncorrect",
    "PropertyValueResourceConflict",
    "PropertyDuplicate",
    "StringValueTooLong",
    "StringValueTooShort",
];

/// Keys that are a success, whatever severity a service gives them: iLO answers `SystemResetRequired` inside an error
/// envelope with the severity of a failure.
pub(in crate::redfish) const SUCCESSES: [&str; 9] = [
    "Success",
    "Created",
    "Accepted",
    "NoOperation",
    "ResetRequired",
    "SystemResetRequired",
    "AwaitToActivate",
    "OemSimpleupdateAcceptedMessage",
    "ResetRecommended",
];

/// Keys that ask for a reset.
pub(in crate::redfish) const RESET_REQUIRED: [&str; 4] = [
    "ResetRequired",
    "SystemResetRequired",
    "RebootRequired",
    "RED014",
];

/// Keys of answers to a reset that asks for the state that is.
pub(in crate::redfish) const ALREADY_THERE: [&str; 3] = ["PSU501", "PSU502", "NoOperation"];
