"""What customers do in the console, in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from playwright.sync_api import Browser, Locator, Page, expect

from tests.pages.conftest import Desk
from tools.browser import session
from tools.browser.session import Watched

PICTURE, FILM = "aurora-image", "comet-video"
ENDED = "img, video"
STAYS = "() => { window.isStillHere = true; }"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What was run: its id, and the price in USD that the button showed."""

    task_id: str
    price: Decimal

    @property
    def path(self) -> str:
        return f"/console/tasks/{self.task_id}/"


@contextmanager
def visit(browser: Browser, desk: Desk, key: str, *, width: int = session.DESKTOP) -> Iterator[Watched]:
    """A browser of its own, signed in with a key."""
    own = session.context(browser, desk.stack.base_url, width=width)
    watched = session.watched(own)
    session.present(watched.page, key)
    yield watched
    own.close()


def chosen(page: Page, model: str) -> None:
    """From the cards to the form."""
    page.goto("/console/create/")
    page.get_by_role("link", name=model).click()
    expect(page.get_by_role("heading", name=model)).to_be_visible()


def price(page: Page) -> Decimal:
    """In USD, on the button, once it has one."""
    button = page.locator("button.run")
    expect(button).to_contain_text("$")
    return Decimal(button.inner_text().partition("$")[2])


def run(page: Page) -> Order:
    """Press the button, and come to the list of what lives."""
    shown = price(page)
    page.locator("button.run").click()
    return ordered(page, shown)


def ordered(page: Page, shown: Decimal) -> Order:
    """What has just been run. From now on it is seen whether the page is loaded anew."""
    page.wait_for_url("**/console/live/#task_*")
    page.evaluate(STAYS)
    return Order(task_id=page.url.partition("#")[2], price=shown)


def row(page: Page, order: Order) -> Locator:
    return page.locator(f"#{order.task_id}")


def finished(page: Page, order: Order) -> None:
    """See it become what it is, where it stands."""
    expect(row(page, order).locator(ENDED)).to_be_visible()
    expect(row(page, order)).to_contain_text("succeeded")
    assert page.evaluate("() => window.isStillHere")
