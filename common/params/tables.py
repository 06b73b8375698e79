"""The declared params of all modalities, and the refusal of a request class that differs from them."""

import dataclasses
from collections.abc import Mapping
from typing import TypeVar

from common.params import image, three_d, video
from common.params.row import FIRST_VERSION, ParamTable

Request = TypeVar("Request", bound=type)

TABLES: Mapping[str, ParamTable] = {"image": image.TABLE, "video": video.TABLE, "3d": three_d.TABLE}
BESIDE: Mapping[str, tuple[str, ...]] = {"modality": (), "mask": ("image",)}
"""The members of a request that are no params, and the modalities whose adapters may express them."""
FIRST_NAMES = frozenset(row.name for table in TABLES.values() for row in table.rows if row.since == FIRST_VERSION)


def known(modality: str) -> frozenset[str]:
    """The names of all that an adapter of this modality can express."""
    beside = (name for name, modalities in BESIDE.items() if modality in modalities)
    return frozenset((*(row.name for row in TABLES[modality].rows), *beside))


def declared(kind: Request) -> Request:
    """Decorates the dataclass of a request. Raises TypeError unless its members are those of the tables, each with the
    declared default."""
    members = {each.name: each for each in dataclasses.fields(kind)}
    rows = [row for table in TABLES.values() for row in table.rows]
    names = {row.name for row in rows} | BESIDE.keys()
    if odd := sorted(names ^ members.keys()):
        raise TypeError(f"{kind.__name__} and common/params differ: {', '.join(odd)}")
    for row in rows:
        if row.default is not None and members[row.name].default != row.default:
            raise TypeError(f"{kind.__name__}.{row.name} must be {row.default!r} where nothing is said")
    return kind
