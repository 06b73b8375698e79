"""Joins objects that a stream sends in pieces, in time linear in their size. Pure."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relay.families.fields import index_of, mappings

Key = Callable[[Mapping[str, Any], int, dict[Hashable, "Pieces"]], Hashable]
"""Key of an item, from its own fields, its position in its list, and the known items."""


def by_index(item: Mapping[str, Any], place: int, _: object = None) -> int:
    """Returns an item's index, or its position if it has none."""
    return index_of(item, place)


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceShape:
    """How the pieces of an object are joined, by field name: texts and lists are concatenated (a text among a list's
    pieces becomes its last part), objects merged by field, and the objects of a list (`items`) each merged with those
    of equal key. Any other field keeps its last value that is not empty."""

    texts: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    objects: Mapping[str, "PieceShape"] = field(default_factory=dict)
    items: Mapping[str, "PieceShape"] = field(default_factory=dict)
    key: Key = by_index


class Pieces:
    """One object, as far as its pieces have arrived."""

    __slots__ = ("_items", "_lists", "_objects", "_shape", "_texts", "_values")

    def __init__(self, shape: PieceShape) -> None:
        self._shape = shape
        self._values: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._objects: dict[str, Pieces] = {}
        self._items: dict[str, dict[Hashable, Pieces]] = {}

    def take(self, piece: Mapping[str, Any]) -> None:
        shape = self._shape
        for name, value in piece.items():
            if isinstance(value, str) and name in shape.texts:
                self._texts.setdefault(name, []).append(value)
            elif isinstance(value, list) and name in shape.lists:
                self._lists.setdefault(name, []).extend(value)
            elif isinstance(value, dict) and name in shape.objects:
                self._objects.setdefault(name, Pieces(shape.objects[name])).take(value)
            elif isinstance(value, list) and name in shape.items:
                self._take_items(self._items.setdefault(name, {}), shape.items[name], value)
            elif value or name not in self._values:
                self._values[name] = value

    def _take_items(self, known: dict[Hashable, "Pieces"], shape: PieceShape, items: list[Any]) -> None:
        for place, item in enumerate(mappings(items)):
            known.setdefault(shape.key(item, place, known), Pieces(shape)).take(item)

    def told(self, name: str) -> Any:
        """Returns the value of a field that is sent whole."""
        return self._values.get(name)

    def document(self) -> dict[str, Any]:
        """Returns the object; indexed list items keep the order in which they first appeared."""
        items = {name: [item.document() for item in known.values()] for name, known in self._items.items() if known}
        texts = {name: "".join(texts) for name, texts in self._texts.items()}
        parts = {name: [*listed, *_part(texts.get(name))] for name, listed in self._lists.items()}
        return {
            **self._values,
            **texts,
            **parts,
            **{name: pieces.document() for name, pieces in self._objects.items()},
            **items,
        }


def _part(text: str | None) -> list[dict[str, str]]:
    """Wraps a text as a part of a list."""
    return [{"type": "text", "text": text}] if text else []
