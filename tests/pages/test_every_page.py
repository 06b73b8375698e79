"""Every page keeps the rules of all pages: with a history to show, and without a single row."""

import pytest

from tools.browser import judge, session
from tools.browser.desk_pages import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.once]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_the_rules(operator, seeded, name):
    found = judge.problems(operator, PAGES[name](seeded.rows))
    assert not found, "\n".join(found)


def test_pages_without_rows_keep_the_rules(empty):
    assert len(empty) > len(PAGES) // 3
    assert {name: found for name, found in empty.items() if found} == {}


def test_the_page_of_signing_in_keeps_the_rules(browser, installation):
    own = session.context(browser, installation.stack.base_url)
    found = judge.problems(session.watched(own), "/admin/login/?next=/admin/")
    own.close()
    assert not found, "\n".join(found)
