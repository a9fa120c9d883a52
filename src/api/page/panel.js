// What one cell tells: why it stands there, its journal, its drift, and what may be ordered.

import { SIGNS, element } from "./grid.js";

const find = (id) => document.getElementById(id);

// Which words fit a run; the daemon decides, this only spares a refusal.
const WORDS = {
  approve: { fits: (run) => /approv/.test(run.reason) && run.phase === "Held", does: "lets it disturb its servers for exactly what it asks, once" },
  retry: { fits: (run) => ["Failed", "Held", "Cancelled"].includes(run.phase), does: "begins it anew at the first stage that is not there, or looks at it again" },
  cancel: { fits: (run) => ["Held", "InProgress", "Pending"].includes(run.phase), does: "begins no further step; what flashes is followed to its end" },
  release: { fits: (run) => run.phase === "Held", does: "gives it up and leaves on the BMC whatever is left there, for which you answer" },
};

let by = "";

// Asks whether a word is meant, and who says it; then says it.
export function confirm({ word, what, text, say }) {
  const dialog = find("confirm");
  find("confirm-title").textContent = `${word} ${what}?`;
  find("confirm-text").textContent = text;
  find("yes").textContent = word;
  find("by").value = by;
  dialog.returnValue = "no";
  dialog.onclose = async () => {
    if (dialog.returnValue !== "yes") return;
    by = find("by").value.trim();
    await say(by ? { by } : {});
  };
  dialog.showModal();
}

export class Panel {
  constructor(api) {
    this.api = api;
    this.open = null;
    this.lines = [];
    find("close").addEventListener("click", () => this.hide());
    find("whole").addEventListener("change", () => this.tellJournal());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.open && !document.querySelector("dialog[open]")) this.hide();
    });
  }

  show(cell, run) {
    this.open = { run: run.id, stage: cell.dataset.stage, server: cell.dataset.server, from: cell };
    this.lines = [];
    find("panel").hidden = false;
    this.tell(run);
    this.tellJournal();
    find("close").focus();
    this.read();
  }

  hide() {
    const { run, stage, server } = this.open;
    this.open = null;
    find("panel").hidden = true;
    const cells = document.querySelectorAll(".cell:not(.none)");
    const same = [...cells].find(({ dataset }) => dataset.run === run && dataset.stage === stage && dataset.server === server);
    same?.focus();
  }

  // News of a run: told where it is the one that is open.
  update(run) {
    if (this.open?.run !== run.id) return;
    this.tell(run);
    this.read();
  }

  tell(run) {
    const { stage: name, server } = this.open;
    const stage = run.stages.find((one) => one.name === name);
    const shown = (server ? stage?.servers.find((one) => one.server === server) : stage) ?? run;
    find("panel-title").textContent = `${name} on ${server || run.bmc}`;
    find("panel-phase").textContent = `${SIGNS[shown.phase]} ${shown.phase}`;
    find("panel-phase").className = `phase ${shown.phase}`;
    find("panel-reason").textContent = shown.reason;
    const facts = [
      ["run", run.id], ["run is", `${run.phase}: ${run.reason}`], ["how", shown.how], ["task", stage?.task],
      ["percent", stage?.percent], ["since", run.since], ["waits until", run.deadline], ["looked at again", run.next_wake],
    ];
    find("panel-facts").replaceChildren(...facts.filter(([, value]) => value !== null && value !== undefined && value !== "")
      .flatMap(([term, value]) => [element("dt", { textContent: term }), element("dd", { textContent: value })]));
    find("words").replaceChildren(...Object.entries(WORDS).map(([word, { fits }]) => {
      const button = element("button", { type: "button", textContent: word, disabled: !fits(run) });
      button.addEventListener("click", () => this.order(word, run));
      return button;
    }));
    const items = this.api.drift(run.bmc, server);
    find("drift").hidden = items.length === 0;
    find("drift-items").replaceChildren(...items.map((item) => element("li", { textContent: item })));
  }

  // The journal, as far as it is not known yet.
  async read() {
    const open = this.open;
    const after = this.lines.at(-1)?.cursor ?? 0;
    const found = await this.api.get(`/v1/runs/${path(open.run)}/events?after=${after}`);
    if (this.open !== open || !found) return;
    const known = this.lines.at(-1)?.cursor ?? 0;
    this.lines.push(...found.events.filter((line) => line.cursor > known));
    this.tellJournal();
  }

  tellJournal() {
    const { stage, server } = this.open;
    const target = server ? `server:${server}` : null;
    const isHere = ({ record }) => find("whole").checked || !record?.at?.stage
      || (record.at.stage === stage && (!target || record.at.target === target));
    const lines = this.lines.filter((line) => line.message && isHere(line));
    find("journal").replaceChildren(...lines.map((line) =>
      element("li", {}, element("time", { textContent: line.at.slice(0, 19).replace("T", " ") }), line.message)));
  }

  order(word, run) {
    const text = `It ${WORDS[word].does}. It is for ${run.bmc} with ${run.servers.join(", ")}.`;
    const say = (said) => this.api.post(`/v1/runs/${path(run.id)}/${word}`, said);
    confirm({ word, what: run.id, text, say });
  }
}

export function path(id) {
  return id.split("/").map(encodeURIComponent).join("/");
}
