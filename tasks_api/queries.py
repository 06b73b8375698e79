"""The query of a request: the parameters that its path knows, each at most once. Anything else is refused by name."""

import json
import re
from collections.abc import Collection

from django.http import QueryDict

from common.errors import InvalidRequest

PLAIN = re.compile(r"[A-Za-z0-9_.\[\]-]{1,64}")
LONGEST_SHOWN = 64


def single_values(query: QueryDict, known: Collection[str]) -> dict[str, str]:
    """The parameters by name. A known name that ends with `*` stands for all that go on with something else there.

    Raises InvalidRequest naming the first that is unknown or repeated.
    """
    given = {name: list(map(str, values)) for name, values in query.lists()}
    for name, values in given.items():
        if not any(_is(name, each) for each in known):
            raise InvalidRequest(f"{_shown(name)}: unknown query parameter.", param=_shown(name))
        if len(values) > 1:
            raise InvalidRequest(f"{_shown(name)}: given more than once.", param=_shown(name))
    return {name: value for name, (value,) in given.items()}


def _is(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) and len(name) >= len(known) if known.endswith("*") else name == known


def _shown(name: str) -> str:
    """The name, always ASCII and short."""
    if PLAIN.fullmatch(name):
        return name
    return json.dumps(name if len(name) <= LONGEST_SHOWN else name[:LONGEST_SHOWN] + "…")
