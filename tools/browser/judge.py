"""Visits a page once and finds all its problems: on a phone in dark colors, then on a wide screen in light ones."""

from playwright.sync_api import Page

from tools.browser import checks
from tools.browser.session import DESKTOP, HEIGHTS, PHONE, Watched

FADED = """
async () => {
    const fading = () => document.getAnimations().filter(each =>
        each.playState === 'running' && each.effect.getComputedTiming().iterations < Infinity
    );
    // What inherits a colour begins when its parent has ended.
    while (fading().length) await Promise.all(fading().map(each => each.finished.catch(() => null)));
}
"""


def look(page: Page, width: int, scheme: str) -> None:
    """Changes the size and colors of a loaded page, and waits until transitions have ended."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.evaluate(FADED)


def problems(watched: Watched, path: str, status: int = 200) -> list[str]:
    """Loads the page and applies every check; empty if it passes and answers with this status."""
    page = watched.page
    look(page, PHONE, "dark")
    found = [*first_problems(watched, path, status), *checks.axe(page)]
    look(page, DESKTOP, "light")
    found += [*checks.overflow(page), *checks.axe(page, checks.LOOKS), *checks.tab_through(page)]
    checks.violations(watched)  # caused by axe itself
    return list(dict.fromkeys(found))


def first_problems(watched: Watched, path: str, status: int = 200) -> list[str]:
    """Returns the problems that are visible at once, on a phone."""
    page = watched.page
    answer = page.goto(path)
    if answer is None or answer.status != status:
        return [f"{path} answered {answer.status if answer else 'nothing'}", *checks.violations(watched)]
    return [*checks.violations(watched), *checks.weight(page), *checks.shift(page), *checks.overflow(page)]
