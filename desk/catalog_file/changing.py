"""What a catalog file would change, and changing it: both by the loader of the command, in one transaction. The text is
read before it begins."""

from dataclasses import dataclass

from django.db import transaction

from catalog.file import load
from catalog.file.changes import Changes
from catalog.file.load import CatalogFile
from catalog.file.yaml_text import NoEnvironment
from catalog.models import CatalogVersion
from desk.catalog_file import picture, words
from desk.catalog_file.words import ToldDifference
from desk.kit import in_use


class CatalogMoved(Exception):
    """The catalog is not any more what the differences were told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a file does to the catalog of this version."""

    version: int
    sentences: tuple[ToldDifference, ...]
    changes: Changes
    touches_credentials: bool

    @property
    def is_empty(self) -> bool:
        changes = self.changes
        return not (changes.created or changes.changed or changes.removed or self.sentences)


def read(text: str) -> CatalogFile:
    """The file, without a transaction. Raises CatalogFileError for broken YAML."""
    return load.read(text, NoEnvironment())


def preview(file: CatalogFile, *, prune: bool) -> Difference:
    """What the file would change; nothing is written. Raises CatalogFileError."""
    with transaction.atomic():
        found = _load(file, prune=prune)
        transaction.set_rollback(True)
    return found


def apply(file: CatalogFile, *, prune: bool, version: int) -> Difference:
    """Apply the file to the catalog of this version, inside the caller's transaction. Raises CatalogFileError, and
    CatalogMoved where somebody has changed it meanwhile."""
    if _version() != version:
        raise CatalogMoved
    return _load(file, prune=prune)


def _load(file: CatalogFile, *, prune: bool) -> Difference:
    version = _version()
    before = picture.take()
    kept = in_use.channels() if prune else ()  # it reads all paid calls, while nobody else writes
    changes = load.apply(file, prune=prune, channels_in_use=kept)
    after = picture.take()
    return Difference(
        version=version,
        sentences=tuple(words.differences(before, after)),
        changes=changes,
        touches_credentials=words.touches_credentials(before, after),
    )


def _version() -> int:
    """Held until the transaction ends: every write of the catalog waits for it."""
    return CatalogVersion.objects.select_for_update().get().version
