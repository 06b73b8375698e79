"""How the answer to a call is to be read."""

from collections.abc import Hashable
from dataclasses import dataclass

from relay.families.base import AskedCall, CallPath, Family


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAnswer:
    """Which dialect, request, path and model an answer belongs to; `payer` is charged for the memory it occupies."""

    family: Family
    asked: AskedCall
    path: CallPath
    upstream_model: str
    payer: Hashable
