// The page: how every run stands, live. It asks only where it came from, and keeps nothing but a theme and a token.

import { SIGNS, block, element, grid, keys, sortKey, worst } from "./grid.js";
import { Panel, confirm } from "./panel.js";

const find = (id) => document.getElementById(id);
const runs = new Map();
const grids = new Map();
const only = new Set();
let bmcs = new Map();
let drift = new Map();
let cursor = "0";

// ---- asking ----

function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token");
}

function headers(more = {}) {
  const word = token();
  return word ? { ...more, Authorization: `Bearer ${word}` } : more;
}

async function ask(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: headers(options.headers) });
  if (answer.status === 401) {
    await login();
    return ask(path, options);
  }
  return answer;
}

function login() {
  const dialog = find("login");
  return new Promise((resolve) => {
    dialog.onclose = () => {
      sessionStorage.setItem("token", find("token").value.trim());
      resolve();
    };
    if (!dialog.open) dialog.showModal();
  });
}

async function get(path) {
  const answer = await ask(path);
  return answer.ok ? answer.json() : null;
}

async function post(path, body) {
  const options = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const answer = await ask(path, options);
  const told = await answer.json();
  problem(answer.ok ? "" : told.errors.map(({ message, hint }) => (hint ? `${message}\n${hint}` : message)).join("\n"));
}

function problem(text) {
  find("problems").textContent = text;
  find("problems").hidden = text === "";
}

// ---- showing ----

function driftOf(bmc, server) {
  const items = drift.get(bmc)?.items ?? [];
  const of = server ? `server:${server}` : "bmc";
  return items.filter((item) => item.target === of || item.target === server)
    .map((item) => `${item.name}: expected ${JSON.stringify(item.expected)}, is ${JSON.stringify(item.actual)} (stage ${item.stage})`);
}

const panel = new Panel({ get, post, drift: driftOf });

function isLatest(run) {
  return !run.id.includes("#");
}

function gridOf(run) {
  const known = grids.get(run.pipeline);
  if (known && (known.columns !== "" || run.stages.length === 0)) return known;
  known?.section.remove();
  const made = grid(run.pipeline, run);
  grids.set(run.pipeline, made);
  find("grids").append(made.section);
  return made;
}

function show(run) {
  const { rows, columns } = gridOf(run);
  const state = drift.get(run.bmc)?.state;
  const made = block(run, state === "drifted" || state === "unreachable" ? state : "", columns);
  const old = runs.get(run.id)?.node;
  const had = old?.contains(document.activeElement) ? { ...document.activeElement.dataset } : null;
  runs.set(run.id, { run, node: made, words: words(run) });
  sift(runs.get(run.id));
  if (old?.parentElement === rows) old.replaceWith(made);
  else rows.append(made);
  if (had) [...made.querySelectorAll(".cell")].find(({ dataset }) => dataset.stage === had.stage && dataset.server === had.server)?.focus();
}

function sort() {
  if (find("grids").contains(document.activeElement)) return;
  const sorted = [...runs.values()].map((entry) => [sortKey(entry.run), entry]).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, { run, node }] of sorted) gridOf(run).rows.append(node);
}

// What a filter can match: names, labels, phases, reasons.
function words(run) {
  const known = bmcs.get(run.bmc);
  const labels = [known?.labels, ...(known?.servers ?? []).map((server) => server.labels)]
    .flatMap((some) => Object.entries(some ?? {}).map(([key, value]) => `${key}=${value}`));
  const reasons = run.stages.flatMap((stage) => [stage.name, stage.reason, ...stage.servers.map((server) => server.reason)]);
  return [run.pipeline, run.bmc, run.phase, run.reason, ...run.servers, ...labels, ...reasons].join("\n").toLowerCase();
}

function sift({ run, node, words: text }) {
  const wanted = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = wanted.every((word) => text.includes(word)) && (only.size === 0 || only.has(worst(run)));
  node.hidden = !isShown;
}

function siftAll() {
  for (const entry of runs.values()) sift(entry);
}

function count() {
  const counts = Object.fromEntries(Object.keys(SIGNS).map((phase) => [phase, 0]));
  for (const { run } of runs.values()) counts[worst(run)] += 1;
  for (const button of find("phases").children) {
    const { phase } = button.dataset;
    button.textContent = `${SIGNS[phase]} ${phase} ${counts[phase]}`;
  }
}

function phases() {
  for (const phase of Object.keys(SIGNS)) {
    const button = element("button", { type: "button", className: phase });
    button.dataset.phase = phase;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      if (!only.delete(phase)) only.add(phase);
      button.setAttribute("aria-pressed", String(only.has(phase)));
      siftAll();
    });
    find("phases").append(button);
  }
}

const PIPELINE_WORDS = {
  pause: "begins no run of it and no further step of those at work; what flashes is followed to its end",
  resume: "goes on where it was paused, or where too many BMCs drift at once",
};

function order(word, pipeline) {
  const say = async (said) => {
    await post(`/v1/pipelines/${encodeURIComponent(pipeline)}/${word}`, said);
    await askPipelines();
  };
  confirm({ word, what: pipeline, text: `It ${PIPELINE_WORDS[word]}. It is for all of ${pipeline}.`, say });
}

// A word too many is refused by the daemon; this only spares that.
function tellWords({ words }, pipeline, isPaused) {
  if (words.children.length === 0) {
    words.append(...Object.keys(PIPELINE_WORDS).map((word) => {
      const button = element("button", { type: "button", textContent: word });
      button.dataset.word = word;
      button.dataset.pipeline = pipeline;
      button.addEventListener("click", () => order(word, pipeline));
      return button;
    }));
  }
  words.firstElementChild.disabled = isPaused;
}

async function askPipelines() {
  const told = await get("/v1/pipelines").catch(() => null);
  if (told) tellPipelines(told.pipelines);
}

function tellPipelines(pipelines) {
  for (const { pipeline, phase, waiting, reason } of pipelines) {
    const known = grids.get(pipeline);
    if (!known) continue;
    const rest = waiting ? `${waiting} BMCs wait for their turn` : "";
    tellWords(known, pipeline, (reason ?? "").startsWith("paused "));
    known.told.textContent = [phase, rest, reason].filter(Boolean).join(" · ");
  }
}

// ---- keeping up ----

async function load() {
  const answer = await ask("/v1/runs");
  if (!answer.ok) throw new Error(`/v1/runs: ${answer.status}`);
  cursor = answer.headers.get("redpipe-cursor");
  const told = await answer.json();
  const latest = told.runs.filter(isLatest).map((run) => [sortKey(run), run]).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, run] of latest) show(run);
  tellPipelines(told.pipelines);
  count();
}

async function follow() {
  const answer = await ask(`/v1/events?status=true&after=${cursor}`);
  if (!answer.ok) throw new Error(`/v1/events: ${answer.status}`);
  live("live", false);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    blocks.forEach(take);
  }
}

function take(text) {
  const fields = Object.fromEntries(text.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  if (fields.id) cursor = fields.id;
  if (fields.event === "fleet") laterFleet();
  if (fields.event !== "status") return;
  const run = JSON.parse(fields.data);
  if (!isLatest(run)) return;
  show(run);
  panel.update(run);
  later();
}

// What need not follow each event: counts, order, pipelines.
let pending = null;
function later() {
  pending ??= setTimeout(async () => {
    pending = null;
    count();
    sort();
    await askPipelines();
  }, 1000);
}

let pendingFleet = null;
function laterFleet() {
  pendingFleet ??= setTimeout(() => {
    pendingFleet = null;
    watchFleet().catch(console.warn);
  }, 1000);
}

async function watchFleet() {
  const byName = (document) => new Map((document?.bmcs ?? []).map((one) => [one.bmc, one]));
  const [known, drifted, ready] = await Promise.all(["/v1/bmcs", "/v1/drift", "/readyz"].map((path) => get(path).catch(() => null)));
  const isNews = JSON.stringify([...drift]) !== JSON.stringify([...byName(drifted)]) || bmcs.size !== byName(known).size;
  [bmcs, drift] = [byName(known), byName(drifted)];
  if (isNews) for (const { run } of [...runs.values()]) show(run);
  if (ready?.problems.length) problem(ready.problems.join("\n"));
}

function live(text, isLost) {
  find("live").textContent = text;
  find("live").classList.toggle("lost", isLost);
}

async function run() {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 15000)) {
    try {
      await load();
      await watchFleet();
      document.body.dataset.loaded = "true";
      await follow();
      wait = 500;
    } catch (error) {
      console.warn(error);
    }
    live("connection lost, trying again", true);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

// ---- looks ----

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => {
    document.documentElement.dataset.theme = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
  };
  dark.addEventListener("change", set);
  find("theme").addEventListener("click", () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    set();
  });
  set();
}

theme();
phases();
keys(find("grids"), (cell) => panel.show(cell, runs.get(cell.dataset.run).run));
find("filter").addEventListener("input", siftAll);
setInterval(() => watchFleet().catch(console.warn), 30000);
run();
