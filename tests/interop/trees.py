"""Compares what redpipe says of recorded trees, served by a third-party server, with what their files say."""

import json
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from tree import Tree

START, TREES, EXPECTED, REDPIPE = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
IMAGE = 'image = { uri = "http://files.example/image.bin" }'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"the server on port {port} does not start")


def redpipe(work, *arguments):
    command = [REDPIPE, "-i", work / "inventory.toml", "--state", work / "state.db", "--output", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout or "null"), done.stderr


class Findings(list):
    def same(self, what, told, files):
        if told != files:
            self.append(f"{what}: redpipe says {told!r}, the files say {files!r}")


def server_name(tree, uri, system):
    return f"{tree.name}-{system.get('Id') or uri.split('/')[-1]}"


def check_bmc(tree, expected, row, wrong):
    root = tree.root
    oem = [key for key, value in (root.get("Oem") or {}).items() if isinstance(value, dict)]
    say = lambda what, told, files: wrong.same(f"{tree.name}: {what}", told, files)
    say("UUID", row["uuid"], root["UUID"].lower() if root.get("UUID") else None)
    say("vendor", row["vendor"], root.get("Vendor") or (oem[0] if oem else None))
    say("product", row["product"], root.get("Product"))
    say("platform", row["platform"], expected["platform"])
    say("BMC version", row["bmc_version"], tree.bmc_version())
    for name, value in tree.capabilities().items():
        say(name, row["capabilities"][name], value)
    say("sessions", row["sessions"]["open"], tree.sessions())
    licences = row["licences"]
    say("licences", licences and sorted(one["name"] for one in licences), tree.licences())
    say("lockdown", row["lockdown"], tree.lockdown())
    say("clock", row["clock"] and row["clock"]["says"], tree.manager()[1].get("DateTime"))
    for name, files in (("tasks", tree.tasks()), ("jobs", tree.jobs()), ("staged", tree.staged())):
        say(name, sorted(one["uri"] for one in row["work"][name]), files)
    problems = [(one["kind"], one["says"]) for one in expected.get("problem", [])]
    if tree.manager()[1].get("DateTime"):
        problems.append(("clock-skew", tree.manager()[1]["DateTime"]))
    told = [(one["kind"], one["message"]) for one in row["problems"]]
    for kind, message in told:
        if not any(kind == known and part in message for known, part in problems):
            wrong.append(f"{tree.name}: not expected: {kind}: {message}")
    for known, part in problems:
        if not any(kind == known and part in message for kind, message in told):
            wrong.append(f"{tree.name}: expected and not told: {known}: {part}")


def check_servers(tree, row, wrong):
    told = {server["server"]: server for server in row["servers"]}
    wrong.same(f"{tree.name}: systems", sorted(told), sorted(server_name(tree, *one) for one in tree.systems()))
    for uri, system in tree.systems():
        server = told.get(server_name(tree, uri, system))
        if not server:
            continue
        attributes, pending = tree.attributes(system), tree.pending(system)
        files = {
            "system": uri,
            "model": system.get("Model"),
            "serial": system.get("SerialNumber"),
            "bios_version": tree.bios_version(system),
            "bios_attributes": attributes and len(attributes),
            "pending": None if pending is None else len(pending),
            "power_state": {"On": "on", "Off": "off", None: "unknown"}.get(system.get("PowerState"), "changing"),
        }
        for name, value in files.items():
            wrong.same(f"{tree.name}: {uri} {name}", server[name], value)


def text(value):
    return json.dumps(value)


def stages_of(tree, expected):
    """Stages that want something of a tree, and what a plan and an observation have to say of each."""
    stages, planned = [], {}
    methods = tree.capabilities()["update_methods"]
    several = len([1 for _, one in tree.managers() if one.get("ManagerType", "BMC") == "BMC"]) > 1
    if "simple-update" in methods:
        stages.append(("bmc-hop", "bmc-version", f'version = {text(expected["bmc_hop"])}\n{IMAGE}'))
        action = "blocked" if several else "update"
        planned["bmc-hop"] = {"bmc": (action, tree.bmc_version(), expected["bmc_hop"])}
        if len(tree.systems()) == 1:
            system = tree.systems()[0]
            stages.append(("bios-hop", "bios-version", f'version = {text(expected["bios_hop"])}\n{IMAGE}'))
            action = "blocked" if expected.get("bios_incomparable") else "update"
            planned["bios-hop"] = {server_name(tree, *system): (action, tree.bios_version(system[1]), expected["bios_hop"])}
    on = tree.time_protocol()
    if on is not None:
        entry = f'{{ uri = "{{manager}}/NetworkProtocol", set = {{ NTP = {{ ProtocolEnabled = {text(not on)} }} }} }}'
        stages.append(("clock", "bmc-settings", f'  [[stage.flow]]\n  name = "ntp"\n  priority = 1\n  resources = [{entry}]'))
        planned["clock"] = {"bmc": ("apply", on, not on)}
    for uri, system in tree.systems():
        found = tree.writable(system)
        # A stage of settings is for every server that the pipeline selects.
        if found and len(tree.systems()) == 1:
            name, now, other = found
            stages.append(("set", "bios-settings", f"settings = {{ {text(name)} = {text(other)} }}"))
            planned["set"] = {server_name(tree, uri, system): ("apply", now, other)}
    return stages, planned


def pipeline(tree, stages):
    tables = "".join(f'\n[[stage]]\nname = "{name}"\nkind = "{kind}"\n{body}\n' for name, kind, body in stages)
    return f'name = "p"\n[selector]\nmatch_labels = {{ tree = "{tree.name}" }}\n{tables}'


def check_plan(work, tree, stages, planned, wrong):
    file = work / f"{tree.name}.toml"
    file.write_text(pipeline(tree, stages))
    code, document, errors = redpipe(work, "plan", file)
    if not document or not document["runs"]:
        wrong.append(f"{tree.name}: no plan: {errors.strip()} {document}")
        return
    blocked = any(action == "blocked" for targets in planned.values() for action, *_ in targets.values())
    wrong.same(f"{tree.name}: exit code of plan", code, 5 if blocked else 3)
    for stage in document["runs"][0]["stages"]:
        for target in stage["targets"]:
            change = (target["changes"] or [{"from": None, "to": None}])[0]
            is_hop = stage["kind"].endswith("-version")
            told = (target["action"], *((target["from"], target["to"]) if is_hop else (change["from"], change["to"])))
            files = planned[stage["name"]].get(target["target"].removeprefix("server:"))
            wrong.same(f"{tree.name}: plan of {stage['name']} on {target['target']} ({target['reason']})", told, files)


def check_drift(work, tree, planned, wrong):
    """One observation says of everything that a plan would change that it is not as wanted."""
    code, document, errors = redpipe(work, "drift", work / f"{tree.name}.toml")
    row = document["bmcs"][0] if document and document["bmcs"] else None
    if not row:
        wrong.append(f"{tree.name}: no observation: {errors.strip()}")
        return
    told = sorted((item["stage"], item["target"].removeprefix("server:"), text(item["expected"]), text(item["actual"]))
                  for item in row["items"])
    # Which of two BMCs a version is of cannot be said without targets: nothing is observed of it.
    files = sorted((stage, target, text(to), text(now)) for stage, targets in planned.items()
                   for target, (action, now, to) in targets.items() if (stage, action) != ("bmc-hop", "blocked"))
    wrong.same(f"{tree.name}: observation", told, files)
    wrong.same(f"{tree.name}: state", row["state"], "drifted" if files else "in_sync")
    wrong.same(f"{tree.name}: exit code of drift", code, 3 if files else 0)


def inventory_of(tree, port):
    entry = f'[[bmc]]\nname = "{tree.name}"\naddress = "http://127.0.0.1:{port}"\nlabels = {{ tree = "{tree.name}" }}\n'
    for uri, system in tree.systems():
        entry += f'  [[bmc.server]]\n  name = "{server_name(tree, uri, system)}"\n  system = "{uri}"\n'
    return entry


def serve(trees, work, servers):
    inventory = ['[defaults]\nauth = "none"\n[defaults.pace]\nrequests_per_second = 1000\nburst = 1000\n']
    ports = {}
    for name in trees:
        ports[name] = free_port()
        command = [START, TREES / name, str(ports[name])]
        servers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        inventory.append(inventory_of(trees[name], ports[name]))
    for port in ports.values():
        wait_for(port)
    (work / "inventory.toml").write_text("".join(inventory))


def compare(trees, expected, work):
    wrong, stages_planned = Findings(), 0
    code, document, errors = redpipe(work, "inventory", "check")
    if code != 0:
        return [f"inventory check exits {code}: {errors}"], 0
    wrong.same("trees", sorted(row["bmc"] for row in document["bmcs"]), sorted(expected))
    for row in document["bmcs"]:
        check_bmc(trees[row["bmc"]], expected[row["bmc"]], row, wrong)
        check_servers(trees[row["bmc"]], row, wrong)
    for tree in trees.values():
        stages, planned = stages_of(tree, expected[tree.name])
        stages_planned += len(stages)
        if stages:
            check_plan(work, tree, stages, planned, wrong)
            check_drift(work, tree, planned, wrong)
    return wrong, stages_planned


def main():
    trees = {path.name: Tree(path) for path in sorted(TREES.iterdir()) if path.is_dir()}
    expected = {tree["name"]: tree for tree in tomllib.loads(EXPECTED.read_text())["tree"]}
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            serve(trees, Path(folder), servers)
            wrong, planned = compare(trees, expected, Path(folder))
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()
    print("\n".join(wrong) or f"passed: {len(trees)} trees, {planned} stages planned and observed")
    sys.exit(bool(wrong))


main()
