// The contents: a filter over all operations, the one that is read is marked, and on a phone they close behind a choice.
const contents = document.getElementById("contents");
const filter = document.getElementById("filter");
const empty = document.getElementById("filter-empty");

function show(words) {
  let found = 0;
  for (const tag of contents.querySelectorAll("[data-tag]")) {
    const list = tag.querySelector("ul");
    let here = 0;
    for (const item of list.children) {
      const text = `${item.dataset.operation} ${item.textContent}`.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
      here += !item.hidden;
    }
    list.hidden = words.length ? !here : !tag.querySelector(":scope > [aria-current]");
    tag.hidden = words.length > 0 && !here;
    found += here;
  }
  empty.textContent = found ? "" : "No operation has these words.";
}

filter.addEventListener("input", () => show(filter.value.toLowerCase().split(/\s+/).filter(Boolean)));
contents.addEventListener("click", ({ target }) => {
  if (target.closest("a") && contents.matches(":popover-open")) contents.hidePopover();
});

const links = new Map();
for (const link of contents.querySelectorAll("[data-operation] a")) {
  if (link.pathname === location.pathname) links.set(link.hash.slice(1), link);
}
const seen = new Set();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
  const first = [...links.keys()].find((id) => seen.has(id));
  for (const [id, link] of links) link.toggleAttribute("data-here", id === first);
}, { rootMargin: "-20% 0px -60% 0px" });
for (const article of document.querySelectorAll("article[id]")) watcher.observe(article);
