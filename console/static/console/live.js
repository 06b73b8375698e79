// Plays the Live page's films muted while they are hovered or focused, unless motion is reduced or hovering impossible.
const calm = matchMedia("(prefers-reduced-motion: reduce), (hover: none)");

function play(film) {
  if (!calm.matches) film.play().catch(() => {});
}

function rest(film) {
  film.pause();
  film.currentTime = 0.1;
}

for (const [name, act] of [["pointerover", play], ["focusin", play], ["pointerout", rest], ["focusout", rest]]) {
  document.getElementById("live-rows").addEventListener(name, ({ target }) => {
    const film = target.closest(".live-film")?.querySelector("video");
    if (film) act(film);
  });
}
