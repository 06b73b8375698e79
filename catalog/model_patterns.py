"""Which of an operator's patterns hold for the name of a model that a client sends."""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

LONGEST_NAME = 300  # a name that a client sends: a longer one names no model
MARKS = ":@#"
"""What stands before the part of a name that changes the model at some providers: `:online`, `@preset/x`."""
ANY = f"[^{MARKS}]"
WILD = "*?"


def holding(patterns: Collection[str], name: str) -> list[str]:
    """The patterns whose prices hold for a model, the best one first; empty where none fits, and case counts.

    The best is the exact name, else the pattern with the most literal characters that fits. `*` stands for any
    characters but MARKS, `?` for one. An upstream may read names without case: so the best one without case holds, too,
    both in every spelling that they have, and of the prices the dearer.
    """
    if not 0 < len(name) <= LONGEST_NAME or name != name.strip() or not name.isprintable():
        return []
    best = _best(patterns, name)
    if best is None:
        return []
    spelled = {pattern: _folded_pattern(pattern) for pattern in patterns}
    alike = (_best(spelled.values(), _folded(name)), spelled[best])
    return [best, *sorted(pattern for pattern, folded in spelled.items() if folded in alike and pattern != best)]


def is_wild(pattern: str) -> bool:
    """Whether it can hold for more than one name."""
    return any(character in WILD for character in pattern)


def _best(patterns: Collection[str], name: str) -> str | None:
    if name in patterns:
        return name
    return max((pattern for pattern in patterns if _expression(pattern).fullmatch(name)), key=_rank, default=None)


def _rank(pattern: str) -> tuple[int, int, str]:
    wild = pattern.count("*")
    return len(pattern) - wild - pattern.count("?"), -wild, pattern


@lru_cache(maxsize=10_000)
def _expression(pattern: str) -> re.Pattern[str]:
    """Of a pattern of the operator; never of a name that a client sent. What stands between two stars is looked for
    once, at its first place: no name takes long."""
    first, *others = (_fixed(part) for part in re.split(r"\*+", pattern))
    middle = (f"(?>{ANY}*?{part})" for part in others[:-1])
    return re.compile("".join([first, *middle, *(f"{ANY}*{part}" for part in others[-1:])]))


def _fixed(part: str) -> str:
    return "".join(ANY if character == "?" else re.escape(character) for character in part)


@lru_cache(maxsize=10_000)
def _folded_pattern(pattern: str) -> str:
    return _folded(pattern)


def _folded(name: str) -> str:
    """Without case, and with compatible characters as one, as an upstream may read it."""
    return unicodedata.normalize("NFKC", name).casefold()
