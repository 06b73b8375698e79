"""What a visitor may ask the gallery for: a modality, a model, and older things."""

from collections.abc import Mapping
from dataclasses import dataclass

from common import ids, modalities
from common.errors import InvalidRequest

LONGEST_MODEL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What a page of the gallery is asked for; empty is all, and its beginning."""

    modality: str = ""
    model: str = ""
    before: str = ""


def read(query: Mapping[str, str]) -> Shelf:
    """Raises InvalidRequest naming the parameter."""
    shelf = Shelf(
        modality=query.get("modality", ""), model=query.get("model", "")[:LONGEST_MODEL], before=query.get("cursor", "")
    )
    if shelf.modality and shelf.modality not in modalities.NAMES:
        raise InvalidRequest(f"modality: must be one of {', '.join(modalities.NAMES)}.", param="modality")
    if shelf.before and not ids.is_task_id(shelf.before):
        raise InvalidRequest("cursor: is not one that the gallery has given out.", param="cursor")
    if "\x00" in shelf.model:
        raise InvalidRequest("model: NUL characters are not allowed.", param="model")
    return shelf


def query(shelf: Shelf, *, before: str = "") -> dict[str, str]:
    """The inverse of `read`, from another place on."""
    wanted = {"modality": shelf.modality, "model": shelf.model, "cursor": before}
    return {name: value for name, value in wanted.items() if value}
