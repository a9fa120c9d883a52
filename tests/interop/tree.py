"""What a recorded tree says, read from its files along its own links, without any Redfish library."""

import json

FINAL_TASKS = {"Completed", "Killed", "Exception", "Cancelled"}
FINAL_JOBS = {"Completed", "Cancelled", "Exception", "Failed", "CompletedWithErrors", "CompletedWithWarnings",
              "RebootCompleted", "RebootFailed"}
NO_VERSION = {"", "-*", "-", "n/a", "na", "none", "not present", "unknown"}


def link(document, name):
    value = (document or {}).get(name)
    return value.get("@odata.id") if isinstance(value, dict) else value if isinstance(value, str) else None


def at(document, *names):
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


class Tree:
    """One tree. Letter case and trailing slashes of links are as sloppy as in the recordings."""

    def __init__(self, path):
        self.name = path.name
        self.documents = {}
        # The third-party server mounts this folder; what lies beside it is not served.
        for file in (path / "redfish").rglob("index.json"):
            uri = "/" + str(file.parent.relative_to(path))
            self.documents[uri.lower()] = json.loads(file.read_text(encoding="utf-8", errors="replace"))
        self.root = self.get("/redfish/v1")

    def get(self, uri):
        return self.documents.get((uri or "").split("#")[0].rstrip("/").lower()) or {}

    def behind(self, document, *path):
        return self.get(link(at(document, *path[:-1]) if path[:-1] else document, path[-1]))

    def members(self, collection):
        found = [(member["@odata.id"].rstrip("/"), self.get(member["@odata.id"]))
                 for member in collection.get("Members") or []]
        return [(uri, document) for uri, document in found if document]

    def systems(self):
        return self.members(self.behind(self.root, "Systems"))

    def managers(self):
        return sorted(self.members(self.behind(self.root, "Managers")), key=lambda one: one[0])

    def manager(self):
        """The BMC of the systems, else the first manager by URI."""
        managed = {member["@odata.id"].rstrip("/").lower()
                   for _, system in self.systems() for member in at(system, "Links", "ManagedBy") or []}
        of_systems = [one for one in self.managers()
                      if one[1].get("ManagerType", "BMC") == "BMC" and one[0].lower() in managed]
        found = of_systems or self.managers()
        return found[0] if found else (None, {})

    def update_service(self):
        return self.behind(self.root, "UpdateService")

    def software(self):
        return self.members(self.behind(self.update_service(), "FirmwareInventory"))

    def bmc_version(self):
        uri, manager = self.manager()
        if manager.get("FirmwareVersion"):
            return manager["FirmwareVersion"]
        named = [member for _, member in self.software() if uri and member.get("Id") == uri.split("/")[-1]]
        return named[0].get("Version") if len(named) == 1 else None

    def bios(self, system):
        return self.behind(system, "Bios")

    def bios_version(self, system):
        if system.get("BiosVersion"):
            return system["BiosVersion"]
        bios = (link(system, "Bios") or "").rstrip("/").lower()
        related = [member for _, member in self.software()
                   for item in member.get("RelatedItem") or [] if item["@odata.id"].rstrip("/").lower() == bios]
        named = [m for m in related if any(word in (m["Id"] + m.get("Name", "")).lower() for word in ("bios", "uefi"))]
        versions = {member.get("Version") for member in named or related}
        return versions.pop() if bios and len(versions) == 1 else None

    def attributes(self, system):
        found = self.bios(system).get("Attributes")
        return {n: v for n, v in found.items() if "@" not in n} if isinstance(found, dict) and found else None

    def pending(self, system):
        """Values of the settings object that are not in effect."""
        current = self.attributes(system)
        if current is None:
            return None
        waiting = self.behind(self.bios(system), "@Redfish.Settings", "SettingsObject").get("Attributes") or {}
        return sorted(n for n, v in waiting.items()
                      if "@" not in n and v is not None and str(current.get(n)).lower() != str(v).lower())

    def tasks(self):
        service = self.behind(self.root, "Tasks") or self.behind(self.root, "TaskService")
        found = self.members(self.behind(service, "Tasks"))
        return sorted(uri for uri, task in found if task.get("TaskState") not in FINAL_TASKS)

    def jobs(self):
        collection = self.behind(self.behind(self.root, "JobService"), "Jobs")
        if not collection:
            collection = self.behind(self.manager()[1], "Links", "Oem", "Dell", "Jobs")
        found = self.members(collection)

        def timetable_only(job):
            schedule = job.get("Schedule") or {}
            return job.get("JobState") == "Suspended" and "Schedule" in job and not (
                schedule.get("InitialStartTime") or schedule.get("RecurrenceInterval"))

        return sorted(uri for uri, job in found if job.get("JobState") not in FINAL_JOBS and not timetable_only(job))

    def staged(self):
        def waits(member):
            if isinstance(member.get("Staged"), bool):
                return member["Staged"]
            slot = any(mark in member["Id"].lower() for mark in ("-pending", "staging_", "_staged"))
            version = (member.get("Version") or "").strip()
            # A slot that shows what runs is one that was used.
            runs = any(other is not member and other.get("Version") == member.get("Version")
                       and other.get("RelatedItem") == member.get("RelatedItem") for _, other in self.software())
            return slot and version.lower() not in NO_VERSION and not runs

        return sorted(uri for uri, member in self.software() if waits(member))

    def allowed(self, action, parameter):
        stated = action.get(f"{parameter}@Redfish.AllowableValues")
        if stated:
            return stated
        for entry in self.behind(action, "@Redfish.ActionInfo").get("Parameters") or []:
            if entry.get("Name") == parameter:
                return entry.get("AllowableValues") or []
        return []

    def capabilities(self):
        service = self.update_service()
        simple = at(service, "Actions", "#UpdateService.SimpleUpdate") or {}
        push = service.get("MultipartHttpPushUri@Redfish.OperationApplyTimeSupport") or {}
        times = list(at(simple, "@Redfish.OperationApplyTimeSupport", "SupportedValues") or [])
        times += [time for time in push.get("SupportedValues") or [] if time not in times]
        methods = [("multipart-push", service.get("MultipartHttpPushUri")), ("simple-update", simple.get("target")),
                   ("http-push", service.get("HttpPushUri"))]
        reset = at(self.manager()[1], "Actions", "#Manager.Reset") or {}
        return {
            "update_methods": [method for method, offered in methods if offered],
            "transfer_protocols": self.allowed(simple, "TransferProtocol"),
            "apply_times": times,
            "max_image_bytes": service.get("MaxImageSizeBytes") or None,
            "no_manager_reset": bool(self.managers()) and not reset.get("target"),
            "manager_reset_types": self.allowed(reset, "ResetType"),
        }

    def sessions(self):
        collection = self.behind(self.root, "Links", "Sessions")
        return len(collection["Members"]) if "Members" in collection else None

    def licences(self):
        service = self.behind(self.root, "LicenseService")
        if service:
            return sorted(one["Name"] for _, one in self.members(self.behind(service, "Licenses")))
        manager = self.manager()[1]
        for path in (("Oem", "Hpe", "Links", "LicenseService"), ("Links", "Oem", "Dell", "DellLicenseCollection")):
            collection = self.behind(manager, *path)
            if collection:
                return sorted((one.get("LicenseDescription") or [one.get("License")])[0]
                              for _, one in self.members(collection))
        query = self.behind(self.behind(manager, "Oem", "Supermicro", "LicenseManager"), "QueryLicense")
        return ["unnamed" for _ in query["Licenses"]] if query else None

    def lockdown(self):
        manager = self.manager()[1]
        for entry in at(manager, "Links", "Oem", "Dell", "DellAttributes") or []:
            value = at(self.get(entry["@odata.id"]), "Attributes", "Lockdown.1.SystemLockdown")
            if value:
                return value == "Enabled"
        dashboard = self.behind(self.behind(manager, "Oem", "Hpe", "Links", "SecurityService"), "Links", "SecurityDashboard")
        if dashboard:
            return dashboard["ServerConfigurationLockStatus"] == "Enabled"
        return self.behind(manager, "Oem", "Supermicro", "SysLockdown").get("SysLockdownEnabled")

    def registry(self, system):
        """Entries of the registry that describes most of a system's attributes, by attribute name."""
        names = set(self.attributes(system) or {})
        best = {}
        for document in self.documents.values():
            entries = document.get("RegistryEntries")
            entries = (entries.get("Attributes") if isinstance(entries, dict) else None) or []
            found = {entry["AttributeName"]: entry for entry in entries if entry.get("AttributeName") in names}
            best = found if len(found) > len(best) else best
        return best

    def writable(self, system):
        """An enumeration that may be written and depends on nothing, with another value of its list."""
        attributes = self.attributes(system) or {}
        ruled = {at(rule, "Dependency", "MapToAttribute") for document in self.documents.values()
                 for rule in at(document, "RegistryEntries", "Dependencies") or []}
        for name, entry in sorted(self.registry(system).items()):
            values = [value.get("ValueName") for value in entry.get("Value") or []]
            others = [value for value in values if value and value != attributes[name]]
            fixed = any(entry.get(word) for word in ("ReadOnly", "Hidden", "GrayOut", "Immutable"))
            if entry.get("Type") == "Enumeration" and not fixed and name not in ruled and attributes[name] in values and others:
                return name, attributes[name], others[0]
        return None

    def time_protocol(self):
        """Whether the BMC's own NTP is on, where its network protocols say so."""
        document = self.behind(self.manager()[1], "NetworkProtocol")
        return at(document, "NTP", "ProtocolEnabled")
