// Keeps elements with data-live true: fetches the page again and takes over their content, by id, while the page is
// seen. Nothing moves while the pointer or the focus is in them. A lost connection says so, and recovers by itself.
const SOON = 3000;
const LATER = 30000;
let wait = SOON;

function isHeld(region) {
  return region.matches(":hover") || region.contains(document.activeElement);
}

// What is the same stays the same element: a selection, an open <details> and the next stop of the keyboard are kept.
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

function takeOver(fresh) {
  for (const region of document.querySelectorAll("[data-live]")) {
    const found = fresh.getElementById(region.id);
    if (!found || isHeld(region)) continue;
    takeChildren(region, found);
    if (!found.hasAttribute("data-live")) region.removeAttribute("data-live"); // it has come to its end
    region.dispatchEvent(new Event("live", { bubbles: true }));
  }
  if (fresh.title) document.title = fresh.title;
}

function say(isLost) {
  const first = document.querySelector("[data-live]");
  if (first) first.toggleAttribute("data-live-lost", isLost);
}

async function refresh() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (!answer.ok) throw new Error(answer.status);
    takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
    say(false);
    wait = SOON;
  } catch {
    say(true);
    wait = Math.min(wait * 2, LATER);
  }
}

async function turn() {
  if (!document.hidden) await refresh();
  if (document.querySelector("[data-live]")) setTimeout(turn, wait * (0.9 + Math.random() / 5));
}

if (document.querySelector("[data-live]")) {
  setTimeout(turn, SOON);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
}
