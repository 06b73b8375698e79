"""Preview and application of a catalog file, both by the loader of `load_catalog` in one transaction. The text is
parsed before the transaction."""

from dataclasses import dataclass

from django.db import transaction

from catalog.file import load
from catalog.file.changes import Changes
from catalog.file.load import CatalogFile
from catalog.file.yaml_text import NoEnvironment
from catalog.models import CatalogVersion
from desk.catalog_file import tree_snapshot, words
from desk.catalog_file.words import DifferenceSentence
from desk.kit import in_use


class CatalogMoved(Exception):
    """Raised when the catalog changed after the differences were shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Changes that a file makes to this version of the catalog."""

    version: int
    sentences: tuple[DifferenceSentence, ...]
    changes: Changes
    touches_credentials: bool

    @property
    def is_empty(self) -> bool:
        changes = self.changes
        return not (changes.created or changes.changed or changes.removed or self.sentences)


def read(text: str) -> CatalogFile:
    """Parse a file. Raises CatalogFileError for broken YAML."""
    return load.read(text, NoEnvironment())


def preview(file: CatalogFile, *, prune: bool) -> Difference:
    """Compute what the file would change, without writing. Raises CatalogFileError."""
    with transaction.atomic():
        found = _load(file, prune=prune)
        transaction.set_rollback(True)
    return found


def apply(file: CatalogFile, *, prune: bool, version: int) -> Difference:
    """Apply the file to this version of the catalog, inside the caller's transaction. Raises CatalogFileError, and
    CatalogMoved if the catalog has changed."""
    if _version() != version:
        raise CatalogMoved
    return _load(file, prune=prune)


def _load(file: CatalogFile, *, prune: bool) -> Difference:
    version = _version()
    before = tree_snapshot.take()
    kept = in_use.channels() if prune else ()  # reads all paid calls while holding the write lock
    changes = load.apply(file, prune=prune, channels_in_use=kept)
    after = tree_snapshot.take()
    return Difference(
        version=version,
        sentences=tuple(words.differences(before, after)),
        changes=changes,
        touches_credentials=words.touches_credentials(before, after),
    )


def _version() -> int:
    """Lock and return the catalog's version until the transaction ends: every catalog write waits."""
    return CatalogVersion.objects.select_for_update().get().version
