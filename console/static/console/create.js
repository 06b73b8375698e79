// Form of one model: quotes while typing, files by drag and drop, and code to copy.
import { takeDrops } from "./drop.js";

const WAIT = 250;
const SMALL = 1024 * 1024;
const SIGNED_OUT = "You are signed out. Sign in again in another tab: your input stays here.";
const NO_ANSWER = "The service does not answer, so there is no price. It is requested again as you type.";

const form = document.querySelector("form.create");
const find = (name) => form.querySelector(`[data-${name}]`);
let timer;
let running;

// Large files are only sent with the form, not with every quote.
function withoutLargeFiles() {
  const data = new FormData(form);
  const files = [...data].filter(([, value]) => value instanceof File);
  const isLarge = files.reduce((sum, [, file]) => sum + file.size, 0) > SMALL;
  if (isLarge) files.forEach(([name]) => data.delete(name));
  find("files-note").hidden = !isLarge;
  return data;
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showProblem(error) {
  form.querySelectorAll("[data-problem]").forEach((place) => {
    const isHere = error !== null && error.field === place.dataset.problem;
    const field = document.getElementById(`f-${place.dataset.problem}`);
    say(place, isHere ? error.message : "");
    place.hidden = !isHere;
    if (isHere) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  });
}

function show(answer) {
  say(find("cost"), answer.cost || "–");
  find("shown-cost").value = answer.cost;
  say(find("run"), answer.cost ? ` · ${answer.cost}` : "");
  say(find("told"), answer.told);
  find("told").classList.toggle("is-bad", !answer.affordable);
  showProblem(answer.error);
  find("samples").hidden = answer.samples === null;
  for (const [name, text] of Object.entries(answer.samples ?? {})) say(form.querySelector(`[data-sample="${name}"]`), text);
}

async function quote() {
  running?.abort();
  const mine = (running = new AbortController());
  try {
    const response = await fetch(form.dataset.quote, {
      method: "POST",
      body: withoutLargeFiles(),
      headers: { Accept: "application/json" },
      signal: mine.signal,
    });
    const answer = await response.json();
    if (mine !== running) return;
    if (response.ok) show(answer);
    else if (response.status === 401) say(find("told"), SIGNED_OUT);
    else say(find("told"), answer.error.message);
  } catch (error) {
    if (error.name !== "AbortError") say(find("told"), NO_ANSWER);
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(quote, WAIT);
}

// Without https a page may not write to the clipboard: then the text is selected for copying.
async function copy() {
  const shown = [...form.querySelectorAll("[data-sample]")].find((sample) => sample.offsetParent !== null);
  getSelection().selectAllChildren(shown);
  let isCopied = false;
  try {
    await navigator.clipboard?.writeText(shown.textContent);
    isCopied = Boolean(navigator.clipboard);
  } catch {
    isCopied = false;
  }
  say(find("copied"), isCopied ? "Copied." : "Selected: press Ctrl+C or ⌘C.");
}

form.addEventListener("input", later);
form.addEventListener("change", later);
find("copy").addEventListener("click", copy);
takeDrops(form);
