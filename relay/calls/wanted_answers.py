"""What a call expects of an upstream's answer."""

from collections.abc import Hashable
from dataclasses import dataclass

from relay.families.base import AskedCall, CallPath, Family


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAnswer:
    """How an answer is read: as whose, to what was asked and where, from which model. `payer` is who occupies memory
    with it."""

    family: Family
    asked: AskedCall
    path: CallPath
    upstream_model: str
    payer: Hashable
