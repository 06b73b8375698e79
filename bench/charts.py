"""Draws small SVG bar charts: for each goal its value before and after, as a share of the goal.

Legible on light and dark pages: the colours suit both, and text uses the page's own scheme.
"""

from dataclasses import dataclass
from html import escape

WIDTH = 860
LABEL = 420
BAR = 11
ROW = 44
TOP = 40
LONGEST = 2.0  # in goals; longer bars end there with their number
COLOURS = {"before": "#9a9a9a", "after": "#3b82f6"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """One goal's bars: its share in each state, 1 being the goal; a state that was not measured is left out."""

    label: str
    shares: dict[str, float]


def draw(title: str, groups: list[Bars]) -> str:
    """Returns the whole SVG file."""
    height = TOP + ROW * len(groups) + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-size="11"'
        f' font-family="system-ui, sans-serif"><title>{escape(title)}</title>',
        "<style>text{fill:#333}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
        *legend(),
    ]
    for number, group in enumerate(groups):
        lines += drawn(group, TOP + ROW * number)
    goal = LABEL + scaled(1)
    lines.append(f'<path d="M{goal} {TOP - 8}V{height - 20}" stroke="#d97706" stroke-width="2"/>')
    lines.append(f'<text x="{goal}" y="{height - 6}" text-anchor="middle">goal</text></svg>')
    return "\n".join(lines) + "\n"


def legend() -> list[str]:
    lines = []
    for number, (name, colour) in enumerate(COLOURS.items()):
        x = LABEL + 90 * number
        lines.append(f'<rect x="{x}" y="10" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{x + 18}" y="20">{name}</text>')
    return lines


def drawn(group: Bars, top: int) -> list[str]:
    lines = [f'<text x="{LABEL - 10}" y="{top + 18}" text-anchor="end">{escape(group.label)}</text>']
    for number, name in enumerate(name for name in COLOURS if name in group.shares):
        share = group.shares[name]
        y, width = top + 2 + number * (BAR + 3), max(1, scaled(share))
        lines.append(f'<rect x="{LABEL}" y="{y}" width="{width}" height="{BAR}" fill="{COLOURS[name]}"/>')
        lines.append(f'<text x="{LABEL + width + 6}" y="{y + BAR - 1}">{share:.0%}</text>')
    return lines


def scaled(share: float) -> int:
    return round(min(share, LONGEST) / LONGEST * (WIDTH - LABEL - 60))
