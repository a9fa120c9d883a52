// The grid: a row for each BMC and each of its servers, a column for each stage, a cell with colour and sign.
// All text is set as text; nothing that a BMC says is ever read as HTML.

export const SIGNS = {
  Failed: "✖", Held: "‖", InProgress: "▶", Pending: "·", Cancelled: "⊘", Completed: "✔",
};
const ORDER = Object.keys(SIGNS);

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function attributes(node, values) {
  for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
  return node;
}

// The phase a row stands in: of a server the worst of its stages, of a BMC (and where none are its own) that of the run.
function serverPhase(run, server) {
  const of = run.stages.flatMap((stage) => stage.servers.filter((one) => one.server === server));
  if (of.length === 0) return run.phase;
  if (of.every((one) => one.phase === "Completed")) return "Completed";
  const worst = ORDER.find((phase) => phase !== "Completed" && of.some((one) => one.phase === phase));
  return worst ?? "Pending";
}

export function worst(run) {
  const phases = [run.phase, ...run.servers.map((server) => serverPhase(run, server))];
  return ORDER.find((phase) => phases.includes(phase)) ?? run.phase;
}

function cell(run, stage, server) {
  const is_bmcs = stage.kind.startsWith("bmc-");
  const shown = server === null ? stage : stage.servers.find((one) => one.server === server);
  if (!shown || (server !== null && is_bmcs)) {
    return attributes(element("div", { className: "cell none" }), { role: "gridcell" });
  }
  const is_moving = shown.phase === "InProgress" && stage.percent !== null;
  const text = `${SIGNS[shown.phase]} ${is_moving ? `${stage.percent} %` : shown.how ?? shown.phase}`;
  const made = element("div", { className: `cell ${shown.phase}`, textContent: text, tabIndex: -1, title: shown.reason });
  made.dataset.run = run.id;
  made.dataset.stage = stage.name;
  made.dataset.server = server ?? "";
  const where = server === null ? run.bmc : `${server} behind ${run.bmc}`;
  return attributes(made, {
    role: "gridcell",
    "aria-label": `${stage.name} on ${where}: ${shown.phase}. ${shown.reason}`,
  });
}

function row(run, server, phase, drift) {
  const name = server ?? run.bmc;
  const header = attributes(element("div", { textContent: `${SIGNS[phase]} ${name}`, title: run.reason }), { role: "rowheader" });
  header.classList.add(phase);
  if (server === null && drift) header.append(element("span", { className: "drifted", textContent: ` ≠ ${drift}` }));
  const made = element("div", { className: "row" }, header, ...run.stages.map((stage) => cell(run, stage, server)));
  made.classList.toggle("server", server !== null);
  made.classList.toggle("bad", phase === "Failed");
  made.classList.toggle("held", phase === "Held");
  made.dataset.name = name;
  made.dataset.phase = phase;
  return attributes(made, { role: "row" });
}

function columnsOf(run) {
  return run.stages.map((stage) => stage.name).join("\n");
}

function head(run) {
  const made = element("div", { className: "row head" },
    attributes(element("div", { textContent: "BMC, servers" }), { role: "columnheader" }),
    ...run.stages.map((stage) => attributes(element("div", { textContent: stage.name, title: stage.kind }), { role: "columnheader" })));
  return attributes(made, { role: "row" });
}

// The rows of one run, its BMC's first. A BMC whose stages are not the columns of its grid, as where hops are computed,
// has a head of its own.
export function block(run, drift, columns) {
  const made = element("div", {}, row(run, null, run.phase, drift));
  if (run.stages.length > 0 && columnsOf(run) !== columns) {
    made.prepend(head(run));
    made.style.setProperty("--stages", run.stages.length);
  }
  const servers = run.servers.map((server) => [serverPhase(run, server), server]);
  servers.sort(([a, x], [b, y]) => ORDER.indexOf(a) - ORDER.indexOf(b) || (x < y ? -1 : 1));
  made.append(...servers.map(([phase, server]) => row(run, server, phase)));
  made.dataset.bmc = run.bmc;
  made.dataset.run = run.id;
  made.dataset.worst = worst(run);
  return attributes(made, { role: "rowgroup" });
}

export function sortKey(run) {
  return `${ORDER.indexOf(worst(run))} ${run.bmc}`;
}

// An empty grid of a pipeline: its name, its columns, and a place for rows.
export function grid(name, run) {
  const title = element("h2", { textContent: name });
  const told = element("span");
  const words = element("span", { className: "words" });
  const rows = element("div", { className: "rows" });
  const table = attributes(element("div", { className: "grid" }, head(run), rows), { role: "grid", "aria-label": `pipeline ${name}` });
  table.style.setProperty("--stages", run.stages.length);
  const columns = columnsOf(run);
  return { section: element("section", {}, title, element("p", {}, words, told), table), told, words, rows, columns };
}

// Arrow keys walk over cells that are shown; Enter opens one.
export function keys(root, open) {
  const select = (target) => {
    for (const old of root.querySelectorAll('[aria-selected="true"]')) {
      old.removeAttribute("aria-selected");
      old.tabIndex = -1;
    }
    target.setAttribute("aria-selected", "true");
    target.tabIndex = 0;
    target.focus();
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const index = (of) => [...of.parentElement.children].indexOf(of);
  const isCell = (node) => node?.classList.contains("cell") && !node.classList.contains("none");
  const sideways = (from, step) => {
    let next = from;
    do next = step > 0 ? next.nextElementSibling : next.previousElementSibling; while (next && !isCell(next));
    return isCell(next) ? next : null;
  };
  const updown = (from, step) => {
    const rows = [...root.querySelectorAll(".rows > div:not([hidden]) > .row:not([hidden])")];
    for (let at = rows.indexOf(from.parentElement) + step; rows[at]; at += step) {
      const found = rows[at].children[index(from)];
      if (isCell(found)) return found;
    }
    return null;
  };
  root.addEventListener("keydown", (event) => {
    if (!isCell(event.target)) return;
    const moves = {
      ArrowLeft: () => sideways(event.target, -1), ArrowRight: () => sideways(event.target, 1),
      ArrowUp: () => updown(event.target, -1), ArrowDown: () => updown(event.target, 1),
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(event.target);
    } else if (moves[event.key]) {
      event.preventDefault();
      const next = moves[event.key]();
      if (next) select(next);
    }
  });
  root.addEventListener("click", (event) => {
    const target = event.target.closest(".cell");
    if (isCell(target)) {
      select(target);
      open(target);
    }
  });
}
