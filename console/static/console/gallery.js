// Full view of the gallery, playing of films, and renewal of expired signed addresses. Without it a tile links to its
// task's page.
const QUIET_MS = 150;
const FRESH_MS = 60000;
const tiles = [...document.querySelectorAll(".tile")];
const view = document.getElementById("view");
const [stage, story] = [view.querySelector(".stage"), view.querySelector(".story")];
const byHand = matchMedia("(prefers-reduced-motion: reduce), (hover: none)");
let shown = -1;
let playing = null;
let fresh = null;

const fileOf = (tile) => tile.querySelector("img, video, a.save");
const addressOf = (file) => file.getAttribute(file.matches("a") ? "href" : "src");

// Renews expired addresses: fetches the page once for all tiles; each tile is retried once.
function renew() {
  if (!fresh) {
    fresh = fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" })
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status)))
      .then((text) => new DOMParser().parseFromString(text, "text/html"));
    setTimeout(() => { fresh = null; }, FRESH_MS);
  }
  return fresh;
}

async function tryAgain(tile) {
  if (tile.dataset.tried) return;
  tile.dataset.tried = "yes";
  const found = await renew().then((page) => page.getElementById(tile.id), () => null);
  const [old, now] = [fileOf(tile), found && fileOf(found)];
  if (!now || addressOf(now) === addressOf(old)) return;
  old.setAttribute(old.matches("a") ? "href" : "src", addressOf(now));
  if (view.open && tiles[shown] === tile) show(shown);
}

// Plays one film at a time, muted, while it is hovered or focused.
function stop() {
  if (!playing) return;
  const { film, button } = playing;
  playing = null;
  film.pause();
  film.currentTime = 0;
  button.textContent = "Play";
}

function play(film, button) {
  stop();
  playing = { film, button };
  film.play().then(() => { button.textContent = "Stop"; }, () => { if (playing && playing.film === film) stop(); });
}

function followFilm(tile) {
  const [film, button] = [tile.querySelector("video"), tile.querySelector(".play")];
  const link = tile.querySelector("a");
  let soon = 0;
  const begin = () => { if (!byHand.matches) soon = setTimeout(play, QUIET_MS, film, button); };
  const end = () => {
    clearTimeout(soon);
    if (!byHand.matches && playing && playing.film === film) stop();
  };
  tile.addEventListener("pointerenter", begin);
  tile.addEventListener("pointerleave", end);
  link.addEventListener("focus", begin);
  link.addEventListener("blur", end);
  button.addEventListener("click", () => (playing && playing.film === film ? stop() : play(film, button)));
}

// Loads the first frame of a film when its tile becomes visible.
const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    target.preload = "metadata";
    sight.unobserve(target);
  }
}, { rootMargin: "200px" });

function showButtons() {
  document.querySelectorAll(".play").forEach((button) => { button.hidden = !byHand.matches; });
}

// Full view
function sound(tile, file) {
  const player = document.createElement("audio");
  return Object.assign(player, { src: addressOf(file), controls: true, ariaLabel: tile.querySelector("a").ariaLabel });
}

function large(tile) {
  const file = fileOf(tile);
  if (tile.matches(".is-sound")) return sound(tile, file);
  if (file.matches("a")) return tile.querySelector(".card").cloneNode(true);
  const copy = document.createElement(file.localName);
  copy.src = addressOf(file);
  copy.width = file.getAttribute("width");
  copy.height = file.getAttribute("height");
  if (file.matches("img")) copy.alt = file.alt;
  else Object.assign(copy, { controls: true, loop: true, playsInline: true, ariaLabel: tile.querySelector("a").ariaLabel });
  copy.addEventListener("error", () => tryAgain(tile), { once: true });
  return copy;
}

function show(number) {
  shown = number;
  const tile = tiles[number];
  stage.replaceChildren(large(tile));
  story.replaceChildren(document.getElementById(tile.dataset.work).content.cloneNode(true));
  const facts = story.appendChild(document.createElement("p"));
  facts.className = "quiet";
  facts.textContent = tile.dataset.facts;
  story.querySelector("a.save").href = addressOf(fileOf(tile)).split("#")[0];
  const use = story.querySelector(".use");
  use.href = `${use.getAttribute("href")}?input=${tile.dataset.input}`;
  use.hidden = tile.matches(".is-file");
  view.querySelector(".back").disabled = number === 0;
  view.querySelector(".on").disabled = number === tiles.length - 1;
  document.dispatchEvent(new CustomEvent("live"));
}

function step(by) {
  if (tiles[shown + by]) show(shown + by);
}

function open(event, number) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  stop();
  show(number);
  view.showModal();
}

tiles.forEach((tile, number) => {
  tile.querySelector("a").addEventListener("click", (event) => open(event, number));
  const file = fileOf(tile);
  if (!file.matches("a")) file.addEventListener("error", () => tryAgain(tile));
  if (file.matches("img") && file.complete && !file.naturalWidth) tryAgain(tile);
  if (!file.matches("video")) return;
  followFilm(tile);
  sight.observe(file);
});
showButtons();
byHand.addEventListener("change", () => { stop(); showButtons(); });
view.querySelector(".back").addEventListener("click", () => step(-1));
view.querySelector(".on").addEventListener("click", () => step(1));
view.querySelector(".close").addEventListener("click", () => view.close());
view.addEventListener("click", (event) => { if (event.target === view) view.close(); });
view.addEventListener("keydown", (event) => {
  if (event.target.matches("video")) return; // its own keys
  if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "ArrowRight") step(1);
});
view.addEventListener("close", () => {
  stage.replaceChildren();
  story.replaceChildren();
  if (tiles[shown]) tiles[shown].querySelector("a").focus();
});
