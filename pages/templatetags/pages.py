"""Template tags of all pages: states, money, times, meters and empty states. `{% load pages %}`"""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from pages import words

register = template.Library()
NOTHING = "–"
# Drawn as SVG, as not every font has every shape; in the colour of the text.
RING = '<circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5"/>'
DRAWN = {
    "○": RING,
    "◐": RING + '<path d="M6 1.5a4.5 4.5 0 0 0 0 9z" fill="currentColor"/>',
    "●": '<circle cx="6" cy="6" r="5" fill="currentColor"/>',
    "✕": '<path d="M2 2l8 8M10 2l-8 8" stroke="currentColor" stroke-width="2"/>',
    "⧖": '<path d="M2 1h8L6 6l4 5H2l4-5z" fill="none" stroke="currentColor" stroke-width="1.5"/>',
    "–": '<path d="M2 6h8" stroke="currentColor" stroke-width="2"/>',
    "·": '<circle cx="6" cy="6" r="1.5" fill="currentColor"/>',
}


@register.filter
def usd(micros: int | None) -> SafeString | str:
    """Show an amount in micro-USD as USD to the cent, exact on hover; a dash for None."""
    if micros is None:
        return NOTHING
    exact, shown = words.usd(micros), words.cents(micros)
    if shown == exact:
        return exact
    return format_html('<data value="{}" title="{}">{}</data>', words.decimal(micros), exact, shown)


@register.filter
def price(micros: int | None) -> str:
    """Show a price in micro-USD as exact USD; a dash for None."""
    return NOTHING if micros is None else words.usd(micros)


@register.filter
def span(seconds: float | None) -> str:
    """Show seconds as a duration; a dash for None."""
    return NOTHING if seconds is None else words.span(seconds)


@register.simple_tag
def state(word: str, progress: int | None = None) -> SafeString:
    """Show a state by shape, word and colour; a running one with its progress if known."""
    look = words.style(word)
    shown = word if progress is None else f"{word} {progress} %"
    return format_html(
        '<span class="state state-{}">'
        '<svg class="shape" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">{}</svg> {}</span>',
        look.tone,
        mark_safe(DRAWN[look.shape]),  # noqa: S308 (ours)
        shown,
    )


@register.simple_tag
def moment(at: datetime | None) -> SafeString | str:
    """Show a relative time, with the absolute time on hover."""
    if at is None:
        return NOTHING
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        at.astimezone(UTC).isoformat(timespec="seconds"),
        words.absolute(at),
        words.ago(at, timezone.now()),
    )


@register.simple_tag
def clock(at: datetime | None) -> SafeString | str:
    """Show an absolute time to the second, for logs and statements."""
    if at is None:
        return NOTHING
    return format_html('<time datetime="{}">{}</time>', at.astimezone(UTC).isoformat(), words.absolute(at))


@register.simple_tag
def meter(used: float, limit: float | None, label: str) -> SafeString:
    """Show usage of a limit as a bar with both numbers; without a limit, only the number."""
    if limit is None:
        return format_html('<span class="meter">{} <span class="quiet">no limit</span></span>', used)
    return format_html(
        '<span class="meter"><meter min="0" max="{}" value="{}" high="{}" optimum="0" aria-label="{}"></meter> '
        "{} of {}</span>",
        max(limit, 1),
        min(used, max(limit, 1)),
        max(limit, 1) * 0.9,
        label,
        used,
        limit,
    )


@register.inclusion_tag("pages/empty.html")
def empty(title: str, hint: str = "", url: str = "", label: str = "") -> dict[str, Any]:
    """Show an empty state: what would be here, and the command or link that creates it."""
    return {"title": title, "hint": hint, "url": url, "label": label}
