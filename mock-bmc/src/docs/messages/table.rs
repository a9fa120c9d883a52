//! This room is the texts of messages, in DMTF's words where they are DMTF's.
//!
//! It deliberately holds only those that the mock sends.

/// The version of the `Base` registry that the texts are from.
pub(crate) const BASE_VERSION: &str = "1.18.1";
/// The version of the `Update` registry that the texts are from.
pub(crate) const UPDATE_VERSION: &str = "1.0.3";
/// The version of the mock's own registry.
pub(crate) const OWN_VERSION: &str = "1.0.0";

/// One entry of a registry: key, severity, text, resolution.
pub(crate) type Entry = (&'static str, &'static str, &'static str, &'static str);

pub(super) const CRITICAL: &str = "Critical";
const WARNING: &str = "Warning";
const OK: &str = "OK";
const CORRECT_PROPERTY: &str = "Correct the value for the property in the request body and resubmit the request if the operation failed.";
const CORRECT_PARAMETER: &str = "Correct the value for the parameter in the request body and resubmit the request if the operation failed.";

/// The entries of `Base`.
pub(crate) const BASE: &[Entry] = &[
    (
        "AccountRemoved",
        OK,
        "The account was successfully removed.",
        "None.",
    ),
    (
        "ActionNotSupported",
        CRITICAL,
        "The action %1 is not supported by the resource.",
        "Check the Actions property in the resource for the supported actions.",
    ),
    (
        "ActionParameterMissing",
        CRITICAL,
        "The action %1 requires the parameter %2 to be present in the request body.",
        "Supply the action with the required parameter in the request body when the request is resubmitted.",
    ),
    (
        "ActionParameterUnknown",
        WARNING,
        "The action %1 was submitted with the invalid parameter %2.",
        "Correct the invalid action parameter and resubmit the request if the operation failed.",
    ),
    (
        "ActionParameterValueFormatError",
        WARNING,
        "The value '%1' for the parameter %2 in the action %3 is not a format that the parameter can accept.",
        CORRECT_PARAMETER,
    ),
    (
        "ActionParameterValueNotInList",
        WARNING,
        "The value '%1' for the parameter %2 in the action %3 is not in the list of acceptable values.",
        "Choose a value from the enumeration list that the implementation can support and resubmit the request if the operation failed.",
    ),
    (
        "ActionParameterValueTypeError",
        WARNING,
        "The value '%1' for the parameter %2 in the action %3 is not a type that the parameter can accept.",
        CORRECT_PARAMETER,
    ),
    (
        "CreateFailedMissingReqProperties",
        CRITICAL,
        "The create operation failed because the required property %1 was missing from the request.",
        "Correct the body to include the required property with a valid value and resubmit the request if the operation failed.",
    ),
    (
        "Created",
        OK,
        "The resource was created successfully.",
        "None.",
    ),
    (
        "EmptyJSON",
        WARNING,
        "The request body submitted contained an empty JSON object and the service is unable to process it.",
        "Add properties in the JSON object and resubmit the request.",
    ),
    (
        "GeneralError",
        CRITICAL,
        "A general error has occurred.  See Resolution for information on how to resolve the error, or @Message.ExtendedInfo if Resolution is not provided.",
        "None.",
    ),
    (
        "HeaderInvalid",
        CRITICAL,
        "Header '%1' is invalid.",
        "Resubmit the request with a valid request header.",
    ),
    (
        "InsufficientPrivilege",
        CRITICAL,
        "There are insufficient privileges for the account or credentials associated with the current session to perform the requested operation.",
        "Either abandon the operation or change the associated access rights and resubmit the request if the operation failed.",
    ),
    (
        "InternalError",
        CRITICAL,
        "The request failed due to an internal service error.  The service is still operational.",
        "Resubmit the request.  If the problem persists, consider resetting the service.",
    ),
    (
        "MalformedJSON",
        CRITICAL,
        "The request body submitted was malformed JSON and could not be parsed by the receiving service.",
        "Ensure that the request body is valid JSON and resubmit the request.",
    ),
    (
        "MissingOrMalformedPart",
        CRITICAL,
        "The multipart request contains malformed parts or is missing required parts.",
        "Ensure that the multipart request is properly formatted and resubmit the request.",
    ),
    (
        "NoOperation",
        WARNING,
        "The request body submitted contain no data to act upon and no changes to the resource took place.",
        "Add properties in the JSON object and resubmit the request.",
    ),
    (
        "NoValidSession",
        CRITICAL,
        "There is no valid session established with the implementation.",
        "Establish a session before attempting any operations.",
    ),
    (
        "OperationNotAllowed",
        CRITICAL,
        "The HTTP method is not allowed on this resource.",
        "None.",
    ),
    (
        "PasswordChangeRequired",
        CRITICAL,
        "The password provided for this account must be changed before access is granted.  PATCH the Password property for this account located at the target URI '%1' to complete this process.",
        "Change the password for this account using a PATCH to the Password property at the URI provided.",
    ),
    (
        "PayloadTooLarge",
        CRITICAL,
        "The supplied payload exceeds the maximum size supported by the service.",
        "Check that the supplied payload is correct and supported by this service.",
    ),
    (
        "PreconditionFailed",
        CRITICAL,
        "The ETag supplied did not match the ETag required to change this resource.",
        "Try the operation again using the appropriate ETag.",
    ),
    (
        "PreconditionRequired",
        CRITICAL,
        "A precondition header or annotation is required to change this resource.",
        "Try the operation again using an If-Match or If-None-Match header and appropriate ETag.",
    ),
    (
        "PropertyMissing",
        WARNING,
        "The property %1 is a required property and must be included in the request.",
        "Ensure that the property is in the request body and has a valid value and resubmit the request if the operation failed.",
    ),
    (
        "PropertyNotUpdated",
        CRITICAL,
        "The property %1 was not updated due to an internal service error.  The service is still operational.",
        "Resubmit the request.  If the problem persists, check for additional messages and consider resetting the service.",
    ),
    (
        "PropertyNotWritable",
        WARNING,
        "The property %1 is a read-only property and cannot be assigned a value.",
        "Remove the property from the request body and resubmit the request if the operation failed.",
    ),
    (
        "PropertyUnknown",
        WARNING,
        "The property %1 is not in the list of valid properties for the resource.",
        "Remove the unknown property from the request body and resubmit the request if the operation failed.",
    ),
    (
        "PropertyValueConflict",
        WARNING,
        "The property '%1' could not be written because its value would conflict with the value of the '%2' property.",
        "None.",
    ),
    (
        "PropertyValueFormatError",
        WARNING,
        "The value '%1' for the property %2 is not a format that the property can accept.",
        CORRECT_PROPERTY,
    ),
    (
        "PropertyValueIncorrect",
        WARNING,
        "The property '%1' with the requested value of '%2' could not be written because the value does not meet the constraints of the implementation.",
        "None.",
    ),
    (
        "PropertyValueNotInList",
        WARNING,
        "The value '%1' for the property %2 is not in the list of acceptable values.",
        "Choose a value from the enumeration list that the implementation can support and resubmit the request if the operation failed.",
    ),
    (
        "PropertyValueOutOfRange",
        WARNING,
        "The value '%1' for the property %2 is not in the supported range of acceptable values.",
        CORRECT_PROPERTY,
    ),
    (
        "PropertyValueTypeError",
        WARNING,
        "The value '%1' for the property %2 is not a type that the property can accept.",
        CORRECT_PROPERTY,
    ),
    (
        "QueryCombinationInvalid",
        WARNING,
        "Two or more query parameters in the request cannot be used together.",
        "Remove one or more of the query parameters and resubmit the request if the operation failed.",
    ),
    (
        "QueryNotSupported",
        WARNING,
        "Querying is not supported by the implementation.",
        "Remove the query parameters and resubmit the request if the operation failed.",
    ),
    (
        "QueryNotSupportedOnResource",
        WARNING,
        "Querying is not supported on the requested resource.",
        "Remove the query parameters and resubmit the request if the operation failed.",
    ),
    (
        "QueryParameterOutOfRange",
        WARNING,
        "The value '%1' for the query parameter %2 is out of range %3.",
        "Reduce the value for the query parameter to a value that is within range, such as a start or count value that is within bounds of the number of resources in a collection or a page number that is within the range of valid pages.",
    ),
    (
        "QueryParameterUnsupported",
        WARNING,
        "Query parameter '%1' is not supported.",
        "Correct or remove the query parameter and resubmit the request.",
    ),
    (
        "QueryParameterValueFormatError",
        WARNING,
        "The value '%1' for the parameter %2 is not a format that the parameter can accept.",
        "Correct the value for the query parameter in the request and resubmit the request if the operation failed.",
    ),
    (
        "QueryParameterValueTypeError",
        WARNING,
        "The value '%1' for the query parameter %2 is not a type that the parameter can accept.",
        "Correct the value for the query parameter in the request and resubmit the request if the operation failed.",
    ),
    (
        "ResetRequired",
        WARNING,
        "In order to apply changes, recover from errors, or complete the operation, a component reset is required with the Reset action URI '%1' and ResetType '%2'.",
        "Perform the required reset action on the specified component.",
    ),
    (
        "ResourceAlreadyExists",
        CRITICAL,
        "The requested resource of type %1 with the property %2 with the value '%3' already exists.",
        "Do not repeat the create operation as the resource was already created.",
    ),
    (
        "ResourceAtUriUnauthorized",
        CRITICAL,
        "While accessing the resource at '%1', the service received an authorization error '%2'.",
        "Ensure that the appropriate access is provided for the service in order for it to access the URI.",
    ),
    (
        "ResourceCannotBeDeleted",
        CRITICAL,
        "The delete request failed because the resource requested cannot be deleted.",
        "Do not attempt to delete a non-deletable resource.",
    ),
    (
        "ResourceInStandby",
        CRITICAL,
        "The request could not be performed because the resource is in standby.",
        "Ensure that the resource is in the correct power state and resubmit the request.",
    ),
    (
        "ResourceInUse",
        WARNING,
        "The change to the requested resource failed because the resource is in use or in transition.",
        "Remove the condition and resubmit the request if the operation failed.",
    ),
    (
        "ResourceMissingAtURI",
        CRITICAL,
        "The resource at the URI '%1' was not found.",
        "Place a valid resource at the URI or correct the URI and resubmit the request.",
    ),
    (
        "ServiceTemporarilyUnavailable",
        CRITICAL,
        "The service is temporarily unavailable.  Retry in %1 seconds.",
        "Wait for the indicated retry duration and retry the operation.",
    ),
    (
        "SessionLimitExceeded",
        CRITICAL,
        "The session establishment failed due to the number of simultaneous sessions exceeding the limit of the implementation.",
        "Reduce the number of other sessions before trying to establish the session or increase the limit of simultaneous sessions, if supported.",
    ),
    (
        "StringValueTooLong",
        WARNING,
        "The string '%1' exceeds the length limit %2.",
        "Resubmit the request with an appropriate string length.",
    ),
    (
        "StringValueTooShort",
        WARNING,
        "The string '%1' was under the minimum required length %2.",
        "Resubmit the request with an appropriate string length.",
    ),
    (
        "Success",
        OK,
        "The request completed successfully.",
        "None.",
    ),
    (
        "UnrecognizedRequestBody",
        WARNING,
        "The service detected a malformed request body that it was unable to interpret.",
        "Correct the request body and resubmit the request if it failed.",
    ),
];

/// The entries of `Update`.
pub(crate) const UPDATE: &[Entry] = &[
    (
        "ActivateFailed",
        CRITICAL,
        "Activation of image '%1' on '%2' failed.",
        "None.",
    ),
    (
        "ApplyFailed",
        CRITICAL,
        "Installation of image '%1' to '%2' failed.",
        "None.",
    ),
    (
        "AwaitToActivate",
        OK,
        "Awaiting for an action to proceed with activating image '%1' on '%2'.",
        "Perform the requested action to advance the update operation.",
    ),
    (
        "InstallingOnComponent",
        OK,
        "Image '%1' is being installed on '%2'.",
        "None.",
    ),
    (
        "TargetDetermined",
        OK,
        "The target device '%1' will be updated with image '%2'.",
        "None.",
    ),
    (
        "TransferFailed",
        CRITICAL,
        "Transfer of image '%1' to '%2' failed.",
        "None.",
    ),
    (
        "TransferringToComponent",
        OK,
        "Image '%1' is being transferred to '%2'.",
        "None.",
    ),
    (
        "OperationTransitionedToJob",
        OK,
        "The update operation has transitioned to the job at URI '%1'.",
        "Follow the referenced job and monitor the job for further updates.",
    ),
    ("UpdateInProgress", OK, "An update is in progress.", "None."),
    (
        "UpdateSuccessful",
        OK,
        "Device '%1' successfully updated with image '%2'.",
        "None.",
    ),
    (
        "VerificationFailed",
        CRITICAL,
        "Verification of image '%1' at '%2' failed.",
        "None.",
    ),
    (
        "VerifyingAtComponent",
        OK,
        "Image '%1' is being verified at '%2'.",
        "None.",
    ),
];

/// The mock's own entries.
pub(crate) const OWN: &[Entry] = &[
    (
        "DowngradeNotAllowed",
        CRITICAL,
        "The image '%1' is older than the running version '%2'.",
        "Take a newer image.",
    ),
    (
        "MinimumFirmwareVersionRequirementNotMet",
        CRITICAL,
        "The image '%1' needs at least version '%2', but version '%3' is running.",
        "Update to the needed version first.",
    ),
    (
        "UnableToModifyDuringSystemPOST",
        WARNING,
        "The value cannot be changed while the system is in POST.",
        "Wait until POST has ended and resubmit the request.",
    ),
];
