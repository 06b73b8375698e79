// Delivers the session's events to a page: each becomes the document's event "console:task" with the task's id, status,
// modality and model as detail, and refreshes the [data-live] regions. Shows a note while the page is not live.
import { refresh, stop } from "../pages/live.js";
import { EventLine } from "./event_line.js";

const TOGETHER = 250; // events within this time share a refresh
const APART = 1000;
const HIDDEN = 10000;
const session = document.querySelector("[data-session]")?.dataset.session ?? "";
const after = document.querySelector("[data-after]")?.dataset.after;
const cursor = after === undefined ? null : Number(after);
const lost = { line: 0, page: 0 };
let [due, latest, wasOpen] = [0, 0, false];

function news() {
  due ||= setTimeout(() => {
    [due, latest] = [0, Date.now()];
    if (!document.hidden) refresh();
  }, Math.max(TOGETHER, latest + APART - Date.now()));
}

const note = document.createElement("p");
note.className = "not-live note note-warn";
note.setAttribute("role", "status");
document.querySelector("main").append(note);

function sayLost() {
  const since = Math.min(...Object.values(lost).filter(Boolean));
  const at = Number.isFinite(since) && new Date(since).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  note.textContent = at ? `Not live since ${at}, reconnecting.` : "";
}

function sayOut() {
  stop();
  const link = document.createElement("a");
  link.href = `/console/sign-in/?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Sign in again";
  note.replaceChildren("You are signed out, so this page is no longer updated. ", link);
}

function take({ kind, detail, since }) {
  if (kind === "out") return sayOut();
  if (kind === "open" || kind === "lost") {
    lost.line = since ?? 0;
    sayLost();
  }
  if (kind === "task") document.dispatchEvent(new CustomEvent("console:task", { detail }));
  if (kind === "task" || kind === "missed" || (kind === "open" && wasOpen)) news();
  wasOpen ||= kind === "open";
}

document.addEventListener("live-lost", (event) => {
  event.preventDefault();
  lost.page = event.detail.isLost ? lost.page || Date.now() : 0;
  sayLost();
});

// With a shared worker: one connection for all tabs.
function share() {
  const worker = new SharedWorker(new URL("events_worker.js", import.meta.url), { type: "module", name: session });
  worker.addEventListener("error", standAlone, { once: true });
  worker.port.onmessage = ({ data }) => take(data);
  worker.port.postMessage({ after: cursor });
  addEventListener("pagehide", () => worker.port.postMessage({ leaves: true }));
  addEventListener("pageshow", ({ persisted }) => { if (persisted) worker.port.postMessage({ after: null }); });
}

// Without: its own connection while the page is visible.
function standAlone() {
  const line = new EventLine("/console/events", take);
  let leaving = 0;
  const turn = () => {
    clearTimeout(leaving);
    if (document.hidden) leaving = setTimeout(() => line.end(), HIDDEN);
    else if (!line.isOpen) line.begin(cursor);
  };
  document.addEventListener("visibilitychange", turn);
  addEventListener("pagehide", () => line.end());
  addEventListener("pageshow", ({ persisted }) => { if (persisted) turn(); });
  turn();
}

if ("SharedWorker" in window) share();
else standAlone();
