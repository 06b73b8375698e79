"""Adapters of installed packages: entry points of the group `darkroom.adapters`, by protocol name.

A value is a class without arguments or an instance that fulfils `adapters.base.Adapter`. One that does not is skipped
with a warning: the service runs without it, and what its channels hold waits.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from adapters.base import Adapter

GROUP = "darkroom.adapters"
MEMBERS = tuple(name for name in (*Adapter.__annotations__, *vars(Adapter)) if not name.startswith("_"))
logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """Adapters by protocol, and why the others were skipped, by the entry point's name."""

    adapters: Mapping[str, Adapter]
    skipped: Mapping[str, str]


def load(taken: Collection[str], points: Iterable[EntryPoint] | None = None) -> Loaded:
    """What is installed; `taken` are the protocols that are there already. Never raises for what a package does."""
    adapters: dict[str, Adapter] = {}
    skipped: dict[str, str] = {}
    for point in entry_points(group=GROUP) if points is None else points:
        try:
            adapters[point.name] = _adapter(point, {*taken, *adapters})
        except Exception as problem:
            skipped[point.name] = f"{point.value}: {type(problem).__name__}: {problem}"[:500]
            logger.warning("the adapter %s of an installed package was skipped: %s", point.name, skipped[point.name])
    return Loaded(adapters, skipped)


def _adapter(point: EntryPoint, taken: Collection[str]) -> Adapter:
    """Raises ValueError, and whatever importing the package raises."""
    if point.name in taken:
        raise ValueError("the protocol is registered already")
    value = point.load()
    adapter: Adapter = value() if isinstance(value, type) else value
    if missing := [name for name in MEMBERS if not hasattr(adapter, name)]:
        raise ValueError(f"it lacks {', '.join(missing)}")
    if adapter.protocol != point.name:
        raise ValueError(f"it speaks {adapter.protocol!r}, not what its entry point is named")
    if not adapter.modalities or not all(isinstance(modality, str) for modality in adapter.modalities):
        raise ValueError("its modalities are no set of names")
    if not _names_fields(getattr(adapter, "expresses", {})):
        raise ValueError("what it expresses are no names of fields by modality")
    if not callable(getattr(adapter, "fields", list)):
        raise ValueError("its fields are no function of a target")
    return adapter


def _names_fields(expressed: object) -> bool:
    """Checked here, because every submission reads it: a malformed one would fail them all."""
    return isinstance(expressed, Mapping) and all(
        isinstance(names, Collection) and not isinstance(names, str) and all(isinstance(name, str) for name in names)
        for names in expressed.values()
    )
