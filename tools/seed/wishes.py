"""Requests of the customers, as they would be sent, checked and priced by the service itself."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog import snapshot
from catalog.entries import RouteEntry
from tasks.intake import examination
from tasks.intake.drafts import PreparedSubmission
from tasks.request import stored_params
from tools.seed.customers import SeedCaller

SUBJECTS = (
    *("a lighthouse", "a red tram", "an old observatory", "a paper boat", "two foxes", "a glass greenhouse"),
    *("a violin maker", "a sleeping cat", "a mountain hut", "a steam engine", "a diver", "a market stall"),
)
PLACES = (
    *("at dawn", "in heavy snow", "under northern lights", "by the harbour", "in a pine forest", "above the clouds"),
    *("on a rainy evening", "in the desert", "beside a canal", "in spring"),
)
STYLES = (
    *("watercolour", "35 mm photograph", "flat poster", "isometric drawing", "oil on canvas", "soft studio light"),
    *("long exposure", "pencil sketch"),
)
MOVES = ("slow dolly in", "aerial shot", "handheld", "time lapse", "camera circles once", "static wide shot")
STRANGE = (
    '<script>alert("1")</script><svg onload=alert(2)><img src=x onerror=alert(3)> a fox',
    "\u202egnihsiw xof a\u202c \u2066\u200f\u05e9\u05dc\u05d5\u05dd\u2069 {{ 7*7 }} & \"quotes\" 'and' <b>tags</b>",
    "a very long wish, " * 556,
)
"""Prompts that a page must show as text, and nothing else: the last has 10,000 characters."""
PICTURE = {"image_size": "1K", "aspect_ratio": "1:1"}
FILM = {"duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}
REFERENCE = "https://assets.northlight.example/references/fox.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One kind of request; `size` is the pixel size of its files."""

    model: str
    modality: str
    weight: float
    params: Mapping[str, Any]
    size: tuple[int, int]


WISHES = (
    Wish(model="aurora-image", modality="image", weight=40, params=PICTURE, size=(1024, 1024)),
    Wish(
        model="aurora-image",
        modality="image",
        weight=25,
        params={"image_size": "2K", "aspect_ratio": "16:9"},
        size=(2048, 1152),
    ),
    Wish(model="aurora", modality="image", weight=8, params=PICTURE | {"n": 2}, size=(1024, 1024)),
    Wish(
        model="aurora-image",
        modality="image",
        weight=6,
        params=PICTURE | {"aspect_ratio": "3:2", "images": [{"image_url": REFERENCE}]},
        size=(1536, 1024),
    ),
    Wish(model="sketch-image", modality="image", weight=14, params={}, size=(1024, 1024)),
    Wish(model="comet-video", modality="video", weight=60, params=FILM, size=(320, 180)),
    Wish(model="comet-video", modality="video", weight=22, params=FILM | {"duration": 10}, size=(320, 180)),
    Wish(
        model="comet-video",
        modality="video",
        weight=12,
        params={"duration": 5, "resolution": "1080p", "aspect_ratio": "9:16", "generate_audio": True},
        size=(180, 320),
    ),
)
MURAL = Wish(
    model="mural-image",
    modality="image",
    weight=0,
    params={"image_size": "2K", "aspect_ratio": "16:9"},
    size=(2048, 1152),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A key's request as the service has examined it; `routes` are those it kept, in order."""

    caller: SeedCaller
    wish: Wish
    prepared: PreparedSubmission
    routes: tuple[RouteEntry, ...]

    @property
    def files(self) -> int:
        return self.prepared.price.results or 1

    @property
    def seconds(self) -> int:
        """Returns a film's seconds; 0 for pictures."""
        return self.prepared.request.duration or 0

    @property
    def trace(self) -> dict[str, Any]:
        decision = self.prepared.decision
        return {"plan": decision.plan.name, "routes": decision.trace}

    def params(self, prompt: str) -> dict[str, Any]:
        """Returns the params as a task stores them."""
        return stored_params.dump(self.prepared.request) | {"prompt": prompt}


@dataclass(slots=True)
class OrderBook:
    """Examines each request of each key once."""

    known: dict[tuple[int, int], Order] = field(default_factory=dict)

    def pick(self, rng: random.Random, caller: SeedCaller) -> Order:
        modality = "video" if rng.random() < caller.habit.films else "image"
        wishes = [wish for wish in WISHES if wish.modality == modality]
        return self.order(caller, rng.choices(wishes, [wish.weight for wish in wishes])[0])

    def order(self, caller: SeedCaller, wish: Wish) -> Order:
        place = (caller.key.pk, id(wish))
        if place not in self.known:
            self.known[place] = examined(caller, wish, "a fox")
        return self.known[place]


def examined(caller: SeedCaller, wish: Wish, prompt: str, **fields: Any) -> Order:
    """Examines the request. Raises ApiError if the service would refuse it."""
    document = {
        "model": wish.model,
        "modality": wish.modality,
        "params": {"prompt": prompt, **wish.params},
        **fields,
    }
    prepared = examination.prepare(caller.key.pk, document, catalog_version=snapshot.latest().version)
    routes = tuple(judgement.route for judgement in prepared.decision.kept)
    return Order(caller=caller, wish=wish, prepared=prepared, routes=routes)


def prompt(rng: random.Random, modality: str) -> str:
    words = [f"{rng.choice(SUBJECTS)} {rng.choice(PLACES)}", rng.choice(MOVES if modality == "video" else STYLES)]
    return ", ".join(words)


def metadata(rng: random.Random) -> dict[str, Any] | None:
    """Returns the metadata that every third task has."""
    if rng.random() > 0.35:
        return None
    return {"order": f"A-{rng.randrange(10_000, 99_999)}", "team": rng.choice(("web", "print", "social"))}


def strange_places(count: int) -> dict[int, str]:
    """Returns which of `count` tasks have a prompt of STRANGE: some of the last, so that first pages show them."""
    return {max(0, count - 3 - 4 * n): words for n, words in enumerate(STRANGE)}
