// The Live page's films play without sound while one looks at them; where nothing hovers or moves, their page does it.
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
