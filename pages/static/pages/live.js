// Updates elements with data-live: refetches the page while it is visible and takes over their content by id. Elements
// that are hovered or focused do not change. A lost connection is shown and recovers automatically.
//
// data-live-every="60" sets the interval in seconds. The children of an element with data-keyed are rows with a data-key,
// which keep their elements when they move; while the list is held, new rows wait and the button with
// data-live-new="<id of the list>" shows their number.
const SOON = 3;
const LATER = 30;
const canHover = matchMedia("(hover: hover)");
let [timer, failures, latest] = [0, 0, null];
let [isBusy, isStale, isLeaving, isOver] = [false, false, false, false];

const regions = () => [...document.querySelectorAll("[data-live]")];
const has = (node) => node.contains(document.activeElement);
const isHeld = (region) => (canHover.matches && region.matches(":hover")) || has(region);

// Unchanged content keeps its elements, so selections, open <details> and the keyboard focus survive.
function take(old, fresh) {
  if (old.nodeName !== fresh.nodeName) return old.replaceWith(fresh);
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  const kept = (name) => name === "open" || name.startsWith("data-live");
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !kept(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  takeChildren(old, fresh);
}

function takeChildren(old, fresh) {
  const [have, want] = [[...old.childNodes], [...fresh.childNodes]];
  have.slice(want.length).forEach((node) => node.remove());
  want.forEach((node, place) => (place < have.length ? take(have[place], node) : old.append(node)));
}

function takeRow(row, fresh) {
  const had = has(row);
  take(row, fresh);
  if (had && !has(row)) row.querySelector("a")?.focus({ preventScroll: true });
}

function takeRows(list, fresh, held) {
  const have = new Map([...list.children].map((row) => [row.dataset.key, row]));
  const want = [...fresh.children].map((row) => row.cloneNode(true)); // waiting rows are taken later
  const added = want.filter((row) => !have.has(row.dataset.key));
  const keys = new Set(want.map((row) => row.dataset.key));
  for (const row of want) if (have.has(row.dataset.key)) takeRow(have.get(row.dataset.key), row);
  sayNew(list, held ? added.length : 0);
  if (held) return;
  have.forEach((row, key) => keys.has(key) || row.remove());
  let next = list.firstElementChild;
  for (const row of want.map((one) => have.get(one.dataset.key) ?? one)) {
    if (row === next) next = next.nextElementSibling;
    else list.insertBefore(row, next);
  }
}

function sayNew(list, count) {
  const button = document.querySelector(`[data-live-new="${list.id}"]`);
  if (!button) return;
  button.hidden = !count;
  if (button.textContent !== `${count} new`) button.textContent = `${count} new`;
}

function takeRegion(region, found) {
  const isList = region.hasAttribute("data-keyed");
  if (!isList && isHeld(region)) return;
  if (isList) takeRows(region, found, isHeld(region));
  else takeChildren(region, found);
  for (const name of ["data-live", "data-live-every"]) { // without data-live it is final
    if (found.hasAttribute(name)) region.setAttribute(name, found.getAttribute(name));
    else region.removeAttribute(name);
  }
  region.dispatchEvent(new Event("live", { bubbles: true }));
}

const owner = (root) => root.querySelector("[data-session]")?.dataset.session;

function takeOver(fresh) {
  if (owner(fresh) !== owner(document)) return location.reload(); // another session has signed in
  latest = fresh;
  for (const region of regions()) {
    const found = fresh.getElementById(region.id);
    if (found) takeRegion(region, found);
  }
  if (fresh.title) document.title = fresh.title;
}

// A listener of the event can show it in its own way and prevent ours.
function say(isLost) {
  const told = new CustomEvent("live-lost", { detail: { isLost }, cancelable: true });
  const first = document.querySelector("[data-live]");
  if (document.dispatchEvent(told) && first) first.toggleAttribute("data-live-lost", isLost);
}

async function fetchPage() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (!answer.ok) throw new Error(answer.status);
    takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
    say(false);
    failures = 0;
  } catch {
    if (isLeaving) return; // aborted by leaving the page
    say(true);
    failures += 1;
  }
}

function pace() {
  const asked = Math.min(...regions().map((region) => Number(region.dataset.liveEvery) || SOON));
  return failures ? Math.min(SOON * 2 ** failures, LATER) : asked;
}

function schedule() {
  clearTimeout(timer);
  if (!isOver && regions().length) timer = setTimeout(turn, 1000 * pace() * (0.9 + Math.random() / 5));
}

function turn() {
  if (document.hidden) schedule();
  else refresh();
}

// Refreshes now, and once more if requested in the meantime.
export async function refresh() {
  isStale = !isOver && regions().length > 0;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    isStale = false;
    await fetchPage();
  }
  isBusy = false;
  schedule();
}

// Stops updates for good, after a sign-out.
export function stop() {
  isOver = true;
  clearTimeout(timer);
}

function release(list, isForced) {
  const found = latest?.getElementById(list.id);
  if (found && (isForced || !isHeld(list))) takeRows(list, found, false);
}

for (const list of document.querySelectorAll("[data-live][data-keyed]")) {
  const button = document.querySelector(`[data-live-new="${list.id}"]`);
  button?.addEventListener("click", () => release(list, true));
  for (const left of ["pointerleave", "focusout"]) list.addEventListener(left, () => setTimeout(() => release(list)));
}
if (regions().length) {
  schedule();
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  addEventListener("pagehide", () => { isLeaving = true; });
  addEventListener("pageshow", () => { isLeaving = false; });
}
