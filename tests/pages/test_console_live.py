"""The console's Live page in a browser: what happens appears by itself, and a page that is not live says so."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.databases import Databases
from tests.processes import TestStack
from tools.browser import checks, session
from tools.browser.session import Watched
from tools.children import PATIENCE, Child, wait_until
from tools.stack import CATALOG

pytestmark = [pytest.mark.browser, pytest.mark.once]
HEARTBEAT = {"SSE_HEARTBEAT": "1"}
STREAM = "/console/events"


@dataclass(slots=True, kw_only=True)
class Service:
    """An installation that works, and a key of it."""

    stack: TestStack
    sandbox: Child
    key: str
    web: Child

    def submit(self, prompt: str) -> str:
        """The id of a new task."""
        body = {"model": "aurora-image", "modality": "image", "params": {"prompt": prompt}}
        return str(self.stack.client(self.key).post("/v1/tasks", json=body).json()["id"])

    def tell_provider(self, word: str) -> None:
        """`release` lets its held answers go, `reset` makes it hold again."""
        requests.post(f"{self.sandbox.url}/{word}", timeout=PATIENCE).raise_for_status()

    def streams(self) -> int:
        """How many have ended by now."""
        return self.stack.logs().count(f"GET {STREAM} 200")


@pytest.fixture(scope="module")
def service(browser: Browser, databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("live"))
        try:
            sandbox = stack.start_sandbox()
            stack.manage("load_catalog", str(CATALOG), SANDBOX_URL=sandbox.url)
            key = stack.create_key()
            stack.start_worker()
            yield Service(stack=stack, sandbox=sandbox, key=key, web=stack.start_web(**HEARTBEAT))
        finally:
            stack.stop()


@pytest.fixture
def visitor(browser: Browser, service: Service) -> Iterator[BrowserContext]:
    """A browser in which the key is signed in."""
    own = session.context(browser, service.stack.base_url)
    sign_in(own, service.key)
    yield own
    own.close()


def sign_in(own: BrowserContext, key: str) -> None:
    page = own.new_page()
    page.goto("/console/sign-in/")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/console/create/")
    page.close()


def opened(visitor: BrowserContext, *, before: str = "") -> Watched:
    """The Live page of a new tab, in which this script has run before those of the page."""
    tab = session.watched(visitor)
    tab.page.add_init_script(before)
    tab.page.goto("/console/live/")
    return tab


def row(page: Page, task_id: str) -> Locator:
    return page.locator(f"#{task_id}")


def note(page: Page) -> Locator:
    """What says that a page is not live."""
    return page.locator(".not-live")


def test_a_task_appears_in_all_tabs_over_one_stream_and_turns_into_its_picture(visitor, service):
    service.tell_provider("reset")
    ended = service.streams()
    tabs = [opened(visitor) for _ in range(2)]
    task_id = service.submit("[held] a heron")
    for tab in tabs:
        expect(row(tab.page, task_id)).to_contain_text("running")
    expect(tabs[0].page.locator("#live-lead")).to_contain_text("1 runs")
    assert tabs[0].page.title() == "(1) Live | Darkroom"
    row(tabs[0].page, task_id).evaluate("row => { row.isMarked = true; row.querySelector('a').focus(); }")
    service.tell_provider("release")
    for tab in tabs:
        expect(row(tab.page, task_id).get_by_alt_text("[held] a heron")).to_be_visible()
        assert checks.violations(tab) == []
    assert row(tabs[0].page, task_id).evaluate("row => row.isMarked && row.contains(document.activeElement)")
    for tab in tabs:
        tab.page.close()
    wait_until(lambda: service.streams() > ended, what="the end of the stream")
    assert service.streams() == ended + 1


def test_what_is_new_waits_while_the_list_is_held(visitor, service):
    first = service.submit("a first one")
    page = opened(visitor).page
    row(page, first).get_by_role("link").last.focus()
    second = service.submit("a second one")
    page.get_by_role("button", name="1 new").wait_for()
    expect(row(page, second)).to_have_count(0)
    page.get_by_role("button", name="1 new").click()
    assert page.locator("#live-rows > li").evaluate_all("rows => rows.map(row => row.id)")[:2] == [second, first]
    expect(page.get_by_role("button", name="1 new")).to_be_hidden()


def test_a_page_that_is_not_live_says_so_and_recovers(visitor, service):
    page = opened(visitor).page
    service.web.stop()
    expect(note(page)).to_contain_text("Not live since")
    service.web = service.stack.start_web(**HEARTBEAT)
    task_id = service.submit("after the storm")
    expect(row(page, task_id)).to_contain_text("succeeded")
    expect(note(page)).to_be_empty()


def test_a_browser_without_shared_workers_has_a_stream_for_each_page(visitor, service):
    page = opened(visitor, before="delete window.SharedWorker").page
    task_id = service.submit("without a worker")
    expect(row(page, task_id)).to_contain_text("succeeded")


def test_a_page_of_another_session_is_loaded_anew(visitor, service):
    page = opened(visitor).page
    before = page.locator("[data-session]").get_attribute("data-session")
    sign_in(visitor, service.key)
    page.evaluate("window.isOld = true")
    service.submit("seen by both")
    page.wait_for_function("() => !window.isOld")
    assert page.locator("[data-session]").get_attribute("data-session") != before


def test_who_signs_out_elsewhere_is_told_so(visitor, service):
    page, other = (opened(visitor).page for _ in range(2))
    other.get_by_role("button", name="Sign out").click()
    expect(note(page)).to_contain_text("You are signed out")
    expect(note(page).get_by_role("link")).to_have_attribute("href", "/console/sign-in/?next=%2Fconsole%2Flive%2F")
