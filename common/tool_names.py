"""The names of the tools that providers run, as the vendors write them in requests: with a version, or without."""

import re

VERSION = re.compile(r"_(?:\d{8}|\d{4}_\d{2}_\d{2})$")
PREVIEW = "_preview"
ALIASES = {"mcp_toolset": "mcp"}


def spellings(kind: str) -> list[str]:
    """The names under which a tool of this type may have a price, the closest first: `web_search_preview_2025_03_11`,
    `web_search_preview`, `web_search`."""
    undated = VERSION.sub("", kind)
    plain = undated.removesuffix(PREVIEW)
    return list(dict.fromkeys((kind, undated, plain, ALIASES.get(plain, plain))))


def family(kind: str) -> str:
    """The tool of which this type is a version."""
    return spellings(kind)[-1]
