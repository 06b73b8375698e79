"""Query of a gallery page: modality, model and cursor."""

from collections.abc import Mapping
from dataclasses import dataclass

from common import ids, modalities
from common.errors import InvalidRequest

LONGEST_MODEL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryQuery:
    """Filters and cursor of a gallery page; empty values mean all, from the newest."""

    modality: str = ""
    model: str = ""
    before: str = ""


def read(query: Mapping[str, str]) -> GalleryQuery:
    """Parse a query. Raises InvalidRequest naming the parameter."""
    shelf = GalleryQuery(
        modality=query.get("modality", ""), model=query.get("model", "")[:LONGEST_MODEL], before=query.get("cursor", "")
    )
    if shelf.modality and shelf.modality not in modalities.NAMES:
        raise InvalidRequest(f"modality: must be one of {', '.join(modalities.NAMES)}.", param="modality")
    if shelf.before and not ids.is_task_id(shelf.before):
        raise InvalidRequest("cursor: is not a cursor of the gallery.", param="cursor")
    if "\x00" in shelf.model:
        raise InvalidRequest("model: NUL characters are not allowed.", param="model")
    return shelf


def query(shelf: GalleryQuery, *, before: str = "") -> dict[str, str]:
    """Build the query parameters of a page, with another cursor."""
    wanted = {"modality": shelf.modality, "model": shelf.model, "cursor": before}
    return {name: value for name, value in wanted.items() if value}
