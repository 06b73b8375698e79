"""Makes rows of the catalog say what a file says: writes what differs, and notes in words what was done."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


@dataclass(slots=True, kw_only=True)
class Changes:
    """What was done, in words, in the order in which it was done."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def note(self, record: models.Model, *, is_new: bool, fields: Collection[str]) -> None:
        if is_new:
            self.created.append(label(record))
        elif fields:
            self.changed.append(f"{label(record)}: {', '.join(fields)}")
        else:
            self.unchanged.append(label(record))

    def bring(self, record: models.Model, wanted: Mapping[str, Any]) -> None:
        """Write a row that has nothing around it."""
        is_new = record.pk is None
        self.note(record, is_new=is_new, fields=write(record, wanted))


def values(spec: object, *names: str) -> dict[str, Any]:
    """Fields that a spec and its row have under the same names."""
    return {name: getattr(spec, name) for name in names}


def find(kind: type[Row], **identity: Any) -> Row:
    """The stored row of this identity, or a new one."""
    row = kind._default_manager.filter(**identity).first() or kind()
    for name, value in identity.items():
        setattr(row, name, value)
    return row


def label(record: models.Model) -> str:
    return f"{record._meta.verbose_name} {record}"


def write(record: models.Model, wanted: Mapping[str, Any]) -> list[str]:
    """Save the row if it is new or differs; the names of the fields that differ."""
    fields = [name for name, value in wanted.items() if not same(getattr(record, name), value)]
    if fields or record.pk is None:
        for name in fields:
            setattr(record, name, wanted[name])
        record.save()
    return fields


def same(stored: Any, wanted: Any) -> bool:
    """Equality that tells `true` from 1 within JSON, but not 1 from 1.0: a database may turn one into the other."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        return stored.keys() == wanted.keys() and all(same(stored[key], wanted[key]) for key in stored)
    if isinstance(stored, list) and isinstance(wanted, list):
        return len(stored) == len(wanted) and all(same(a, b) for a, b in zip(stored, wanted, strict=True))
    return bool(stored == wanted) and isinstance(stored, bool) == isinstance(wanted, bool)
