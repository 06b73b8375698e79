"""Renders a small part of Markdown as HTML: paragraphs, lists, code, bold and links. Everything is escaped first."""

import re
from collections.abc import Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

FENCE = re.compile(r"^```\w*\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
BULLET = re.compile(r"[-*] +(?=\S)")
NUMBER = re.compile(r"[0-9]+\. +(?=\S)")
CODE = re.compile(r"(`[^`]+`)")
BOLD = re.compile(r"\*\*(.+?)\*\*")
# Matches only links to the web and to our own pages; the text is escaped, so no quote is left in it.
LINK = re.compile(r"\[([^\]]+)\]\(((?:https?://|/(?!/)|#)[^\s)]*)\)")


def rendered(text: str) -> SafeString:
    """Renders a text as blocks of HTML."""
    parts: list[str] = []
    for place, part in enumerate(FENCE.split(text)):
        parts += [f"<pre><code>{escape(part)}</code></pre>"] if place % 2 else map(_block, _blocks(part))
    return mark_safe("\n".join(parts))  # noqa: S308 (escaped above)


def line(text: str) -> SafeString:
    """Renders a single line."""
    return mark_safe(_inline(text))  # noqa: S308 (escaped below)


def _blocks(text: str) -> Iterator[list[str]]:
    """Splits a text into blocks of lines; a list may follow a paragraph directly."""
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = [each for each in block.splitlines() if each.strip()]
        first = next((place for place, each in enumerate(lines) if _marker(each)), len(lines))
        yield from (part for part in (lines[:first], lines[first:]) if part)


def _marker(text: str) -> re.Match[str] | None:
    return BULLET.match(text) or NUMBER.match(text)


def _block(lines: list[str]) -> str:
    if not _marker(lines[0]):
        return f"<p>{_inline(' '.join(map(str.strip, lines)))}</p>"
    items: list[str] = []
    for each in lines:
        marker = _marker(each)
        if marker:
            items.append(each[marker.end() :])
        else:
            items[-1] += f" {each.strip()}"
    tag = "ul" if BULLET.match(lines[0]) else "ol"
    return f"<{tag}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{tag}>"


def _inline(text: str) -> str:
    """Renders inline marks, except within code."""
    return "".join(
        f"<code>{part[1:-1]}</code>"
        if CODE.fullmatch(part)
        else LINK.sub(r'<a href="\2">\1</a>', BOLD.sub(r"<b>\1</b>", part))
        for part in CODE.split(escape(text))
    )
