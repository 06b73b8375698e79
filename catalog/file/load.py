"""The catalog file: an operator's whole offer as text, applied in one transaction."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import transaction

from catalog import checks
from catalog.fields import Invalid, told
from catalog.file import apply, form, groups, pruning, references, yaml_text
from catalog.models import CatalogVersion


class CatalogFileError(Exception):
    """The file cannot be applied; `problems` are all that it has, each with the path of the field."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a load did (or, as a dry run, would do), in words."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    warnings: tuple[str, ...]


def load(
    text: str,
    *,
    dry_run: bool = False,
    prune: bool = False,
    busy_channels: Collection[int] = (),
    environment: Mapping[str, str] | None = None,
) -> Report:
    """Make the catalog say what the file says; a second time changes nothing.

    What the file does not name stays, or with `prune` is removed; `busy_channels` (ids) are then only disabled, as are
    their credentials that a list leaves out.
    Raises CatalogFileError with everything that is wrong; nothing is written then.
    """
    with transaction.atomic():
        CatalogVersion.objects.select_for_update().first()  # one load at a time
        document, known = _checked(text, os.environ if environment is None else environment, prune=prune)
        changes = apply.Changes()
        if prune:
            pruning.before(document, known, changes, busy_channels=busy_channels)
        apply.apply(document, known, changes, busy_channels=busy_channels)
        groups.apply(document.groups, changes)
        if prune:
            pruning.after(known, changes)
        changes.warnings += checks.problems()
        transaction.set_rollback(dry_run)
    return Report(
        created=tuple(changes.created),
        changed=tuple(changes.changed),
        unchanged=tuple(changes.unchanged),
        removed=tuple(changes.removed),
        warnings=tuple(changes.warnings),
    )


def _checked(text: str, environment: Mapping[str, str], *, prune: bool) -> tuple[form.Document, references.Known]:
    try:
        tree, missing = yaml_text.read(text, environment)
    except Invalid as error:
        raise CatalogFileError(list(map(told, error.problems))) from None
    found = list(missing)
    document = form.parse(tree, found)
    known = references.Known() if prune else references.stored()
    found += references.check(document, known)
    # A missing variable leaves an empty text behind: what is said of that is noise.
    noise = {path for path, _ in missing}
    problems = missing + [problem for problem in found[len(missing) :] if problem[0] not in noise]
    if problems:
        raise CatalogFileError(list(dict.fromkeys(map(told, problems))))
    return document, known
