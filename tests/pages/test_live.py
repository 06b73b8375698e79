"""A page that keeps itself up to date: it changes by itself, leaves alone what is used, and says when it cannot."""

import pytest
from playwright.sync_api import Page

from tools.browser import checks

pytestmark = [pytest.mark.browser, pytest.mark.once]

LEAD = "#now-lead"


def refreshed(page: Page) -> None:
    """Once more from now on."""
    with page.expect_response(lambda answer: answer.url.endswith("/admin/")) as answer:
        pass
    answer.value.finished()


def test_the_desks_home_keeps_itself_up_to_date_and_jumps_under_nobody(operator, seeded):
    page = operator.page
    page.goto(f"{seeded.stack.base_url}/admin/")
    page.locator("summary").first.click()
    page.locator(f"{LEAD} a").first.focus()
    before = page.locator(LEAD).inner_text()
    seeded.stack.manage("pause")
    try:
        refreshed(page)
        refreshed(page)
        assert page.locator(LEAD).inner_text() == before
        page.evaluate("document.activeElement.blur()")
        page.locator(LEAD, has_text="Submissions are paused").wait_for()
        assert page.locator("details[open]").count() == 1
        page.route("**/admin/", lambda route: route.abort())
        page.locator("[data-live-lost]").wait_for()
        page.unroute("**/admin/")
        page.locator("[data-live-lost]").wait_for(state="detached")
        assert "ERR_FAILED" in "".join(checks.violations(operator))  # told here, not to the next one who looks
    finally:
        seeded.stack.manage("resume")
