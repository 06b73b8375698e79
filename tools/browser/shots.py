"""Takes pictures of pages, in three widths, light and dark."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from tools.browser import console_pages, desk_pages, judge
from tools.browser.desk_pages import DeskRows, Where
from tools.browser.session import DESKTOP, PHONE, TABLET, Watched

COLOURS = 96
"""Colors of a saved picture, which reduce it to a third of its bytes while large areas keep theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoom:
    """Pages of a room by name, and those whose pictures are kept: with rows, and without any."""

    name: str
    pages: Mapping[str, Where]
    full: Sequence[str]
    empty: Sequence[str]

    def chosen(self, names: Collection[str], kept: Sequence[str]) -> dict[str, Where]:
        """Returns the pages of these names ("desk/now"), or the kept ones if no name is given."""
        wanted = [name for name in self.pages if f"{self.name}/{name}" in names] if names else kept
        return {name: self.pages[name] for name in wanted}


DESK = PageRoom(
    name="desk",
    pages=desk_pages.PAGES,
    full=(
        *("now", "tasks", "task", "task-film", "task-refund", "unknown", "callbacks", "callback", "models", "model"),
        *("plan", "channels", "channel", "channel-model", "channel-test", "account", "statement", "key", "money"),
        *("bill", "catalog-file"),
    ),
    empty=(
        *("now", "tasks", "unknown", "callbacks", "models", "plans", "channels", "accounts", "keys", "money"),
        *("bills", "catalog-file"),
    ),
)
CONSOLE = PageRoom(
    name="console",
    pages=console_pages.PAGES,
    full=(
        *("sign-in", "create", "form-image", "form-film", "form-with-input", "live", "gallery", "task", "task-film"),
        *("task-failed", "task-callback", "task-strange", "usage", "docs", "docs-tag"),
    ),
    empty=("create", "live", "gallery", "usage"),
)
ROOMS = (DESK, CONSOLE)


def keep(page: Page, file: Path) -> None:
    """Saves what the page shows now as a small PNG."""
    shot = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
    file.parent.mkdir(parents=True, exist_ok=True)
    shot.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE).save(
        file, optimize=True
    )


def shoot(
    watched: Watched, room: str, pages: Mapping[str, Where], rows: DeskRows, folder: Path, *, suffix: str = ""
) -> None:
    """Takes each page in each size and color scheme; pages that lack their row are left out."""
    for name, where in pages.items():
        try:
            path = where(rows)
        except LookupError:
            continue
        watched.page.goto(path)
        for width in (PHONE, TABLET, DESKTOP):
            for scheme in ("light", "dark"):
                judge.look(watched.page, width, scheme)
                is_best = (width, scheme, suffix) == (DESKTOP, "light", "")
                file = f"{room}-{name}.png" if is_best else f"{room}/{name}{suffix}-{width}-{scheme}.png"
                keep(watched.page, folder / file)


def check(watched: Watched, pages: Mapping[str, Where], rows: DeskRows) -> None:
    """Prints the problems of each page."""
    for name, where in pages.items():
        print(f"{name}: {where(rows)}")
        for problem in judge.problems(watched, where(rows)):
            print(f"  {problem}")
