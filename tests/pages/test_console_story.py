"""Customers in the console: what they make, what they pay, and what they must never see."""

import secrets
from collections.abc import Callable
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from tests.pages import shopping
from tests.pages.shopping import FILM, PICTURE, visit
from tools.browser import checks, judge, session
from tools.browser.session import PHONE
from tools.children import PATIENCE
from tools.listening import CallbackReceiver
from tools.seed.wishes import STRANGE

pytestmark = [pytest.mark.browser, pytest.mark.once]
LISTEN = """
() => { window.heard = []; document.addEventListener('console:task', ({detail}) => heard.push(detail.id)); }
"""


@pytest.fixture
def account(seeded) -> str:
    """A new one, with money."""
    name = f"Reader {secrets.token_hex(3)}"
    seeded.stack.manage("create_account", name, "--credit", "20")
    seeded.work()
    return name


@pytest.fixture
def new_key(seeded, account) -> Callable[[], dict]:
    """Makes keys of the account, and gives them as `create_key` tells of them."""
    return lambda: seeded.stack.manage_json("create_key", account)


def test_a_customers_first_evening(browser, seeded, new_key):
    key = new_key()["key"]
    receiver = CallbackReceiver(key)
    with visit(browser, seeded, key) as watched:
        page = watched.page
        expect(page.get_by_role("link", name=PICTURE)).to_contain_text("$0.04")

        shopping.chosen(page, PICTURE)
        page.get_by_label("Prompt").fill("a lighthouse at dusk")
        page.get_by_label("2K").check()
        expect(page.locator("button.run")).to_contain_text("$0.08")
        picture = shopping.run(page)
        shopping.finished(page, picture)

        shopping.chosen(page, FILM)
        page.get_by_label("Prompt").fill("the light goes round")
        page.get_by_text("More", exact=True).click()
        page.get_by_label("Callback URL").fill(receiver.url)
        film = shopping.run(page)
        shopping.finished(page, film)
        assert receiver.next(PATIENCE)

        page.goto(film.path)
        page.get_by_role("button", name="Send again").click()
        assert receiver.next(PATIENCE)

        page.goto("/console/gallery/")
        expect(page.locator(".tile video")).to_have_count(1)
        page.locator(".tile img").click()
        page.get_by_role("dialog").get_by_role("link", name="Use as input").click()
        page.get_by_role("link", name=FILM).click()
        page.get_by_label("Prompt").fill("it begins to move")
        other = shopping.run(page)
        shopping.finished(page, other)

        spent = picture.price + film.price + other.price
        page.goto("/console/usage/")
        expect(page.get_by_text(f"${spent} spent this month")).to_be_visible()
        expect(page.locator("main")).to_contain_text(f"${20 - spent} left")

        page.get_by_role("button", name="Sign out").click()
        page.goto("/console/gallery/")
        expect(page.get_by_label("API key")).to_be_visible()
        assert checks.violations(watched) == []


def test_two_keys_of_an_account_see_nothing_of_each_other(browser, seeded, new_key):
    mine, theirs = new_key()["key"], new_key()["key"]
    with visit(browser, seeded, mine) as my, visit(browser, seeded, theirs) as their:
        their.page.goto("/console/live/")
        their.page.evaluate(LISTEN)
        shopping.chosen(my.page, PICTURE)
        my.page.get_by_label("Prompt").fill("nobody else may know")
        order = shopping.run(my.page)
        shopping.finished(my.page, order)

        body = {"model": PICTURE, "modality": "image", "params": {"prompt": "their own"}}
        own = seeded.stack.client(theirs).post("/v1/tasks", json=body).json()["id"]
        their.page.wait_for_function("id => heard.includes(id)", arg=own)
        assert set(their.page.evaluate("() => heard")) == {own}
        their.page.locator(f"#{own}").get_by_text("their own").wait_for()
        for path in ("/console/live/", "/console/gallery/", "/console/usage/", "/console/create/"):
            their.page.goto(path)
            assert order.task_id not in their.page.content()
            assert "nobody else" not in their.page.content()
        assert their.page.goto(order.path).status == 404
        expect(their.page.get_by_text("It may belong to another key, or have been deleted.")).to_be_visible()
        assert their.page.goto(f"/console/create/{FILM}/?input={order.task_id}/0").status == 404
        assert their.page.goto(f"/console/create/{PICTURE}/?again={order.task_id}").status == 404


def test_a_disabled_key_loses_its_session(browser, seeded, new_key):
    key = new_key()
    with visit(browser, seeded, key["key"]) as watched:
        watched.page.goto("/console/live/")
        seeded.stack.manage("disable_key", str(key["id"]))
        watched.page.get_by_role("link", name="Gallery").click()
        expect(watched.page.get_by_label("API key")).to_be_visible()
        watched.page.get_by_label("API key").fill(key["key"])
        watched.page.get_by_role("button", name="Sign in").click()
        expect(watched.page.get_by_role("alert")).to_be_visible()


def test_hostile_prompts_are_text(browser, seeded, new_key):
    prompts = (*STRANGE, "<svg/onload=alert(1)>" + "ö" * 9_900)
    with visit(browser, seeded, new_key()["key"], width=PHONE) as watched:
        page, orders = watched.page, []
        for prompt in prompts:
            shopping.chosen(page, PICTURE)
            page.get_by_label("Prompt").fill(prompt)
            orders.append(shopping.run(page))
        for order in orders:
            shopping.finished(page, order)
        for path in ("/console/live/", "/console/gallery/", *(order.path for order in orders)):
            assert judge.first_problems(watched, path) == []
        for order, prompt in zip(orders, prompts, strict=True):
            page.goto(order.path)
            expect(page.locator("main")).to_contain_text(prompt[:40])
            assert judge.first_problems(watched, f"/console/create/{PICTURE}/?again={order.task_id}") == []
            assert page.get_by_label("Prompt").input_value() == prompt


def test_a_picture_is_made_by_keyboard_alone(browser, seeded, new_key):
    own = session.context(browser, seeded.stack.base_url)
    watched = session.watched(own)
    page = watched.page
    page.goto("/console/")
    page.keyboard.type(new_key()["key"])
    page.keyboard.press("Enter")
    reach(page, f"a.card:has-text('{PICTURE}')")
    page.keyboard.press("Enter")
    reach(page, "textarea.prompt")
    page.keyboard.type("made without a mouse")
    reach(page, "input[type=radio][name='params.image_size']")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("2K")).to_be_checked()
    expect(page.locator("button.run")).to_contain_text("$0.08")
    reach(page, "button.run")
    page.keyboard.press("Space")
    order = shopping.ordered(page, Decimal("0.08"))
    shopping.finished(page, order)
    assert checks.violations(watched) == []
    own.close()


def reach(page: Page, selector: str) -> None:
    """Press the tabulator until the focus is on it."""
    expect(page.locator(selector).first).to_be_visible()
    for _ in range(checks.MOST_STOPS):
        page.keyboard.press("Tab")
        if page.locator(f"{selector}:focus").count():
            return
    pytest.fail(f"the keyboard does not reach {selector}")
