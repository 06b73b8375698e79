"""Loads a catalog file, the operator's whole offer as text, in one transaction."""

import os
from collections.abc import Collection, Mapping

from django.db import transaction

from catalog import checks
from catalog.fields import Invalid, told
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
    with transaction.atomic():
        CatalogVersion.objects.select_for_update().first()  # one load at a time
        document, known = _checked(
            text, os.environ if environment is None else environment, prune=prune, channels_in_use=channels_in_use
        )
        changes = Changes()
        if prune:
            pruning.before(document, known, changes, channels_in_use=channels_in_use)
        offer.apply(document, known, changes)
        groups.apply(document.groups, changes)
        if prune:
            pruning.after(known, changes)
        changes.warnings += checks.problems()
        transaction.set_rollback(dry_run)
    return changes


def _checked(
    text: str, environment: Mapping[str, str], *, prune: bool, channels_in_use: Collection[int]
) -> tuple[Document, KnownNames]:
    try:
        tree, missing = yaml_text.read(text, environment)
    except Invalid as error:
        raise CatalogFileError(list(map(told, error.problems))) from None
    found = list(missing)
    document = parsing.parse(tree, found)
    known = KnownNames() if prune else references.stored()
    found += references.check(document, known)
    found += group_channels.check(document, prune=prune, channels_in_use=channels_in_use)
    found += moves.check(document, found)
    # A missing variable leaves an empty text behind: what is said of that is noise.
    noise = {path for path, _ in missing}
    problems = missing + [problem for problem in found[len(missing) :] if problem[0] not in noise]
    if problems:
        raise CatalogFileError(list(dict.fromkeys(map(told, problems))))
    return document, known
