"""Formats and pages lists of models in each dialect. Pure.

Only a model's name is known: times are the epoch, which Anthropic's API uses for unknown dates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.errors import InvalidRequest
from common.http import dialects
from common.http.dialects import ErrorDialect

OWNER = "system"
EPOCH = "1970-01-01T00:00:00Z"
LARGEST_PAGE = 1000
ANTHROPIC_PAGE = 20
GOOGLE_PAGE = 50
GOOGLE_METHODS = ("generateContent", "streamGenerateContent", "countTokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShapes:
    """One dialect's lists. `methods`: the calls that Google's clients may make."""

    dialect: ErrorDialect
    methods: Sequence[str] = GOOGLE_METHODS

    def page(self, names: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        """Returns the page that the query asks for; parameters that the dialect does not page by are ignored.

        Raises InvalidRequest for an invalid page size.
        """
        if self.dialect is dialects.ANTHROPIC:
            return self._anthropic_page(names, query)
        if self.dialect is dialects.GOOGLE:
            return self._google_page(names, query)
        return {"object": "list", "data": [self.one(name) for name in names]}

    def one(self, name: str) -> dict[str, Any]:
        """Returns one model."""
        if self.dialect is dialects.ANTHROPIC:
            return {"type": "model", "id": name, "display_name": name, "created_at": EPOCH, "lifecycle": "active"}
        if self.dialect is dialects.GOOGLE:
            return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": list(self.methods)}
        return {"id": name, "object": "model", "created": 0, "owned_by": OWNER}

    def _anthropic_page(self, names: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        """Returns the page after `after_id` or before `before_id`; empty if the cursor is no longer listed."""
        limit = _size(query, "limit", usual=ANTHROPIC_PAGE)
        if before := query.get("before_id"):
            earlier = names[: names.index(before)] if before in names else ()
            shown, has_more = earlier[-limit:], len(earlier) > limit
        else:
            later = _behind(names, query.get("after_id"))
            shown, has_more = later[:limit], len(later) > limit
        first, last = (shown[0], shown[-1]) if shown else (None, None)
        data = [self.one(name) for name in shown]
        return {"data": data, "has_more": has_more, "first_id": first, "last_id": last}

    def _google_page(self, names: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        """Returns the page after the model named by the token."""
        size = _size(query, "pageSize", usual=GOOGLE_PAGE)
        later = _behind(names, query.get("pageToken"))
        shown = {"models": [self.one(name) for name in later[:size]]}
        return shown | ({"nextPageToken": later[size - 1]} if len(later) > size else {})


def _behind(names: Sequence[str], cursor: str | None) -> Sequence[str]:
    if not cursor:
        return names
    return names[names.index(cursor) + 1 :] if cursor in names else ()


def _size(query: Mapping[str, str], parameter: str, *, usual: int) -> int:
    given = query.get(parameter, "")
    if not given:
        return usual
    if not (given.isascii() and given.isdigit() and len(given) <= 9 and int(given)):
        raise InvalidRequest(f"{parameter}: must be an integer from 1 to {LARGEST_PAGE}.", param=parameter)
    return min(int(given), LARGEST_PAGE)
