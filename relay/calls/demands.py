"""Reads and prices what a general key asks for: the checks of a relayed call between its body and its channels.

Order: media type (415), JSON and fields (400), model (404) and price (503), subscription (403). Knows no upstream.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from catalog import tariffs
from catalog.groups import GroupEntry
from catalog.tariffs import Tariff
from common.concurrency import threads
from common.errors import BillingUnsupported, InvalidRequest
from common.http import unfolding
from common.http.front_body import MEMORY_BYTES, Body
from relay.admission import RelayCaller
from relay.calls import permissions, reservation
from relay.families.base import AskedCall, CallPath, Family

# Bodies that take longer to parse than a switch to a thread and back.
INLINE_BYTES = 64 * 1024
UNBOUNDED = "files are not accepted for this model: its price has no `max_input_tokens` that would bound their cost."


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A permitted call; `reserved_micros` is the most that it can cost."""

    caller: RelayCaller
    group: GroupEntry
    family: Family
    path: CallPath
    asked: AskedCall
    tariff: Tariff
    reserved_micros: int


class Content:
    """The body of a request as it goes upstream; freed once no other channel can need it."""

    __slots__ = ("_body", "document", "raw")

    def __init__(self, body: Body) -> None:
        self._body = body
        self.raw = b""
        self.document: Mapping[str, Any] = {}

    @property
    def is_large(self) -> bool:
        return self._body.size > INLINE_BYTES

    async def load(self) -> None:
        """Reads the body into memory. Raises SpoolFull if there is no room."""
        self._body.file.seek(0)
        await self._body.unfold()
        read = self._body.file.read
        self.raw = await threads.compute(read) if self._body.size > MEMORY_BYTES else read()

    def fold(self) -> None:
        """Reduces the reserved memory to what body and document really occupy."""
        self._body.fold(len(self.raw) + unfolding.size_of(self.document))

    def close(self) -> None:
        self.raw, self.document = b"", {}
        self._body.close()


async def read_demand(
    content: Content, *, caller: RelayCaller, group: GroupEntry, family: Family, path: CallPath
) -> Demand:
    """Reads and prices the body. Raises the ApiError of the first check that fails."""
    await content.load()
    if content.is_large:
        content.document, asked = await threads.compute(_read, family, content.raw, path)
        await threads.compute(content.fold)
    else:
        content.document, asked = _read(family, content.raw, path)
    tariff = _priced(asked, group, family)
    if caller.is_subscription:
        raise BillingUnsupported("Subscription billing is not supported for this endpoint.")
    require_bounded(asked, tariff)
    default = settings.RELAY_OUTPUT_TOKENS
    if not asked.is_free and tariff.is_unlimited(asked.output_limit):
        asked = replace(asked, sent_limit=default)
    return Demand(
        caller=caller,
        group=group,
        family=family,
        path=path,
        asked=asked,
        tariff=tariff,
        reserved_micros=reservation.bound_micros(asked, tariff, default_output=default),
    )


def _read(family: Family, raw: bytes, path: CallPath) -> tuple[Mapping[str, Any], AskedCall]:
    """Parses the body. Raises UnsupportedMediaType and InvalidRequest."""
    document = family.document(raw, path)
    return document, family.read(document, raw, path)


def _priced(asked: AskedCall, group: GroupEntry, family: Family) -> Tariff:
    """Returns the price of a call all of whose fields are permitted. Fields that no price opens are refused before the
    model is looked up. Raises what `permissions.refuse` and `tariffs.of` raise."""
    unpriced = [field for field in asked.refused if not (field.amount or field.only_by_piece)]
    permissions.refuse(unpriced, group, None)
    tariff = tariffs.of(group, family.name, asked.model, size=asked.size, quality=asked.quality, tools=asked.tool_types)
    permissions.refuse(asked.refused, group, tariff)
    return tariff


def require_bounded(asked: AskedCall, tariff: Tariff) -> None:
    """Raises InvalidRequest for a file whose token count has no bound."""
    is_known = tariff.picture is not None or tariff.max_input_tokens is not None
    if asked.file_path and not asked.is_free and not is_known:
        raise InvalidRequest(f"{asked.file_path}: {UNBOUNDED}", param=asked.file_path)
