"""Buttons that disable and enable a key."""

from collections.abc import Mapping
from typing import Any

from accounts import keys
from accounts.models import ApiKey
from desk.kit.actions import RowAction


class DisableKey(RowAction):
    name, label, right = "disable", "Disable", "accounts.change_apikey"
    is_danger = is_atomic = True

    def applies(self, row: ApiKey) -> bool:
        return row.disabled_at is None

    def meaning(self, row: ApiKey) -> str:
        return (
            "From the next request on, the key is answered 401. Tasks that it has submitted continue and are charged, "
            "and their callbacks are signed."
        )

    def apply(self, row: ApiKey, values: Mapping[str, Any], *, by: str) -> str:
        keys.disable(row)
        return "Disabled."


class EnableKey(RowAction):
    """Enable a key, which is as sensitive as issuing it."""

    name, label, right = "enable", "Enable", "desk.issue_keys"
    needs_proof = is_atomic = True

    def applies(self, row: ApiKey) -> bool:
        return row.disabled_at is not None

    def meaning(self, row: ApiKey) -> str:
        return (
            f"From the next request on, the key works again and spends the money of {row.account.name}. Anyone who "
            "kept its secret can use it."
        )

    def apply(self, row: ApiKey, values: Mapping[str, Any], *, by: str) -> str:
        keys.enable(row)
        return "Enabled."
