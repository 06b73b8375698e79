"""Where programs of general keys find everything: the service, its keys, and the audit of what stands behind it."""

import base64
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Self

TEXT, IMAGE = "aurora-text", "gpt-image-2"
FOX = "a fox in the snow"
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PATIENCE = 100.0
"""Seconds that we wait for what must come; only what hangs takes as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`keys` by what they are for: `openai` for the group of that platform, `openai-busy` and `openai-away` for groups
    whose only channel is bound to fail, `task` for a Task key."""

    url: str
    sandbox_url: str
    keys: Mapping[str, str]

    @classmethod
    def from_environment(cls) -> Self:
        """As `environment` wrote it."""
        return cls(**json.loads(os.environ["PLACE"]))

    @property
    def environment(self) -> dict[str, str]:
        """For a program that runs by itself."""
        return {"PLACE": json.dumps({"url": self.url, "sandbox_url": self.sandbox_url, "keys": dict(self.keys)})}

    def audit(self) -> Any:
        """What the sandbox sold."""
        with urllib.request.urlopen(f"{self.sandbox_url}/audit") as answer:
            return json.load(answer)

    def bought(self, prompt: str) -> int:
        """How many paid calls this prompt made."""
        return int(self.audit()["by_prompt"].get(prompt, 0))

    def output_tokens(self, key: str) -> int:
        """How many this key was charged for."""
        asked = urllib.request.Request(f"{self.url}/v1/usage", headers={"Authorization": f"Bearer {self.keys[key]}"})
        with urllib.request.urlopen(asked) as answer:
            return sum(int(model["output_tokens"]) for model in json.load(answer)["by_model"])

    def hold(self) -> None:
        """From here on the sandbox holds what is to be held; it forgets what it sold."""
        urllib.request.urlopen(f"{self.sandbox_url}/reset", data=b"").close()

    def release(self) -> None:
        """Every answer of the sandbox goes on that is held."""
        urllib.request.urlopen(f"{self.sandbox_url}/release", data=b"").close()

    def wait_until_charged(self, key: str, output_tokens: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.output_tokens(key) < output_tokens:
            assert time.monotonic() < deadline, "the call is not charged"
            time.sleep(0.02)
        assert self.output_tokens(key) == output_tokens


def new_prompt(words: str = "") -> str:
    """A prompt that nobody sent before."""
    return f"{FOX} {time.time_ns()} {words}".strip()


Connect = Callable[..., AbstractContextManager[Any]]
"""Makes clients of one kind, each with a key of the place."""
Call = Callable[[Place, Connect], None]


def made_by_itself(
    calls: Iterable[Call], kinds: Iterable[str], opened: Callable[[Place, str], Connect], *, version: str
) -> None:
    """All calls with clients of every kind, as a program of its own: a line for each that went well."""
    place = Place.from_environment()
    for kind in kinds:
        for call in calls:
            call(place, opened(place, kind))
            sys.stdout.write(f"{kind} {version}: {call.__name__.replace('_', ' ')}\n")
