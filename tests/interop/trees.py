"""Compares what redpipe says of recorded trees with what their files say, read here without any Redfish library."""

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

START, TREES, REDPIPE = sys.argv[1], Path(sys.argv[2]), sys.argv[3]


class Tree:
    """A tree by its files; letter case of links is as sloppy as in the recordings."""

    def __init__(self, path):
        self.name = path.name
        self.documents = {}
        for file in (path / "redfish").rglob("index.json"):
            uri = "/" + str(file.parent.relative_to(path))
            self.documents[uri.lower()] = json.loads(file.read_text(encoding="utf-8", errors="replace"))

    def get(self, uri):
        return self.documents.get((uri or "").split("#")[0].rstrip("/").lower()) or {}

    def members(self, name):
        collection = self.get(self.get("/redfish/v1").get(name, {}).get("@odata.id"))
        return [member["@odata.id"] for member in collection.get("Members") or []]

    def systems(self):
        found = [(uri.rstrip("/"), self.get(uri)) for uri in self.members("Systems")]
        return [(uri, system) for uri, system in found if system]

    def bmc_version(self):
        managers = [(uri.rstrip("/"), self.get(uri)) for uri in self.members("Managers")]
        managers = sorted((uri, manager) for uri, manager in managers if manager)
        managed = {link["@odata.id"].rstrip("/").lower()
                   for _, system in self.systems() for link in system.get("Links", {}).get("ManagedBy") or []}
        bmcs = [m for uri, m in managers if m.get("ManagerType") == "BMC" and uri.lower() in managed]
        chosen = bmcs[0] if bmcs else (managers[0][1] if managers else {})
        return chosen.get("FirmwareVersion")

    def attributes(self, system):
        bios = self.get(system.get("Bios", {}).get("@odata.id"))
        return len(bios["Attributes"]) if isinstance(bios.get("Attributes"), dict) else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"the server on port {port} does not start")


def redpipe(work, *arguments):
    command = [REDPIPE, "-i", work / "inventory.toml", "--state", work / "state.db", "--output", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout or "null"), done.stderr


def check_inventory(trees, document):
    wrong = []
    for row in document["bmcs"]:
        tree = trees[row["bmc"]]
        want = tree.bmc_version()
        if want and row["bmc_version"] != want:
            wrong.append(f"{tree.name}: BMC version {row['bmc_version']!r}, the files say {want!r}")
        servers = {server["system"].rstrip("/").lower(): server for server in row["servers"]}
        for uri, system in tree.systems():
            server = servers.get(uri.lower())
            if server is None:
                wrong.append(f"{tree.name}: {uri} is not told")
                continue
            if system.get("BiosVersion") and server["bios_version"] != system["BiosVersion"]:
                wrong.append(f"{tree.name}: {uri} BIOS {server['bios_version']!r}, the files say {system['BiosVersion']!r}")
            if server["bios_attributes"] != tree.attributes(system):
                wrong.append(f"{tree.name}: {uri} {server['bios_attributes']} attributes, the files say {tree.attributes(system)}")
    return wrong


def above(version):
    """The same version with its last number counted up."""
    numbers = list(re.finditer(r"\d+", version))
    last = numbers[-1]
    return version[:last.start()] + str(int(last.group()) + 1).zfill(len(last.group())) + version[last.end():]


def writable(tree, system):
    """An enumeration that may be written, with another value of its list, where a registry is among the files."""
    bios = tree.get(system.get("Bios", {}).get("@odata.id"))
    for document in tree.documents.values():
        entries = document.get("RegistryEntries")
        for entry in (entries or {}).get("Attributes") or [] if isinstance(entries, dict) else []:
            name, current = entry.get("AttributeName"), (bios.get("Attributes") or {}).get(entry.get("AttributeName"))
            names = [value.get("ValueName") for value in entry.get("Value") or []]
            others = [value for value in names if value and value != current]
            plain = not (entry.get("ReadOnly") or entry.get("Hidden") or entry.get("GrayOut") or entry.get("Immutable"))
            if entry.get("Type") == "Enumeration" and plain and current in names and others:
                return name, current, others[0]
    return None


def check_plan(work, tree):
    """A plan of one BMC hop and one attribute, where the tree has them."""
    version, systems = tree.bmc_version(), tree.systems()
    stages, expected = [], {}
    platform_orders = version and re.fullmatch(r"[\d.]+", version)
    offers = "#UpdateService.SimpleUpdate" in (tree.get(tree.get("/redfish/v1").get("UpdateService", {}).get("@odata.id")).get("Actions") or {})
    if platform_orders and offers and len(tree.members("Managers")) == 1:
        stages.append(f'[[stage]]\nname = "hop"\nkind = "bmc-version"\nversion = "{above(version)}"\n'
                      'image = { uri = "http://files.example/image.bin" }\n')
        expected["hop"] = ("update", version, above(version))
    attribute = writable(tree, systems[0][1]) if len(systems) == 1 else None
    if attribute:
        name, current, other = attribute
        stages.append(f'[[stage]]\nname = "set"\nkind = "bios-settings"\nsettings = {{ "{name}" = "{other}" }}\n')
        expected["set"] = ("apply", current, other)
    if not stages:
        return None, []
    file = work / f"{tree.name}.toml"
    file.write_text(f'name = "p"\n[selector]\nmatch_labels = {{ tree = "{tree.name}" }}\n' + "".join(stages))
    code, document, errors = redpipe(work, "plan", file)
    if not document or not document["runs"]:
        return expected, [f"{tree.name}: no plan: {errors.strip()}"]
    wrong = [] if code == 3 else [f"{tree.name}: plan exits {code}"]
    for stage in document["runs"][0]["stages"]:
        target = stage["targets"][0]
        action, before, after = expected[stage["name"]]
        if stage["name"] == "hop":
            found = (target["action"], target["from"], target["to"])
        else:
            change = (target["changes"] or [{"from": None, "to": None}])[0]
            found = (target["action"], change["from"], change["to"])
        if found != (action, before, after):
            wrong.append(f"{tree.name}: stage {stage['name']} is planned {found} ({target['reason']}), expected {(action, before, after)}")
    return expected, wrong


def main():
    trees = {path.name: Tree(path) for path in sorted(TREES.iterdir()) if path.is_dir()}
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        inventory = ['[defaults]\nauth = "none"\n[defaults.pace]\nrequests_per_second = 1000\nburst = 1000\n']
        try:
            for name in trees:
                port = free_port()
                servers.append(subprocess.Popen([START, TREES / name, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
                wait_for(port)
                inventory.append(f'[[bmc]]\nname = "{name}"\naddress = "http://127.0.0.1:{port}"\nlabels = {{ tree = "{name}" }}\n')
            (work / "inventory.toml").write_text("".join(inventory))
            code, document, errors = redpipe(work, "inventory", "check")
            wrong = [] if code == 0 else [f"inventory check exits {code}: {errors}"]
            wrong += check_inventory(trees, document)
            planned = 0
            for tree in trees.values():
                expected, more = check_plan(work, tree)
                planned += len(expected or {})
                wrong += more
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()
    print("\n".join(wrong) or f"passed: {len(trees)} trees, {planned} planned stages")
    sys.exit(bool(wrong))


main()
