"""Loads a catalog file, the operator's whole offer as text, in one transaction. The text is read before that begins:
SQLite lets nobody else write meanwhile."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.db import transaction

from catalog import checks
from catalog.fields import Invalid, Problem, told
from catalog.file import group_channels, groups, moves, offer, parsing, pruning, references, yaml_text
from catalog.file.changes import Changes
from catalog.file.references import KnownNames
from catalog.file.specs import Document
from catalog.models import CatalogVersion


class CatalogFileError(Exception):
    """The file cannot be applied; `problems` are all that it has, each with the path of the field."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogFile:
    """A text that was read. Where there are `problems`, the fields that they name are None; `missing` are those of
    variables of the environment."""

    document: Document = field(repr=False)
    missing: list[Problem]
    problems: list[Problem]


def load(
    text: str,
    *,
    dry_run: bool = False,
    prune: bool = False,
    channels_in_use: Collection[int] = (),
    environment: Mapping[str, str] | None = None,
) -> Changes:
    """Make the catalog say what the file says, and tell what that changed; a second time changes nothing.

    What the file does not name stays, or with `prune` is removed. `channels_in_use` (ids) are then only disabled.
    Raises CatalogFileError with everything that is wrong; nothing is written then.
    """
    file = read(text, os.environ if environment is None else environment)
    return apply(file, dry_run=dry_run, prune=prune, channels_in_use=channels_in_use)


def read(text: str, environment: Mapping[str, str]) -> CatalogFile:
    """Raises CatalogFileError for broken YAML; other problems are told together with those that `apply` finds."""
    try:
        tree, missing = yaml_text.read(text, environment)
    except Invalid as error:
        raise CatalogFileError(list(map(told, error.problems))) from None
    problems: list[Problem] = []
    return CatalogFile(document=parsing.parse(tree, problems), missing=missing, problems=problems)


def apply(
    file: CatalogFile, *, dry_run: bool = False, prune: bool = False, channels_in_use: Collection[int] = ()
) -> Changes:
    """As `load`, of a text that was read."""
    with transaction.atomic():
        CatalogVersion.objects.select_for_update().first()  # one load at a time
        known = _checked(file, prune=prune, channels_in_use=channels_in_use)
        changes = Changes()
        if prune:
            pruning.before(file.document, known, changes, channels_in_use=channels_in_use)
        offer.apply(file.document, known, changes)
        groups.apply(file.document.groups, changes)
        if prune:
            pruning.after(known, changes)
        changes.warnings += checks.problems()
        transaction.set_rollback(dry_run)
    return changes


def _checked(file: CatalogFile, *, prune: bool, channels_in_use: Collection[int]) -> KnownNames:
    """What the file and the catalog have together. Raises CatalogFileError where they do not fit each other."""
    document, found = file.document, list(file.problems)
    known = KnownNames() if prune else references.stored()
    found += references.check(document, known)
    found += group_channels.check(document, prune=prune, channels_in_use=channels_in_use)
    found += moves.check(document, file.missing + found)
    # A missing variable leaves an empty text behind: what is said of that is noise.
    noise = {path for path, _ in file.missing}
    problems = file.missing + [problem for problem in found if problem[0] not in noise]
    if problems:
        raise CatalogFileError(list(dict.fromkeys(map(told, problems))))
    return known
